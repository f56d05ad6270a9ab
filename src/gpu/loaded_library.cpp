// The loader is asked for all libraries of the process. See loaded_library.hpp.
#include "gpu/loaded_library.hpp"

#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace sluice {
namespace {

bool file_begins_with(std::string_view path, std::string_view name) noexcept {
    return path.substr(path.rfind('/') + 1).starts_with(name);
}

int take_count(dl_phdr_info* one, std::size_t, void* to) noexcept {
    *static_cast<std::uint64_t*>(to) = one->dlpi_adds;
    return 1;  // It is the same of all of them.
}

int take_path(dl_phdr_info* one, std::size_t, void* to) {
    if (one->dlpi_name && one->dlpi_name[0] != '\0')
        static_cast<std::vector<std::string>*>(to)->emplace_back(one->dlpi_name);
    return 0;
}

}  // namespace

std::uint64_t loaded_library_count() noexcept {
    std::uint64_t count = 0;
    dl_iterate_phdr(take_count, &count);
    return count;
}

/// Nothing is opened meanwhile: the loader's lock is held, and a thread that loads a library takes
/// its locks in the other order.
std::vector<std::string> loaded_library_paths() {
    std::vector<std::string> paths;
    dl_iterate_phdr(take_path, &paths);
    return paths;
}

LoadedLibrary LoadedLibrary::find(std::vector<std::string> const& paths, char const* name,
                                  char const* function) noexcept {
    LoadedLibrary library;
    void* found = nullptr;
    for (std::string const& path : paths) {
        if (!file_begins_with(path, name)) continue;
        library.handle_ = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        if (library.handle_ && library.look_up(function, found)) break;
        if (library.handle_) dlclose(library.handle_);
        library.handle_ = nullptr;
    }
    library.is_found_ = found || library.look_up(function, found);
    return library;
}

void* LoadedLibrary::address_of(char const* name) const noexcept {
    return dlsym(handle_ ? handle_ : RTLD_DEFAULT, name);
}

}  // namespace sluice
