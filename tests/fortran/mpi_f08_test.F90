! The tests through the module mpi_f08: handles and statuses have types of their own.
#define USE_MPI use mpi_f08
#define F08
#ifdef COLLECTIVES
#include "body_collectives.inc"
#else
#include "body.inc"
#endif
