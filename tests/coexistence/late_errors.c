/* Writes a file of which only the system's close tells that bytes are lost, and says which ranks
 * hear of it, and from which function. `late_errors PATH` */
#include "pieces.h"

int main(int argc, char** argv) {
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    require(argc == 2, "an argument");
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[1], MPI_INFO_NULL);
    int const by_sluice = served(file);
    unsigned char data[PIECES * PIECE_BYTES];
    fill_pieces(data, rank);
    view_pieces(file, rank, ranks);
    MPI_Request request = start_pieces(file, data);
    require(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "the write is complete");
    int class = MPI_SUCCESS, told = 0;
    int const code = MPI_File_close(&file);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    int const heard = class == MPI_ERR_NO_SPACE || class == MPI_ERR_IO;
    require(heard || class == MPI_SUCCESS, "the error class");
    MPI_Reduce(&heard, &told, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("served by %s\n", by_sluice ? "sluice" : "the MPI");
    if (rank == 0) printf("MPI_File_close told %d of %d ranks\n", told, ranks);
    if (MPI_Finalize() != MPI_SUCCESS) printf("MPI_Finalize told rank %d\n", rank);
    return 0;
}
