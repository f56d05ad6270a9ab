/* Datatypes together with a list of their bytes' places, which is what the tests check by: nothing
 * that is tested takes part in it. */
#ifndef LAYOUTS_H
#define LAYOUTS_H

#include "cases.h"

typedef struct Layout {
    MPI_Datatype type;
    int blocks;
    MPI_Aint *at, *length; /* The blocks of one item, in the order of the type. */
    MPI_Aint bytes;        /* Of one item. */
    MPI_Aint extent;
} Layout;

typedef enum MemoryKind {
    CONTIGUOUS,
    VECTOR,
    RANDOM,   /* Blocks of drawn lengths at drawn places, in no order. */
    SUBARRAY, /* A box in an array of three dimensions. */
    NEGATIVE, /* Places ahead of the buffer's address. */
    FAR_OFF,  /* Places so far behind it that the address itself is not in the memory. */
    MEMORY_KINDS
} MemoryKind;
typedef enum FileKind {
    BLOCKS,  /* One behind the other. */
    TILES,   /* Pieces of the ranks in turn. */
    DEALT,   /* Pieces of drawn lengths, dealt to the ranks by lot; some are nobody's. */
    COLUMNS, /* Of an array with two dimensions. */
    FILE_KINDS,
    STRIPES = FILE_KINDS /* Tiles of many bytes: for large cases. */
} FileKind;
extern char const *const memory_names[MEMORY_KINDS], *const file_names[FILE_KINDS];

Layout draw_memory(MemoryKind kind, Random* random);
/* The view of rank `of`: all ranks draw the same for a case. `bytes` has what each of them
 * transfers. */
typedef struct View {
    MPI_Offset displacement;
    Layout layout;
} View;
View draw_view(FileKind kind, int of, MPI_Aint const* bytes);

/* A layout from a list of blocks. */
Layout layout_of_blocks(int blocks, MPI_Aint const* at, MPI_Aint const* length, MPI_Aint extent);
Layout layout_of_bytes(MPI_Aint bytes);
void free_layout(Layout* layout);

/* The lowest place, and one behind the highest, of so many items. */
void layout_bounds(Layout const* layout, MPI_Aint items, MPI_Aint* low, MPI_Aint* high);
/* Copies so many bytes between a stream and what is laid out from `base` on. */
void layout_put(Layout const* layout, unsigned char* base, unsigned char const* stream,
                MPI_Aint bytes);

#endif
