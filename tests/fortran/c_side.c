/* The C half of the Fortran tests: what Sluice says it served, and handles that cross over. */
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

#include "sluice/sluice.h"

enum { not_loaded = -2, not_served = -1 };

/* The operations that Sluice counted on a file. */
int served_operations(MPI_Fint const* file) {
    int (*statistics)(MPI_File, sluice_statistics*) = NULL;
    *(void**)&statistics = dlsym(RTLD_DEFAULT, "sluice_file_statistics");
    if (!statistics) return not_loaded;
    sluice_statistics s;
    s.size = sizeof s;
    if (statistics(MPI_File_f2c(*file), &s) != MPI_SUCCESS) return not_served;
    return (int)s.operations;
}

/* A handle of Fortran's, used in C. */
int write_in_c(MPI_Fint const* file, MPI_Offset const* offset, void const* buffer,
               int const* count) {
    return MPI_File_write_at_all(MPI_File_f2c(*file), *offset, buffer, *count, MPI_INT,
                                 MPI_STATUS_IGNORE);
}

/* A handle of C's, for Fortran. */
int open_in_c(char const* name, MPI_Fint* file) {
    MPI_File opened = MPI_FILE_NULL;
    int const code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
                                   MPI_INFO_NULL, &opened);
    *file = MPI_File_c2f(opened);
    return code;
}

static int generalized_requests = 0;

/* Each collective between memories that Sluice serves has a generalized request of the MPI's. */
int PMPI_Grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* release,
                        MPI_Grequest_cancel_function* cancel, void* state, MPI_Request* request) {
    int (*start)(MPI_Grequest_query_function*, MPI_Grequest_free_function*,
                 MPI_Grequest_cancel_function*, void*, MPI_Request*) = NULL;
    *(void**)&start = dlsym(RTLD_NEXT, "PMPI_Grequest_start");
    ++generalized_requests;
    return start(query, release, cancel, state, request);
}

int served_collectives(void) { return generalized_requests; }
