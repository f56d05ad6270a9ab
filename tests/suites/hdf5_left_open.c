// A program that leaves file and dataset open: HDF5 closes them in MPI_Finalize, in the delete
// function of an attribute of MPI_COMM_SELF. Usage: hdf5_left_open FILE
#include "cases.h"

#include <hdf5.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hid_t const access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t const file = H5Fcreate(argc > 1 ? argv[1] : "", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t const extent = (hsize_t)(rows * ranks), mine = rows, begin = (hsize_t)(rows * rank);
    hid_t const all = H5Screate_simple(1, &extent, NULL);
    hid_t const memory = H5Screate_simple(1, &mine, NULL);
    hid_t const properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, 0);
    hid_t const dataset =
        H5Dcreate2(file, "left", H5T_STD_I32LE, all, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Sselect_hyperslab(all, H5S_SELECT_SET, &begin, NULL, &mine, NULL);
    int values[rows];
    for (int i = 0; i < rows; ++i) values[i] = value_at(rank, i);
    herr_t const failed = H5Dwrite(dataset, H5T_NATIVE_INT, memory, all, H5P_DEFAULT, values);
    report("write", failed < 0);
    return MPI_Finalize();
}
