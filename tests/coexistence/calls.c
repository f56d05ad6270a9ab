/* Mode `calls`: one rank is in a collective call of the MPI while the others wait for an operation
 * that it has started. Says which call is next, so that a watch tells where it stood still. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static MPI_File served, left;
static int rank;

static void apart_begin(MPI_Request* request, char* data) {
    MPI_File_iwrite_at_all(served, (MPI_Offset)rank * 65536, data, 65536, MPI_BYTE, request);
    if (rank != 0) MPI_Wait(request, MPI_STATUS_IGNORE);
}

#define APART(CALL)                                                                                \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        if (rank == 0) printf("next: %s\n", #CALL), fflush(stdout);                                \
        apart_begin(&request, data);                                                               \
        CALL;                                                                                      \
        if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);                                      \
    } while (0)

int main(int argc, char** argv) {
    static char data[65536];
    char name[4096];
    int size, remain = 1, periods = 0, in[1], out[1], weights[1] = {1}, values[8] = {0};
    MPI_Comm grid, made;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "%s.left", argv[1]);
    MPI_Info_create(&info);
    MPI_Info_set(info, "sluice", "disable");
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &served);
    APART(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &left));
    in[0] = (rank + size - 1) % size;
    out[0] = (rank + 1) % size;
    APART(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &grid));
    APART(MPI_Cart_sub(grid, &remain, &made));
    MPI_Comm_free(&made);
    APART(MPI_Neighbor_allgather(&rank, 1, MPI_INT, values, 1, MPI_INT, grid));
    APART(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, in, weights, 1, out, weights,
                                         MPI_INFO_NULL, 0, &made));
    MPI_Comm_free(&made);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    APART(MPI_Comm_disconnect(&made));
    APART(MPI_File_write_ordered(left, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    APART(MPI_File_set_size(left, 4096));
    APART(MPI_File_preallocate(left, 8192));
    APART(MPI_File_set_view(left, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    APART(MPI_File_write_at_all(left, 8 * rank, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    APART(MPI_File_sync(left));
    APART(MPI_File_close(&left));
    MPI_Comm_free(&grid);
    MPI_File_close(&served);
    MPI_Info_free(&info);
    if (rank == 0) printf("all calls were left\n");
    MPI_Finalize();
    return 0;
}
