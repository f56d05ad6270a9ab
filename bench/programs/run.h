// What a loop of time steps with blocking calls needs, whatever it writes: computation that takes
// an agreed time, times of this rank, and the line in which rank 0 tells them.
#pragma once
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// Seconds of this rank.
typedef struct {
    double total, calls, close, compute;
} Times;

/// Ends all ranks: no program goes on after an error, so that a run either has all bytes or fails.
static void require(int holds, char const* what) {
    if (holds) return;
    fprintf(stderr, "failed: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

// ---- Computation --------------------------------------------------------------------------------

/// A chain of dependent multiplications, which no compiler can shorten. It is counted in iterations
/// and not by a clock: a core that is taken away meanwhile makes it last longer.
static void spin(uint64_t iterations) {
    static volatile uint64_t sink = 1;
    uint64_t x = sink;
    for (uint64_t i = 0; i < iterations; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        x ^= x >> 29;
    }
    sink = x;
}

/// A barrier in which a rank sleeps, so that it takes no core from one that is timed.
static void wait_for_all(void) {
    struct timespec const pause = {0, 100000};
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done) nanosleep(&pause, NULL);
}

static double largest(double mine) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/// Seconds for which all ranks compute at the same time.
static double time_together(uint64_t iterations) {
    wait_for_all();
    double const begin = MPI_Wtime();
    spin(iterations);
    double const mine = MPI_Wtime() - begin;
    wait_for_all();
    return largest(mine);
}

/// Iterations a second of each rank while all of them compute: those that share a core do less. Of
/// some tries the fastest counts, which other work on the machine disturbed least. STEPS_RATE gives
/// the figure of an earlier run, so that runs that are compared do the same work.
static double calibrated_rate(void) {
    char const* const known = getenv("STEPS_RATE");
    uint64_t sample = 1 << 20;
    if (known) return atof(known);
    while (time_together(sample) < 0.2) sample *= 2;  // many time slices of the scheduler
    double least = time_together(sample);
    for (int i = 0; i < 4; ++i) {
        double const again = time_together(sample);
        least = again < least ? again : least;
    }
    return (double)sample / least;
}

// ---- Times and files ----------------------------------------------------------------------------

/// Adds to `sum` what has passed since `begin`.
static void add_time(double* sum, double begin) { *sum += MPI_Wtime() - begin; }

/// One line, of rank 0. `wrong`: bytes, of all ranks.
static void print_json(Times mine, long long wrong, double rate, char const* library) {
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0, rank = 0;
    Times const all = {largest(mine.total), largest(mine.calls), largest(mine.close),
                       largest(mine.compute)};
    MPI_Get_library_version(mpi, &length);
    mpi[strcspn(mpi, "\n\"\\")] = 0;
    for (char* at = mpi; *at; ++at) *at = *at == '\t' ? ' ' : *at;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) return;
    printf("{\"total\": %.6f, \"calls\": %.6f, \"close\": %.6f, \"compute\": %.6f, "
           "\"wrong\": %lld, \"rate\": %.0f, \"mpi_library\": \"%s\", \"library\": \"%s\"}\n",
           all.total, all.calls, all.close, all.compute, wrong, rate, mpi, library);
    fflush(stdout);
}

/// Where the file is read for the check: by its name, or in the folder STEPS_CHECK_IN, which holds
/// the bytes that the device has.
static char const* checked_path(char const* file) {
    static char path[3 * 4096];
    char const* const folder = getenv("STEPS_CHECK_IN");
    char const* const slash = strrchr(file, '/');
    if (!folder) return file;
    snprintf(path, sizeof path, "%s/%s", folder, slash ? slash + 1 : file);
    return path;
}
