/* Datatypes together with a list of their bytes' places. See layouts.h. */
#include "layouts.h"

#include <stdlib.h>
#include <string.h>

char const* const memory_names[MEMORY_KINDS] = {"contiguous", "vector",   "random",
                                                "subarray",   "negative", "far_off"};
char const* const file_names[FILE_KINDS] = {"blocks", "tiles", "dealt", "columns"};

/* Its places are given later; the type has no name of MPI yet. */
static Layout empty_layout(int blocks) {
    size_t const bytes = (size_t)(blocks + 1) * sizeof(MPI_Aint);
    Layout const layout = {MPI_DATATYPE_NULL, blocks, malloc(bytes), malloc(bytes), 0, 0};
    return layout;
}

static void add_up(Layout* layout, MPI_Aint extent) {
    layout->extent = extent;
    for (int i = 0; i < layout->blocks; ++i) layout->bytes += layout->length[i];
    MPI_Type_commit(&layout->type);
}

static void resize(MPI_Datatype* type, MPI_Aint extent) {
    MPI_Datatype resized;
    MPI_Type_create_resized(*type, 0, extent, &resized);
    MPI_Type_free(type);
    *type = resized;
}

Layout layout_of_blocks(int blocks, MPI_Aint const* at, MPI_Aint const* length, MPI_Aint extent) {
    Layout layout = empty_layout(blocks);
    int* const lengths = malloc((size_t)(blocks + 1) * sizeof(int));
    for (int i = 0; i < blocks; ++i) {
        layout.at[i] = at[i];
        layout.length[i] = length[i];
        lengths[i] = (int)length[i];
    }
    MPI_Type_create_hindexed(blocks, lengths, layout.at, MPI_BYTE, &layout.type);
    resize(&layout.type, extent);
    free(lengths);
    add_up(&layout, extent);
    return layout;
}

Layout layout_of_bytes(MPI_Aint bytes) {
    Layout layout = empty_layout(1);
    layout.at[0] = 0, layout.length[0] = bytes;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &layout.type);
    add_up(&layout, bytes);
    return layout;
}

static Layout draw_vector(Random* random) {
    int const blocks = (int)draw(random, 2, 80), length = (int)draw(random, 1, 300);
    int const stride = length + (int)draw(random, 1, 200);
    Layout layout = empty_layout(blocks);
    for (int i = 0; i < blocks; ++i) layout.at[i] = (MPI_Aint)i * stride, layout.length[i] = length;
    MPI_Type_vector(blocks, length, stride, MPI_BYTE, &layout.type);
    add_up(&layout, (MPI_Aint)(blocks - 1) * stride + length);
    return layout;
}

/* In no order, as MPI allows in memory. */
static void shuffle(Random* random, MPI_Aint* at, MPI_Aint* length, int count) {
    for (int i = count - 1; i > 0; --i) {
        int const j = (int)draw(random, 0, i);
        MPI_Aint const one = at[i], other = length[i];
        at[i] = at[j], length[i] = length[j];
        at[j] = one, length[j] = other;
    }
}

static Layout draw_places(Random* random, MPI_Aint first) {
    enum { MOST = 60 };
    MPI_Aint at[MOST], length[MOST], next = first;
    int const count = (int)draw(random, 1, MOST);
    for (int i = 0; i < count; ++i) {
        at[i] = next += draw(random, 0, 3) * draw(random, 0, 100);
        length[i] = draw(random, 0, 9) ? draw(random, 1, 400) : 1;
        next += length[i];
    }
    shuffle(random, at, length, count);
    return layout_of_blocks(count, at, length, next - first + draw(random, 0, 100));
}

static Layout draw_box(Random* random) {
    int sizes[3], within[3], starts[3], count = 0;
    for (int i = 0; i < 3; ++i) {
        sizes[i] = (int)draw(random, 1, i == 2 ? 120 : 12);
        within[i] = (int)draw(random, 1, sizes[i]);
        starts[i] = (int)draw(random, 0, sizes[i] - within[i]);
    }
    Layout layout = empty_layout(within[0] * within[1]);
    for (int i = 0; i < within[0]; ++i)
        for (int j = 0; j < within[1]; ++j, ++count) {
            int const row = (starts[0] + i) * sizes[1] + starts[1] + j;
            layout.at[count] = (MPI_Aint)row * sizes[2] + starts[2];
            layout.length[count] = within[2];
        }
    MPI_Type_create_subarray(3, sizes, within, starts, MPI_ORDER_C, MPI_BYTE, &layout.type);
    add_up(&layout, (MPI_Aint)sizes[0] * sizes[1] * sizes[2]);
    return layout;
}

