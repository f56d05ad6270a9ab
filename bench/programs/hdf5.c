// Time steps by parallel HDF5: one dataset, of which each step is a hyperslab, written and read
// with H5FD_MPIO_COLLECTIVE.
#include "steps.h"

#include <hdf5.h>

static hid_t file, dataset, how;

static hid_t valid(hid_t id, char const* what) {
    require(id >= 0, what);
    return id;
}

static hid_t access_by_mpi(void) {
    hid_t const access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    how = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
    return access;
}

static void open_new(Job const* job) {
    hsize_t const extent[3] = {(hsize_t)job->steps, job->rows, (hsize_t)job->ranks * width};
    hid_t const access = access_by_mpi();
    hid_t const space = H5Screate_simple(3, extent, NULL);
    file = valid(H5Fcreate(job->file, H5F_ACC_TRUNC, H5P_DEFAULT, access), "create");
    dataset = valid(
        H5Dcreate2(file, "steps", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        "dataset");
    H5Sclose(space);
    H5Pclose(access);
}

static void open_old(Job const* job) {
    hid_t const access = access_by_mpi();
    file = valid(H5Fopen(job->file, H5F_ACC_RDONLY, access), "open");
    dataset = valid(H5Dopen2(file, "steps", H5P_DEFAULT), "dataset");
    H5Pclose(access);
}

/// Some rows and columns of a step, in the file and in memory.
typedef struct {
    hid_t in_file, in_memory;
} Part;

static Part part_of(hid_t set, hsize_t const start[3], hsize_t const count[3]) {
    hsize_t const doubles = count[1] * count[2];
    Part const part = {H5Dget_space(set), H5Screate_simple(1, &doubles, NULL)};
    H5Sselect_hyperslab(part.in_file, H5S_SELECT_SET, start, NULL, count, NULL);
    return part;
}

static void release(Part part) {
    H5Sclose(part.in_file);
    H5Sclose(part.in_memory);
}

static Part own_part(Job const* job, int step) {
    hsize_t const start[3] = {(hsize_t)step, 0, (hsize_t)job->rank * width};
    hsize_t const count[3] = {1, job->rows, width};
    return part_of(dataset, start, count);
}

static void write_step_collectively(Job const* job, int step, double* values) {
    Part const part = own_part(job, step);
    require(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, part.in_memory, part.in_file, how, values) >= 0,
            "H5Dwrite");
    release(part);
}

static void read_step_collectively(Job const* job, int step, double* values) {
    Part const part = own_part(job, step);
    require(H5Dread(dataset, H5T_NATIVE_DOUBLE, part.in_memory, part.in_file, how, values) >= 0,
            "H5Dread");
    release(part);
}

static void close_file(Job const* job) {
    (void)job;
    H5Pclose(how);
    require(H5Dclose(dataset) >= 0, "close of the dataset");
    require(H5Fclose(file) >= 0, "close");
}

/// Without MPI. What cannot be opened or read leaves the values as they were.
static void read_back(Job const* job, char const* path, int step, size_t row, size_t rows,
                      double* values) {
    hsize_t const start[3] = {(hsize_t)step, row, 0};
    hsize_t const count[3] = {1, rows, (hsize_t)job->ranks * width};
    hid_t const plain = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (plain < 0) return;
    hid_t const set = H5Dopen2(plain, "steps", H5P_DEFAULT);
    if (set >= 0) {
        Part const part = part_of(set, start, count);
        H5Dread(set, H5T_NATIVE_DOUBLE, part.in_memory, part.in_file, H5P_DEFAULT, values);
        release(part);
        H5Dclose(set);
    }
    H5Fclose(plain);
}

int main(int argc, char** argv) {
    static Way const ways[] = {
        {"write_collective", 1, 1, open_new, write_step_collectively, close_file, read_back},
        {"read_collective", 0, 1, open_old, read_step_collectively, close_file, NULL},
    };
    char library[64];
    unsigned major = 0, minor = 0, release_number = 0;
    H5get_libversion(&major, &minor, &release_number);
    snprintf(library, sizeof library, "HDF5 %u.%u.%u", major, minor, release_number);
    return main_of_steps(argc, argv, ways, sizeof ways / sizeof ways[0], library);
}
