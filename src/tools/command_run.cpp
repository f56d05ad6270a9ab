// `sluice run`, `sluice bench` and `sluice calibrate`: set the preload and become the program.
#include "tools/command.hpp"
#include "tools/elf.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <unistd.h>

namespace sluice {
namespace {

bool preload(std::string const& file) {
    if (access(file.c_str(), R_OK) != 0) {
        std::fprintf(stderr, "sluice: %s is missing: build or install Sluice for your MPI first\n",
                     file.c_str());
        return false;
    }
    char const* const before = std::getenv("LD_PRELOAD");
    std::string const all = before && *before ? file + ":" + before : file;
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

/// The file that execvp() would start; the name itself if there is none.
std::string found(std::string const& program) {
    char const* const path = std::getenv("PATH");
    if (!path || program.find('/') != std::string::npos) return program;
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string const file = (folder.empty() ? "." : folder) + "/" + program;
        if (access(file.c_str(), X_OK) == 0) return file;
    }
    return program;
}

/// The MPI that a file is linked to, by the name of its library; empty: none that is known.
std::string mpi_of(std::string const& file) {
    for (char const* const mpi :
         {"libmpi_abi.so", "libmpi.so.12", "libmpich.so.12", "libmpi.so.40"})
        if (is_linked_to(file, mpi)) return mpi;
    return {};
}

std::string name_of(std::string const& mpi) {
    if (mpi == "libmpi.so.40") return "Open MPI (libmpi.so.40)";
    if (mpi == "libmpi_abi.so") return "the standard ABI (libmpi_abi.so)";
    return "MPICH or an MPI with its ABI (" + mpi + ")";
}

/// Two MPIs in one process end in undefined symbols or worse: this is said before they meet.
bool fits(std::string const& program, std::string const& preloaded) {
    std::string const theirs = mpi_of(program), ours = mpi_of(preloaded);
    // Debian's MPICH has another file name, and the same functions and handles.
    auto const family = [](std::string const& mpi) {
        return mpi == "libmpich.so.12" ? std::string("libmpi.so.12") : mpi;
    };
    if (theirs.empty() || ours.empty() || family(theirs) == family(ours)) return true;
    std::fprintf(stderr,
                 "sluice: %s uses %s, but %s was built for %s: use the sluice command of that "
                 "MPI's build\n",
                 program.c_str(), name_of(theirs).c_str(), preloaded.c_str(),
                 name_of(ours).c_str());
    return false;
}

}  // namespace

std::string library(bool abi) {
    return installation() + (abi ? "/lib/libsluice_abi.so" : "/lib/libsluice.so");
}

int command_run(int argc, char** argv) {
    bool const forced = argc > 0 && std::strcmp(argv[0], "--abi") == 0;
    if (forced) --argc, ++argv;
    if (argc < 1) {
        std::fprintf(stderr, "usage: mpiexec -n RANKS sluice run [--abi] PROGRAM [ARGUMENT ...]\n");
        return bad_usage;
    }
    if (argv[0][0] == '-') {
        std::fprintf(stderr, "sluice run: there is no option '%s'; see sluice run --help\n",
                     argv[0]);
        return bad_usage;
    }
    std::string const program = found(argv[0]);
    bool const abi = forced || is_linked_to(program, "libmpi_abi.so");
    if (!switched_off() && !fits(program, library(abi))) return bad_usage;
    if (!switched_off() && !preload(library(abi))) return 1;
    return become(argv);
}

int command_bench(int argc, char** argv) {
    bool const simulated = argc > 0 && std::strcmp(argv[0], "exchange") == 0;
    if (simulated) return command_exchange(argc - 1, argv + 1);
    bool const studies = argc > 0 && std::strcmp(argv[0], "nvm") == 0;
    if (studies) return command_nvm(argc - 1, argv + 1);
    bool const storage = argc > 0 && std::strcmp(argv[0], "storage") == 0;
    if (storage) {  // The engines by themselves: nothing is preloaded.
        std::string engines = installation() + "/libexec/sluice-storage";
        argv[0] = engines.data();
        return become(argv);
    }
    bool const collectives =
        argc > 0 && (std::strcmp(argv[0], "overhead") == 0 || std::strcmp(argv[0], "kernels") == 0);
    std::string program =
        installation() + (collectives ? "/libexec/sluice-collectives" : "/libexec/sluice-bench");
    if (!switched_off() && !preload(library(false))) return 1;
    // The interposed collectives take part; whoever wants them left out says so.
    if (collectives) setenv("SLUICE_COLLECTIVES", "1", 0);
    --argv;  // The name "bench" makes room for the program's.
    argv[0] = program.data();
    return become(argv);
}

/// What an earlier profile says must not shape the calls that are measured.
int command_calibrate(int, char** argv) {
    std::string program = installation() + "/libexec/sluice-calibrate";
    if (access(program.c_str(), X_OK) != 0) {
        std::fprintf(stderr,
                     "sluice calibrate: %s is missing: it was built without an MPI or CLI11 "
                     "(libcli11-dev). Install them and build again\n",
                     program.c_str());
        return 1;
    }
    if (!switched_off() && !preload(library(false))) return 1;
    setenv("SLUICE_PROFILE", "none", 1);
    --argv;  // The name "calibrate" makes room for the program's.
    argv[0] = program.data();
    return become(argv);
}

}  // namespace sluice
