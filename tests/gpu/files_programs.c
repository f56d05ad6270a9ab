/* Cases of files.c: what programs do besides a transfer: several at once, reads past the end, files
 * of one rank, atomic mode, work on the devices meanwhile. */
#include "cuda_buffers.h"
#include "files.h"
#include "transfers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void wait_all(int count, MPI_Request* requests, char const* what) {
    MPI_Status statuses[16];
    int const code = MPI_Waitall(count, requests, statuses);
    if (code != MPI_ERR_IN_STATUS) went(code, what);
    for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; ++i) went(statuses[i].MPI_ERROR, what);
}

/* ---- Several at once ---------------------------------------------------------------------- */

enum { AT_ONCE = 8, PART_BYTES = 7000 };

/* The parts of the ranks follow each other, round by round. */
static MPI_Offset place_of(int round) { return (MPI_Offset)(round * ranks + rank) * PART_BYTES; }

static int start_one(int collective, int writes, MPI_File file, MPI_Offset at, void* memory,
                     MPI_Request* request) {
    if (collective)
        return (writes ? MPI_File_iwrite_at_all(file, at, memory, PART_BYTES, MPI_BYTE, request)
                       : MPI_File_iread_at_all(file, at, memory, PART_BYTES, MPI_BYTE, request));
    return writes ? MPI_File_iwrite_at(file, at, memory, PART_BYTES, MPI_BYTE, request)
                  : MPI_File_iread_at(file, at, memory, PART_BYTES, MPI_BYTE, request);
}

static void start_all(int writes, MPI_File const* files, Buffer const* buffers) {
    MPI_Request requests[AT_ONCE];
    for (int i = 0; i < AT_ONCE; ++i)
        if (!went(start_one(i % 3 != 2, writes, files[i % 2], place_of(i / 2), buffers[i].memory,
                            &requests[i]),
                  "start"))
            requests[i] = MPI_REQUEST_NULL;
    wait_all(AT_ONCE, requests, "MPI_Waitall");
}

static void fill_at_once(Buffer* buffers, int is_filled) {
    for (int i = 0; i < AT_ONCE; ++i) {
        for (size_t j = 0; j < PART_BYTES; ++j)
            buffers[i].image[j] = is_filled ? stream_byte(rank + 10 * i, (MPI_Aint)j) : GAP;
        put_buffer(&buffers[i]);
    }
}

/* Two files; collective and other calls, of memory of the devices, pinned and of the host. */
static void run_at_once(void const* what) {
    Place const places[3] = {DEVICE, HOST, PINNED};
    Buffer buffers[AT_ONCE];
    MPI_File files[2];
    (void)what;
    files[0] = open_file(file_name("data"));
    files[1] = open_file(file_name("other"));
    for (int i = 0; i < AT_ONCE; ++i)
        buffers[i] = make_buffer(i % 4 ? DEVICE : places[i / 4], device_of(rank + i), PART_BYTES);
    fill_at_once(buffers, 1);
    start_all(1, files, buffers);
    for (int i = 0; i < AT_ONCE; ++i) check_buffer(&buffers[i], "memory that was written");
    for (int i = 0; i < 2; ++i) went(MPI_File_sync(files[i]), "MPI_File_sync");
    fill_at_once(buffers, 0);
    start_all(0, files, buffers);
    for (int i = 0; i < AT_ONCE; ++i)
        for (size_t j = 0; j < PART_BYTES; ++j)
            buffers[i].image[j] = stream_byte(rank + 10 * i, (MPI_Aint)j);
    for (int i = 0; i < AT_ONCE; ++i) check_buffer(&buffers[i], "memory that was read");
    for (int i = 0; i < 2; ++i) went(MPI_File_close(&files[i]), "MPI_File_close");
    for (int i = 0; i < AT_ONCE; ++i) free_buffer(&buffers[i]);
    file_name("other");
}

/* ---- One file, open all the time ---------------------------------------------------------- */