Layout draw_memory(MemoryKind kind, Random* random) {
    switch (kind) {
    case VECTOR:
        return draw_vector(random);
    case RANDOM:
        return draw_places(random, 0);
    case SUBARRAY:
        return draw_box(random);
    case NEGATIVE:
        return draw_places(random, -5000);
    case FAR_OFF:
        return draw_places(random, 1 << 20);
    default:
        return layout_of_bytes(draw(random, 1, 20000));
    }
}

/* Open MPI takes a view of single bytes for as many pieces. */
static View draw_blocks(int of, MPI_Aint const* bytes) {
    View view = {0, layout_of_bytes(1 << 16)};
    for (int i = 0; i < of; ++i) view.displacement += bytes[i];
    return view;
}

static View draw_tiles(Random* random, int of, long least, long most) {
    MPI_Aint const piece = draw(random, least, most),
                   gap = draw(random, 0, 1) * draw(random, 1, 50);
    MPI_Aint const at = 0;
    View const view = {of * (piece + gap) + 7,
                       layout_of_blocks(1, &at, &piece, ranks * (piece + gap))};
    return view;
}

/* Each rank has the first piece of its number, so that none is without any. */
static View draw_dealt(Random* random, int of) {
    enum { MOST = 100 };
    MPI_Aint at[MOST], length[MOST], next = 0;
    int const count = ranks + (int)draw(random, 0, 40);
    int mine = 0;
    for (int i = 0; i < count; ++i) {
        int const owner = i < ranks ? i : (int)draw(random, -1, ranks - 1);
        MPI_Aint const bytes = draw(random, 1, 500);
        if (owner == of && mine < MOST) at[mine] = next, length[mine++] = bytes;
        next += bytes;
    }
    View const view = {draw(random, 0, 100), layout_of_blocks(mine, at, length, next)};
    return view;
}

static View draw_columns(Random* random, int of) {
    int const rows = (int)draw(random, 1, 30), width = (int)draw(random, 1, 200);
    int const sizes[2] = {rows, width * ranks}, within[2] = {rows, width};
    int const starts[2] = {0, width * of};
    View view = {0, empty_layout(rows)};
    for (int i = 0; i < rows; ++i)
        view.layout.at[i] = (MPI_Aint)i * sizes[1] + starts[1], view.layout.length[i] = width;
    MPI_Type_create_subarray(2, sizes, within, starts, MPI_ORDER_C, MPI_BYTE, &view.layout.type);
    add_up(&view.layout, (MPI_Aint)rows * sizes[1]);
    return view;
}

View draw_view(FileKind kind, int of, MPI_Aint const* bytes) {
    Random random = random_of_case(1000000);
    switch (kind) {
    case TILES:
        return draw_tiles(&random, of, 1, 2000);
    case STRIPES:
        return draw_tiles(&random, of, 5000, 500000);
    case DEALT:
        return draw_dealt(&random, of);
    case COLUMNS:
        return draw_columns(&random, of);
    default:
        return draw_blocks(of, bytes);
    }
}

void free_layout(Layout* layout) {
    MPI_Type_free(&layout->type);
    free(layout->at);
    free(layout->length);
}

void layout_bounds(Layout const* layout, MPI_Aint items, MPI_Aint* low, MPI_Aint* high) {
    *low = layout->at[0], *high = *low;
    for (int i = 0; i < layout->blocks; ++i) {
        MPI_Aint const end = layout->at[i] + layout->length[i];
        if (layout->at[i] < *low) *low = layout->at[i];
        if (end > *high) *high = end;
    }
    if (items > 1) *high += (items - 1) * layout->extent;
}

void layout_put(Layout const* layout, unsigned char* base, unsigned char const* stream,
                MPI_Aint bytes) {
    MPI_Aint done = 0;
    for (MPI_Aint item = 0; done < bytes; ++item)
        for (int i = 0; i < layout->blocks && done < bytes; ++i) {
            MPI_Aint const left = bytes - done;
            MPI_Aint const part = layout->length[i] < left ? layout->length[i] : left;
            memcpy(base + item * layout->extent + layout->at[i], stream + done, (size_t)part);
            done += part;
        }
}
