// Time steps by blocking functions of MPI-IO: collective ones with a view in which the ranks
// interleave (write_all), collective ones with a stretch for each rank (write_at_all), and
// independent ones (write_at).
#include "steps.h"

static MPI_File file;

static void require_mpi(int code, char const* what) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s\n", text);
    require(0, what);
}

static void open_with(Job const* job, int mode) {
    require_mpi(MPI_File_open(MPI_COMM_WORLD, job->file, mode, MPI_INFO_NULL, &file), "open");
}

static void open_new(Job const* job) { open_with(job, MPI_MODE_CREATE | MPI_MODE_WRONLY); }
static void open_old(Job const* job) { open_with(job, MPI_MODE_RDONLY); }

/// A piece of each rank in turn. The file pointer moves on from step to step.
static void set_view(Job const* job) {
    MPI_Aint const piece = width * sizeof(double);
    MPI_Datatype contiguous, interleaved;
    MPI_Type_contiguous(width, MPI_DOUBLE, &contiguous);
    MPI_Type_create_resized(contiguous, 0, piece * job->ranks, &interleaved);
    MPI_Type_commit(&interleaved);
    require_mpi(MPI_File_set_view(file, job->rank * piece, MPI_DOUBLE, interleaved, "native",
                                  MPI_INFO_NULL),
                "view");
    MPI_Type_free(&contiguous);
    MPI_Type_free(&interleaved);
}

static void open_new_view(Job const* job) {
    open_new(job);
    set_view(job);
}

static void open_old_view(Job const* job) {
    open_old(job);
    set_view(job);
}

static MPI_Offset offset_of(Job const* job, int step) {
    return (MPI_Offset)(((size_t)step * (size_t)job->ranks + (size_t)job->rank) * job->count *
                        sizeof(double));
}

/// A call that returns less than was asked for is an error here.
static void check(Job const* job, int code, MPI_Status const* status, char const* what) {
    int count = 0;
    require_mpi(code, what);
    MPI_Get_count(status, MPI_DOUBLE, &count);
    require((size_t)count == job->count, what);
}

static void write_all(Job const* job, int step, double* values) {
    MPI_Status status;
    (void)step;
    check(job, MPI_File_write_all(file, values, (int)job->count, MPI_DOUBLE, &status), &status,
          "write_all");
}

static void write_at_all(Job const* job, int step, double* values) {
    MPI_Status status;
    int const code = MPI_File_write_at_all(file, offset_of(job, step), values, (int)job->count,
                                           MPI_DOUBLE, &status);
    check(job, code, &status, "write_at_all");
}

static void write_at(Job const* job, int step, double* values) {
    MPI_Status status;
    int const code =
        MPI_File_write_at(file, offset_of(job, step), values, (int)job->count, MPI_DOUBLE, &status);
    check(job, code, &status, "write_at");
}

static void read_all(Job const* job, int step, double* values) {
    MPI_Status status;
    (void)step;
    check(job, MPI_File_read_all(file, values, (int)job->count, MPI_DOUBLE, &status), &status,
          "read_all");
}

static void read_at_all(Job const* job, int step, double* values) {
    MPI_Status status;
    int const code = MPI_File_read_at_all(file, offset_of(job, step), values, (int)job->count,
                                          MPI_DOUBLE, &status);
    check(job, code, &status, "read_at_all");
}

static void read_at(Job const* job, int step, double* values) {
    MPI_Status status;
    int const code =
        MPI_File_read_at(file, offset_of(job, step), values, (int)job->count, MPI_DOUBLE, &status);
    check(job, code, &status, "read_at");
}

static void close_file(Job const* job) {
    (void)job;
    require_mpi(MPI_File_close(&file), "close");
}

static void read_back(Job const* job, char const* path, int step, size_t row, size_t rows,
                      double* values) {
    size_t const row_doubles = (size_t)job->ranks * width;
    size_t const first = ((size_t)step * job->rows + row) * row_doubles;
    read_plain(path, (off_t)(first * sizeof(double)), rows * row_doubles, 0, values);
}

int main(int argc, char** argv) {
    static Way const ways[] = {
        {"write_all", 1, 1, open_new_view, write_all, close_file, read_back},
        {"write_at_all", 1, 0, open_new, write_at_all, close_file, read_back},
        {"write_at", 1, 0, open_new, write_at, close_file, read_back},
        {"read_all", 0, 1, open_old_view, read_all, close_file, NULL},
        {"read_at_all", 0, 0, open_old, read_at_all, close_file, NULL},
        {"read_at", 0, 0, open_old, read_at, close_file, NULL},
    };
    return main_of_steps(argc, argv, ways, sizeof ways / sizeof ways[0], "MPI-IO");
}