/* Steps of a program that writes again and again, and looks at the end what is there. */
static void run_steps(void const* what) {
    int const atomic = *(int const*)what;
    Part part = make_part(layout_of_bytes(PART_BYTES), 1, DEVICE, device_of(rank));
    char const* const name = file_name("data");
    MPI_File file = open_file(name);
    enum { STEPS = 12 };
    if (atomic) went(MPI_File_set_atomicity(file, 1), "MPI_File_set_atomicity");
    for (int step = 0; step < STEPS; ++step) {
        for (MPI_Aint i = 0; i < PART_BYTES; ++i) part.stream[i] = stream_byte(rank + step, i);
        fill_part(&part);
        went(transfer_once(way_named("at_all"), 1, file, place_of(step), address_of(&part), 1,
                           part.memory.type, PART_BYTES),
             "write_at_all");
        check_written(&part);
    }
    for (int step = 0; step < STEPS; ++step) {
        clear_part(&part);
        went(transfer_once(way_named("iat_all"), 0, file, place_of(step), address_of(&part), 1,
                           part.memory.type, PART_BYTES),
             "iread_at_all");
        for (MPI_Aint i = 0; i < PART_BYTES; ++i) part.stream[i] = stream_byte(rank + step, i);
        check_read(&part);
    }
    went(MPI_File_close(&file), "MPI_File_close");
    free_part(&part);
}

/* The file ends amid what the ranks want: what lies behind it in memory stays as it was. */
static void run_past_end(void const* what) {
    Way const* const way = way_named(what);
    Part part = make_part(layout_of_bytes(PART_BYTES), 3, DEVICE, device_of(rank));
    MPI_Aint const there = PART_BYTES + 100, offset = rank * 50;
    MPI_File file = open_file(file_name("data"));
    fill_part(&part);
    if (rank == 0)
        went(transfer_once(way_named("at"), 1, file, 0, address_of(&part), 1, part.memory.type,
                           PART_BYTES),
             "write_at");
    if (rank == 0)
        went(MPI_File_write_at(file, PART_BYTES, address_of(&part), 100, MPI_BYTE,
                               MPI_STATUS_IGNORE),
             "write_at");
    went(MPI_File_sync(file), "MPI_File_sync");
    MPI_Barrier(MPI_COMM_WORLD);
    went(MPI_File_sync(file), "MPI_File_sync");
    clear_part(&part);
    went(
        transfer_once(way, 0, file, offset, address_of(&part), 3, part.memory.type, there - offset),
        way->name);
    for (MPI_Aint i = 0; i < there - offset; ++i)
        part.buffer.image[i] = stream_byte(0, (offset + i) % PART_BYTES);
    check_buffer(&part.buffer, "memory that was read");
    went(MPI_File_close(&file), "MPI_File_close");
    free_part(&part);
}

/* The same of a rank that reads with the shared pointer. (Open MPI's own nonblocking read hangs at
 * the end of a file.) */
static void run_past_end_shared(void const* what) {
    Way const* const way = way_named(what);
    Part part = make_part(layout_of_bytes(PART_BYTES), 2, DEVICE, device_of(rank));
    MPI_File file = open_file(file_name("data"));
    fill_part(&part);
    if (rank == 0)
        went(MPI_File_write_at(file, 0, address_of(&part), 100, MPI_BYTE, MPI_STATUS_IGNORE),
             "write_at");
    went(MPI_File_sync(file), "MPI_File_sync");
    clear_part(&part);
    if (rank == 0)
        went(transfer_once(way, 0, file, 0, address_of(&part), 2, part.memory.type, 100),
             way->name);
    for (MPI_Aint i = 0; rank == 0 && i < 100; ++i) part.buffer.image[i] = stream_byte(0, i);
    check_buffer(&part.buffer, "memory that was read");
    went(MPI_File_close(&file), "MPI_File_close");
    free_part(&part);
}

