// The MPI for which the library was compiled is compared with those in the process. See
// check_abi.hpp.
#include "mpi/start/check_abi.hpp"

#include "mpi/start/built_for.hpp"
#include "mpi/symbols.hpp"
#include "system/environment.hpp"
#include "system/launcher.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

#ifdef MPI_ABI
constexpr bool built_for_abi = true;
#else
constexpr bool built_for_abi = false;
#endif

[[noreturn]] void end_program(std::string const& why) {
    std::fprintf(stderr, "sluice: %s\n", why.c_str());
    std::_Exit(1);
}

std::string own_file() {
    Dl_info found{};
    return dladdr(reinterpret_cast<void*>(&check_abi), &found) != 0 ? found.dli_fname : "";
}

std::vector<std::string> loaded_files() {
    std::vector<std::string> files;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* into) {
            static_cast<std::vector<std::string>*>(into)->emplace_back(object->dlpi_name);
            return 0;
        },
        &files);
    return files;
}

/// The file with the MPI that `file` was linked to, or that it is; empty: none.
std::string mpi_of(std::string const& file) {
    void* const handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return {};
    Dl_info found{};
    void* const function = dlsym(handle, "PMPI_Init");
    bool const known = function && dladdr(function, &found) != 0;
    dlclose(handle);
    return known ? found.dli_fname : "";
}

/// What the MPI in this file says of itself, which it may be asked before it is initialised.
std::string name_of(std::string const& mpi) {
    constexpr std::size_t longest = 8192;  // Of all MPIs: Open MPI's is 256.
    std::string text(longest, '\0');
    void* const handle = dlopen(mpi.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return {};
    using Ask = int (*)(char*, int*);
    auto const ask = reinterpret_cast<Ask>(dlsym(handle, "PMPI_Get_library_version"));
    int length = 0;
    if (ask) ask(text.data(), &length);
    dlclose(handle);
    text.resize(std::min(text.find('\0'), longest));
    return text;
}

std::string first_line(std::string const& text) { return text.substr(0, text.find('\n')); }

/// MPICH reaches the mpiexec of Open MPI only where it was built with PMIx, which it tells with its
/// version. Another one ends with an error of its own, or starts as many jobs as there are ranks.
void check_launcher(std::string const& mpi) {
    if (!settings().enabled) return;
    std::string const running = name_of(mpi);
    bool const foreign = number_in_environment("OMPI_COMM_WORLD_SIZE") > 1 &&
                         number_in_environment("PMI_SIZE") < 0 &&
                         running.find("MPICH Version") != std::string::npos;
    if (!foreign || running.find("pmix") != std::string::npos) return;
    end_program("the mpiexec of Open MPI started this rank, but its MPI is another one (" + mpi +
                ", " + first_line(running) +
                "): use the mpiexec of that MPI, or Open MPI's build of Sluice");
}

#ifndef MPI_ABI
/// Do MPICH and the MPIs that keep its ABI by agreement (Cray's has MPICH in its name) serve each
/// other's programs, so that a build for one of them is one for all?
bool shares_abi(std::string const& mpi) {
    constexpr std::string_view family[] = {"MPICH", "Intel", "MVAPICH"};
    auto const named = [&](std::string_view name) { return mpi.find(name) != std::string::npos; };
    return std::ranges::find(family, SLUICE_BUILT_FOR) != std::end(family) &&
           std::ranges::any_of(family, named);
}

/// The handles of another MPI are other values: nothing of it may be called with ours.
void check_family(std::string const& mpi) {
    std::string const running = name_of(mpi);
    bool const is_same = running.find(SLUICE_BUILT_FOR) != std::string::npos;
    if (running.empty() || is_same || shares_abi(running)) return;
    end_program("built for " SLUICE_BUILT_FOR ", but the program uses another MPI (" + mpi + ", " +
                first_line(running) + "): use the sluice command of that MPI's build");
}
#endif

/// Calls of functions that the MPI does not have would end the process somewhere on the way.
void check_functions() {
    void* const handle = dlopen(own_file().c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return;
    std::string missing;
    link_map* own = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &own) == 0) {
        Symbols(*own).for_each_wanted([&](char const* name) {
            if (missing.empty() && std::strncmp(name, "PMPI_", 5) == 0 && !dlsym(handle, name))
                missing = name;
        });
    }
    dlclose(handle);
    if (missing.empty()) return;
    end_program("built for another version of " SLUICE_BUILT_FOR " that has " + missing +
                ", which the MPI in this process has not: build Sluice for this version");
}

/// All files are asked: an interpreter loads its module's MPI beside the one of this library.
void check_loaded() {
    std::set<std::string> asked;
    for (std::string const& file : loaded_files()) {
        std::string const mpi = mpi_of(file);
        bool const abi = mpi.find("libmpi_abi") != std::string::npos;
        if (mpi.empty() || !asked.insert(mpi).second) continue;
#ifndef MPI_ABI
        if (!abi) check_family(mpi);
#endif
        if (abi == built_for_abi) {
            check_launcher(mpi);
            continue;
        }
        if (built_for_abi)
            end_program("built for the standard ABI, but the program uses an MPI's own (" + mpi +
                        "): use `sluice run` without --abi");
        end_program("built for " SLUICE_BUILT_FOR
                    "'s own ABI, but the program uses the standard one (" +
                    mpi + "): use `sluice run --abi`");
    }
}

#ifdef MPI_ABI
/// Intel MPI 2021.18.1 numbers some constants in another way than the header of MPICH 5, and both
/// call it version 1. The error handler that files begin with is one of them.
bool numbers_agree() {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PMPI_File_get_errhandler(MPI_FILE_NULL, &handler);
    return handler == MPI_ERRORS_RETURN;
}

#endif

}  // namespace

void check_abi() {
    check_loaded();
    check_functions();
}

void check_world(int ranks_of_world) {
    Apart const apart = apart_from_launcher(ranks_of_world);
    if (apart.is_fatal)
        end_program(apart.what + " (built for " SLUICE_BUILT_FOR
                                 "). Use the mpiexec and the sluice command of one MPI, or "
                                 "SLUICE=off if this is meant");
    if (!apart.what.empty() && launched().rank == 0) warn(apart.what);
    long const told = launched().ranks;
    if (told > 0 && told != ranks_of_world) doubt_launcher();
}

void check_constants() {
#ifdef MPI_ABI
    int major = 0, minor = 0;
    PMPI_Abi_get_version(&major, &minor);
    if (major == MPI_ABI_VERSION && numbers_agree()) return;
    end_program(
        "built with another mpi.h: constants of the standard ABI differ from this MPI's; use the "
        "sluice command of this MPI's build");
#endif
}

}  // namespace sluice
