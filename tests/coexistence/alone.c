/* One rank alone makes a collective call that is refused; the others never make it. The job ends
 * all the same, as with the MPI alone. `alone WHICH`: gather, reduce or gatherv. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, code = MPI_SUCCESS;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int same[64] = {0}, counts[64], places[64];
    for (int i = 0; i < ranks && i < 64; ++i) counts[i] = 1, places[i] = i;
    MPI_Request request = MPI_REQUEST_NULL;
    char const* const which = argc > 1 ? argv[1] : "";
    if (rank == 0 && strcmp(which, "gather") == 0)
        code = MPI_Igather(same, 1, MPI_INT, same, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (rank == 0 && strcmp(which, "reduce") == 0)
        code = MPI_Ireduce(same, same, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    if (rank == 0 && strcmp(which, "gatherv") == 0)
        code = MPI_Igatherv(same, 1, MPI_INT, same, counts, places, MPI_INT, 0, MPI_COMM_WORLD,
                            &request);
    int error_class = code;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
    MPI_Finalize();
    if (rank == 0) printf("%s: %s\n", which, error_class == MPI_ERR_BUFFER ? "refused" : "taken");
    return 0;
}
