/* Cases of files.c: calls that begin when a stream has done what it was given before them. The
 * stream fills memory that is written, or destroys memory that is read, and not before somebody
 * opens a gate: a call that comes too early has the wrong bytes, and one that may not wait for the
 * stream never returns. */
#include "cuda_buffers.h"
#include "files.h"
#include "transfers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART_BYTES = 9000, GARBAGE = 0x5C };

/* ---- What the stream is given ------------------------------------------------------------- */

typedef struct Late {
    CUcontext context;
    CUstream stream;
    Part part;
    Buffer source; /* Pinned. */
    atomic_int is_open;
} Late;

static void wait_for_gate(void* late) {
    while (!atomic_load(&((Late*)late)->is_open)) usleep(100);
}

static void copy_on_host(void* what) {
    Late* const late = what;
    memcpy(late->part.buffer.memory, late->source.memory, late->source.bytes);
}

static void* open_soon(void* late) {
    usleep(2000);
    atomic_store(&((Late*)late)->is_open, 1);
    return NULL;
}

/* The stream will bring what the source holds to the part's memory. */
static void put_late(Late* late) {
    Buffer const* const to = &late->part.buffer;
    atomic_store(&late->is_open, 0);
    cuda_enter(late->context);
    cuda_require(cuda.cuLaunchHostFunc(late->stream, wait_for_gate, late), "cuLaunchHostFunc");
    if (to->place == DEVICE)
        cuda_require(cuda.cuMemcpyHtoDAsync_v2((CUdeviceptr)(uintptr_t)to->memory,
                                               late->source.memory, late->source.bytes,
                                               late->stream),
                     "cuMemcpyHtoDAsync");
    else
        cuda_require(cuda.cuLaunchHostFunc(late->stream, copy_on_host, late), "cuLaunchHostFunc");
    cuda_leave();
}

