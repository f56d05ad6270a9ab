/* A program in C that knows nothing of Sluice. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { numbers = 100000 };

int main(int argc, char** argv) {
    static int written[numbers], back[numbers];
    int rank, wrong;
    MPI_File file;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < numbers; ++i) written[i] = rank * numbers + i;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Offset const place = (MPI_Offset)rank * (MPI_Offset)sizeof written;
    MPI_File_iwrite_at_all(file, place, written, numbers, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, place, back, numbers, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    wrong = memcmp(written, back, sizeof back) != 0;
    if (rank == 0) puts(wrong ? "other bytes" : "same bytes");
    MPI_Finalize();
    return wrong;
}
