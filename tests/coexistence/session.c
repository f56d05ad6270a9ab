/* File I/O of a program with a session only: nothing calls MPI_Init. `session PATH` */
#include "pieces.h"

int main(int argc, char** argv) {
    require(argc > 1, "usage: session PATH");
    MPI_Session session;
    MPI_Group group;
    MPI_Comm world;
    int code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    require(code == MPI_SUCCESS, "MPI_Session_init");
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    code =
        MPI_Comm_create_from_group(group, "sluice-test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &world);
    require(code == MPI_SUCCESS, "MPI_Comm_create_from_group");
    MPI_Group_free(&group);
    int rank, ranks;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    unsigned char data[PIECES * PIECE_BYTES];
    fill_pieces(data, rank);
    MPI_File file = open_pieces(world, argv[1], MPI_INFO_NULL);
    int const by_sluice = served(file);
    view_pieces(file, rank, ranks);
    MPI_Request request = start_pieces(file, data);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(world);
    if (rank == 0) check_pieces(argv[1], ranks);
    if (rank == 0) printf("served by %s\n", by_sluice ? "sluice" : "the MPI");
    MPI_Comm_free(&world);
    MPI_Session_finalize(&session);
    return 0;
}
