/* A transfer in which a driver fails, and what must come of it: what the cases of errors.c and of
 * errors_own.c share. */
#ifndef ERRORS_H
#define ERRORS_H

#include "cuda_buffers.h"
#include "transfers.h"

typedef enum Outcome { FAILS, WORKS, EITHER } Outcome;
typedef struct Fault {
    char const *name, *order;
    Outcome outcome;
    int loses_context;
} Fault;

typedef struct Trial {
    char const *name, *order;
    Outcome outcome;
    int loses_context, writes, on_all;
    Way const* way;
    MPI_Aint piece, gap; /* Of memory. */
    int items;
} Trial;

/* Whether the driver fails on this rank. */
int is_victim(Trial const* trial);
/* A new context on the rank's device. */
CUcontext own_context(void);
/* In memory of the context; null: of the device's shared one. */
Part part_of_trial(Trial const* trial, CUcontext context);
/* The ranks' parts follow each other in the file. */
MPI_Offset place_of(Part const* part);
/* A file that holds what is read; made without any device. */
MPI_File prepared_file(char const* name, Part const* part);

/* How many ranks have an error; this one's must have a class. */
int count_errors(int code);
/* Whether all is well where a call succeeded. `failed`: on how many ranks it did not. */
void judge(Trial const* trial, int code, int failed);
/* The file that a write leaves, or the memory that a read leaves. */
void check_outcome(Trial const* trial, MPI_File file, Part* part, char const* name);
/* A call in which nothing fails. */
void check_next(Trial const* trial, MPI_File file, Part* part, char const* name);

void add_trial(Fault const* fault, void (*run)(void const*), char const* way, int writes,
               int on_all, int is_large);
void add_own_faults(void);

#endif
