/* The ways in which MPI transfers data of a file: each a call, or a call with what completes it. */
#ifndef WAYS_H
#define WAYS_H

#include <mpi.h>

typedef enum Position { OFFSET, POINTER, SHARED_POINTER } Position;
typedef struct Way {
    char const* name;
    Position position;
    int is_collective;
    /* Ranks have to call it one after the other, for what they get to be known. */
    int in_turn;
    int (*write)(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*);
    int (*read)(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*);
} Way;
extern Way const ways[];
extern int const way_count;
Way const* way_named(char const* name);

/* Whether this process has functions of Sluice for persistent requests. */
int has_persistent(void);

#endif
