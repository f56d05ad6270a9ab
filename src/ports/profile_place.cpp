// Asking for host, home and mounts. See profile_place.hpp.
#include "ports/profile_place.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
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
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (file) {
        std::string text(std::istreambuf_iterator<char>(file), {});
        if (errno == 0) return text;  // A folder opens, but has nothing to read.
    }
    error = path + ": " + (errno != 0 ? std::strerror(errno) : "cannot be read");
    return std::nullopt;
}

}  // namespace sluice
