! The tests through the module mpi: handles are integers, statuses are arrays.
#define USE_MPI use mpi
#ifdef COLLECTIVES
#include "body_collectives.inc"
#else
#include "body.inc"
#endif
