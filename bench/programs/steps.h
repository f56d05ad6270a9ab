// What the programs of this folder share: a run of time steps, each of them a computation and one
// blocking write (or read) of an array, with its times, and the check of all bytes. A program gives
// only the calls of its interface.
//
// The array of a step has `rows` rows of `ranks` times `width` doubles. A rank owns `width` columns
// of all rows, so that the parts of the ranks interleave; where a way is not interleaved, a rank
// owns as many doubles in one stretch. The bytes of a step are the same.
#pragma once
#include "run.h"

#include <fcntl.h>
#include <unistd.h>

enum { width = 512 };  // 4 KiB of a rank in a row

/// What one run is asked to do.
typedef struct {
    char const* file;
    int steps, rank, ranks;
    size_t rows;   // of the array
    size_t count;  // doubles of a rank in a step
} Job;

/// One way to write or read the steps. All functions but `read_back` are collective.
typedef struct {
    char const* name;
    int writes, interleaved;
    void (*open)(Job const*);
    void (*transfer)(Job const*, int step, double* values);
    void (*close)(Job const*);
    /// Reads rows of a step from `path` by other means than `transfer`; not collective.
    void (*read_back)(Job const*, char const* path, int step, size_t row, size_t rows, double*);
} Way;

// ---- Values -------------------------------------------------------------------------------------

static double value_at(int step, size_t place) { return (step + 1) * 1e9 + (double)place; }

static long long differing_bytes(double found, double expected) {
    unsigned char a[sizeof found], b[sizeof expected];
    long long wrong = 0;
    if (memcmp(&found, &expected, sizeof found) == 0) return 0;
    memcpy(a, &found, sizeof found);
    memcpy(b, &expected, sizeof expected);
    for (size_t i = 0; i < sizeof found; ++i) wrong += a[i] != b[i];
    return wrong;
}

/// The place in the step's array of the first double of one of this rank's pieces.
static size_t place_of(Job const* job, Way const* way, size_t piece) {
    size_t const rank = (size_t)job->rank, ranks = (size_t)job->ranks;
    return way->interleaved ? (piece * ranks + rank) * width : rank * job->count + piece * width;
}

static void fill(Job const* job, Way const* way, int step, double* values) {
    for (size_t piece = 0; piece < job->rows; ++piece) {
        size_t const place = place_of(job, way, piece);
        for (size_t x = 0; x < width; ++x) *values++ = value_at(step, place + x);
    }
}

static long long wrong_in_memory(Job const* job, Way const* way, int step, double const* values) {
    long long wrong = 0;
    for (size_t piece = 0; piece < job->rows; ++piece) {
        size_t const place = place_of(job, way, piece);
        for (size_t x = 0; x < width; ++x)
            wrong += differing_bytes(*values++, value_at(step, place + x));
    }
    return wrong;
}

/// Reads from a file without MPI; what is missing stays as it was. `swapped`: the bytes of each
/// double are in the other order.
static inline void read_plain(char const* path, off_t offset, size_t count, int swapped,
                              double* values) {
    int const file = open(path, O_RDONLY);
    char* const bytes = (char*)values;
    size_t const size = count * sizeof *values;
    ssize_t got = 1;
    for (size_t at = 0; file >= 0 && at < size && got > 0; at += (size_t)(got > 0 ? got : 0))
        got = pread(file, bytes + at, size - at, offset + (off_t)at);
    if (file >= 0) close(file);
    for (size_t i = 0; swapped && i < count; ++i) {
        uint64_t word;
        memcpy(&word, values + i, sizeof word);
        word = __builtin_bswap64(word);
        memcpy(values + i, &word, sizeof word);
    }
}

/// Bytes of the file that differ from what was written. Each rank checks other rows than it wrote.
static long long wrong_in_file(Job const* job, Way const* way) {
    size_t const row_doubles = (size_t)job->ranks * width;
    size_t const first = job->rows * (size_t)job->rank / (size_t)job->ranks;
    size_t const rows = job->rows * (size_t)(job->rank + 1) / (size_t)job->ranks - first;
    double* const values = malloc((rows * row_doubles + 1) * sizeof *values);
    long long wrong = 0;
    for (int step = 0; step < job->steps; ++step) {
        memset(values, 0xff, rows * row_doubles * sizeof *values);
        way->read_back(job, checked_path(job->file), step, first, rows, values);
        for (size_t i = 0; i < rows * row_doubles; ++i)
            wrong += differing_bytes(values[i], value_at(step, first * row_doubles + i));
    }
    free(values);
    return wrong;
}

