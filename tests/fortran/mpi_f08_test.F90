! The test through the module mpi_f08: handles and statuses have types of their own.
#define USE_MPI use mpi_f08
#define F08
#include "body.inc"
