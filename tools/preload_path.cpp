// The link stays: another rank, or the program's children, may need it. See preload_path.hpp.
#include "tools/preload_path.hpp"

#include <climits>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

/// What lies there must be what this user has put there.
bool is_own_folder(std::string const& path) noexcept {
    struct stat about{};
    return lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
           about.st_uid == geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool leads_to(std::string const& link, std::string const& folder) {
    std::error_code failed;
    return std::filesystem::read_symlink(link, failed) == folder;
}

}  // namespace

std::string name_for_preload(std::string const& file, std::string const& folder) {
    constexpr char separators[] = " :";
    if (file.find_first_of(separators) == std::string::npos) return file;
    std::filesystem::path const path(file);
    std::string const name = path.filename(), real = path.parent_path();
    std::string const own = folder + "/sluice-" + std::to_string(geteuid());
    mkdir(own.c_str(), S_IRWXU);
    char number[2 * sizeof(std::size_t) + 1];
    std::snprintf(number, sizeof number, "%zx", std::hash<std::string>()(real));
    std::string const link = own + "/" + number;
    if (!is_own_folder(own)) return {};
    if (symlink(real.c_str(), link.c_str()) != 0 && !leads_to(link, real)) return {};
    bool const can_be_listed = (link + name).find_first_of(separators) == std::string::npos;
    return can_be_listed ? link + "/" + name : std::string();
}

}  // namespace sluice
