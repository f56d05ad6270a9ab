/* Files that are used while MPI_Finalize runs. `finalize WAY PATH`: a delete function of
 * MPI_COMM_SELF writes to the file and closes it (deleted), or nobody closes it (left). MPI calls
 * such functions before all else (MPI-4.0, 11.2.4); HDF5 closes in one what was left open. Or the
 * file is closed before, by a close that waits for nothing (closed), also where the system refuses
 * the bytes (refused). */
#include "pieces.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
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

static void write_left(void) {
    int const by_sluice = served(file);
    write_pieces();
    if (rank == 0) printf("served by %s\n", by_sluice ? "sluice" : "the MPI");
}

/* No file of this process may be as long as the pieces are. Each rank is told once. */
static void write_refused(void) {
    struct rlimit const least = {PIECE_BYTES, PIECE_BYTES};
    signal(SIGXFSZ, SIG_IGN);
    int const by_sluice = served(file);
    setrlimit(RLIMIT_FSIZE, &least);
    int const code = MPI_File_write_all(file, data, HALF, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_write_all");
    int const at_close = MPI_File_close(&file), at_end = MPI_Finalize();
    require((at_close == MPI_SUCCESS) != (at_end == MPI_SUCCESS), "one call tells of the error");
    if (rank > 0) return;
    printf("served by %s\ntold by %s\n", by_sluice ? "sluice" : "the MPI",
           at_end == MPI_SUCCESS ? "MPI_File_close" : "MPI_Finalize");
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
    } else if (strcmp(argv[1], "refused") == 0) {
        write_refused();
        return 0;
    } else {
        write_left();
        if (strcmp(argv[1], "closed") == 0)
            require(MPI_File_close(&file) == MPI_SUCCESS, "MPI_File_close");
    }
    MPI_Finalize();
    if (rank == 0) await_pieces(argv[2]);
    if (rank == 0) printf("all pieces are there\n");
    return 0;
}
