/* The collectives that Sluice serves, in each form, with arguments that suit all of them. */
#ifndef COLLECTIVE_CALLS_H
#define COLLECTIVE_CALLS_H

#include "cases.h"

typedef struct Arguments {
    void *send, *receive;
    int count; /* Of a block of regular kinds. */
    MPI_Datatype type;
    int root;
    /* Of blocks of each rank, and of blocks of each pair, with one item between them. */
    int *counts, *places, *pair_counts, *pair_places;
    int* pair_bytes; /* Places in bytes. */
    MPI_Aint* neighbour_places;
    MPI_Datatype* types;
    MPI_Comm communicator, ring;
} Arguments;
Arguments make_arguments(int count, MPI_Datatype type, int root);
void free_arguments(Arguments* a);

/* How long a buffer is. */
typedef enum Length { NONE, BLOCK, ALL, EACH, OWN_OF_EACH, SUM, PAIRS, TWO } Length;
MPI_Aint items_of(Length length, Arguments const* a);

typedef enum Form { MPIS, OWN, PERSISTENT, FORMS } Form;
typedef struct Collective {
    char const* name;
    Length sent, received;
    int has_in_place, reduces;
    int (*blocking)(Arguments const*);
    int (*in_mpi)(Arguments const*, MPI_Request*);
    int (*own)(Arguments const*, void* request);
    int (*init)(Arguments const*, void* request);
} Collective;
extern Collective const collectives[];
extern int const collective_count;
Collective const* collective_named(char const* name);

/* Starts and completes it; a persistent one twice. */
int run_collective(Collective const* one, Form form, Arguments const* a);
/* Whether MPI does not say what this rank receives. */
int is_undefined(Collective const* one, Arguments const* a);
int run_results_gather(void* send, MPI_Count bytes, void* receive, MPI_Count capacity,
                       MPI_Count* lengths, int root);

/* A case of three words. */
void add_named_case(char const* first, char const* second, char const* end,
                    void (*run)(void const*), void const* what);

#endif
