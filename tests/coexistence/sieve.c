/* Writes even blocks of a file by a nonblocking collective call and odd ones, meanwhile, by another
 * call, many times over: `sieve PATH WAY TIMES`. One rank has two handles of the file; with two
 * ranks each has its own. A write that fetches what lies between its blocks and writes it back
 * undoes the other one. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64, BLOCKS = 16384, BYTES = BLOCK * BLOCKS };

static void require(int holds, char const* what) {
    if (holds) return;
    fprintf(stderr, "failed: %s\n", what);
    fflush(NULL);
    abort();
}

static MPI_File open_blocks(char const* path, int odd, int left_to_the_mpi) {
    MPI_Info hints;
    MPI_Info_create(&hints);
    if (left_to_the_mpi) MPI_Info_set(hints, "sluice", "disable");
    /* Programs may ask for it: it must do no harm. */
    MPI_Info_set(hints, "romio_ds_write", "enable");
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file);
    require(code == MPI_SUCCESS, "MPI_File_open");
    MPI_Datatype block, every_other;
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, 2 * BLOCK, &every_other);
    MPI_Type_commit(&every_other);
    code = MPI_File_set_view(file, odd * BLOCK, MPI_BYTE, every_other, "native", hints);
    require(code == MPI_SUCCESS, "MPI_File_set_view");
    MPI_Type_free(&every_other);
    MPI_Type_free(&block);
    MPI_Info_free(&hints);
    return file;
}

static int write_by(char const* way, MPI_File file, char const* data) {
    MPI_Status* const status = MPI_STATUS_IGNORE;
    MPI_Request request;
    int code = MPI_SUCCESS;
    if (strcmp(way, "write_at") == 0 || strcmp(way, "disabled") == 0)
        return MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, status);
    if (strcmp(way, "write") == 0) {
        MPI_File_seek(file, 0, MPI_SEEK_SET);
        return MPI_File_write(file, data, BYTES, MPI_BYTE, status);
    }
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    if (strcmp(way, "write_shared") == 0)
        return MPI_File_write_shared(file, data, BYTES, MPI_BYTE, status);
    if (strcmp(way, "write_ordered") == 0)
        return MPI_File_write_ordered(file, data, BYTES, MPI_BYTE, status);
    if (strcmp(way, "write_ordered_begin") == 0) {
        code = MPI_File_write_ordered_begin(file, data, BYTES, MPI_BYTE);
        return code != MPI_SUCCESS ? code : MPI_File_write_ordered_end(file, data, status);
    }
    require(strcmp(way, "iwrite_shared") == 0, "the way is known");
    code = MPI_File_iwrite_shared(file, data, BYTES, MPI_BYTE, &request);
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, status);
}

/* Blocks of this parity that do not hold `value`. */
static int lost_blocks(char const* path, int odd, char value) {
    static char all[2 * BYTES];
    int const file = open(path, O_RDONLY);
    require(file >= 0 && read(file, all, sizeof all) > 0, "the file is read");
    close(file);
    int lost = 0;
    for (int i = odd; i < 2 * BLOCKS; i += 2) lost += all[(long)i * BLOCK] != value;
    return lost;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, lost = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char const *const path = argv[1], *const way = argv[2];
    int const collective = rank == 0, other = rank == ranks - 1;
    MPI_File even, odd;
    if (collective) even = open_blocks(path, 0, 0);
    if (other) odd = open_blocks(path, 1, strcmp(way, "disabled") == 0);
    char* const data = malloc(BYTES);
    for (int time = 1; time <= atoi(argv[3]); ++time) {
        memset(data, time % 100, BYTES);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Barrier(MPI_COMM_WORLD);
        if (collective) MPI_File_seek(even, 0, MPI_SEEK_SET);
        if (collective) MPI_File_iwrite_all(even, data, BYTES, MPI_BYTE, &request);
        if (other) require(write_by(way, odd, data) == MPI_SUCCESS, way);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            lost += lost_blocks(path, 0, (char)(time % 100));
            lost += lost_blocks(path, 1, (char)(time % 100));
        }
        MPI_Bcast(&lost, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (lost > 0) break;
    }
    if (rank == 0) printf("%s: %d blocks lost\n", way, lost);
    if (collective) MPI_File_close(&even);
    if (other) MPI_File_close(&odd);
    free(data);
    MPI_Finalize();
    return 0;
}
