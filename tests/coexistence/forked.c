/* Forks while an operation is under way and Sluice has threads: the child ends, the file is
 * right. `forked PATH` */
#include "pieces.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Ends by exit(), with all that is registered there; killed if it does not within 10 s. */
static void fork_and_wait(void) {
    fflush(NULL);
    pid_t const child = fork();
    if (child == 0) exit(0);
    int status = 0;
    for (int tries = 0; waitpid(child, &status, WNOHANG) == 0; ++tries) {
        if (tries == 1000) kill(child, SIGKILL);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    unsigned char data[PIECES * PIECE_BYTES];
    fill_pieces(data, rank);
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[1], MPI_INFO_NULL);
    view_pieces(file, rank, ranks);
    MPI_Request request = start_pieces(file, data);
    fork_and_wait();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    fork_and_wait();
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) check_pieces(argv[1], ranks);
    if (rank == 0) printf("the children ended\n");
    MPI_Finalize();
    return 0;
}
