/* Spawns two processes, merges, and writes a file together with them. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_Comm parent, both, all;
    MPI_File file;
    char mine[8], found[8 * 16];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    both = parent;
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both,
                       MPI_ERRCODES_IGNORE);
    }
    MPI_Intercomm_merge(both, parent != MPI_COMM_NULL, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    memset(mine, 'a' + rank, sizeof mine);
    MPI_File_open(all, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 8 * rank, mine, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(all);
    MPI_File_read_at_all(file, 0, found, 8 * size, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    for (int i = 0; i < 8 * size; ++i) {
        if (found[i] != 'a' + i / 8) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* In its own world a spawned process is served: its file has statistics. */
    MPI_File_open(MPI_COMM_WORLD, argv[parent == MPI_COMM_NULL ? 1 : 2],
                  MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 0, mine, 0, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&both);
    if (rank == 0) printf("%d ranks wrote together\n", size);
    MPI_Finalize();
    return 0;
}
