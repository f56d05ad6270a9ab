// PnetCDF lays a file out as the hints of the open file say: the header with its room, variables at
// their alignment, and what is moved when variables are added later. Usage: pnetcdf_layout FILE
#include "cases.h"

#include <pnetcdf.h>
#include <stdlib.h>

static int values[rows][columns_each];

static long write_columns(int file, int variable) {
    MPI_Offset const start[2] = {0, (MPI_Offset)rank * columns_each};
    MPI_Offset const count[2] = {rows, columns_each};
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < columns_each; ++x)
            values[y][x] = value_at(y, rank * columns_each + x) + variable;
    }
    return ncmpi_put_vara_int_all(file, variable, start, count, &values[0][0]) != NC_NOERR;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int file = 0, dimensions[2], first = 0, second = 0;
    char const* const name = argc > 1 ? argv[1] : "";
    int const mode = NC_CLOBBER | NC_64BIT_DATA;
    int const failed = ncmpi_create(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
    ncmpi_def_dim(file, "y", rows, &dimensions[0]);
    ncmpi_def_dim(file, "x", (MPI_Offset)ranks * columns_each, &dimensions[1]);
    ncmpi_def_var(file, "first", NC_INT, 2, dimensions, &first);
    report("define", failed != NC_NOERR || ncmpi_enddef(file) != NC_NOERR);
    report("write", write_columns(file, first));
    ncmpi_redef(file);
    ncmpi_def_var(file, "second", NC_INT, 2, dimensions, &second);
    ncmpi_put_att_text(file, NC_GLOBAL, "what makes the header longer", sizeof values,
                       (char const*)values);
    report("define more", ncmpi_enddef(file) != NC_NOERR);
    report("write more", write_columns(file, second));
    report("close", ncmpi_close(file) != NC_NOERR);
    MPI_Finalize();
    return 0;
}
