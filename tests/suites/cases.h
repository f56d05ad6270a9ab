// What the programs of the suites share: values that depend on the place in the file, and one line
// for each case.
#pragma once
#include <mpi.h>
#include <stdio.h>

enum { rows = 48, columns_each = 20 };  // of the arrays; columns for each rank

static int rank, ranks;

static int value_at(long row, long column) { return (int)(1 + row * 1000 + column); }

/// Prints how a case went on all ranks together.
static void report(char const* name, long wrong) {
    long all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("case %s: %s\n", name, all == 0 ? "right" : "wrong");
    if (rank == 0 && all != 0) printf("  %ld wrong values or errors\n", all);
    fflush(stdout);
}
