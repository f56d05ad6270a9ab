/* The hint sluice_write_behind on one handle of a file: every other handle sees what it has
 * delayed. `one_hint PATH` */
#include "pieces.h"

#include <string.h>

enum { ROUNDS = 8, BYTES = 1 << 20 };

static char mine[BYTES], found[BYTES];
static int rank, ranks;

static MPI_Offset place(int round, int of_rank) {
    return ((MPI_Offset)round * ranks + of_rank) * BYTES;
}

static void write_rounds(MPI_File file, int first) {
    for (int i = 0; i < ROUNDS; ++i) {
        memset(mine, first + i, sizeof mine);
        MPI_File_write_at(file, place(i, rank), mine, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    }
}

/* Of a rank; the newest first, as it is the last that comes to the file. */
static int count_stale(MPI_File file, int of_rank, int first) {
    int stale = 0;
    for (int i = ROUNDS - 1; i >= 0; --i) {
        memset(found, 0, sizeof found);
        MPI_File_read_at(file, place(i, of_rank), found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        stale += found[0] != first + i || found[BYTES - 1] != first + i;
    }
    return stale;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    require(argc == 2, "one argument");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "sluice_write_behind", "64M");
    MPI_File delays = open_pieces(MPI_COMM_WORLD, argv[1], hints);
    MPI_File other = open_pieces(MPI_COMM_WORLD, argv[1], MPI_INFO_NULL);
    MPI_File own = open_pieces(MPI_COMM_SELF, argv[1], MPI_INFO_NULL);
    int stale = 0, all = 0;
    write_rounds(delays, 'a');
    stale += count_stale(other, rank, 'a') + count_stale(own, rank, 'a');
    write_rounds(delays, 'A');
    MPI_Barrier(MPI_COMM_WORLD);
    stale += count_stale(other, (rank + 1) % ranks, 'A');
    MPI_Barrier(MPI_COMM_WORLD);
    write_rounds(delays, '0');
    write_rounds(own, 'k'); /* What comes later stays. */
    MPI_File_sync(delays);
    MPI_Barrier(MPI_COMM_WORLD);
    stale += count_stale(other, rank, 'k');
    MPI_File_close(&own);
    MPI_File_close(&other);
    MPI_File_close(&delays);
    MPI_Info_free(&hints);
    MPI_Reduce(&stale, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d pieces are stale\n", all);
    MPI_Finalize();
    return 0;
}
