/* Files that are used while MPI_Finalize runs. `finalize WAY PATH`: a delete function of
 * MPI_COMM_SELF writes to the file and closes it (deleted), or nobody closes it (left). MPI calls
 * such functions before all else (MPI-4.0, 11.2.4); HDF5 closes in one what was left open. */
#include "pieces.h"

#include <string.h>
#include <unistd.h>

static MPI_File file;
static int rank, ranks;
static unsigned char data[PIECES * PIECE_BYTES];

/* With a collective, an independent and a nonblocking call. */
static void write_pieces(void) {
    MPI_Request request = start_pieces(file, data);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int code = MPI_File_write_at(file, 0, data, HALF, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_write_at");
}

static int write_and_close(MPI_Comm self, int key, void* value, void* state) {
    (void)self, (void)key, (void)value, (void)state;
    int ended = 1;
    MPI_Finalized(&ended);
    require(!ended, "MPI has not ended");
    int const by_sluice = served(file);
    write_pieces();
    require(MPI_File_close(&file) == MPI_SUCCESS, "MPI_File_close");
    if (rank == 0) printf("served by %s\n", by_sluice ? "sluice" : "the MPI");
    return MPI_SUCCESS;
}

/* Other ranks may come to their ends later than this one. */
static void await_pieces(char const* path) {
    for (int i = 0; i < 100; ++i) {
        FILE* const found = fopen(path, "rb");
        fseek(found, -1, SEEK_END);
        int const last = fgetc(found);
        fclose(found);
        if (last == piece_value(ranks - 1, PIECES - 1)) break;
        usleep(100000);
    }
    check_pieces(path, ranks);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    require(argc == 3, "two arguments");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    file = open_pieces(MPI_COMM_WORLD, argv[2], MPI_INFO_NULL);
    fill_pieces(data, rank);
    view_pieces(file, rank, ranks);
    int key;
    if (strcmp(argv[1], "deleted") == 0) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, write_and_close, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    } else {
        int const by_sluice = served(file);
        write_pieces();
        if (rank == 0) printf("served by %s\n", by_sluice ? "sluice" : "the MPI");
    }
    MPI_Finalize();
    if (rank == 0) await_pieces(argv[2]);
    if (rank == 0) printf("all pieces are there\n");
    return 0;
}
