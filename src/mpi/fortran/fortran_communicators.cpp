// What makes communicators, for Fortran: with SLUICE=all all ranks must give a new one
// the same name, whatever their language. Graphs of which each rank gives a part are left out: the
// address that stands for MPI_UNWEIGHTED is known to the compiler of MPICH alone. See fortran.hpp.
#include "mpi/fortran/fortran.hpp"

#ifdef SLUICE_FORTRAN_KNOWN
using namespace sluice::fortran;

namespace {

int dimensions_of(MPI_Comm grid) {
    int count = 0;
    PMPI_Cartdim_get(grid, &count);
    return count;
}

}  // namespace

extern "C" {

SLUICE_FORTRAN(comm_dup, (Integer c, Integer made, Integer ierror),
               MPI_Comm_dup(comm(c), Out<Comm>(made)))
SLUICE_FORTRAN(comm_dup_with_info, (Integer c, Integer hints, Integer made, Integer ierror),
               MPI_Comm_dup_with_info(comm(c), info(hints), Out<Comm>(made)))
SLUICE_FORTRAN(comm_idup, (Integer c, Integer made, Integer request, Integer ierror),
               MPI_Comm_idup(comm(c), Out<Comm>(made), Out<Request>(request)))
SLUICE_FORTRAN(comm_split, (Integer c, Integer color, Integer key, Integer made, Integer ierror),
               MPI_Comm_split(comm(c), *color, *key, Out<Comm>(made)))
SLUICE_FORTRAN(comm_split_type,
               (Integer c, Integer kind, Integer key, Integer hints, Integer made, Integer ierror),
               MPI_Comm_split_type(comm(c), *kind, *key, info(hints), Out<Comm>(made)))
SLUICE_FORTRAN(comm_create, (Integer c, Integer group, Integer made, Integer ierror),
               MPI_Comm_create(comm(c), Group::to_c(group), Out<Comm>(made)))
SLUICE_FORTRAN(comm_create_group,
               (Integer c, Integer group, Integer tag, Integer made, Integer ierror),
               MPI_Comm_create_group(comm(c), Group::to_c(group), *tag, Out<Comm>(made)))
SLUICE_FORTRAN(intercomm_merge, (Integer c, Integer high, Integer made, Integer ierror),
               MPI_Intercomm_merge(comm(c), *high != 0, Out<Comm>(made)))
SLUICE_FORTRAN(cart_create,
               (Integer c, Integer dimensions, Integer sizes, Integer periods, Integer reorder,
                Integer made, Integer ierror),
               MPI_Cart_create(comm(c), *dimensions, sizes, Logicals(*dimensions, periods),
                               *reorder != 0, Out<Comm>(made)))
SLUICE_FORTRAN(cart_sub, (Integer c, Integer remain, Integer made, Integer ierror),
               MPI_Cart_sub(comm(c), Logicals(dimensions_of(comm(c)), remain), Out<Comm>(made)))
SLUICE_FORTRAN(graph_create,
               (Integer c, Integer nodes, Integer index, Integer edges, Integer reorder,
                Integer made, Integer ierror),
               MPI_Graph_create(comm(c), *nodes, index, edges, *reorder != 0, Out<Comm>(made)))

}  // extern "C"
#endif
