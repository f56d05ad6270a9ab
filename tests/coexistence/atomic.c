/* In atomic mode a read that runs at the same time as a write returns all of the old bytes or all
 * of the new ones, also through a view with holes (MPI-4.1, 14.6.1). `atomic WAY INTS PATH`: rank 0
 * writes, the others read by WAY (read, iread); INTS are those of a piece, as long as the hole. */
#include "pieces.h"

#include <string.h>

enum { COUNT = 200000, ROUNDS = 20 };

static int values[COUNT];

static MPI_File open_atomic(char const* path, int ints) {
    MPI_File file = open_pieces(MPI_COMM_WORLD, path, MPI_INFO_NULL);
    MPI_Datatype view;
    MPI_Type_vector(COUNT / ints, ints, 2 * ints, MPI_INT, &view);
    MPI_Type_commit(&view);
    int code = MPI_File_set_view(file, 0, MPI_INT, view, "native", MPI_INFO_NULL);
    require(code == MPI_SUCCESS, "MPI_File_set_view");
    MPI_Type_free(&view);
    require(MPI_File_set_atomicity(file, 1) == MPI_SUCCESS, "MPI_File_set_atomicity");
    return file;
}

static void write_round(MPI_File file, int round) {
    for (int i = 0; i < COUNT; ++i) values[i] = round;
    int const code = MPI_File_write_at(file, 0, values, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_write_at");
}

static int read_is_torn(MPI_File file, char const* way, int round) {
    memset(values, 0xff, sizeof values);
    MPI_Request request = MPI_REQUEST_NULL;
    int code = strcmp(way, "iread") == 0
                   ? MPI_File_iread_at(file, 0, values, COUNT, MPI_INT, &request)
                   : MPI_File_read_at(file, 0, values, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, way);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    require(values[0] == round || values[0] == round - 1, "a value of this round or the last");
    for (int i = 1; i < COUNT; ++i)
        if (values[i] != values[0]) return 1;
    return 0;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    require(argc == 4, "three arguments");
    int rank, torn = 0, all = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File file = open_atomic(argv[3], atoi(argv[2]));
    int const by_sluice = served(file);
    if (rank == 0) write_round(file, 0);
    for (int round = 1; round <= ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            write_round(file, round);
        else
            torn += read_is_torn(file, argv[1], round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Reduce(&torn, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_File_close(&file);
    if (rank == 0)
        printf("served by %s\n%d reads are torn\n", by_sluice ? "sluice" : "the MPI", all);
    MPI_Finalize();
    return 0;
}
