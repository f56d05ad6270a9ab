// Mode `calls`: collective calls of the MPI beside those in interpose_blocking.cpp, before which
// all ranks meet: topologies, intercommunicators, neighbourhood collectives, and calls on files
// that are left to the MPI. In the other mode everything here goes straight on.
#include "api/environment.hpp"
#include "api/file.hpp"
#include "api/meet.hpp"
#include "api/next.hpp"
#include "api/peers.hpp"

#include <map>
#include <mutex>

namespace sluice {
namespace {

/// Communicators of our own, one for each file that is left to the MPI: the program may free its.
struct Meetings {
    std::mutex mutex;
    std::map<MPI_File, MPI_Comm> all;
};
Meetings& meetings() {
    static auto* const only = new Meetings;
    return *only;
}

MPI_Comm meeting_of(MPI_File handle) {
    std::lock_guard const lock(meetings().mutex);
    auto const found = meetings().all.find(handle);
    return found == meetings().all.end() ? MPI_COMM_NULL : found->second;
}

bool calls_drive() { return settings().enabled && settings().progress_in_calls; }

}  // namespace

void meet(MPI_File handle) {
    if (!calls_drive()) return;
    auto const file = find_file(handle);
    meet(file ? file->team->communicator : meeting_of(handle));
}

void expect_meetings(MPI_File handle, MPI_Comm communicator) {
    if (!calls_drive() || find_file(handle) || !all_have_sluice(communicator)) return;
    MPI_Comm own = MPI_COMM_NULL;
    if (PMPI_Comm_dup(communicator, &own) != MPI_SUCCESS) return;
    std::lock_guard const lock(meetings().mutex);
    meetings().all[handle] = own;
}

void end_meetings(MPI_File handle) {
    if (!calls_drive()) return;
    meet(handle);
    MPI_Comm own = MPI_COMM_NULL;
    {
        std::lock_guard const lock(meetings().mutex);
        auto const found = meetings().all.find(handle);
        if (found == meetings().all.end()) return;
        own = found->second;
        meetings().all.erase(found);
    }
    PMPI_Comm_free(&own);
}

}  // namespace sluice

// NOLINTBEGIN(bugprone-macro-parentheses)
#define SLUICE_COLLECTIVE(NAME, PARAMETERS, ARGUMENTS, COMMUNICATOR)                               \
    int NAME PARAMETERS {                                                                          \
        sluice::meet(COMMUNICATOR);                                                                \
        return SLUICE_NEXT(NAME) ARGUMENTS;                                                        \
    }
// NOLINTEND(bugprone-macro-parentheses)
#define SLUICE_NEIGHBOURS(SUFFIX, COUNT, PLACE)                                                    \
    SLUICE_COLLECTIVE(MPI_Neighbor_allgather##SUFFIX,                                              \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT rn,                \
                       MPI_Datatype rt, MPI_Comm comm),                                            \
                      (s, sn, st, r, rn, rt, comm), comm)                                          \
    SLUICE_COLLECTIVE(MPI_Neighbor_allgatherv##SUFFIX,                                             \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT const rn[],        \
                       PLACE const rp[], MPI_Datatype rt, MPI_Comm comm),                          \
                      (s, sn, st, r, rn, rp, rt, comm), comm)                                      \
    SLUICE_COLLECTIVE(MPI_Neighbor_alltoall##SUFFIX,                                               \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT rn,                \
                       MPI_Datatype rt, MPI_Comm comm),                                            \
                      (s, sn, st, r, rn, rt, comm), comm)                                          \
    SLUICE_COLLECTIVE(MPI_Neighbor_alltoallv##SUFFIX,                                              \
                      (void const* s, COUNT const sn[], PLACE const sp[], MPI_Datatype st,         \
                       void* r, COUNT const rn[], PLACE const rp[], MPI_Datatype rt,               \
                       MPI_Comm comm),                                                             \
                      (s, sn, sp, st, r, rn, rp, rt, comm), comm)                                  \
    SLUICE_COLLECTIVE(MPI_Neighbor_alltoallw##SUFFIX,                                              \
                      (void const* s, COUNT const sn[], MPI_Aint const sp[],                       \
                       MPI_Datatype const st[], void* r, COUNT const rn[], MPI_Aint const rp[],    \
                       MPI_Datatype const rt[], MPI_Comm comm),                                    \
                      (s, sn, sp, st, r, rn, rp, rt, comm), comm)

extern "C" {

SLUICE_NEIGHBOURS(, int, int)
#ifdef SLUICE_HAVE_LARGE_COUNT
SLUICE_NEIGHBOURS(_c, MPI_Count, MPI_Aint)
#endif

SLUICE_COLLECTIVE(MPI_Cart_create,
                  (MPI_Comm comm, int dimensions, int const sizes[], int const periods[],
                   int reorder, MPI_Comm* made),
                  (comm, dimensions, sizes, periods, reorder, made), comm)
SLUICE_COLLECTIVE(MPI_Cart_sub, (MPI_Comm comm, int const remain[], MPI_Comm* made),
                  (comm, remain, made), comm)
SLUICE_COLLECTIVE(MPI_Graph_create,
                  (MPI_Comm comm, int nodes, int const index[], int const edges[], int reorder,
                   MPI_Comm* made),
                  (comm, nodes, index, edges, reorder, made), comm)
SLUICE_COLLECTIVE(MPI_Dist_graph_create,
                  (MPI_Comm comm, int n, int const sources[], int const degrees[],
                   int const destinations[], int const weights[], MPI_Info info, int reorder,
                   MPI_Comm* made),
                  (comm, n, sources, degrees, destinations, weights, info, reorder, made), comm)
SLUICE_COLLECTIVE(
    MPI_Dist_graph_create_adjacent,
    (MPI_Comm comm, int in, int const sources[], int const source_weights[], int out,
     int const destinations[], int const weights[], MPI_Info info, int reorder, MPI_Comm* made),
    (comm, in, sources, source_weights, out, destinations, weights, info, reorder, made), comm)
SLUICE_COLLECTIVE(MPI_Intercomm_create,
                  (MPI_Comm comm, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm* made),
                  (comm, leader, peer, remote, tag, made), comm)
SLUICE_COLLECTIVE(MPI_Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm* made),
                  (comm, high, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_disconnect, (MPI_Comm * comm), (comm), *comm)
SLUICE_COLLECTIVE(MPI_Comm_accept,
                  (char const* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
                  (port, info, root, comm, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_connect,
                  (char const* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
                  (port, info, root, comm, made), comm)
SLUICE_COLLECTIVE(MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win),
                  (info, comm, win), comm)

}  // extern "C"
