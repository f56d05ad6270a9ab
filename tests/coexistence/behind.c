/* A tool behind Sluice: what happens between the MPI's open of a file and Sluice's. BEHIND=replace:
 * rank 0 moves the file to PATH.moved and PATH.other to PATH, as another job might. BEHIND=limit:
 * the last rank gets no more descriptors, once the second file is opened. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void replace(char const* name) {
    char moved[4096], other[4096];
    snprintf(moved, sizeof moved, "%s.moved", name);
    snprintf(other, sizeof other, "%s.other", name);
    if (rename(name, moved) != 0 || rename(other, name) != 0) abort();
}

static void limit(void) {
    int const next = dup(0);
    struct rlimit descriptors;
    getrlimit(RLIMIT_NOFILE, &descriptors);
    descriptors.rlim_cur = (rlim_t)next;
    close(next);
    if (setrlimit(RLIMIT_NOFILE, &descriptors) != 0) abort();
}

int MPI_File_open(MPI_Comm communicator, char const* name, int amode, MPI_Info hints,
                  MPI_File* file) {
    static int opened = 0;
    int const code = PMPI_File_open(communicator, name, amode, hints, file);
    int rank, ranks;
    PMPI_Comm_rank(communicator, &rank);
    PMPI_Comm_size(communicator, &ranks);
    int const replaces = strcmp(getenv("BEHIND"), "replace") == 0;
    if (replaces && rank == 0) replace(name);
    if (!replaces && rank == ranks - 1 && ++opened == 2) limit();
    PMPI_Barrier(communicator);
    return code;
}
