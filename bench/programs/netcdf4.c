// Time steps by parallel NetCDF-4: records of one variable, written and read with NC_COLLECTIVE.
// `put_vara_filled` leaves the library's habit of filling each new record before it is written, so
// that every byte is written twice and the second write has to win.
#include "steps.h"

#include <netcdf.h>
#include <netcdf_par.h>

static int file, variable;

static void require_nc(int code, char const* what) {
    if (code == NC_NOERR) return;
    fprintf(stderr, "%s\n", nc_strerror(code));
    require(0, what);
}

static void open_filled(Job const* job) {
    int dimensions[3];
    size_t const chunk[3] = {1, job->rows, (size_t)job->ranks * width};
    require_nc(
        nc_create_par(job->file, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file),
        "create");
    nc_def_dim(file, "step", NC_UNLIMITED, &dimensions[0]);
    nc_def_dim(file, "row", chunk[1], &dimensions[1]);
    nc_def_dim(file, "column", chunk[2], &dimensions[2]);
    require_nc(nc_def_var(file, "steps", NC_DOUBLE, 3, dimensions, &variable), "variable");
    require_nc(nc_def_var_chunking(file, variable, NC_CHUNKED, chunk), "chunks");
    require_nc(nc_var_par_access(file, variable, NC_COLLECTIVE), "NC_COLLECTIVE");
}

static void open_new_filled(Job const* job) {
    open_filled(job);
    require_nc(nc_enddef(file), "enddef");
}

static void open_new(Job const* job) {
    open_filled(job);
    require_nc(nc_def_var_fill(file, variable, NC_NOFILL, NULL), "no fill");
    require_nc(nc_enddef(file), "enddef");
}

static void open_old(Job const* job) {
    require_nc(nc_open_par(job->file, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "open");
    require_nc(nc_inq_varid(file, "steps", &variable), "variable");
    require_nc(nc_var_par_access(file, variable, NC_COLLECTIVE), "NC_COLLECTIVE");
}

static void put_vara(Job const* job, int step, double* values) {
    size_t const start[3] = {(size_t)step, 0, (size_t)job->rank * width};
    size_t const count[3] = {1, job->rows, width};
    require_nc(nc_put_vara_double(file, variable, start, count, values), "put");
}

static void get_vara(Job const* job, int step, double* values) {
    size_t const start[3] = {(size_t)step, 0, (size_t)job->rank * width};
    size_t const count[3] = {1, job->rows, width};
    require_nc(nc_get_vara_double(file, variable, start, count, values), "get");
}

static void close_file(Job const* job) {
    (void)job;
    require_nc(nc_close(file), "close");
}

/// Without MPI. What cannot be opened or read leaves the values as they were.
static void read_back(Job const* job, char const* path, int step, size_t row, size_t rows,
                      double* values) {
    size_t const start[3] = {(size_t)step, row, 0};
    size_t const count[3] = {1, rows, (size_t)job->ranks * width};
    int plain = 0, number = 0;
    if (nc_open(path, NC_NOWRITE, &plain) != NC_NOERR) return;
    if (nc_inq_varid(plain, "steps", &number) == NC_NOERR)
        nc_get_vara_double(plain, number, start, count, values);
    nc_close(plain);
}

int main(int argc, char** argv) {
    static Way const ways[] = {
        {"put_vara", 1, 1, open_new, put_vara, close_file, read_back},
        {"put_vara_filled", 1, 1, open_new_filled, put_vara, close_file, read_back},
        {"get_vara", 0, 1, open_old, get_vara, close_file, NULL},
    };
    char library[64];
    snprintf(library, sizeof library, "NetCDF %.20s", nc_inq_libvers());
    library[strcspn(library, "\"")] = 0;
    for (char* at = library + strlen("NetCDF "); *at; ++at)
        if (*at == ' ') *at = 0;
    return main_of_steps(argc, argv, ways, sizeof ways / sizeof ways[0], library);
}
