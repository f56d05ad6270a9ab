// Where this program is installed: its neighbours are found from there.
#pragma once
#include <climits>
#include <string>
#include <unistd.h>

namespace sluice {

/// The folder above the one that the program lies in: bin/, lib/ and libexec/ are in it.
inline std::string installation() {
    char path[PATH_MAX];
    ssize_t const length = readlink("/proc/self/exe", path, sizeof path - 1);
    std::string self(path, length > 0 ? static_cast<std::size_t>(length) : 0);
    for (int up = 0; up < 2; ++up)
        self.resize(self.rfind('/') == std::string::npos ? 0 : self.rfind('/'));
    return self;
}

}  // namespace sluice