// ---- The run ------------------------------------------------------------------------------------

/// MPI_Pcontrol does nothing, but tells a library that measures (call_times.c) what is meant.
static void transfer(Job const* job, Way const* way, int step, double* values) {
    MPI_Pcontrol(1);
    way->transfer(job, step, values);
    MPI_Pcontrol(0);
}

/// A step of a writer computes new values in the place of the old ones: what a library has not
/// taken when its call returns is lost.
static void write_step(Job const* job, Way const* way, int step, uint64_t work, double* values,
                       Times* times) {
    double begin = MPI_Wtime();
    fill(job, way, step, values);
    spin(work);
    add_time(&times->compute, begin);
    begin = MPI_Wtime();
    transfer(job, way, step, values);
    add_time(&times->calls, begin);
}

/// Each step of a reader has memory of its own, which is compared at the end.
static void read_step(Job const* job, Way const* way, int step, uint64_t work, double* values,
                      Times* times) {
    double begin = MPI_Wtime();
    transfer(job, way, step, values + (size_t)step * job->count);
    add_time(&times->calls, begin);
    begin = MPI_Wtime();
    spin(work);
    add_time(&times->compute, begin);
}

static Times run_steps(Job const* job, Way const* way, uint64_t work, double* values) {
    Times times = {0, 0, 0, 0};
    way->open(job);
    wait_for_all();
    double const begin = MPI_Wtime();
    for (int step = 0; step < job->steps; ++step)
        (way->writes ? write_step : read_step)(job, way, step, work, values, &times);
    double const closing = MPI_Wtime();
    way->close(job);
    add_time(&times.close, closing);
    add_time(&times.total, begin);
    wait_for_all();
    return times;
}

static long long count_wrong(Job const* job, Way const* way, double const* values) {
    long long mine = 0, all = 0;
    if (way->writes) mine = wrong_in_file(job, way);
    for (int step = 0; !way->writes && step < job->steps; ++step)
        mine += wrong_in_memory(job, way, step, values + (size_t)step * job->count);
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static Way const* way_named(char const* name, Way const* ways, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (strcmp(ways[i].name, name) == 0) return &ways[i];
    fprintf(stderr, "there is no way %s\n", name);
    require(0, "choice of a way");
    return NULL;
}

/// All that a program does between MPI_Init and MPI_Finalize.
static void run_way(Way const* way, char const* file, int steps, size_t bytes, double seconds,
                    char const* library) {
    Job job = {file, steps, 0, 0, bytes / width / sizeof(double), bytes / sizeof(double)};
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    require(bytes > 0 && bytes % (4 * width * sizeof(double)) == 0,
            "the bytes of a rank are a multiple of 16 KiB");
    size_t const doubles = job.count * (size_t)(way->writes ? 1 : steps);
    double* const values = malloc(doubles * sizeof *values);
    require(values != NULL, "memory for the values");
    memset(values, 0xff, doubles * sizeof *values);  // pages that are new cost no call its time
    double const rate = calibrated_rate();
    Times const times = run_steps(&job, way, (uint64_t)(rate * seconds), values);
    print_json(times, count_wrong(&job, way, values), rate, library);
    free(values);
}

/// The main function of a program in C. Usage: PROGRAM WAY FILE STEPS BYTES_PER_RANK SECONDS
static inline int main_of_steps(int argc, char** argv, Way const* ways, size_t count,
                                char const* library) {
    MPI_Init(&argc, &argv);
    require(argc == 6, "usage: PROGRAM WAY FILE STEPS BYTES_PER_RANK COMPUTE_SECONDS_PER_STEP");
    run_way(way_named(argv[1], ways, count), argv[2], atoi(argv[3]), strtoull(argv[4], NULL, 10),
            atof(argv[5]), library);
    MPI_Finalize();
    return 0;
}
