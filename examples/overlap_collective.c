/* A matrix is transposed over all ranks, block by block: while one block is on its way the next one
 * is computed. No call is made between the start and the wait. */
#include "sluice/sluice.h"

#include <stdio.h>
#include <stdlib.h>

enum { each = 20000, steps = 8 }; /* Numbers for each rank, in each step. */

static void compute(double* block, int count, int step) {
    for (int i = 0; i < count; ++i) block[i] = step + 1e-7 * i;
}

int main(int argc, char** argv) {
    int rank, ranks;
    double* sent[2];
    double* received[2];
    sluice_request requests[2];
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int const count = each * ranks;
    /* Two buffers take turns, each with a request that is set up once. */
    for (int i = 0; i < 2; ++i) {
        sent[i] = malloc(sizeof(double) * (size_t)count);
        received[i] = calloc((size_t)count, sizeof(double));
        if (!sent[i] || !received[i]) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        sluice_alltoall_init(sent[i], each, MPI_DOUBLE, received[i], each, MPI_DOUBLE,
                             MPI_COMM_WORLD, &requests[i]);
    }
    for (int step = 0; step < steps; ++step) {
        int const now = step % 2;
        sluice_wait(requests[now], MPI_STATUS_IGNORE); /* Returns at once before the first start. */
        for (int i = 0; i < count; ++i) sum += received[now][i];
        compute(sent[now], count, step);
        sluice_start(requests[now]);
    }
    sluice_waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < count; ++j) sum += received[i][j];
        sluice_request_free(&requests[i]);
        free(sent[i]);
        free(received[i]);
    }
    if (rank == 0) printf("%d steps of %d ranks, sum %g\n", steps, ranks, sum);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
