/* Which patterns count as covering their span exactly once. `covered PATH`
 *
 * All ranks of a communicator prove it together by a key that they drew when they were set up: so
 * a pattern that covers is recognised on any communicator, and one that was made for a key is not
 * taken for it: the bytes that nobody writes stay. */
#include "pieces.h"
#include <string.h>

enum { UNIT = 8, OLD = 0xee };

/* How often each unit is written, between two that are written once. Fingerprints at the point
 * 0x18812d77785ec1cc + 0x11b7a7ed483f8f93 i take it for a span without holes: lattice reduction
 * found it. */
static char const deceiving[] =
    "1"
    "01000201211120211012111202100212022012220002012111310111111211101101101121011022"
    "21210010111011201111130121111111111111"
    "1";

static MPI_File open_exchanged(MPI_Comm communicator, char const* name) {
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_cb_write", "enable");
    MPI_File file = open_pieces(communicator, name, hints);
    MPI_Info_free(&hints);
    require(served(file), "Sluice serves the file");
    return file;
}

static int plan_says(MPI_File file, char const* words) {
    typedef int Plan(MPI_File, char*, size_t);
    char text[4096];
    Plan* const plan = (Plan*)dlsym(RTLD_DEFAULT, "sluice_file_plan");
    require(plan && plan(file, text, sizeof text) == MPI_SUCCESS, "the plan is told");
    return strstr(text, words) != NULL;
}

/* Pieces side by side, by all ranks of the communicator. */
static void prove(MPI_Comm communicator, char const* name) {
    int rank, ranks;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &ranks);
    unsigned char data[PIECES * PIECE_BYTES];
    fill_pieces(data, rank);
    MPI_File file = open_exchanged(communicator, name);
    view_pieces(file, rank, ranks);
    int const code = MPI_File_write_all(file, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_write_all");
    require(plan_says(file, "all covered"), "what covers is proved");
    MPI_File_close(&file);
    MPI_Barrier(communicator);
    if (rank == 0) check_pieces(name, ranks);
    MPI_Barrier(communicator);
}

/* New communicators have keys of their own; one like a freed one takes over what that had. */
static void prove_on_all(char const* path) {
    prove(MPI_COMM_WORLD, path);
    for (int i = 0; i < 3; ++i) {
        MPI_Comm same;
        MPI_Comm_dup(MPI_COMM_WORLD, &same);
        prove(same, path);
        MPI_Comm_free(&same);
    }
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", path, rank % 2);
    prove(part, name);
    MPI_Comm_free(&part);
}

/* The first rank writes each unit that is written at all, the second those that are written twice,
 * and so on. */
static void write_units(MPI_File file, int rank) {
    int const units = (int)strlen(deceiving);
    MPI_Aint places[sizeof deceiving] = {0};
    unsigned char data[UNIT * sizeof deceiving];
    int count = 0;
    for (int i = 0; i < units; ++i) {
        if (deceiving[i] - '0' <= rank) continue;
        memset(data + UNIT * count, i, UNIT);
        places[count++] = UNIT * i;
    }
    MPI_Datatype view;
    MPI_Type_create_hindexed_block(count > 0 ? count : 1, UNIT, places, MPI_BYTE, &view);
    MPI_Type_commit(&view);
    int code = MPI_File_set_view(file, 0, MPI_BYTE, view, "native", MPI_INFO_NULL);
    require(code == MPI_SUCCESS, "MPI_File_set_view");
    code = MPI_File_write_all(file, data, UNIT * count, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_write_all");
    MPI_Type_free(&view);
}

static void fill_with_old(char const* name) {
    FILE* const out = fopen(name, "wb");
    for (size_t i = 0; i < UNIT * strlen(deceiving); ++i) fputc(OLD, out);
    fclose(out);
}

static void check_units(char const* name) {
    FILE* const in = fopen(name, "rb");
    for (int i = 0; i < (int)strlen(deceiving); ++i)
        for (int byte = 0; byte < UNIT; ++byte)
            require(fgetc(in) == (deceiving[i] == '0' ? OLD : i), "holes stay as they are");
    fclose(in);
}

static void try_to_deceive(char const* name, int rank) {
    if (rank == 0) fill_with_old(name);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_exchanged(MPI_COMM_WORLD, name);
    write_units(file, rank);
    int const proved = plan_says(file, "all covered");
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) check_units(name);
    require(!proved, "a pattern that has holes is not proved");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    require(argc > 1, "usage: covered PATH");
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char name[4096];
    snprintf(name, sizeof name, "%s.deceiving", argv[1]);
    prove_on_all(argv[1]);
    if (ranks >= 3) try_to_deceive(name, rank);
    if (rank == 0) printf("covered: only what is\n");
    MPI_Finalize();
    return 0;
}
