/* Cases of files.c: where memory lies and how it came to be. */
#include "cuda_buffers.h"
#include "files.h"
#include "transfers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char const* const some_ways[] = {"at", "iat", "all", "iat_all", "at_all_split"};
enum { SOME_WAYS = sizeof some_ways / sizeof *some_ways };

static void in_some_ways(Part* part) {
    for (int i = 0; i < SOME_WAYS && !is_wrong(); ++i)
        write_and_read(way_named(some_ways[i]), DEALT, part);
    free_part(part);
}

static Part some_part(MemoryKind kind, Place place) {
    Random random = random_of_case(rank);
    return make_part(draw_memory(kind, &random), 5, place, device_of(rank));
}

/* ---- Kinds of memory ---------------------------------------------------------------------- */

static void run_place(void const* what) {
    for (int kind = CONTIGUOUS; kind <= RANDOM; ++kind) {
        Part part = some_part((MemoryKind)kind, *(Place const*)what);
        in_some_ways(&part);
    }
}

/* Devices and the host in turn. */
static void run_mixed(void const* what) {
    int const first = *(int const*)what;
    Part part = some_part(VECTOR, (rank + first) % 2 ? DEVICE : HOST);
    in_some_ways(&part);
}

/* Ranks without any bytes name memory of a device, or of none. */
static void run_zero(void const* what) {
    int const all = *(int const*)what;
    Random random = random_of_case(rank);
    int const items = all || rank % 2 == 0 ? 0 : (int)draw(&random, 1, 9);
    Part part = make_part(layout_of_bytes(1000), items, DEVICE, device_of(rank));
    for (int i = 0; i < SOME_WAYS && !is_wrong(); ++i)
        write_and_read(way_named(some_ways[i]), BLOCKS, &part);
    free_part(&part);
}

static void run_large(void const* what) {
    MPI_Aint const gap = *(MPI_Aint const*)what;
    Random random = random_of_case(rank);
    MPI_Aint const piece = gap ? draw(&random, 300, 3000) : 1 << 20, at = 0;
    int const items = (int)((draw(&random, 8500, 11000) << 10) / piece) + 1;
    Layout const memory = layout_of_blocks(1, &at, &piece, piece + gap);
    Part part = make_part(memory, items, DEVICE, device_of(rank));
    for (int i = 0; i < SOME_WAYS && !is_wrong(); ++i)
        write_and_read(way_named(some_ways[i]), i % 2 ? STRIPES : BLOCKS, &part);
    free_part(&part);
}

/* ---- Contexts ----------------------------------------------------------------------------- */

static void* create_context(void* to) {
    CUcontext context;
    cuda_require(cuda.cuCtxCreate_v2(&context, 0, device_of(rank)), "cuCtxCreate");
    cuda_leave();
    *(CUcontext*)to = context;
    return NULL;
}

/* The memory belongs to a context that another thread made; the caller has none, or another's. */
static void run_context(void const* what) {
    int const has_other = *(int const*)what;
    pthread_t thread;
    CUcontext context = NULL;
    if (!has_devices()) {
        skip("no device");
        return;
    }
    pthread_create(&thread, NULL, create_context, &context);
    pthread_join(thread, NULL);
    Random random = random_of_case(rank);
    Part part = make_part_in(draw_memory(VECTOR, &random), 5, context);
    if (has_other) cuda_enter(cuda_context(device_of(rank + 1)));
    in_some_ways(&part);
    if (has_other) cuda_leave();
    cuda_require(cuda.cuCtxDestroy_v2(context), "cuCtxDestroy");
}

/* The bytes are a kernel's, which the program has waited for as it must. */
static void run_kernel(void const* what) {
    int const in_default = *(int const*)what;
    CUstream stream = NULL;
    if (!has_devices()) {
        skip("no device");
        return;
    }
    Part part = make_part(layout_of_bytes(5000), 4, DEVICE, device_of(rank));
    CUcontext const context = cuda_context(device_of(rank));
    cuda_enter(context);
    if (!in_default) cuda_require(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "stream");
    cuda_busy(context, stream, 2000);
    cuda_fill(context, stream, part.buffer.memory, part.buffer.bytes, (unsigned)rank);
    cuda_require(cuda.cuStreamSynchronize(stream), "cuStreamSynchronize");
    if (stream) cuda_require(cuda.cuStreamDestroy_v2(stream), "cuStreamDestroy");
    cuda_leave();
    char const* const name = file_name("data");
    MPI_File file = open_file(name);
    went(transfer_once(way_named("iat_all"), 1, file, rank * part.bytes, address_of(&part), 4,
                       part.memory.type, part.bytes),
         "iwrite_at_all");
    went(MPI_File_close(&file), "MPI_File_close");
    unsigned char* const expected = malloc((size_t)(part.bytes * ranks));
    for (MPI_Aint i = 0; i < part.bytes * ranks; ++i)
        expected[i] = test_byte((unsigned)(i / part.bytes), (size_t)(i % part.bytes));
    if (rank == 0) check_file(name, expected, (size_t)(part.bytes * ranks));
    free(expected);
    free_part(&part);
}

