/* Two threads, each with a file of its own, which were opened on one communicator: collective calls
 * on different files need no order between them. `two_files PATH` */
#include "pieces.h"

#include <pthread.h>
#include <string.h>

enum { FILES = 2, ROUNDS = 200, INTS = 1024 };

static MPI_File files[FILES];
static int rank, ranks, wrong[FILES];

static void* work(void* which) {
    int const own = (int)(size_t)which;
    int values[INTS], found[INTS];
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Offset const at = ((MPI_Offset)round * ranks + rank) * (MPI_Offset)sizeof values;
        for (int i = 0; i < INTS; ++i) values[i] = own * 1000000 + round * 1000 + rank;
        wrong[own] += MPI_File_set_view(files[own], at, MPI_INT, MPI_INT, "native",
                                        MPI_INFO_NULL) != MPI_SUCCESS;
        MPI_File_write_all(files[own], values, INTS, MPI_INT, MPI_STATUS_IGNORE);
        memset(found, 0, sizeof found);
        MPI_File_read_at_all(files[own], 0, found, INTS, MPI_INT, MPI_STATUS_IGNORE);
        wrong[own] += memcmp(values, found, sizeof values) != 0;
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided, all = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    require(argc == 2 && provided == MPI_THREAD_MULTIPLE, "an argument, and threads");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < FILES; ++i) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", argv[1], i);
        files[i] = open_pieces(MPI_COMM_WORLD, name, MPI_INFO_NULL);
    }
    pthread_t threads[FILES];
    for (size_t i = 0; i < FILES; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
    for (int i = 0; i < FILES; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < FILES; ++i) MPI_File_close(&files[i]);
    int const mine = wrong[0] + wrong[1];
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d rounds are wrong\n", all);
    MPI_Finalize();
    return 0;
}