/* A file of each rank. */
static void run_self(void const* what) {
    char name[32] = "data.0";
    unsigned char expected[2 * PART_BYTES];
    Part part = make_part(layout_of_bytes(PART_BYTES), 2, DEVICE, device_of(rank));
    MPI_File file = MPI_FILE_NULL;
    (void)what;
    for (int i = 0; i < ranks; ++i) {
        name[5] = (char)('a' + i % 26);
        char const* const path = file_name(name);
        if (i != rank) continue;
        fill_part(&part);
        went(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                           &file),
             "MPI_File_open");
        transfer(way_named("all"), 1, file, &part);
        check_written(&part);
        clear_part(&part);
        transfer(way_named("iat_all"), 0, file, &part);
        check_read(&part);
        went(MPI_File_close(&file), "MPI_File_close");
        memcpy(expected, part.stream, sizeof expected);
        check_file(path, expected, sizeof expected);
    }
    free_part(&part);
    for (int i = 0; i < ranks; ++i) {
        name[5] = (char)('a' + i % 26);
        file_name(name);
    }
}

/* ---- Threads and devices ------------------------------------------------------------------ */

typedef struct Waiting {
    MPI_Request request;
    int code;
} Waiting;

static void* wait_elsewhere(void* what) {
    Waiting* const waiting = what;
    waiting->code = MPI_Wait(&waiting->request, MPI_STATUS_IGNORE);
    return NULL;
}

/* Another thread, which never had a context, completes what this one began. */
static void run_other_thread(void const* what) {
    int const writes = *(int const*)what;
    int provided;
    pthread_t thread;
    Waiting waiting = {MPI_REQUEST_NULL, MPI_SUCCESS};
    Part part = make_part(layout_of_bytes(PART_BYTES), 1, DEVICE, device_of(rank));
    char const* const name = file_name("data");
    MPI_File file = open_file(name);
    MPI_Query_thread(&provided);
    fill_part(&part);
    if (!writes)
        went(transfer_once(way_named("at_all"), 1, file, place_of(0), address_of(&part), 1,
                           part.memory.type, PART_BYTES),
             "write_at_all");
    if (!writes) clear_part(&part);
    went(start_one(1, writes, file, place_of(0), address_of(&part), &waiting.request), "start");
    if (provided < MPI_THREAD_SERIALIZED)
        wait_elsewhere(&waiting);
    else if (pthread_create(&thread, NULL, wait_elsewhere, &waiting) == 0)
        pthread_join(thread, NULL);
    went(waiting.code, "MPI_Wait");
    check_read(&part);
    went(MPI_File_close(&file), "MPI_File_close");
    free_part(&part);
}

/* The devices compute for seconds; data are written meanwhile. */
static void run_busy(void const* what) {
    int const in_default = *(int const*)what;
    CUstream stream = NULL;
    if (!has_devices()) {
        skip("no device");
        return;
    }
    CUcontext const context = cuda_context(device_of(rank));
    Part part = make_part(layout_of_bytes(PART_BYTES), 3, DEVICE, device_of(rank));
    cuda_enter(context);
    if (!in_default) cuda_require(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "stream");
    fill_part(&part);
    MPI_File file = open_file(file_name("data"));
    cuda_busy(context, stream, 3000000);
    MPI_Offset const at = place_of(0) * 3;
    went(transfer_once(way_named("iat_all"), 1, file, at, address_of(&part), 3, part.memory.type,
                       part.bytes),
         "iwrite_at_all");
    if (cuda.cuStreamQuery(stream) != CUDA_ERROR_NOT_READY)
        wrong("the write waited for what else the device does");
    went(MPI_File_close(&file), "MPI_File_close");
    check_written(&part);
    if (stream) cuda_require(cuda.cuStreamDestroy_v2(stream), "cuStreamDestroy");
    cuda_leave();
    free_part(&part);
}

void add_programs(void) {
    static int const no = 0, yes = 1;
    add_case("at_once", run_at_once, NULL);
    add_case("steps", run_steps, &no);
    add_case("atomic", run_steps, &yes);
    add_case("past_end/at", run_past_end, "at");
    add_case("past_end/iat", run_past_end, "iat");
    add_case("past_end/at_all", run_past_end, "at_all");
    add_case("past_end/iat_all", run_past_end, "iat_all");
    add_case("past_end/shared", run_past_end_shared, "shared");
    add_case("self", run_self, NULL);
    add_case("other_thread/write", run_other_thread, &yes);
    add_case("other_thread/read", run_other_thread, &no);
    add_costly_case("busy/stream", run_busy, &no);
    add_costly_case("busy/default", run_busy, &yes);
}
