// The functions that make communicators: with SLUICE=all the new ones get names here
// (names.hpp). Else a call goes straight to the MPI.
#include "mpi/communicator/names.hpp"
#include "mpi/pmpi.hpp"

// NOLINTBEGIN(bugprone-macro-parentheses)
/// All ranks of `comm` call it.
#define SLUICE_MAKES(NAME, PARAMETERS, ARGUMENTS)                                                  \
    int NAME PARAMETERS {                                                                          \
        return sluice::make_child(comm, made, [&] { return SLUICE_PMPI(NAME) ARGUMENTS; });        \
    }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

SLUICE_MAKES(MPI_Cart_create,
             (MPI_Comm comm, int dimensions, int const sizes[], int const periods[], int reorder,
              MPI_Comm* made),
             (comm, dimensions, sizes, periods, reorder, made))
SLUICE_MAKES(MPI_Cart_sub, (MPI_Comm comm, int const remain[], MPI_Comm* made),
             (comm, remain, made))
SLUICE_MAKES(MPI_Graph_create,
             (MPI_Comm comm, int nodes, int const index[], int const edges[], int reorder,
              MPI_Comm* made),
             (comm, nodes, index, edges, reorder, made))
SLUICE_MAKES(MPI_Dist_graph_create,
             (MPI_Comm comm, int n, int const sources[], int const degrees[],
              int const destinations[], int const weights[], MPI_Info info, int reorder,
              MPI_Comm* made),
             (comm, n, sources, degrees, destinations, weights, info, reorder, made))
SLUICE_MAKES(MPI_Dist_graph_create_adjacent,
             (MPI_Comm comm, int in, int const sources[], int const source_weights[], int out,
              int const destinations[], int const weights[], MPI_Info info, int reorder,
              MPI_Comm* made),
             (comm, in, sources, source_weights, out, destinations, weights, info, reorder, made))
SLUICE_MAKES(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
SLUICE_MAKES(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made),
             (comm, info, made))
SLUICE_MAKES(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made),
             (comm, color, key, made))
SLUICE_MAKES(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
             (comm, type, key, info, made))
SLUICE_MAKES(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made))

// The two groups have names of their own.
int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* made) {
    return sluice::make_by_members(
        made, [&] { return SLUICE_PMPI(MPI_Intercomm_merge)(comm, high, made); });
}

// Only some of the ranks of `comm` call it.
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
    return sluice::make_by_members(
        made, [&] { return SLUICE_PMPI(MPI_Comm_create_group)(comm, group, tag, made); });
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
    return sluice::make_duplicate(comm,
                                  [&] { return SLUICE_PMPI(MPI_Comm_idup)(comm, made, request); });
}

#if MPI_VERSION >= 4
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
    return sluice::make_duplicate(
        comm, [&] { return SLUICE_PMPI(MPI_Comm_idup_with_info)(comm, info, made, request); });
}
#endif

}  // extern "C"
