/* Files are opened, and messages go through the node's memory, while the pieces of another file are
 * staged there: each has memory of its own. `crowded PATH` */
#include "pieces.h"

#include <string.h>

enum { PIECE = 64, MIB = 1 << 20, SHARE = 16 * MIB, TURNS = 24, WORDS = 3000 };

static unsigned char value_at(long place) { return (unsigned char)(1 + place * 7 % 251 % 250); }

/* All ranks' pieces in turn. */
static void fill(unsigned char* data, int rank, int ranks) {
    for (long i = 0; i < SHARE; ++i)
        data[i] = value_at((i / PIECE * ranks + rank) * PIECE + i % PIECE);
}

static MPI_File open_wide(char const* name, int rank, int ranks) {
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "cb_buffer_size", "16777216");
    MPI_Info_set(hints, "cb_nodes", "2");
    MPI_Info_set(hints, "romio_cb_write", "enable");
    MPI_File const file = open_pieces(MPI_COMM_WORLD, name, hints);
    MPI_Datatype pieces;
    MPI_Type_vector(SHARE / PIECE, PIECE, PIECE * ranks, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    int const code = MPI_File_set_view(file, (MPI_Offset)PIECE * rank, MPI_BYTE, pieces, "native",
                                       MPI_INFO_NULL);
    require(code == MPI_SUCCESS, "MPI_File_set_view");
    MPI_Type_free(&pieces);
    MPI_Info_free(&hints);
    return file;
}

static void open_another(char const* name) {
    MPI_File file = open_pieces(MPI_COMM_WORLD, name, MPI_INFO_NULL);
    MPI_File_close(&file);
}

static void exchange(int rank, int ranks) {
    static int sent[8 * WORDS], received[8 * WORDS];
    for (int i = 0; i < ranks * WORDS; ++i) sent[i] = rank * 1000000 + i;
    MPI_Request request;
    MPI_Ialltoall(sent, WORDS, MPI_INT, received, WORDS, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int from = 0; from < ranks; ++from)
        for (int i = 0; i < WORDS; ++i)
            require(received[from * WORDS + i] == from * 1000000 + rank * WORDS + i,
                    "messages arrive as they were sent");
}

static long wrong_bytes(char const* name, int ranks) {
    static unsigned char part[MIB];
    FILE* const file = fopen(name, "rb");
    long wrong = 0, place = 0;
    require(file != NULL, "the file is there");
    for (size_t got; (got = fread(part, 1, MIB, file)) > 0;)
        for (size_t i = 0; i < got; ++i) wrong += part[i] != value_at(place++);
    fclose(file);
    return wrong + labs((long)SHARE * ranks - place);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    unsigned char* const data = malloc(SHARE);
    char other[4096];
    snprintf(other, sizeof other, "%s.other", argv[1]);
    fill(data, rank, ranks);
    exchange(rank, ranks);
    MPI_File file = open_wide(argv[1], rank, ranks);
    MPI_Request request;
    int const code = MPI_File_iwrite_all(file, data, SHARE, MPI_BYTE, &request);
    require(code == MPI_SUCCESS, "MPI_File_iwrite_all");
    for (int turn = 0; turn < TURNS; ++turn) {
        open_another(other);
        exchange(rank, ranks);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    char const* const by = served(file) ? "served by sluice" : "served by the MPI";
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("crowded: %s, %ld wrong bytes\n", by, wrong_bytes(argv[1], ranks));
    free(data);
    MPI_Finalize();
    return 0;
}
