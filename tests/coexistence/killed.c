/* Large collectives without end, amid which the last rank is killed as by the system. */
#include "maps.h"
#include "pieces.h"

#include <signal.h>
#include <unistd.h>

enum { KIND_COUNT = 3, PER_RANK = 1 << 20, KILLED_IN = 12 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t const all = (size_t)PER_RANK * (size_t)ranks;
    unsigned char* memory[2 * KIND_COUNT];
    for (int i = 0; i < 2 * KIND_COUNT; ++i) memory[i] = calloc(all, 1);
    for (int round = 0;; ++round) {
        MPI_Request requests[KIND_COUNT];
        MPI_Ialltoall(memory[0], PER_RANK, MPI_BYTE, memory[1], PER_RANK, MPI_BYTE, MPI_COMM_WORLD,
                      &requests[0]);
        MPI_Iallgather(memory[2], PER_RANK, MPI_BYTE, memory[3], PER_RANK, MPI_BYTE, MPI_COMM_WORLD,
                       &requests[1]);
        MPI_Iallreduce(memory[4], memory[5], PER_RANK, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD,
                       &requests[2]);
        if (round == KILLED_IN && rank == ranks - 1) {
            printf("killed: %s\n", shared_maps() ? "shared memory" : "no shared memory");
            fflush(stdout);
            kill(getpid(), SIGKILL);
        }
        MPI_Waitall(KIND_COUNT, requests, MPI_STATUSES_IGNORE);
    }
}