static Late* make_late(Place place) {
    Late* const late = calloc(1, sizeof *late);
    late->context = cuda_context(device_of(rank));
    late->part = make_part(layout_of_bytes(PART_BYTES), 2, place, device_of(rank));
    late->source = make_buffer(PINNED, device_of(rank), late->part.buffer.bytes);
    cuda_enter(late->context);
    cuda_require(cuda.cuStreamCreate(&late->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    cuda_leave();
    return late;
}

static void free_late(Late* late) {
    cuda_enter(late->context);
    cuda_require(cuda.cuStreamSynchronize(late->stream), "cuStreamSynchronize");
    cuda_require(cuda.cuStreamDestroy_v2(late->stream), "cuStreamDestroy");
    cuda_leave();
    free_buffer(&late->source);
    free_part(&late->part);
    free(late);
}

/* The memory has garbage now, and later what is written. */
static void fill_late(Late* late) {
    Buffer* const buffer = &late->part.buffer;
    unsigned char* const wanted = malloc(buffer->bytes);
    fill_part(&late->part);
    memcpy(wanted, buffer->image, buffer->bytes);
    memcpy(late->source.memory, wanted, buffer->bytes);
    memset(buffer->image, GARBAGE, buffer->bytes);
    put_buffer(buffer);
    memcpy(buffer->image, wanted, buffer->bytes);
    free(wanted);
    put_late(late);
}

/* It has garbage later. */
static void spoil_late(Late* late) {
    clear_part(&late->part);
    memset(late->source.memory, GARBAGE, late->source.bytes);
    put_late(late);
}

/* ---- How a file gets it ------------------------------------------------------------------- */

typedef int SetStream(MPI_File, char const*, void*);
static SetStream* find_set_stream(void) {
    return (SetStream*)dlsym(RTLD_DEFAULT, "sluice_file_set_stream");
}

static void set_by_info(MPI_File file, CUstream stream) {
    char digits[2 * sizeof stream + 1];
    unsigned char const* const bytes = (unsigned char const*)&stream;
    MPI_Info info;
    for (size_t i = 0; i < sizeof stream; ++i) snprintf(digits + 2 * i, 3, "%02X", bytes[i]);
    MPI_Info_create(&info);
    MPI_Info_set(info, "type", "cudaStream_t");
    MPI_Info_set(info, "value", digits);
    went(MPI_File_set_info(file, info), "MPI_File_set_info");
    MPI_Info_free(&info);
}

static MPI_File open_with_stream(CUstream stream, int by_info) {
    MPI_File const file = open_file(file_name("data"));
    if (by_info)
        set_by_info(file, stream);
    else
        went(find_set_stream()(file, "cudaStream_t", stream), "sluice_file_set_stream");
    return file;
}

static int has_streams(void) {
    if (has_devices() && cuda.cuStreamGetCtx && find_set_stream()) return 1;
    skip("no function for it");
    return 0;
}

/* ---- The cases ---------------------------------------------------------------------------- */

typedef struct StreamCase {
    Way const* way;
    Place place;
} StreamCase;

static void transfer_late(Late* late, Way const* way, int writes, MPI_File file) {
    pthread_t opener;
    pthread_create(&opener, NULL, open_soon, late);
    transfer(way, writes, file, &late->part);
    pthread_join(opener, NULL);
}

static void run_way(void const* what) {
    StreamCase const* const one = what;
    if (!has_streams()) return;
    Late* const late = make_late(one->place);
    MPI_File file = open_with_stream(late->stream, one->place == DEVICE);
    MPI_Aint* const bytes = all_bytes(late->part.bytes);
    View view = draw_view(BLOCKS, rank, bytes);
    if (one->way->position != SHARED_POINTER) set_view(file, &view);
    fill_late(late);
    transfer_late(late, one->way, 1, file);
    went(MPI_File_sync(file), "MPI_File_sync");
    check_written(&late->part);
    MPI_Barrier(MPI_COMM_WORLD);
    spoil_late(late);
    transfer_late(late, one->way, 0, file);
    check_read(&late->part);
    went(MPI_File_close(&file), "MPI_File_close");
    free_layout(&view.layout);
    free(bytes);
    free_late(late);
}

static int start(int collective, int writes, MPI_File file, Part const* part,
                 MPI_Request* request) {
    int const bytes = (int)part->bytes;
    MPI_Offset const at = (MPI_Offset)rank * bytes;
    void* const memory = address_of(part);
    if (collective)
        return writes ? MPI_File_iwrite_at_all(file, at, memory, bytes, MPI_BYTE, request)
                      : MPI_File_iread_at_all(file, at, memory, bytes, MPI_BYTE, request);
    return writes ? MPI_File_iwrite_at(file, at, memory, bytes, MPI_BYTE, request)
                  : MPI_File_iread_at(file, at, memory, bytes, MPI_BYTE, request);
}

/* A call that is not blocking returns while the gate is closed. */
static void run_returns(void const* what) {
    int const collective = *(int const*)what;
    if (!has_streams()) return;
    Late* const late = make_late(DEVICE);
    MPI_File file = open_with_stream(late->stream, collective);
    for (int writes = 1; writes >= 0; --writes) {
        MPI_Request request = MPI_REQUEST_NULL;
        int is_done = 1;
        writes ? fill_late(late) : spoil_late(late);
        went(start(collective, writes, file, &late->part, &request), "start");
        for (int i = 0; i < 50 && is_done; ++i) {
            went(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
            if (is_done) wrong("the call was complete before what the stream had to do");
        }
        atomic_store(&late->is_open, 1);
        went(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
        if (!writes) check_read(&late->part);
        went(MPI_File_sync(file), "MPI_File_sync");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    went(MPI_File_close(&file), "MPI_File_close");
    free_late(late);
}

/* Bad arguments change nothing. */
static void run_arguments(void const* what) {
    (void)what;
    if (!has_streams()) return;
    SetStream* const set = find_set_stream();
    MPI_File file = open_file(file_name("data"));
    if (set(file, "stream", NULL) != MPI_ERR_ARG) wrong("another type is taken");
    if (set(MPI_FILE_NULL, "cudaStream_t", NULL) != MPI_ERR_FILE) wrong("no file is taken");
    if (set(file, NULL, NULL) != MPI_SUCCESS) wrong("no stream is refused");
    /* A type whose driver is not there is an error of the next call, on all ranks. */
    if (set(file, "hipStream_t", NULL) != MPI_SUCCESS) wrong("a stream of HIP is refused");
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    int code = MPI_File_write_at_all(file, rank, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE), class = 0;
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_ARG) wrong("a stream without its driver: error class %d", class);
    if (set(file, NULL, NULL) != MPI_SUCCESS) wrong("the stream cannot be taken away");
    went(MPI_File_write_at_all(file, rank, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
    went(MPI_File_close(&file), "MPI_File_close");
}

void add_streams(void) {
    static StreamCase cases[2 * 32];
    static int const no = 0, yes = 1;
    int count = 0;
    for (int way = 0; way < way_count; ++way)
        for (int on_host = 0; on_host < 2; ++on_host) {
            char name[64];
            StreamCase const one = {&ways[way], on_host ? HOST : DEVICE};
            cases[count] = one;
            snprintf(name, sizeof name, "stream/%s/%s", ways[way].name,
                     on_host ? "host" : "device");
            add_case(name, run_way, &cases[count++]);
        }
    add_case("stream/returns/collective", run_returns, &yes);
    add_case("stream/returns/independent", run_returns, &no);
    add_case("stream/arguments", run_arguments, NULL);
}