/* ---- MPI_BOTTOM --------------------------------------------------------------------------- */

enum { PARTS = 3 };
typedef struct Pieces {
    Buffer buffers[PARTS];
    MPI_Datatype type;
    MPI_Aint bytes;
} Pieces;

/* One datatype of memory of the host, of a device, and of the last device. */
static Pieces draw_pieces(void) {
    Place const places[PARTS] = {DEVICE, HOST, DEVICE};
    int const devices[PARTS] = {0, 0, has_devices() ? cuda_open() - 1 : 0};
    Random random = random_of_case(rank);
    int lengths[PARTS];
    MPI_Aint at[PARTS];
    MPI_Datatype types[PARTS];
    Pieces pieces = {.bytes = 0};
    for (int i = 0; i < PARTS; ++i) {
        lengths[i] = (int)draw(&random, 1, 20000);
        pieces.buffers[i] = make_buffer(places[i], devices[i], (size_t)lengths[i]);
        MPI_Get_address(pieces.buffers[i].memory, &at[i]);
        types[i] = MPI_BYTE;
        pieces.bytes += lengths[i];
    }
    MPI_Type_create_struct(PARTS, lengths, at, types, &pieces.type);
    MPI_Type_commit(&pieces.type);
    return pieces;
}

static void set_pieces(Pieces* pieces, int is_filled) {
    MPI_Aint at = 0;
    for (int i = 0; i < PARTS; ++i) {
        Buffer* const buffer = &pieces->buffers[i];
        for (size_t j = 0; j < buffer->bytes; ++j, ++at)
            buffer->image[j] = is_filled ? stream_byte(rank, at) : GAP;
    }
}

static void put_pieces(Pieces* pieces, int is_filled) {
    set_pieces(pieces, is_filled);
    for (int i = 0; i < PARTS; ++i) put_buffer(&pieces->buffers[i]);
}

static void check_pieces(Pieces const* pieces, char const* what) {
    for (int i = 0; i < PARTS; ++i) check_buffer(&pieces->buffers[i], what);
}

