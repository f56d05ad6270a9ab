// Functions of a library that the program has loaded, however and whenever it did so. CUDA's
// runtime opens its driver for itself alone, and often late: the driver is in no list of names that
// all can see. Nothing is loaded for this.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// How many libraries the process has ever loaded: while it stays the same, there is no new one.
/// Any thread; does not block but for a library that is being loaded.
[[nodiscard]] std::uint64_t loaded_library_count() noexcept;

/// Paths of all libraries of the process, as the loader has them. Any thread.
[[nodiscard]] std::vector<std::string> loaded_library_paths();

/// A library of the process. It stays loaded until the process ends.
class LoadedLibrary {
public:
    /// The first of these paths whose file's name begins so and which has the function; where there
    /// is none, whatever library has the function in sight of all. Any thread; may wait for a
    /// library that is being loaded.
    [[nodiscard]] static LoadedLibrary find(std::vector<std::string> const& paths, char const* name,
                                            char const* function) noexcept;

    [[nodiscard]] bool is_found() const noexcept { return is_found_; }
    /// Puts the function of that name into the pointer, null where the library has none; says
    /// whether it has.
    template <class Function> bool look_up(char const* name, Function& function) const noexcept {
        function = reinterpret_cast<Function>(address_of(name));
        return function != nullptr;
    }

private:
    [[nodiscard]] void* address_of(char const* name) const noexcept;

    void* handle_ = nullptr;  ///< Null also of what is in sight of all.
    bool is_found_ = false;
};

}  // namespace sluice
