/* Mode `calls`: one rank is in a call of the MPI that blocks until the others come, while these
 * wait for an operation that it has started. Says which call is next, so that a watch tells where
 * it stood still. Arguments: a path, and perhaps a part of the text of the calls that are to be
 * made in this way (else all). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { block = 65536 };

static MPI_File served, left;
static int rank, size;
static char const* only = "";
static char data[block];

static void apart_begin(MPI_Request* request) {
    MPI_File_iwrite_at_all(served, (MPI_Offset)rank * block, data, block, MPI_BYTE, request);
    if (rank != 0) MPI_Wait(request, MPI_STATUS_IGNORE);
}

#define APART(CALL)                                                                                \
    do {                                                                                           \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
        if (rank == 0) printf("next: %s\n", #CALL), fflush(stdout);                                \
        if (strstr(#CALL, only)) apart_begin(&request);                                            \
        CALL;                                                                                      \
        if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);                                      \
    } while (0)

static void expect(int right, char const* what) {
    if (right) return;
    printf("rank %d: wrong: %s\n", rank, what), fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void topologies(void) {
    int remain = 1, periods = 0, in[1], out[1], weights[1] = {1}, values[8] = {0};
    MPI_Comm grid, made;
    in[0] = (rank + size - 1) % size;
    out[0] = (rank + 1) % size;
    APART(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &grid));
    APART(MPI_Cart_sub(grid, &remain, &made));
    MPI_Comm_free(&made);
    APART(MPI_Neighbor_allgather(&rank, 1, MPI_INT, values, 1, MPI_INT, grid));
    APART(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, in, weights, 1, out, weights,
                                         MPI_INFO_NULL, 0, &made));
    MPI_Comm_free(&made);
    MPI_Comm_free(&grid);
}

static void idup(MPI_Comm* made) {
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The others do not take part. */
static void group_of_two(void) {
    int const two[2] = {1, 0};
    MPI_Group all, pair;
    MPI_Comm made;
    if (rank > 1) return;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, two, &pair);
    MPI_Comm_create_group(MPI_COMM_WORLD, pair, 9, &made);
    MPI_Comm_free(&made);
    MPI_Group_free(&pair);
    MPI_Group_free(&all);
}

static void communicators(void) {
    int const even = rank % 2 == 0;
    MPI_Comm half, between, made;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    APART(MPI_Comm_create_group(MPI_COMM_WORLD, all, 7, &made));
    MPI_Comm_free(&made);
    MPI_Group_free(&all);
    APART(group_of_two());
    APART(MPI_Comm_split(MPI_COMM_WORLD, even, rank, &half));
    APART(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, even, 8, &between));
    APART(MPI_Barrier(between));
    APART(MPI_Intercomm_merge(between, even, &made));
    MPI_Comm_free(&made);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    APART(idup(&made));
    APART(MPI_Comm_disconnect(&made));
}

static int rank_error_of(int code) {
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class == MPI_ERR_RANK;
}

/* What cannot be sent is an error at once, though nothing arrives. */
static void send_to_nobody(MPI_Comm returning) {
    int value = rank, other = 0;
    if (rank != 0) return;
    expect(rank_error_of(MPI_Sendrecv(&value, 1, MPI_INT, size, 4, &other, 1, MPI_INT, 1, 4,
                                      returning, MPI_STATUS_IGNORE)),
           "the error of Sendrecv");
    expect(rank_error_of(MPI_Sendrecv_replace(&value, 1, MPI_INT, size, 4, 1, 4, returning,
                                              MPI_STATUS_IGNORE)),
           "the error of Sendrecv_replace");
}

/* Every second element, so that it has to be packed. */
static void replace_sparse(void) {
    int values[8];
    MPI_Datatype sparse;
    for (int i = 0; i < 8; ++i) values[i] = 10 * rank + i;
    MPI_Type_vector(4, 1, 2, MPI_INT, &sparse);
    MPI_Type_commit(&sparse);
    MPI_Sendrecv_replace(values, 1, sparse, (rank + 1) % size, 4, (rank + size - 1) % size, 4,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&sparse);
    for (int i = 0; i < 8; ++i) {
        int const from = i % 2 == 0 ? (rank + size - 1) % size : rank;
        expect(values[i] == 10 * from + i, "Sendrecv_replace of every second element");
    }
}

