/* With sluice_close=durable all that the ranks wrote is flushed before the file is closed, whoever
 * wrote it. The program counts fsync and fdatasync. `durable PATH write_at|write_at_all` */
#include "pieces.h"

#include <string.h>
#include <unistd.h>

static int flushes;

static int flush_as(char const* name, int fd) {
    typedef int Flush(int);
    ++flushes;
    return ((Flush*)dlsym(RTLD_NEXT, name))(fd);
}
int fsync(int fd) { return flush_as("fsync", fd); }
int fdatasync(int fd) { return flush_as("fdatasync", fd); }

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    static char data[1000];
    memset(data, rank + 1, sizeof data);
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "sluice_close", "durable");
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[1], hints);
    char const* const by = served(file) ? "served by sluice" : "served by the MPI";
    MPI_Offset const place = (MPI_Offset)sizeof data * rank;
    int const alone = strcmp(argv[2], "write_at") == 0;
    int const code = (alone ? MPI_File_write_at : MPI_File_write_at_all)(
        file, place, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, argv[2]);
    flushes = 0;
    MPI_File_close(&file);
    require(flushes > 0, "what was written is flushed");
    if (rank == 0) printf("durable: %s\n", by);
    MPI_Info_free(&hints);
    MPI_Finalize();
    return 0;
}
