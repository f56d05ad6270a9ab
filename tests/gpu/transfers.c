/* A file that the ranks write in one way and read back in the same. See transfers.h. */
#include "transfers.h"

#include "cuda_buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOLE = 0x5A };

unsigned char stream_byte(int of, MPI_Aint at) {
    return (unsigned char)(1 + ((size_t)of * 41 + (size_t)at * 7 + (size_t)at / 251 * 3) % 250);
}

static size_t size_of_memory(Layout const* memory, int items) {
    MPI_Aint low, high;
    layout_bounds(memory, items, &low, &high);
    return (size_t)(high - low);
}

static Part part_of(Layout memory, int items, Buffer buffer) {
    Part part = {memory, items, memory.bytes * items, 0, buffer, NULL};
    MPI_Aint high;
    layout_bounds(&memory, items, &part.low, &high);
    part.stream = malloc((size_t)part.bytes + 1);
    for (MPI_Aint i = 0; i < part.bytes; ++i) part.stream[i] = stream_byte(rank, i);
    return part;
}

Part make_part(Layout memory, int items, Place place, int device) {
    return part_of(memory, items, make_buffer(place, device, size_of_memory(&memory, items)));
}

Part make_part_in(Layout memory, int items, void* context) {
    size_t const bytes = size_of_memory(&memory, items);
    return part_of(memory, items,
                   context ? make_buffer_in(context, bytes)
                           : make_buffer(DEVICE, device_of(rank), bytes));
}

void free_part(Part* part) {
    free_buffer(&part->buffer);
    free_layout(&part->memory);
    free(part->stream);
}

void* address_of(Part const* part) { return part->buffer.memory - part->low; }

static void lay_out(Part* part) {
    layout_put(&part->memory, part->buffer.image - part->low, part->stream, part->bytes);
}

void fill_part(Part* part) {
    lay_out(part);
    put_buffer(&part->buffer);
}

void clear_part(Part* part) {
    memset(part->buffer.image, GAP, part->buffer.bytes);
    put_buffer(&part->buffer);
}

void check_written(Part const* part) { check_buffer(&part->buffer, "memory that was written"); }

void check_read(Part* part) {
    lay_out(part);
    check_buffer(&part->buffer, "memory that was read");
}