static void messages(void) {
    int value = rank;
    MPI_Status status;
    MPI_Comm returning;
    APART(MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 4, (rank + size - 1) % size,
                               MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    expect(value == (rank + size - 1) % size && status.MPI_TAG == 4, "Sendrecv_replace");
    APART(replace_sparse());
    MPI_Comm_dup(MPI_COMM_WORLD, &returning);
    MPI_Comm_set_errhandler(returning, MPI_ERRORS_RETURN);
    APART(send_to_nobody(returning));
    MPI_Comm_free(&returning);
}

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
enum { large = 1 << 20 };
static char message[large];

/* Rank 0 has a message in its buffer that the next one receives later. */
static void buffered(int detach) {
    void* address;
    int bytes;
    if (rank == 1) MPI_Recv(message, large, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 && detach) MPI_Buffer_detach(&address, &bytes);
    if (rank == 0 && !detach) MPI_Buffer_flush();
}

static void buffers(void) {
    int const bytes = large + MPI_BSEND_OVERHEAD;
    void* const buffer = malloc((size_t)bytes);
    if (rank == 0) MPI_Buffer_attach(buffer, bytes);
    if (rank == 0) MPI_Bsend(message, large, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    APART(buffered(0));
    if (rank == 0) MPI_Bsend(message, large, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    APART(buffered(1));
    free(buffer);
}
#else
static void buffers(void) {} /* The MPI cannot be asked whether messages are delivered. */
#endif

static MPI_Group all_but_first(void) {
    int const first = 0;
    MPI_Group all, others;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &first, &others);
    MPI_Group_free(&all);
    return others;
}

static MPI_Group first_alone(void) {
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_SELF, &group);
    if (rank == 0) return group;
    MPI_Group all;
    int const first = 0;
    MPI_Group_free(&group);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &first, &group);
    MPI_Group_free(&all);
    return group;
}

/* Rank 0 writes its number, 100, to all others: it is the origin. */
static void write_to_others(MPI_Win window, MPI_Group others, MPI_Group first) {
    int const number = 100;
    if (rank != 0) {
        MPI_Win_post(first, 0, window);
        MPI_Win_wait(window);
        return;
    }
    MPI_Win_start(others, 0, window);
    for (int i = 1; i < size; ++i) MPI_Put(&number, 1, MPI_INT, i, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
}

/* All others write theirs to rank 0: it is the target. */
static void write_to_first(MPI_Win window, MPI_Group others, MPI_Group first, int tests) {
    int done = 0;
    if (rank != 0) {
        MPI_Win_start(first, 0, window);
        MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
        MPI_Win_complete(window);
        return;
    }
    MPI_Win_post(others, 0, window);
    while (tests && !done) MPI_Win_test(window, &done);
    if (!tests) MPI_Win_wait(window);
}

static void write_under_lock(MPI_Win window) {
    int const number = 50 + rank;
    if (rank != 0) return;
    MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, window);
    MPI_Put(&number, 1, MPI_INT, size - 1, 0, 1, MPI_INT, window);
    MPI_Win_flush(size - 1, window);
    MPI_Win_unlock(size - 1, window);
}

static void windows(void) {
    int* values;
    MPI_Win window;
    MPI_Comm mine;
    MPI_Info info;
    MPI_Group others = all_but_first(), first = first_alone();
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    APART(MPI_Win_allocate((MPI_Aint)sizeof(int) * size, (int)sizeof(int), MPI_INFO_NULL, mine,
                           &values, &window));
    MPI_Comm_free(&mine); /* A window may outlive it. */
    memset(values, 0, sizeof(int) * (size_t)size);
    APART(MPI_Win_fence(0, window));
    APART(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    APART(write_to_others(window, others, first));
    expect(rank == 0 || *values == 100, "what the first rank wrote");
    APART(write_to_first(window, others, first, 0));
    for (int i = 1; rank == 0 && i < size; ++i) expect(values[i] == i, "what the others wrote");
    APART(write_to_first(window, others, first, 1));
    APART(write_under_lock(window));
    MPI_Info_create(&info);
    APART(MPI_Win_set_info(window, info));
    MPI_Info_free(&info);
    APART(MPI_Win_free(&window));
    MPI_Group_free(&others);
    MPI_Group_free(&first);
}

static void start_and_wait(void) {
    MPI_Request request;
    MPI_File_iwrite_all(left, data, 8, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void files(char const* path) {
    char name[4096];
    MPI_Info info;
    snprintf(name, sizeof name, "%s.left", path);
    MPI_Info_create(&info);
    MPI_Info_set(info, "sluice", "disable");
    APART(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &left));
    APART(MPI_File_write_ordered(left, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    APART(MPI_File_seek_shared(left, 0, MPI_SEEK_SET));
    APART(MPI_File_set_size(left, 4096));
    APART(MPI_File_preallocate(left, 8192));
    APART(MPI_File_set_view(left, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    APART(MPI_File_write_at_all(left, 8 * rank, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    APART(start_and_wait());
    APART(MPI_File_write_all_begin(left, data, 8, MPI_BYTE));
    APART(MPI_File_write_all_end(left, data, MPI_STATUS_IGNORE));
    APART(MPI_File_sync(left));
    APART(MPI_File_close(&left));
    MPI_Info_free(&info);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2) only = argv[2];
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &served);
    if (size == 2) files(argv[1]); /* Open MPI's own collective writes crash with three ranks. */
    topologies();
    communicators();
    messages();
    buffers();
    windows();
    APART(MPI_File_seek_shared(served, 0, MPI_SEEK_SET));
    MPI_File_close(&served);
    if (rank == 0) printf("all calls were left\n");
    MPI_Finalize();
    return 0;
}
