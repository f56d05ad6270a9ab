// The part of the Fortran program that all programs share. Fortran starts and ends MPI and makes
// every call on the file; this side times them and checks the bytes.
#include "steps.h"

// In fortran.f90.
void fortran_open(char const* name, int writes, int interleaved, int rank, int ranks);
void fortran_write(int interleaved, long long offset, int count, double* values);
void fortran_read(int interleaved, long long offset, int count, double* values);
void fortran_close(void);

static void open_new(Job const* job) { fortran_open(job->file, 1, 0, job->rank, job->ranks); }
static void open_new_view(Job const* job) { fortran_open(job->file, 1, 1, job->rank, job->ranks); }
static void open_old(Job const* job) { fortran_open(job->file, 0, 0, job->rank, job->ranks); }
static void open_old_view(Job const* job) { fortran_open(job->file, 0, 1, job->rank, job->ranks); }

static long long offset_of(Job const* job, int step) {
    return (long long)(((size_t)step * (size_t)job->ranks + (size_t)job->rank) * job->count *
                       sizeof(double));
}

static void write_all(Job const* job, int step, double* values) {
    fortran_write(1, offset_of(job, step), (int)job->count, values);
}

static void write_at_all(Job const* job, int step, double* values) {
    fortran_write(0, offset_of(job, step), (int)job->count, values);
}

static void read_all(Job const* job, int step, double* values) {
    fortran_read(1, offset_of(job, step), (int)job->count, values);
}

static void read_at_all(Job const* job, int step, double* values) {
    fortran_read(0, offset_of(job, step), (int)job->count, values);
}

static void close_file(Job const* job) {
    (void)job;
    fortran_close();
}

static void read_back(Job const* job, char const* path, int step, size_t row, size_t rows,
                      double* values) {
    size_t const row_doubles = (size_t)job->ranks * width;
    size_t const first = ((size_t)step * job->rows + row) * row_doubles;
    read_plain(path, (off_t)(first * sizeof(double)), rows * row_doubles, 0, values);
}

static Way const ways[] = {
    {"write_all", 1, 1, open_new_view, write_all, close_file, read_back},
    {"write_at_all", 1, 0, open_new, write_at_all, close_file, read_back},
    {"read_all", 0, 1, open_old_view, read_all, close_file, NULL},
    {"read_at_all", 0, 0, open_old, read_at_all, close_file, NULL},
};

/// Called by the Fortran program between its MPI_Init and MPI_Finalize.
void run_steps_of_fortran(char const* way, char const* file, int steps, long long bytes,
                          double seconds) {
    run_way(way_named(way, ways, sizeof ways / sizeof ways[0]), file, steps, (size_t)bytes, seconds,
            "MPI-IO from Fortran");
}
