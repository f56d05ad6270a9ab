// A program in C++ that asks Sluice for its figures.
#include <cstdio>
#include <mpi.h>
#include <sluice/sluice.h>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const count = 100'000;
    std::vector<int> const written(count, rank + 1);
    std::vector<int> back(count);
    MPI_File file = MPI_FILE_NULL;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Offset const place = MPI_Offset(rank) * count * MPI_Offset(sizeof(int));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_File_iwrite_at_all(file, place, written.data(), count, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, place, back.data(), count, MPI_INT, MPI_STATUS_IGNORE);
    sluice_statistics statistics{};
    statistics.size = sizeof statistics;
    bool const served = sluice_file_statistics(file, &statistics) == MPI_SUCCESS;
    MPI_File_close(&file);
    bool const right = back == written && served && statistics.operations == 2;
    if (rank == 0) std::printf("%s\n", right ? "same bytes" : "other bytes, or not served");
    MPI_Finalize();
    return right ? 0 : 1;
}
