/* The system grants no further threads once MPI is set up. A rank whose bytes went straight to the
 * file waits in MPI afterwards, for one that came later. `threadless PATH` */
#include "pieces.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { WHOLE = 8 << 20, PIECE = 64, MANY = 64 << 10, LATE = 50000 };

static int refuses, refused;

int pthread_create(pthread_t* thread, pthread_attr_t const* habits, void* (*work)(void*),
                   void* argument) {
    typedef int Create(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
    refused += refuses;
    if (refuses) return EAGAIN;
    return ((Create*)dlsym(RTLD_NEXT, "pthread_create"))(thread, habits, work, argument);
}

static void write_pieces(MPI_File file, int rank, int ranks) {
    static unsigned char data[WHOLE];
    MPI_Datatype pieces;
    memset(data, rank + 1, sizeof data);
    MPI_Type_vector(MANY, PIECE, PIECE * (ranks - 1), MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    MPI_File_set_view(file, rank == 0 ? 0 : WHOLE + (MPI_Offset)PIECE * (rank - 1), MPI_BYTE,
                      rank == 0 ? MPI_BYTE : pieces, "native", MPI_INFO_NULL);
    if (rank != 0) usleep(LATE);  // Rank 0 could return before.
    int const code = MPI_File_write_all(file, data, rank == 0 ? WHOLE : MANY * PIECE, MPI_BYTE,
                                        MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_write_all");
    MPI_Type_free(&pieces);
}

static long wrong_bytes(char const* name, int ranks) {
    FILE* const file = fopen(name, "rb");
    long place = 0, wrong = 0;
    require(file != NULL, "the file is there");
    for (int byte; (byte = fgetc(file)) != EOF; ++place) {
        int const rank = place < WHOLE ? 0 : 1 + (int)((place - WHOLE) / PIECE % (ranks - 1));
        wrong += byte != rank + 1;
    }
    fclose(file);
    return wrong + labs(WHOLE + (long)MANY * PIECE * (ranks - 1) - place);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, last = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[1], MPI_INFO_NULL);
    refuses = 1;
    for (int turn = 0; turn < 5; ++turn) {
        write_pieces(file, rank, ranks);
        if (rank == ranks - 1) MPI_Ssend(&turn, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(&last, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    char const* const by = served(file) ? "served by sluice" : "served by the MPI";
    refuses = 0;
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("threadless: %s, %s, %ld wrong bytes\n", by,
               refused ? "threads were refused" : "no thread was wanted",
               wrong_bytes(argv[1], ranks));
    MPI_Finalize();
    return 0;
}
