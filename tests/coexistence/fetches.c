/* Whether collective writes that are left to the MPI fetch the bytes between the pieces of a view,
 * to write them back: `fetches PATH WAY [HINT VALUE]`, with write_ordered or write_at_all. */
#include "pieces.h"

#include <string.h>

enum { PIECE = 64, BYTES = 1 << 20 };

/* What this process read so far, by any call: also pieces that the system copied into a mapping of
 * the file, once each. Who fetches reads three times as much. */
static long bytes_read(void) {
    long bytes = 0;
    FILE* const file = fopen("/proc/self/io", "r");
    require(file && fscanf(file, "rchar: %ld", &bytes) == 1, "the system counts");
    fclose(file);
    return bytes;
}

int main(int argc, char** argv) {
    static char data[BYTES];
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Info hints;
    MPI_Info_create(&hints);
    if (argc > 4) MPI_Info_set(hints, argv[3], argv[4]);
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[1], hints);
    MPI_File_set_size(file, (MPI_Offset)(ranks + 1) * ranks * BYTES);
    MPI_Datatype piece, tile;
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, PIECE * (ranks + 1), &tile);
    MPI_Type_commit(&tile);
    MPI_File_set_view(file, PIECE * rank, MPI_BYTE, tile, "native", MPI_INFO_NULL);
    long const before = bytes_read();
    int const code = strcmp(argv[2], "write_ordered") == 0
                         ? MPI_File_write_ordered(file, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE)
                         : MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, argv[2]);
    int const mine = bytes_read() - before > BYTES + BYTES / 2;
    int fetched = 0;
    MPI_Reduce(&mine, &fetched, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d ranks fetched\n", argv[2], fetched);
    MPI_Type_free(&tile);
    MPI_Type_free(&piece);
    MPI_Info_free(&hints);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
