! The test through the module mpi: handles are integers, statuses are arrays.
#define USE_MPI use mpi
#include "body.inc"
