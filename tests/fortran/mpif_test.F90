! The tests through mpif.h: handles are integers, statuses are arrays.
#define INCLUDE_MPI include 'mpif.h'
#ifdef COLLECTIVES
#include "body_collectives.inc"
#else
#include "body.inc"
#endif
