/* Writes one file and checks it; says who served it. `files PATH NAME [HINT VALUE]`: NAME is how
 * the file is opened, PATH where it is. The environment variable LEVEL is the thread level. */
#include "pieces.h"

int main(int argc, char** argv) {
    int const levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                          MPI_THREAD_MULTIPLE};
    char const* const wanted = getenv("LEVEL");
    int provided = MPI_THREAD_SINGLE;
    if (wanted)
        MPI_Init_thread(&argc, &argv, levels[atoi(wanted)], &provided);
    else
        MPI_Init(&argc, &argv);
    require(!wanted || provided >= levels[atoi(wanted)], "the thread level is given");
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    MPI_Info hints;
    MPI_Info_create(&hints);
    if (argc > 4) MPI_Info_set(hints, argv[3], argv[4]);
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[2], hints);
    int const by_sluice = served(file);
    unsigned char data[PIECES * PIECE_BYTES];
    fill_pieces(data, rank);
    view_pieces(file, rank, ranks);
    MPI_Request request = start_pieces(file, data);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) check_pieces(argv[1], ranks);
    if (rank == 0) printf("served by %s\n", by_sluice ? "sluice" : "the MPI");
    if (rank == 0 && provided == MPI_THREAD_MULTIPLE) printf("thread level: multiple\n");
    MPI_Info_free(&hints);
    MPI_Finalize();
    return 0;
}
