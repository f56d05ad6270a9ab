// MPI_Init, MPI_Init_thread and MPI_Finalize: nothing is set up at the start but the thread level
// that several nodes need; at the end requests are waited for, statistics printed, the helper
// ended.
#include "api/built_for.hpp"
#include "api/environment.hpp"
#include "api/requests.hpp"
#include "api/statistics.hpp"

#include <cstdlib>
#include <mpi.h>

namespace sluice {
namespace {

long number_in(char const* name) {
    char const* const text = std::getenv(name);
    return text ? std::strtol(text, nullptr, 10) : -1;
}

/// Launchers tell how many ranks there are, and how many on this node. Unknown counts as several.
bool on_one_node() {
    long const all = std::max(number_in("OMPI_COMM_WORLD_SIZE"), number_in("PMI_SIZE"));
    long const local =
        std::max(number_in("OMPI_COMM_WORLD_LOCAL_SIZE"), number_in("MPI_LOCALNRANKS"));
    return all >= 1 && all == local;
}

/// On one node nothing of ours calls MPI from another thread; between nodes the helper does.
int raised(int required) {
    Settings const& s = settings();
    if (!s.enabled) return required;
    bool const one = on_one_node() && s.ranks_per_node == 0 && s.shared_memory;
    return one ? required : MPI_THREAD_MULTIPLE;
}

/// A library built for another MPI's ABI loads without complaint and then misreads every handle.
void check_fit() {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    PMPI_Get_library_version(library, &length);
    std::string const running(library, static_cast<std::size_t>(std::max(length, 0)));
    if (running.find(SLUICE_BUILT_FOR) != std::string::npos) return;
    warn("built for " SLUICE_BUILT_FOR ", but the program runs on another MPI (" +
             running.substr(0, running.find('\n')) +
             "): use the sluice command of that MPI's build",
         true);
    std::_Exit(1);
}

void initialised() {
    check_fit();
    int provided = MPI_THREAD_SINGLE, rank = 0;
    PMPI_Query_thread(&provided);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    set_thread_multiple(provided == MPI_THREAD_MULTIPLE);
    set_world_rank(rank);
    if (settings().enabled) note("version " SLUICE_VERSION " for " SLUICE_BUILT_FOR);
}

}  // namespace
}  // namespace sluice

extern "C" {

int MPI_Init(int* argc, char*** argv) {
    int provided = 0;
    int const level = sluice::raised(MPI_THREAD_SINGLE);
    int const code = level == MPI_THREAD_SINGLE ? PMPI_Init(argc, argv)
                                                : PMPI_Init_thread(argc, argv, level, &provided);
    if (code == MPI_SUCCESS) sluice::initialised();
    return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    int const code = PMPI_Init_thread(argc, argv, sluice::raised(required), provided);
    if (code == MPI_SUCCESS) sluice::initialised();
    return code;
}

int MPI_Finalize(void) {
    if (sluice::settings().enabled) {
        for (auto const& file : sluice::open_files()) file->drain();
        sluice::reap(true);
        sluice::print_statistics();
        sluice::Progress::instance().stop();
    }
    return PMPI_Finalize();
}

}  // extern "C"
