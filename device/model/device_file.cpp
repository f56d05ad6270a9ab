// Reads descriptions of devices. See device_file.hpp.
#include "device/model/device_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace sluice {

std::optional<DeviceProfile> find_device(std::string const& name_or_path, std::string& error) {
    if (auto const built_in = device_named(name_or_path)) return built_in;
    std::ifstream file(name_or_path);
    std::ostringstream text;
    errno = 0;
    if (!file || !(text << file.rdbuf())) {
        error = "'" + name_or_path + "' is neither hdd nor ssd nor nvm, nor a file that can be " +
                "read" + (errno != 0 ? std::string(": ") + std::strerror(errno) : "");
        return std::nullopt;
    }
    auto const profile = device_described(text.str(), error);
    if (!profile) error = name_or_path + ": " + error;
    return profile;
}

}  // namespace sluice
