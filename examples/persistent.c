/* A field is computed step by step; each step is written by a persistent collective request while
 * the next one is computed. Two buffers take turns. */
#include "sluice/sluice.h"

#include <stdio.h>
#include <stdlib.h>

enum { rows = 1000, columns = 100, steps = 6 };

/* Columns of the ranks lie side by side in the file: step 0, then step 1 below it, and so on. */
static void set_view(MPI_File file, int rank, int ranks) {
    int const sizes[2] = {rows, columns * ranks}, own[2] = {rows, columns};
    int const begin[2] = {0, columns * rank};
    MPI_Datatype part;
    MPI_Type_create_subarray(2, sizes, own, begin, MPI_ORDER_C, MPI_DOUBLE, &part);
    MPI_Type_commit(&part);
    MPI_File_set_view(file, 0, MPI_DOUBLE, part, "native", MPI_INFO_NULL);
    MPI_Type_free(&part);
}

static void compute(double* field, int step) {
    for (int i = 0; i < rows * columns; ++i) field[i] = step + 1e-6 * i;
}

int main(int argc, char** argv) {
    static double fields[2][rows * columns];
    int rank, ranks;
    MPI_File file;
    sluice_request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2 || MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY,
                                   MPI_INFO_NULL, &file) != MPI_SUCCESS) {
        if (rank == 0) fprintf(stderr, "usage: persistent FILE\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    set_view(file, rank, ranks);
    /* Two places in the file: the last step and the one before it are kept. */
    for (int i = 0; i < 2; ++i) {
        sluice_write_at_all_init(file, (MPI_Offset)i * rows * columns, fields[i], rows * columns,
                                 MPI_DOUBLE, &requests[i]);
    }
    for (int step = 0; step < steps; ++step) {
        sluice_request const request = requests[step % 2];
        sluice_wait(request, MPI_STATUS_IGNORE); /* Returns at once before the first start. */
        compute(fields[step % 2], step);
        sluice_start(request);
    }
    sluice_waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) sluice_request_free(&requests[i]);
    MPI_File_close(&file);
    if (rank == 0) printf("%d steps of %d ranks were written to %s\n", steps, ranks, argv[1]);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
