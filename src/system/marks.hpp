// A mark is a name that a process of a node holds while it lives, so that others see without a
// message who is there. It is a socket in no folder, which the system takes away with the process.
#pragma once
#include <string>

namespace sluice {

class Marks {
public:
    Marks() = default;
    ~Marks();
    Marks(Marks const&) = delete;
    Marks& operator=(Marks const&) = delete;

    /// Holds `name`, of at most 100 letters. False where the system has no such names, or another
    /// process holds it.
    [[nodiscard]] bool hold(std::string const& name);
    /// Whether a process of this network namespace holds `name`.
    [[nodiscard]] bool is_held(std::string const& name);

private:
    int held_ = -1, asks_ = -1;
};

}  // namespace sluice
