// `sluice run` and `sluice bench`: set the preload and become the program.
#include "tools/command.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace sluice {
namespace {

bool preload(std::string const& library) {
    if (access(library.c_str(), R_OK) != 0) {
        std::fprintf(stderr, "sluice: %s is missing: build or install Sluice for your MPI first\n",
                     library.c_str());
        return false;
    }
    char const* const before = std::getenv("LD_PRELOAD");
    std::string const all = before && *before ? library + ":" + before : library;
    return setenv("LD_PRELOAD", all.c_str(), 1) == 0;
}

int become(char** argv) {
    execvp(argv[0], argv);
    std::fprintf(stderr, "sluice: cannot run %s: %s\n", argv[0], std::strerror(errno));
    return errno == ENOENT ? 127 : 126;
}

bool switched_off() {
    char const* const value = std::getenv("SLUICE");
    return value && std::strcmp(value, "off") == 0;
}

}  // namespace

std::string installation() {
    char path[PATH_MAX];
    ssize_t const length = readlink("/proc/self/exe", path, sizeof path - 1);
    std::string self(path, length > 0 ? static_cast<std::size_t>(length) : 0);
    for (int up = 0; up < 2; ++up)
        self.resize(self.rfind('/') == std::string::npos ? 0 : self.rfind('/'));
    return self;
}

int command_run(int argc, char** argv) {
    if (argc < 1) {
        std::fprintf(stderr, "usage: mpiexec -n RANKS sluice run PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    if (!switched_off() && !preload(installation() + "/lib/libsluice.so")) return 1;
    return become(argv);
}

int command_bench(int, char** argv) {
    std::string program = installation() + "/libexec/sluice-bench";
    if (!switched_off() && !preload(installation() + "/lib/libsluice.so")) return 1;
    --argv;  // The name "bench" makes room for the program's.
    argv[0] = program.data();
    return become(argv);
}

}  // namespace sluice
