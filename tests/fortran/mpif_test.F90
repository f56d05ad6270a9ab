! The test through mpif.h: handles are integers, statuses are arrays.
#define INCLUDE_MPI include 'mpif.h'
#include "body.inc"
