/* Another job holds locks of two files in atomic mode; a third file must go on meanwhile.
 * `locks PATH`. */
#include "pieces.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { LOCKED = 2, SECONDS = 8 };

/* Belongs to no descriptor but this: so it might be another job's. */
static int lock_all(char const* name) {
    int const fd = open(name, O_RDWR | O_CREAT, 0600);
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    require(fd >= 0 && fcntl(fd, F_OFD_SETLK, &all) == 0, "the lock is free");
    return fd;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static MPI_Request start(MPI_File file, unsigned char* data, int rank) {
    MPI_Request request;
    MPI_Offset const at = (MPI_Offset)rank * PIECES * PIECE_BYTES;
    int const code =
        MPI_File_iwrite_at_all(file, at, data, PIECES * PIECE_BYTES, MPI_BYTE, &request);
    require(code == MPI_SUCCESS, "MPI_File_iwrite_at_all");
    return request;
}

static int completes(MPI_Request* request) {
    int done = 0;
    for (double const end = now() + SECONDS; !done && now() < end; usleep(1000))
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    return done;
}

int main(int argc, char** argv) {
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    require(argc == 2, "one argument");
    unsigned char data[PIECES * PIECE_BYTES];
    fill_pieces(data, rank);
    char names[LOCKED + 1][4096];
    MPI_File files[LOCKED + 1];
    MPI_Request requests[2 * LOCKED + 1];
    int locks[LOCKED];
    for (int i = 0; i <= LOCKED; ++i) {
        snprintf(names[i], sizeof names[i], "%s.%d", argv[1], i);
        if (i < LOCKED && rank == 0) locks[i] = lock_all(names[i]);
        files[i] = open_pieces(MPI_COMM_WORLD, names[i], MPI_INFO_NULL);
        if (i < LOCKED) MPI_File_set_atomicity(files[i], 1);
    }
    /* Two of each file: those of one file also wait for each other. */
    for (int i = 0; i < 2 * LOCKED; ++i) requests[i] = start(files[i / 2], data, rank);
    requests[2 * LOCKED] = start(files[LOCKED], data, rank);
    require(completes(&requests[2 * LOCKED]), "the third file goes on");
    int any = 0, index;
    MPI_Testany(2 * LOCKED, requests, &index, &any, MPI_STATUS_IGNORE);
    require(!any, "the others wait for their locks");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < LOCKED; ++i) close(locks[i]);
    MPI_Waitall(2 * LOCKED, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i <= LOCKED; ++i) MPI_File_close(&files[i]);
    if (rank == 0) printf("the third file went on\n");
    MPI_Finalize();
    return 0;
}
