/* A rank is killed whose writes have returned, and another one lives on with their bytes.
 * `survivor CALLS WHAT PATH PIECES`. All but rank 0 write `old` by CALLS: alone (a handle of its
 * own), together (independent calls by a handle of all), collective (all ranks, each its own
 * bytes); they tell rank 0, and rank 1 is killed. Rank 0 then reads the bytes of the last rank, or
 * writes `new` over them. `survivor check WHAT PATH PIECES` says what is in the file when all and
 * their keepers have ended. By the environment so many HANDLES of another file are open before, the
 * keeper that slow_writes.c names in KEEPER_OF_0 is killed, and with KILL_AT_MARK that kills rank 1
 * itself. */
#include "letters.h"
#include "pieces.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 60, HANDLES_OF_ONE = 64 };

static int written; /* Pieces of a rank. */
static char piece[LETTERS_BYTES];

/* The last rank's bytes come first. */
static void write_old(MPI_File file, int is_collective, int ranks_behind) {
    memset(piece, 'o', sizeof piece);
    for (int i = 0; i < written; ++i) {
        MPI_Offset const at = (MPI_Offset)(i + written * ranks_behind) * LETTERS_BYTES;
        int const code =
            is_collective
                ? MPI_File_write_at_all(file, at, piece, LETTERS_BYTES, MPI_BYTE, MPI_STATUS_IGNORE)
                : MPI_File_write_at(file, at, piece, LETTERS_BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        require(code == MPI_SUCCESS, "a write of the old bytes");
    }
}

static int access_piece(MPI_File file, MPI_Offset at, int writes) {
    return writes ? MPI_File_write_at(file, at, piece, LETTERS_BYTES, MPI_BYTE, MPI_STATUS_IGNORE)
                  : MPI_File_read_at(file, at, piece, LETTERS_BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void live_on(MPI_File file, int writes) {
    int right = 0;
    for (int i = 0; i < written; ++i) {
        MPI_Offset const at = (MPI_Offset)i * LETTERS_BYTES;
        memset(piece, writes ? 'n' : 0, sizeof piece);
        int code = access_piece(file, at, writes);
        if (code != MPI_SUCCESS) code = access_piece(file, at, writes);
        require(code == MPI_SUCCESS, "an access behind the one that tells of the lost rank");
        right += writes || (piece[0] == 'o' && piece[LETTERS_BYTES - 1] == 'o');
    }
    printf("the survivor is done with %d of %d pieces\n", right, written);
    fflush(stdout);
}

/* Sluice leaves those of a communicator that has too many open to the MPI. */
static void open_others(char const* path, int handles) {
    char other[4096];
    snprintf(other, sizeof other, "%s2", path);
    for (int i = 0; i < handles; i += HANDLES_OF_ONE) {
        MPI_Comm communicator;
        MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
        for (int k = 0; k < HANDLES_OF_ONE; ++k) open_pieces(communicator, other, MPI_INFO_NULL);
    }
}

static void kill_keeper(char const* named) {
    int process = 0;
    FILE* const file = fopen(named, "r");
    require(file && fscanf(file, "%d", &process) == 1 && process > 1, "a keeper is there");
    fclose(file);
    require(kill(process, SIGKILL) == 0, "it lives");
}

int main(int argc, char** argv) {
    require(argc == 5, "four arguments");
    char const *const calls = argv[1], *const path = argv[3];
    int const writes = strcmp(argv[2], "write") == 0;
    written = atoi(argv[4]);
    if (strcmp(calls, "check") == 0) {
        char const letter = writes ? 'n' : 'o';
        for (int i = 0; i < 100 && count_letters(path, written, letter) < written; ++i)
            usleep(50000);
        usleep(500000); /* A keeper that writes late does it now. */
        printf("%d of %d pieces are right in the end\n", count_letters(path, written, letter),
               written);
        return 0;
    }
    alarm(SECONDS);
    MPI_Init(NULL, NULL);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int const is_alone = strcmp(calls, "alone") == 0,
              is_collective = strcmp(calls, "collective") == 0;
    if (getenv("HANDLES")) open_others(path, atoi(getenv("HANDLES")));
    MPI_File const file =
        open_pieces(is_alone ? MPI_COMM_SELF : MPI_COMM_WORLD, path, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    char const* const keeper = getenv("KEEPER_OF_0");
    if (rank == 0 && keeper) kill_keeper(keeper);
    if (rank > 0 || is_collective) write_old(file, is_collective, ranks - 1 - rank);
    if (rank > 0) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 1 && !getenv("KILL_AT_MARK")) {
        usleep(50000); /* The message is on its way, the bytes are not in the file. */
        raise(SIGKILL);
    }
    if (rank > 0) { /* Rank 2 computes; or rank 1 is killed soon. */
        sleep(2);
        _exit(0);
    }
    for (int i = 1; i < ranks; ++i)
        MPI_Recv(&rank, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    live_on(file, writes);
    if (keeper || getenv("HANDLES")) MPI_File_sync(file); /* No keeper has to write it. */
    _exit(0); /* MPI_Finalize would wait for the other ranks. */
}
