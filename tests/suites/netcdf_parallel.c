// Parallel NetCDF-4: a fixed and a growing variable, written and read with NC_COLLECTIVE.
// Usage: netcdf_parallel FILE
#include "cases.h"

#include <netcdf.h>
#include <netcdf_par.h>
#include <string.h>

enum { steps = 3 };

static int values[rows][columns_each];

static void fill(int of_rank) {
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < columns_each; ++x)
            values[y][x] = value_at(y, of_rank * columns_each + x);
    }
}

static long differences(int of_rank) {
    long wrong = 0;
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < columns_each; ++x)
            wrong += values[y][x] != value_at(y, of_rank * columns_each + x);
    }
    return wrong;
}

/// A rank's columns of a step of the growing variable.
static int transfer_step(int file, int variable, int of_rank, int step, int writes) {
    size_t const start[3] = {(size_t)step, 0, (size_t)(of_rank * columns_each)};
    size_t const count[3] = {1, rows, columns_each};
    return writes ? nc_put_vara_int(file, variable, start, count, &values[0][0])
                  : nc_get_vara_int(file, variable, start, count, &values[0][0]);
}

static int transfer_fixed(int file, int variable, int of_rank, int writes) {
    size_t const start[2] = {0, (size_t)(of_rank * columns_each)};
    size_t const count[2] = {rows, columns_each};
    return writes ? nc_put_vara_int(file, variable, start, count, &values[0][0])
                  : nc_get_vara_int(file, variable, start, count, &values[0][0]);
}

/// Creates the file with both variables.
static int create(char const* path, int* file, int* fixed, int* growing) {
    int const mode = NC_CLOBBER | NC_NETCDF4;
    int dimensions[3];
    if (nc_create_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, file)) return 0;
    nc_def_dim(*file, "step", NC_UNLIMITED, &dimensions[0]);
    nc_def_dim(*file, "row", rows, &dimensions[1]);
    nc_def_dim(*file, "column", (size_t)(ranks * columns_each), &dimensions[2]);
    nc_def_var(*file, "fixed", NC_INT, 2, dimensions + 1, fixed);
    nc_def_var(*file, "growing", NC_INT, 3, dimensions, growing);
    return nc_enddef(*file) == NC_NOERR;
}

static void write_file(char const* path) {
    int file, fixed, growing;
    int const created = create(path, &file, &fixed, &growing);
    report("create", !created);
    if (!created) return;
    long errors = nc_var_par_access(file, fixed, NC_COLLECTIVE) != NC_NOERR;
    errors += nc_var_par_access(file, growing, NC_COLLECTIVE) != NC_NOERR;
    report("collective", errors);
    fill(rank);
    report("write_fixed", transfer_fixed(file, fixed, rank, 1) != NC_NOERR);
    errors = 0;
    for (int step = 0; step < steps; ++step)
        errors += transfer_step(file, growing, rank, step, 1) != NC_NOERR;
    report("write_growing", errors);
    report("close", nc_close(file) != NC_NOERR);
}

static void read_file(char const* path) {
    int file, fixed, growing;
    int const other = (rank + 1) % ranks;
    if (nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file)) {
        report("open", 1);
        return;
    }
    nc_inq_varid(file, "fixed", &fixed);
    nc_inq_varid(file, "growing", &growing);
    nc_var_par_access(file, fixed, NC_COLLECTIVE);
    nc_var_par_access(file, growing, NC_COLLECTIVE);
    memset(values, 0, sizeof values);
    int const failed = transfer_fixed(file, fixed, other, 0);
    report("read_fixed", differences(other) + (failed != NC_NOERR));
    long wrong = 0;
    for (int step = 0; step < steps; ++step) {
        memset(values, 0, sizeof values);
        wrong += transfer_step(file, growing, other, step, 0) != NC_NOERR;
        wrong += differences(other);
    }
    report("read_growing", wrong);
    nc_close(file);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    write_file(argv[1]);
    read_file(argv[1]);
    MPI_Finalize();
    return 0;
}
