// Where the files of a measurement are: a folder, or an emulated device that is mounted for it.
#pragma once
#include <string>
#include <sys/types.h>

namespace sluice::tools {

class Target {
public:
    /// A folder of the machine.
    static Target folder(std::string const& path);
    /// Mounts `profile` in a temporary folder, by `sluice device`.
    static Target device(std::string const& profile);
    Target(Target&& other) noexcept;
    Target& operator=(Target&&) = delete;
    /// Unmounts.
    ~Target();

    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    /// For files; empty if there is none, and then why.
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::string const& missing() const noexcept { return missing_; }

private:
    Target() = default;
    std::string name_, path_, missing_;
    pid_t server_ = -1;
};

}  // namespace sluice::tools
