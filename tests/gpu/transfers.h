/* A file that the ranks write in one way and read back in the same, with each byte checked: in the
 * file without MPI, in memory of all kinds by a copy to the host. */
#ifndef TRANSFERS_H
#define TRANSFERS_H

#include "layouts.h"
#include "ways.h"

/* What a rank transfers. */
typedef struct Part {
    Layout memory;
    int items;
    MPI_Aint bytes; /* Of all items. */
    MPI_Aint low;   /* The lowest place in memory, from the address that MPI gets. */
    Buffer buffer;
    unsigned char* stream; /* The bytes in the order of the file. */
} Part;

/* The byte at a place of the stream of a rank. */
unsigned char stream_byte(int of, MPI_Aint at);

/* A part of this rank in its memory; `items` of a layout, which the part takes. */
Part make_part(Layout memory, int items, Place place, int device);
/* In memory of this CUcontext; null: of the rank's device. */
Part make_part_in(Layout memory, int items, void* context);
void free_part(Part* part);
/* The address that MPI gets. */
void* address_of(Part const* part);
/* Fills the memory with what is written, or with nothing. */
void fill_part(Part* part);
void clear_part(Part* part);
/* Whether the memory is what it was, and whether all was read. */
void check_written(Part const* part);
void check_read(Part* part);

/* What each rank transfers in all; all ranks get the list, which is to be freed. */
MPI_Aint* all_bytes(MPI_Aint own);
/* Of a view of each rank: what the file must hold. To be freed. */
unsigned char* expected_file(FileKind kind, MPI_Aint const* bytes, size_t* size);

/* Calls this way, on one rank after the other where that must be; in two calls where the position
 * allows it. Notes errors, wrong counts, and a current context that is another afterwards. */
void transfer(Way const* way, int writes, MPI_File file, Part const* part);
/* One call of it, of which the status must have so many bytes. */
int transfer_once(Way const* way, int writes, MPI_File file, MPI_Offset offset, void* buffer,
                  int count, MPI_Datatype type, MPI_Aint bytes);
MPI_File open_file(char const* name);
/* The same from now on with these hints, which stay the caller's. */
void open_with(MPI_Info info);
void set_view(MPI_File file, View const* view);

/* The whole of it. */
void write_and_read(Way const* way, FileKind kind, Part* part);

#endif
