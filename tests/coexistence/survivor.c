/* A rank is killed whose writes have returned, and another one lives on with their bytes.
 * `survivor CALLS WHAT PATH`. Rank 1 writes `old` by CALLS: alone (a handle of its own), together
 * (independent calls by a handle of both), collective (both ranks, each its own bytes); it tells
 * rank 0, and is killed. Rank 0 then reads those bytes, or writes `new` over them. `survivor check
 * WHAT PATH` says what is in the file when both and their keepers have ended. */
#include "letters.h"
#include "pieces.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { WRITTEN = 12, SECONDS = 60 };

static char piece[LETTERS_BYTES];

static void write_old(MPI_File file, int is_collective, int rank) {
    memset(piece, 'o', sizeof piece);
    for (int i = 0; i < WRITTEN; ++i) {
        MPI_Offset const at = (MPI_Offset)(rank == 1 ? i : i + WRITTEN) * LETTERS_BYTES;
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
    for (int i = 0; i < WRITTEN; ++i) {
        MPI_Offset const at = (MPI_Offset)i * LETTERS_BYTES;
        memset(piece, writes ? 'n' : 0, sizeof piece);
        int code = access_piece(file, at, writes);
        if (code != MPI_SUCCESS) code = access_piece(file, at, writes);
        require(code == MPI_SUCCESS, "an access behind the one that tells of the lost rank");
        right += writes || (piece[0] == 'o' && piece[LETTERS_BYTES - 1] == 'o');
    }
    printf("the survivor is done with %d of %d pieces\n", right, WRITTEN);
    fflush(stdout);
}

int main(int argc, char** argv) {
    require(argc == 4, "three arguments");
    char const *const calls = argv[1], *const path = argv[3];
    int const writes = strcmp(argv[2], "write") == 0;
    if (strcmp(calls, "check") == 0) {
        char const letter = writes ? 'n' : 'o';
        for (int i = 0; i < 100 && count_letters(path, WRITTEN, letter) < WRITTEN; ++i)
            usleep(50000);
        usleep(500000); /* A keeper that writes late does it now. */
        printf("%d of %d pieces are right in the end\n", count_letters(path, WRITTEN, letter),
               WRITTEN);
        return 0;
    }
    alarm(SECONDS);
    MPI_Init(NULL, NULL);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const is_alone = strcmp(calls, "alone") == 0,
              is_collective = strcmp(calls, "collective") == 0;
    MPI_File const file =
        open_pieces(is_alone ? MPI_COMM_SELF : MPI_COMM_WORLD, path, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 || is_collective) write_old(file, is_collective, rank);
    if (rank == 1) {
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        usleep(50000); /* The message is on its way, the bytes are not in the file. */
        raise(SIGKILL);
    }
    MPI_Recv(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    live_on(file, writes);
    _exit(0); /* MPI_Finalize would wait for the other rank. */
}
