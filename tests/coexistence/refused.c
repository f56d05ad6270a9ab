/* The rank that meets an error of the system logs it, once an operation, with what the system said.
 * `refused HOW PATH`: one rank may not write as far into the file as it must (RLIMIT_FSIZE). It is
 * the last rank, which fails with its own block, or rank 0 where it writes for all ranks. */
#include "pieces.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

enum { OPERATIONS = 3, BLOCK_BYTES = 1 << 20, HOLE_BYTES = 4096 };

static void limit_file_bytes(rlim_t bytes) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    require(signal(SIGXFSZ, SIG_IGN) != SIG_ERR, "signal");
    require(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
}

static int write_once(MPI_File file, char const* how, MPI_Offset at, char const* data) {
    MPI_Status status;
    MPI_Request request;
    if (!strcmp(how, "independent"))
        return MPI_File_write_at(file, at, data, BLOCK_BYTES, MPI_CHAR, &status);
    if (strcmp(how, "nonblocking") != 0)
        return MPI_File_write_at_all(file, at, data, BLOCK_BYTES, MPI_CHAR, &status);
    int const begun = MPI_File_iwrite_at_all(file, at, data, BLOCK_BYTES, MPI_CHAR, &request);
    return begun == MPI_SUCCESS ? MPI_Wait(&request, &status) : begun;
}

int main(int argc, char** argv) {
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    require(argc == 3, "two arguments");
    char const* const how = argv[1];
    int const independent = !strcmp(how, "independent"), two_phase = !strcmp(how, "two-phase");
    int const limited = two_phase ? 0 : ranks - 1;

    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[2], MPI_INFO_NULL);
    int const by_sluice = served(file);
    if (independent) { /* Sluice serves blocking independent writes of views with holes. */
        MPI_Datatype piece, holes;
        MPI_Type_contiguous(HOLE_BYTES, MPI_CHAR, &piece);
        MPI_Type_create_resized(piece, 0, 2 * HOLE_BYTES, &holes);
        MPI_Type_commit(&holes);
        MPI_File_set_view(file, 0, MPI_CHAR, holes, "native", MPI_INFO_NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Offset const at = (MPI_Offset)rank * BLOCK_BYTES;
    rlim_t const limit = (rlim_t)at * (independent ? 2 : 1) + BLOCK_BYTES / 2;
    if (rank == limited) limit_file_bytes(limit);

    static char data[BLOCK_BYTES];
    for (int i = 0; i < OPERATIONS; ++i) {
        int error = MPI_SUCCESS;
        int const code = write_once(file, how, at, data);
        if (code != MPI_SUCCESS) MPI_Error_class(code, &error);
        /* A blocking call of another rank may return before; its next call brings the error. */
        int const late = !strcmp(how, "blocking") && rank != limited && error == MPI_SUCCESS;
        int const told = !late && (!independent || rank == limited);
        require(error == (told ? MPI_ERR_NO_SPACE : MPI_SUCCESS), "the error class");
    }
    MPI_File_close(&file);
    if (rank == 0) printf("served by %s\n", by_sluice ? "sluice" : "the MPI");
    MPI_Finalize();
    return 0;
}
