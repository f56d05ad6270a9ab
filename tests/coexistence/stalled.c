/* The last rank comes late to a collective call, so that the others have no progress for SECONDS:
 * `stalled SECONDS PATH`. */
#include "pieces.h"

#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    require(argc == 3, "two arguments");
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[2], MPI_INFO_NULL);
    if (rank == ranks - 1) sleep((unsigned)atoi(argv[1]));
    int const value = rank;
    int const code = MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof value, &value, 1,
                                           MPI_INT, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_write_at_all");
    if (rank == 0) printf("served by %s\n", served(file) ? "sluice" : "the MPI");
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
