// The MPI for which this library was compiled: a word of what its MPI_Get_library_version says, or
// the standard ABI, which any MPI may have.
#pragma once
#include <mpi.h>

#if defined(MPI_ABI)
#define SLUICE_BUILT_FOR "the standard ABI"
#elif defined(OPEN_MPI)
#define SLUICE_BUILT_FOR "Open MPI"
#elif defined(I_MPI_VERSION)
#define SLUICE_BUILT_FOR "Intel"
#elif defined(MVAPICH_VERSION) || defined(MVAPICH2_VERSION)
#define SLUICE_BUILT_FOR "MVAPICH"
#elif defined(MPICH_VERSION)
#define SLUICE_BUILT_FOR "MPICH"
#else
#define SLUICE_BUILT_FOR ""  // Unknown: any library fits.
#endif
