// Parallel HDF5: hyperslabs written and read with H5FD_MPIO_COLLECTIVE, then all of the file read
// without MPI. Usage: hdf5_collective FILE
#include "cases.h"

#include <hdf5.h>
#include <stdlib.h>

/// A rank's share of a dataset of `rows` x `ranks * columns_each`, as a hyperslab.
typedef struct {
    hsize_t start[2], stride[2], count[2], block[2];
} Share;

typedef Share (*Division)(int of_rank);

static Share by_rows(int of_rank) {
    hsize_t const first = (hsize_t)(rows * of_rank / ranks);
    hsize_t const end = (hsize_t)(rows * (of_rank + 1) / ranks);
    hsize_t const width = (hsize_t)(ranks * columns_each);
    return (Share){{first, 0}, {1, 1}, {end - first, width}, {1, 1}};
}

static Share by_columns(int of_rank) {
    return (Share){{0, (hsize_t)(of_rank * columns_each)}, {1, 1}, {rows, columns_each}, {1, 1}};
}

static Share by_stripes(int of_rank) {
    hsize_t const width = (hsize_t)(4 * ranks);
    return (Share){{0, (hsize_t)(4 * of_rank)}, {1, width}, {rows, columns_each / 4}, {1, 4}};
}

/// Ranks but the first have all, the first nothing: it takes part without bytes.
static Share by_all_but_first(int of_rank) {
    if (ranks == 1) return by_rows(of_rank);
    hsize_t const first = (hsize_t)(rows * (of_rank - 1) / (ranks - 1));
    hsize_t const end = (hsize_t)(rows * of_rank / (ranks - 1));
    hsize_t const width = of_rank == 0 ? 0 : (hsize_t)(ranks * columns_each);
    return (Share){
        {of_rank == 0 ? 0 : first, 0}, {1, 1}, {of_rank == 0 ? 0 : end - first, width}, {1, 1}};
}

static long size_of(Share const* s) {
    return (long)(s->count[0] * s->block[0] * s->count[1] * s->block[1]);
}

/// Calls for every element of a share, in the order of its memory: writes or compares.
static long each_element(Share const* s, int* memory, int compare) {
    long wrong = 0, at = 0;
    for (hsize_t y = 0; y < s->count[0] * s->block[0]; ++y) {
        for (hsize_t x = 0; x < s->count[1] * s->block[1]; ++x, ++at) {
            hsize_t const row = s->start[0] + y / s->block[0] * s->stride[0] + y % s->block[0];
            hsize_t const column = s->start[1] + x / s->block[1] * s->stride[1] + x % s->block[1];
            int const value = value_at((long)row, (long)column);
            if (compare)
                wrong += memory[at] != value;
            else
                memory[at] = value;
        }
    }
    return wrong;
}

/// Writes or reads a share collectively; the number of wrong values, or of errors.
static long transfer(hid_t dataset, Share s, int writes) {
    long const size = size_of(&s);
    int* const memory = calloc((size_t)size + 1, sizeof *memory);
    hsize_t const length = (hsize_t)size;
    hid_t const in_memory = H5Screate_simple(1, &length, NULL);
    hid_t const in_file = H5Dget_space(dataset);
    if (size == 0)
        H5Sselect_none(in_file);
    else
        H5Sselect_hyperslab(in_file, H5S_SELECT_SET, s.start, s.stride, s.count, s.block);
    hid_t const how = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
    herr_t failed = 0;
    long wrong = 0;
    if (writes) {
        each_element(&s, memory, 0);
        failed = H5Dwrite(dataset, H5T_NATIVE_INT, in_memory, in_file, how, memory);
    } else {
        failed = H5Dread(dataset, H5T_NATIVE_INT, in_memory, in_file, how, memory);
        wrong = each_element(&s, memory, 1);
    }
    H5Pclose(how);
    H5Sclose(in_file);
    H5Sclose(in_memory);
    free(memory);
    return wrong + (failed < 0);
}

static hid_t make_dataset(hid_t file, char const* name, int chunked) {
    hsize_t const extent[2] = {rows, (hsize_t)(ranks * columns_each)};
    hsize_t const limits[2] = {H5S_UNLIMITED, extent[1]};
    hsize_t const chunk[2] = {7, 6};  // Shares end within chunks.
    hid_t const space = H5Screate_simple(2, extent, chunked ? limits : NULL);
    hid_t const properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, 0);  // Two runs make the same file.
    if (chunked) H5Pset_chunk(properties, 2, chunk);
    hid_t const dataset =
        H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    H5Sclose(space);
    return dataset;
}

static struct {
    char const* name;
    Division written, read;
    int chunked;
} const cases[] = {
    {"rows", by_rows, by_rows, 0},
    {"columns", by_columns, by_rows, 0},
    {"stripes", by_stripes, by_columns, 0},
    {"first_has_none", by_all_but_first, by_stripes, 0},
    {"chunked_columns", by_columns, by_rows, 1},
    {"chunked_stripes", by_stripes, by_all_but_first, 1},
};
enum { case_count = sizeof cases / sizeof cases[0] };

static hid_t open_file(char const* name, int create) {
    hid_t const access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t const file = create ? H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                              : H5Fopen(name, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

static void write_all(char const* name) {
    hid_t const file = open_file(name, 1);
    for (int i = 0; i < case_count; ++i) {
        hid_t const dataset = make_dataset(file, cases[i].name, cases[i].chunked);
        char title[64];
        snprintf(title, sizeof title, "write/%s", cases[i].name);
        report(title, transfer(dataset, cases[i].written(rank), 1));
        H5Dclose(dataset);
    }
    report("close_after_writing", H5Fclose(file) < 0);
}

static void read_all(char const* name) {
    hid_t const file = open_file(name, 0);
    for (int i = 0; i < case_count; ++i) {
        hid_t const dataset = H5Dopen2(file, cases[i].name, H5P_DEFAULT);
        char title[64];
        snprintf(title, sizeof title, "read/%s", cases[i].name);
        report(title, transfer(dataset, cases[i].read((rank + 1) % ranks), 0));
        H5Dclose(dataset);
    }
    H5Fclose(file);
}

/// The first rank reads everything with no MPI: what others than this library's reads see.
static void read_without_mpi(char const* name) {
    hid_t const file = rank == 0 ? H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
    for (int i = 0; i < case_count; ++i) {
        long wrong = 0;
        if (rank == 0) {
            Share const all = {{0, 0}, {1, 1}, {rows, (hsize_t)(ranks * columns_each)}, {1, 1}};
            int* const memory = calloc((size_t)size_of(&all), sizeof *memory);
            hid_t const dataset = H5Dopen2(file, cases[i].name, H5P_DEFAULT);
            wrong = H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory) < 0;
            wrong += each_element(&all, memory, 1);
            H5Dclose(dataset);
            free(memory);
        }
        char title[64];
        snprintf(title, sizeof title, "without_mpi/%s", cases[i].name);
        report(title, wrong);
    }
    if (rank == 0) H5Fclose(file);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    write_all(argv[1]);
    read_all(argv[1]);
    read_without_mpi(argv[1]);
    MPI_Finalize();
    return 0;
}