static void move_pieces(Way const* way, int writes, char const* name, View const* view,
                        Pieces const* pieces) {
    MPI_File file = open_file(name);
    if (way->position != SHARED_POINTER) set_view(file, view);
    went(transfer_once(way, writes, file, 0, MPI_BOTTOM, 1, pieces->type, pieces->bytes),
         way->name);
    went(MPI_File_close(&file), "MPI_File_close");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_bottom(void const* what) {
    Way const* const way = way_named(what);
    Pieces pieces = draw_pieces();
    MPI_Aint* const bytes = all_bytes(pieces.bytes);
    View view = draw_view(BLOCKS, rank, bytes);
    char const* const name = file_name("data");
    size_t size = 0;
    put_pieces(&pieces, 1);
    move_pieces(way, 1, name, &view, &pieces);
    check_pieces(&pieces, "memory that was written");
    unsigned char* const expected = expected_file(BLOCKS, bytes, &size);
    if (rank == 0) check_file(name, expected, size);
    put_pieces(&pieces, 0);
    move_pieces(way, 0, name, &view, &pieces);
    set_pieces(&pieces, 1);
    check_pieces(&pieces, "memory that was read");
    for (int i = 0; i < PARTS; ++i) free_buffer(&pieces.buffers[i]);
    MPI_Type_free(&pieces.type);
    free_layout(&view.layout);
    free(expected);
    free(bytes);
}

/* ---- external32 --------------------------------------------------------------------------- */

typedef struct Numbers {
    Way const* way;
    MPI_Datatype type;
    int bytes, stride;
} Numbers;

static void move_numbers(Numbers const* numbers, int writes, char const* name, int count,
                         Buffer const* buffer) {
    MPI_Datatype apart;
    MPI_File file = open_file(name);
    MPI_Type_vector(count, 1, numbers->stride, numbers->type, &apart);
    MPI_Type_commit(&apart);
    MPI_Offset const own_part = numbers->way->position == SHARED_POINTER ? 0 : rank;
    went(MPI_File_set_view(file, own_part * count * numbers->bytes, numbers->type, numbers->type,
                           "external32", MPI_INFO_NULL),
         "MPI_File_set_view");
    went(transfer_once(numbers->way, writes, file, 0, buffer->memory, 1, apart, count),
         numbers->way->name);
    MPI_Type_free(&apart);
    went(MPI_File_close(&file), "MPI_File_close");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The images of memory and file; numbers in the file have their first byte at the end. */
static unsigned char* number_images(Numbers const* numbers, int count, unsigned char* memory) {
    size_t const width = (size_t)numbers->bytes, step = width * (size_t)numbers->stride;
    unsigned char* const file = malloc((size_t)(ranks * count) * width + 1);
    for (int i = 0; i < ranks * count; ++i)
        for (size_t j = 0; j < width; ++j) {
            size_t const at = (size_t)(i % count) * step + j;
            unsigned char const byte = stream_byte(i / count, (MPI_Aint)at);
            file[(size_t)i * width + width - 1 - j] = byte;
            if (i / count == rank) memory[at] = byte;
        }
    return file;
}

static void run_external(void const* what) {
    Numbers const* const numbers = what;
    int const count = 3000;
    char const* const name = file_name("data");
    size_t const bytes = (size_t)count * (size_t)(numbers->stride * numbers->bytes);
    Buffer buffer = make_buffer(DEVICE, device_of(rank), bytes);
    unsigned char* const expected = number_images(numbers, count, buffer.image);
    put_buffer(&buffer);
    move_numbers(numbers, 1, name, count, &buffer);
    check_buffer(&buffer, "memory that was written");
    if (rank == 0) check_file(name, expected, (size_t)(ranks * count * numbers->bytes));
    memset(buffer.image, GAP, bytes);
    put_buffer(&buffer);
    move_numbers(numbers, 0, name, count, &buffer);
    free(number_images(numbers, count, buffer.image));
    check_buffer(&buffer, "memory that was read");
    free(expected);
    free_buffer(&buffer);
}

static void add_external(void) {
    enum { EXTERNAL = 6 };
    static Numbers numbers[EXTERNAL];
    char const* const names[EXTERNAL] = {
        "external32/all/int", "external32/iat_all/double",      "external32/at/short",
        "external32/iat/int", "external32/at_all_split/double", "external32/ordered/double"};
    char const* const ways_of[EXTERNAL] = {"all", "iat_all",      "at",
                                           "iat", "at_all_split", "ordered"};
    MPI_Datatype const types[EXTERNAL] = {MPI_INT, MPI_DOUBLE, MPI_SHORT,
                                          MPI_INT, MPI_DOUBLE, MPI_DOUBLE};
    int const bytes[EXTERNAL] = {4, 8, 2, 4, 8, 8}, strides[EXTERNAL] = {1, 3, 2, 1, 1, 2};
    for (int i = 0; i < EXTERNAL; ++i) {
        Numbers const one = {way_named(ways_of[i]), types[i], bytes[i], strides[i]};
        numbers[i] = one;
        add_case(names[i], run_external, &numbers[i]);
    }
}

void add_places(void) {
    static Place const managed = MANAGED, pinned = PINNED;
    static int const no = 0, yes = 1;
    static MPI_Aint const none = 0, some = 100;
    add_case("managed", run_place, &managed);
    add_case("pinned", run_place, &pinned);
    add_case("mixed/first", run_mixed, &no);
    add_case("mixed/others", run_mixed, &yes);
    add_case("zero/some", run_zero, &no);
    add_case("zero/all", run_zero, &yes);
    add_case("large/contiguous", run_large, &none);
    add_case("large/pieces", run_large, &some);
    add_case("context/none", run_context, &no);
    add_case("context/other", run_context, &yes);
    add_case("kernel/stream", run_kernel, &no);
    add_case("kernel/default", run_kernel, &yes);
    add_case("bottom/at", run_bottom, "at");
    add_case("bottom/iat", run_bottom, "iat");
    add_case("bottom/all", run_bottom, "all");
    add_case("bottom/iat_all", run_bottom, "iat_all");
    add_case("bottom/at_all_split", run_bottom, "at_all_split");
    add_case("bottom/ordered", run_bottom, "ordered");
    add_case("bottom/ordered_split", run_bottom, "ordered_split");
    add_external();
}
