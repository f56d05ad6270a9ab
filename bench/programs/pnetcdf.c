// Time steps by PnetCDF: a record of four variables each, written with a collective call for each
// variable (put_vara_all), or with nonblocking calls that one ncmpi_wait_all completes, which
// PnetCDF makes one blocking collective call of (iput_wait_all). Read by get_vara_all.
#include "pnetcdf_errors.h"
#include "steps.h"

enum { variables = 4 };

static int file, variable[variables];
static MPI_Offset data_offset, record_bytes;  // of the file, for the check

static void name_of(int number, char name[8]) { snprintf(name, 8, "field%d", number); }

static void open_new(Job const* job) {
    int dimensions[3];
    char name[8];
    require_nc(
        ncmpi_create(MPI_COMM_WORLD, job->file, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
        "create");
    ncmpi_def_dim(file, "step", NC_UNLIMITED, &dimensions[0]);
    ncmpi_def_dim(file, "row", (MPI_Offset)job->rows / variables, &dimensions[1]);
    ncmpi_def_dim(file, "column", (MPI_Offset)job->ranks * width, &dimensions[2]);
    for (int i = 0; i < variables; ++i) {
        name_of(i, name);
        require_nc(ncmpi_def_var(file, name, NC_DOUBLE, 3, dimensions, &variable[i]), "variable");
    }
    require_nc(ncmpi_enddef(file), "enddef");
}

static void open_old(Job const* job) {
    char name[8];
    require_nc(ncmpi_open(MPI_COMM_WORLD, job->file, NC_NOWRITE, MPI_INFO_NULL, &file), "open");
    for (int i = 0; i < variables; ++i) {
        name_of(i, name);
        require_nc(ncmpi_inq_varid(file, name, &variable[i]), "variable");
    }
}

/// The part of a rank in one variable of a step.
typedef struct {
    MPI_Offset start[3], count[3];
    size_t doubles;
} Part;

static Part part_of(Job const* job, int step) {
    size_t const rows = job->rows / variables;
    return (Part){
        {step, 0, (MPI_Offset)job->rank * width}, {1, (MPI_Offset)rows, width}, rows * width};
}

static void put_vara_all(Job const* job, int step, double* values) {
    Part const p = part_of(job, step);
    for (int i = 0; i < variables; ++i, values += p.doubles)
        require_nc(ncmpi_put_vara_double_all(file, variable[i], p.start, p.count, values), "put");
}

static void iput_wait_all(Job const* job, int step, double* values) {
    Part const p = part_of(job, step);
    int request[variables], status[variables];
    for (int i = 0; i < variables; ++i, values += p.doubles)
        require_nc(ncmpi_iput_vara_double(file, variable[i], p.start, p.count, values, &request[i]),
                   "ncmpi_iput_vara");
    require_nc(ncmpi_wait_all(file, variables, request, status), "wait_all");
    for (int i = 0; i < variables; ++i) require_nc(status[i], "status of ncmpi_iput_vara");
}

static void get_vara_all(Job const* job, int step, double* values) {
    Part const p = part_of(job, step);
    for (int i = 0; i < variables; ++i, values += p.doubles)
        require_nc(ncmpi_get_vara_double_all(file, variable[i], p.start, p.count, values), "get");
}

static void close_file(Job const* job) {
    (void)job;
    ncmpi_inq_varoffset(file, variable[0], &data_offset);
    ncmpi_inq_recsize(file, &record_bytes);
    require_nc(ncmpi_close(file), "close");
}

/// The variables of a record follow each other, as the rows of the array do.
static void read_back(Job const* job, char const* path, int step, size_t row, size_t rows,
                      double* values) {
    size_t const row_doubles = (size_t)job->ranks * width;
    off_t const first = (off_t)(data_offset + step * record_bytes);
    read_plain(path, first + (off_t)(row * row_doubles * sizeof(double)), rows * row_doubles, 1,
               values);
}

int main(int argc, char** argv) {
    static Way const ways[] = {
        {"put_vara_all", 1, 1, open_new, put_vara_all, close_file, read_back},
        {"iput_wait_all", 1, 1, open_new, iput_wait_all, close_file, read_back},
        {"get_vara_all", 0, 1, open_old, get_vara_all, close_file, NULL},
    };
    char library[64];
    char const* const version = ncmpi_inq_libvers() + strcspn(ncmpi_inq_libvers(), "0123456789");
    snprintf(library, sizeof library, "PnetCDF %.*s", (int)strcspn(version, " "), version);
    return main_of_steps(argc, argv, ways, sizeof ways / sizeof ways[0], library);
}
