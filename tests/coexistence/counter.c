/* Stands for a tool such as Darshan: preloaded, counts calls, and hands them on to PMPI_*. Rank 0
 * prints the counts when it ends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    int init, finalize, open, close, view, write, iwrite;
} calls;

int MPI_File_open(MPI_Comm communicator, char const* name, int amode, MPI_Info info,
                  MPI_File* file) {
    ++calls.open;
    return PMPI_File_open(communicator, name, amode, info, file);
}

int MPI_File_close(MPI_File* file) {
    ++calls.close;
    return PMPI_File_close(file);
}

int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                      MPI_Datatype filetype, char const* representation, MPI_Info info) {
    ++calls.view;
    return PMPI_File_set_view(file, displacement, etype, filetype, representation, info);
}

int MPI_File_write_all(MPI_File file, void const* data, int count, MPI_Datatype type,
                       MPI_Status* status) {
    ++calls.write;
    return PMPI_File_write_all(file, data, count, type, status);
}

int MPI_File_iwrite_all(MPI_File file, void const* data, int count, MPI_Datatype type,
                        MPI_Request* request) {
    ++calls.iwrite;
    return PMPI_File_iwrite_all(file, data, count, type, request);
}

int MPI_Init(int* argc, char*** argv) {
    ++calls.init;
    return PMPI_Init(argc, argv);
}

int MPI_Finalize(void) {
    ++calls.finalize;
    return PMPI_Finalize();
}

/* Programs that do not use MPI, preloaded by the same variable, say nothing. */
__attribute__((destructor)) static void print_calls(void) {
    char const* const mpich = getenv("PMI_RANK");
    char const* const rank = mpich ? mpich : getenv("OMPI_COMM_WORLD_RANK");
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (finalized && rank && atoi(rank) == 0)
        printf("counted: init %d, finalize %d, open %d, close %d, set_view %d, write_all %d, "
               "iwrite_all %d\n",
               calls.init, calls.finalize, calls.open, calls.close, calls.view, calls.write,
               calls.iwrite);
}
