/* Threads of one rank share the individual pointer of a file: `pointer PATH WAY`. By the ways of
 * writing each writes values of its own; each must be found once, and nothing else. By the ways of
 * reading each value must be read once. "mixed" and "read mixed" take nonblocking and blocking
 * calls in turn. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 4, EACH = 5000, ALL = THREADS * EACH, IN_A_ROW = 16 };

static MPI_File file;
static int values[ALL];
static int reads, mixed;

static void require(int holds, char const* what) {
    if (holds) return;
    fprintf(stderr, "failed: %s\n", what);
    fflush(NULL);
    abort();
}

static void blocking(int* value) {
    int const code = reads ? MPI_File_read(file, value, 1, MPI_INT, MPI_STATUS_IGNORE)
                           : MPI_File_write(file, value, 1, MPI_INT, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "a blocking call");
}

static MPI_Request nonblocking(int* value) {
    MPI_Request request;
    int const code = reads ? MPI_File_iread(file, value, 1, MPI_INT, &request)
                           : MPI_File_iwrite(file, value, 1, MPI_INT, &request);
    require(code == MPI_SUCCESS, "a nonblocking call");
    return request;
}

static void* work(void* first) {
    MPI_Request requests[IN_A_ROW];
    int* const own = first;
    for (int i = 0; i < EACH; i += IN_A_ROW) {
        int count = 0;
        for (int k = i; k < i + IN_A_ROW && k < EACH; ++k) {
            if (mixed && k % 2 == 0)
                blocking(&own[k]);
            else
                requests[count++] = nonblocking(&own[k]);
        }
        for (int k = 0; k < count; ++k) MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    }
    return NULL;
}

/* How many of the values 1 to ALL are not found. */
static int missing(int const* found) {
    static char seen[ALL + 1];
    int missed = 0;
    for (int i = 0; i < ALL; ++i)
        if (found[i] >= 1 && found[i] <= ALL) seen[found[i]] = 1;
    for (int value = 1; value <= ALL; ++value) missed += !seen[value];
    return missed;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    require(provided == MPI_THREAD_MULTIPLE, "the thread level is given");
    reads = strncmp(argv[2], "read", 4) == 0;
    mixed = strstr(argv[2], "mixed") != NULL;
    int const code = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
                                   MPI_INFO_NULL, &file);
    require(code == MPI_SUCCESS, "MPI_File_open");
    for (int i = 0; i < ALL; ++i) values[i] = i + 1;
    if (reads) {
        MPI_File_write_at(file, 0, values, ALL, MPI_INT, MPI_STATUS_IGNORE);
        memset(values, 0, sizeof values);
    }
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, &values[i * EACH]);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    MPI_Offset position = 0;
    MPI_File_get_position(file, &position);
    MPI_File_close(&file);
    if (!reads) {
        int const again = open(argv[1], O_RDONLY);
        require(read(again, values, sizeof values) >= 0, "the file is read");
        close(again);
    }
    struct stat about;
    require(stat(argv[1], &about) == 0, "the file is there");
    printf("%s: %d values missing, %ld bytes, position %ld\n", argv[2], missing(values),
           (long)about.st_size, (long)position);
    MPI_Finalize();
    return 0;
}