MPI_Aint* all_bytes(MPI_Aint own) {
    MPI_Aint* const all = malloc((size_t)ranks * sizeof *all);
    MPI_Allgather(&own, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    return all;
}

/* Where the bytes of a rank end in the file. */
static MPI_Aint end_of(View const* view, MPI_Aint bytes) {
    Layout const* const layout = &view->layout;
    MPI_Aint const whole = (bytes - 1) / layout->bytes;
    MPI_Aint left = bytes - whole * layout->bytes, end = 0;
    for (int i = 0; left > 0; ++i) {
        MPI_Aint const part = layout->length[i] < left ? layout->length[i] : left;
        end = layout->at[i] + part;
        left -= part;
    }
    return (MPI_Aint)view->displacement + whole * layout->extent + end;
}

static size_t size_of(FileKind kind, MPI_Aint const* bytes) {
    MPI_Aint size = 0;
    for (int i = 0; i < ranks; ++i) {
        View view = draw_view(kind, i, bytes);
        MPI_Aint const end = bytes[i] > 0 ? end_of(&view, bytes[i]) : 0;
        if (end > size) size = end;
        free_layout(&view.layout);
    }
    return (size_t)size;
}

unsigned char* expected_file(FileKind kind, MPI_Aint const* bytes, size_t* size) {
    *size = size_of(kind, bytes);
    unsigned char* const file = malloc(*size + 1);
    memset(file, HOLE, *size);
    for (int i = 0; i < ranks; ++i) {
        View view = draw_view(kind, i, bytes);
        unsigned char* const stream = malloc((size_t)bytes[i] + 1);
        for (MPI_Aint at = 0; at < bytes[i]; ++at) stream[at] = stream_byte(i, at);
        layout_put(&view.layout, file + view.displacement, stream, bytes[i]);
        free(stream);
        free_layout(&view.layout);
    }
    return file;
}

static CUcontext current_context(void) {
    CUcontext context = NULL;
    if (has_devices()) cuda_require(cuda.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
    return context;
}

int transfer_once(Way const* way, int writes, MPI_File file, MPI_Offset offset, void* buffer,
                  int count, MPI_Datatype type, MPI_Aint bytes) {
    MPI_Status status;
    int found = 0;
    CUcontext const before = current_context();
    int const code = (writes ? way->write : way->read)(file, offset, buffer, count, type, &status);
    if (current_context() != before) wrong("another context is current after the call");
    if (code != MPI_SUCCESS) return code;
    MPI_Get_elements(&status, type, &found);
    if (found != bytes) wrong("the status has %d bytes, not %ld", found, (long)bytes);
    return code;
}

/* The second call goes on where the first has ended. */
static void in_two_calls(Way const* way, int writes, MPI_File file, Part const* part) {
    Layout const* const memory = &part->memory;
    int const first = part->items / 2, second = part->items - first;
    unsigned char* const address = address_of(part);
    went(transfer_once(way, writes, file, 0, address, first, memory->type, first * memory->bytes),
         way->name);
    went(transfer_once(way, writes, file, first * memory->bytes, address + first * memory->extent,
                       second, memory->type, second * memory->bytes),
         way->name);
}

static void in_one_call(Way const* way, int writes, MPI_File file, Part const* part) {
    went(transfer_once(way, writes, file, 0, address_of(part), part->items, part->memory.type,
                       part->bytes),
         way->name);
}

void transfer(Way const* way, int writes, MPI_File file, Part const* part) {
    if (way->position == SHARED_POINTER) went(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "seek");
    if (way->position == POINTER) went(MPI_File_seek(file, 0, MPI_SEEK_SET), "seek");
    if (way->position != SHARED_POINTER) {
        in_two_calls(way, writes, file, part);
        return;
    }
    for (int i = 0; i < ranks; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (way->in_turn ? i == rank : i == 0) in_one_call(way, writes, file, part);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Info hints = MPI_INFO_NULL;
void open_with(MPI_Info info) { hints = info; }

MPI_File open_file(char const* name) {
    MPI_File file = MPI_FILE_NULL;
    went(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file),
         "MPI_File_open");
    return file;
}

void set_view(MPI_File file, View const* view) {
    went(MPI_File_set_view(file, view->displacement, MPI_BYTE, view->layout.type, "native",
                           MPI_INFO_NULL),
         "MPI_File_set_view");
}

/* One opening: with the shared pointer all ranks see all bytes. */
static void open_and_transfer(Way const* way, int writes, char const* name, View const* view,
                              Part* part) {
    MPI_File file = open_file(name);
    if (file == MPI_FILE_NULL) return;
    if (way->position != SHARED_POINTER) set_view(file, view);
    transfer(way, writes, file, part);
    went(MPI_File_close(&file), "MPI_File_close");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Between the views' bytes lies what was there: where nothing was, MPI says nothing of them. */
static void fill_holes(char const* name, size_t size) {
    unsigned char* const holes = malloc(size + 1);
    FILE* const file = fopen(name, "wb");
    memset(holes, HOLE, size);
    if (!file || fwrite(holes, 1, size, file) != size || fclose(file) != 0)
        wrong("the file cannot be made");
    free(holes);
}

void write_and_read(Way const* way, FileKind kind, Part* part) {
    char const* const name = file_name("data");
    MPI_Aint* const bytes = all_bytes(part->bytes);
    View view = draw_view(kind, rank, bytes);
    size_t size = 0;
    unsigned char* const expected = rank == 0 ? expected_file(kind, bytes, &size) : NULL;
    if (rank == 0 && kind != BLOCKS) fill_holes(name, size);
    fill_part(part);
    open_and_transfer(way, 1, name, &view, part);
    check_written(part);
    if (rank == 0) check_file(name, expected, size);
    free(expected);
    clear_part(part);
    open_and_transfer(way, 0, name, &view, part);
    check_read(part);
    free_layout(&view.layout);
    free(bytes);
}
