// Where this program is installed: its neighbours are found from there.
#pragma once
#include <climits>
#include <string>
#include <unistd.h>

namespace sluice {

/// The folder that a file or folder lies in.
inline std::string folder_of(std::string path) {
    auto const slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
    return path;
}

/// The program's own file, links resolved.
inline std::string own_program() {
    char path[PATH_MAX];
    ssize_t const length = readlink("/proc/self/exe", path, sizeof path - 1);
    return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// The folder above the one that the program lies in: of bin/, libexec/ and share/, and in a build
/// tree also of lib/. Where a program belongs to one of several MPIs: the folder of that MPI.
inline std::string installation() { return folder_of(folder_of(own_program())); }

/// A file that serves all MPIs, for a program that may belong to one of them. It is the folder
/// above then: see CMakeLists.txt.
inline std::string common_file(std::string const& name) {
    std::string const own = installation() + "/" + name;
    return access(own.c_str(), F_OK) == 0 ? own : folder_of(installation()) + "/" + name;
}

}  // namespace sluice
