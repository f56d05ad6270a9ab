/* Buffers of an MPI program, brought to where the program does not have them: to a device, or, from
 * a device, to the host. For far_buffers.c. */
#ifndef FAR_MEMORY_H
#define FAR_MEMORY_H

#include <mpi.h>
#include <stddef.h>

typedef struct Far {
    struct Far* next;
    /* What the program gave. */
    void* user;
    MPI_Count count;
    MPI_Datatype type;
    int reads;
    MPI_File file;
    /* What completes it: a request, or the end of a split collective call; neither: a function
     * that returns when all of the file's transfers are complete. */
    MPI_Request request;
    int is_split, is_copied;
    /* Its other place: from the lowest byte on. */
    MPI_Aint low;
    size_t bytes;
    unsigned char *other, *allocated;
    unsigned char* before; /* What it held at first. */
} Far;

/* Brings a buffer to its other place; null where it stays: MPI_BOTTOM, no bytes, what is too large
 * or wrong. */
Far* take_far(MPI_File file, void* buffer, MPI_Count count, MPI_Datatype type, int reads);
/* The address that the MPI gets. */
void* address_of_far(Far const* far, void* buffer);
/* The transfer is complete: brings back what was read, and ends the process where a byte has
 * changed that must not. */
void copy_back(Far* far);
void end_far(Far* far);

/* Those that are under way. */
void keep_far(Far* far);
/* Taken out of the list; null: none. */
Far* far_of_request(MPI_Request request);
Far* far_of_split(MPI_File file);
Far* far_of_freed(MPI_File file);
/* Its request is complete, and remains. */
void copy_back_early(MPI_Request request);
/* Its request is freed. */
void forget_request(MPI_Request request);

#endif
