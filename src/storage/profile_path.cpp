// How the host, the home folder and the mounts are found. See profile_path.hpp.
#include "storage/profile_path.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

std::string variable(char const* name) {
    char const* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

}  // namespace

std::string profile_folder() {
    std::string const config = variable("XDG_CONFIG_HOME"), home = variable("HOME");
    if (config.starts_with('/')) return config + "/sluice";
    return home.empty() ? "" : home + "/.config/sluice";
}

std::string host_name() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return "host";
    std::string const full = name.data();
    return full.substr(0, full.find('.'));
}

std::optional<Mount> mount_of_path(std::string const& path) {
    std::array<char, PATH_MAX> whole{};
    if (realpath(path.c_str(), whole.data()) == nullptr) return std::nullopt;
    std::string error;
    auto const table = text_of_file("/proc/self/mountinfo", error);
    return table ? mount_of(*table, whole.data()) : std::nullopt;
}

std::string profile_path(std::string const& path) {
    std::string const folder = profile_folder();
    auto const mount = folder.empty() ? std::nullopt : mount_of_path(path);
    return mount ? folder + "/" + profile_name(host_name(), *mount) : "";
}

std::optional<std::string> text_of_file(std::string const& path, std::string& error) {
    std::string text;
    std::array<char, 4096> part{};
    int const fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? 1 : -1;
    while (got > 0) {
        got = read(fd, part.data(), part.size());
        if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    }
    if (got < 0) error = path + ": " + std::strerror(errno);
    if (fd >= 0) close(fd);
    return got == 0 ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace sluice
