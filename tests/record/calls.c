/* Calls on files of all kinds, for sluice record: FILE what. Every byte written is not zero. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { lines = 64, columns = 16 };
static int rank, ranks;
static double block[lines * columns];

static MPI_Datatype columns_of_matrix(void) {
    int const sizes[2] = {lines, columns * ranks}, own[2] = {lines, columns};
    int const start[2] = {0, columns * rank};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, own, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Views, memory with gaps, all ways to wait. */
static void places(char const* name) {
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_Info_free(&info);
    MPI_Datatype view = columns_of_matrix(), gaps;
    MPI_File_set_view(file, 64, MPI_DOUBLE, view, "native", MPI_INFO_NULL);
    MPI_Type_free(&view);
    int const n = lines * columns;
    MPI_File_write_all(file, block, n, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_Type_vector(n / 4, 2, 4, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Request requests[3];
    int done = 0;
    MPI_File_iwrite_at_all(file, n, block, 1, gaps, &requests[0]);
    while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    MPI_Type_free(&gaps); /* Not before: MPICH's own calls cannot do with that. */
    MPI_File_write_at_all_begin(file, 2 * n, block, n, MPI_DOUBLE);
    MPI_File_write_at_all_end(file, block, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_iread_at(file, 0, block, 10, MPI_DOUBLE, &requests[0]);
    MPI_File_iread_at(file, 20, block + 10, 10, MPI_DOUBLE, &requests[1]);
    MPI_File_iread_at(file, 40, block + 20, 10, MPI_DOUBLE, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_File_seek(file, 5, MPI_SEEK_SET);
    MPI_File_read(file, block, 5, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 200000 + 100 * rank, block, 10, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* The shared pointer, and a file of half of the ranks that goes away. */
static void pointers(char const* name) {
    char other[4096];
    MPI_Comm half;
    MPI_File file;
    snprintf(other, sizeof other, "%s.shared", name);
    MPI_File_open(MPI_COMM_WORLD, other, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_ordered(file, block, 10 + rank, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_seek_shared(file, 4096, MPI_SEEK_SET);
    MPI_File_write_shared(file, block, 7, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    snprintf(other, sizeof other, "%s.half%d", name, rank % 2);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_File_open(half, other, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 0);
    MPI_File_write_at_all(file, 0, block, 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(half);
    if (rank < 2) MPI_File_delete(other, MPI_INFO_NULL);
    MPI_Comm_free(&half);
}

/* Each rank has a file of its own, which another one reads once it is there. */
static void neighbours(char const* name) {
    char other[4096];
    MPI_File file;
    snprintf(other, sizeof other, "%s.own%d", name, rank);
    MPI_File_open(MPI_COMM_SELF, other, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, block, 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(other, sizeof other, "%s.own%d", name, (rank + 1) % ranks);
    MPI_File_open(MPI_COMM_SELF, other, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_read_at(file, 0, block, 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* From here on longer files are an error, as on a full disk. */
static void limit_files(void) {
    struct rlimit const short_files = {100000, 100000};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &short_files);
}

/* Small calls; `kill`: rank 1 dies after some of them. */
static void small(char const* name, int count, int kills) {
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    if (!kills) limit_files();
    for (int i = 0; i < count; ++i)
        MPI_File_write_at(file, 8 * rank, block, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    if (kills) usleep(300000); /* What was recorded until 0.1 s before is not lost. */
    if (kills) MPI_File_write_at(file, 8 * rank, block, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    if (kills && rank == 1) raise(SIGKILL);
    MPI_File_close(&file);
}

static double processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* For results/record: how long many small calls take, once the file is there, and how much of it
   this thread computes. */
static void timed(char const* name, int count) {
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 8 * rank, block, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    double const began = MPI_Wtime(), computed = processor_time();
    for (int i = 0; i < count; ++i)
        MPI_File_write_at(file, 8 * (rank + i * ranks), block, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    double const took = MPI_Wtime() - began, processor = processor_time() - computed;
    MPI_File_close(&file);
    if (rank == 0) printf("%.9f %.9f\n", took, processor);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    memset(block, 1 + rank, sizeof block);
    char const* const what = argc > 2 ? argv[2] : "all";
    if (strcmp(what, "all") == 0) places(argv[1]), pointers(argv[1]);
    if (strcmp(what, "own") == 0) neighbours(argv[1]);
    if (strcmp(what, "many") == 0) small(argv[1], 4000, 0);
    if (strcmp(what, "kill") == 0) small(argv[1], 100, 1);
    if (strcmp(what, "timed") == 0) timed(argv[1], 10000);
    MPI_Finalize();
    return 0;
}
