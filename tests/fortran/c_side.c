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

enum { most = 256 };
static MPI_Request generalized[most];
static int generalized_count = 0;

/* Each collective between memories that Sluice serves is a generalized request of the MPI's, which
 * may serve again and again. */
int PMPI_Grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* release,
                        MPI_Grequest_cancel_function* cancel, void* state, MPI_Request* request) {
    int (*start)(MPI_Grequest_query_function*, MPI_Grequest_free_function*,
                 MPI_Grequest_cancel_function*, void*, MPI_Request*) = NULL;
    *(void**)&start = dlsym(RTLD_NEXT, "PMPI_Grequest_start");
    int const code = start(query, release, cancel, state, request);
    if (generalized_count < most) generalized[generalized_count++] = *request;
    return code;
}

/* Its handle may soon be another's. */
int PMPI_Grequest_complete(MPI_Request request) {
    int (*complete)(MPI_Request) = NULL;
    *(void**)&complete = dlsym(RTLD_NEXT, "PMPI_Grequest_complete");
    for (int i = 0; i < generalized_count; ++i) {
        if (generalized[i] == request) generalized[i--] = generalized[--generalized_count];
    }
    return complete(request);
}

/* 1: a request for something under way is Sluice's. */
int is_served(MPI_Fint const* request) {
    MPI_Request const wanted = MPI_Request_f2c(*request);
    for (int i = 0; i < generalized_count; ++i) {
        if (generalized[i] == wanted) return 1;
    }
    return 0;
}
