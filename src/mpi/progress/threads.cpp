// How the system and the other ranks of the node are asked for their cores. See threads.hpp.
#include "mpi/progress/threads.hpp"

#include "system/environment.hpp"
#include "system/library_thread.hpp"
#include "system/log.hpp"

namespace sluice {
namespace {

/// The cores that any rank of this node is bound to.
Cores cores_of_ranks(MPI_Comm world, Cores const& own) {
    Cores all;
    MPI_Comm node = MPI_COMM_NULL;
    PMPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (node == MPI_COMM_NULL) return all;
    PMPI_Allreduce(own.words().data(), all.words().data(), static_cast<int>(own.words().size()),
                   MPI_UINT64_T, MPI_BOR, node);
    PMPI_Comm_free(&node);
    return all;
}

void tell(Affinity const& affinity, CoresSeen const& seen, Cores const& chosen) {
    bool const listed = affinity.way == Affinity::Way::list && !seen.online.empty();
    Cores const missing = listed ? affinity.list.without(seen.online) : Cores{};
    if (!missing.empty()) {
        warn("SLUICE_AFFINITY: there is no core " + missing.text() +
             "; the library's threads run on " + chosen.text());
    }
    note("the library's threads run on cores " + (chosen.empty() ? "not known" : chosen.text()));
}

}  // namespace

void settle_threads(MPI_Comm world) {
    static Cores const allowed = process_cores();  // Later the program may bind its own threads.
    Affinity const& affinity = settings().affinity;
    CoresSeen seen{allowed, {}, {}};
    if (affinity.way != Affinity::Way::inherit) seen.online = online_cores();
    if (affinity.way == Affinity::Way::spread && world != MPI_COMM_NULL) {
        seen.taken = cores_of_ranks(world, allowed);
    }
    Cores const chosen = choose_cores(affinity, seen);
    tell(affinity, seen, chosen);
    set_quiet_cores(chosen);
}

}  // namespace sluice
