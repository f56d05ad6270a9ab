// How this library is found in LD_PRELOAD. See preload.hpp.
#include "system/preload.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace sluice {
namespace {

std::string own_preload;

/// Where this library was loaded from.
std::filesystem::path own_path() {
    Dl_info found{};
    bool const known = dladdr(reinterpret_cast<void*>(&leave_preload), &found) != 0;
    return known && found.dli_fname ? found.dli_fname : "";
}

/// A name without a folder was searched for, so there is only the name to compare.
bool names(std::filesystem::path const& entry, std::filesystem::path const& library) {
    if (!entry.has_parent_path()) return entry == library.filename();
    std::error_code missing;
    return std::filesystem::equivalent(entry, library, missing);
}

}  // namespace

void leave_preload() {
    char const* const before = std::getenv("LD_PRELOAD");
    if (!before) return;
    auto const library = own_path();
    std::string const all = before;
    std::string others;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end + 1) {
        end = std::min(all.find_first_of(": ", begin), all.size());
        std::string const entry = all.substr(begin, end - begin);
        if (entry.empty()) continue;
        if (names(entry, library)) {
            own_preload = library;
            continue;
        }
        others += (others.empty() ? "" : ":") + entry;
    }
    if (others.empty())
        unsetenv("LD_PRELOAD");
    else
        setenv("LD_PRELOAD", others.c_str(), 1);
}

std::string const& preloaded_path() { return own_preload; }

}  // namespace sluice
