/* Each collective once, in all forms. See collective_calls.h. */
#include "collective_calls.h"

#include <dlfcn.h>
#include <sluice/sluice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* function(char const* name) { return dlsym(RTLD_DEFAULT, name); }
#define SLUICES(name) ((__typeof__(&name))function(#name))

/* ---- Arguments ---------------------------------------------------------------------------- */

static int* places_of(int const* counts, int width) {
    int* const places = malloc((size_t)ranks * sizeof *places);
    for (int i = 0, at = 0; i < ranks; at += (counts[i++] + 1) * width) places[i] = at;
    return places;
}

Arguments make_arguments(int count, MPI_Datatype type, int root) {
    size_t const numbers = (size_t)ranks * sizeof(int);
    MPI_Aint lower, extent;
    int const periodic = 1;
    Arguments a = {NULL, NULL, count, type, root,           malloc(numbers), NULL, malloc(numbers),
                   NULL, NULL, NULL,  NULL, MPI_COMM_WORLD, MPI_COMM_NULL};
    MPI_Type_get_extent(type, &lower, &extent);
    for (int i = 0; i < ranks; ++i) a.counts[i] = count + i % 4;
    for (int i = 0; i < ranks; ++i) a.pair_counts[i] = count + (rank + i) % 4;
    a.places = places_of(a.counts, 1);
    a.pair_places = places_of(a.pair_counts, 1);
    a.pair_bytes = places_of(a.pair_counts, (int)extent);
    a.neighbour_places = calloc(2, sizeof *a.neighbour_places);
    a.neighbour_places[1] = (MPI_Aint)(count + 4) * extent;
    a.types = malloc((size_t)(ranks + 2) * sizeof *a.types);
    for (int i = 0; i < ranks + 2; ++i) a.types[i] = type;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &a.ring);
    return a;
}

void free_arguments(Arguments* a) {
    free(a->counts), free(a->places), free(a->pair_counts), free(a->pair_places);
    free(a->pair_bytes), free(a->neighbour_places), free(a->types);
    MPI_Comm_free(&a->ring);
}

MPI_Aint items_of(Length length, Arguments const* a) {
    MPI_Aint sum = 0;
    switch (length) {
    case NONE:
        return 0;
    case BLOCK:
        return a->count;
    case ALL:
        return (MPI_Aint)a->count * ranks;
    case EACH:
        return a->places[ranks - 1] + a->counts[ranks - 1];
    case OWN_OF_EACH:
        return a->counts[rank];
    case SUM:
        for (int i = 0; i < ranks; ++i) sum += a->counts[i];
        return sum;
    case PAIRS:
        return a->pair_places[ranks - 1] + a->pair_counts[ranks - 1];
    default: /* The places of the neighbours' blocks; at most four items more than regular ones. */
        return 2 * (MPI_Aint)a->count + 8;
    }
}

/* ---- Forms -------------------------------------------------------------------------------- */

#define FORMS_OF(lower, Upper, ...)                                                                \
    static int lower##_blocking(Arguments const* a) { return MPI_##Upper(__VA_ARGS__); }           \
    static int lower##_in_mpi(Arguments const* a, MPI_Request* request) {                          \
        return MPI_I##lower(__VA_ARGS__, request);                                                 \
    }                                                                                              \
    static int lower##_own(Arguments const* a, void* request) {                                    \
        return SLUICES(sluice_i##lower)(__VA_ARGS__, (sluice_request*)request);                    \
    }                                                                                              \
    static int lower##_init(Arguments const* a, void* request) {                                   \
        return SLUICES(sluice_##lower##_init)(__VA_ARGS__, (sluice_request*)request);              \
    }

#define SENT a->send, a->count, a->type
#define RECEIVED a->receive, a->count, a->type
#define REDUCED a->send, a->receive, a->count, a->type, MPI_SUM
#define WORLD a->communicator
#define SENT_PAIRS a->send, a->pair_counts, a->pair_places, a->type
#define RECEIVED_PAIRS a->receive, a->pair_counts, a->pair_places, a->type
#define RECEIVED_EACH a->receive, a->counts, a->places, a->type
/* Both neighbours of a rank in the ring have its count, and in those of two ranks are one. */
#define NEIGHBOURS(which) (int[]){a->count, a->count}, (int[]){0, a->count + 3}, which

FORMS_OF(bcast, Bcast, RECEIVED, a->root, WORLD)
FORMS_OF(gather, Gather, SENT, RECEIVED, a->root, WORLD)
FORMS_OF(gatherv, Gatherv, a->send, a->counts[rank], a->type, RECEIVED_EACH, a->root, WORLD)
FORMS_OF(scatter, Scatter, SENT, RECEIVED, a->root, WORLD)
FORMS_OF(scatterv, Scatterv, a->send, a->counts, a->places, a->type, a->receive, a->counts[rank],
         a->type, a->root, WORLD)
FORMS_OF(allgather, Allgather, SENT, RECEIVED, WORLD)
FORMS_OF(allgatherv, Allgatherv, a->send, a->counts[rank], a->type, RECEIVED_EACH, WORLD)
FORMS_OF(alltoall, Alltoall, SENT, RECEIVED, WORLD)
FORMS_OF(alltoallv, Alltoallv, SENT_PAIRS, RECEIVED_PAIRS, WORLD)
FORMS_OF(alltoallw, Alltoallw, a->send, a->pair_counts, a->pair_bytes, a->types, a->receive,
         a->pair_counts, a->pair_bytes, a->types, WORLD)
FORMS_OF(reduce, Reduce, REDUCED, a->root, WORLD)
FORMS_OF(allreduce, Allreduce, REDUCED, WORLD)
FORMS_OF(reduce_scatter, Reduce_scatter, a->send, a->receive, a->counts, a->type, MPI_SUM, WORLD)
FORMS_OF(reduce_scatter_block, Reduce_scatter_block, REDUCED, WORLD)
FORMS_OF(scan, Scan, REDUCED, WORLD)
FORMS_OF(exscan, Exscan, REDUCED, WORLD)
FORMS_OF(neighbor_allgather, Neighbor_allgather, SENT, RECEIVED, a->ring)
FORMS_OF(neighbor_allgatherv, Neighbor_allgatherv, SENT, a->receive, NEIGHBOURS(a->type), a->ring)
FORMS_OF(neighbor_alltoall, Neighbor_alltoall, SENT, RECEIVED, a->ring)
FORMS_OF(neighbor_alltoallv, Neighbor_alltoallv, a->send, NEIGHBOURS(a->type), a->receive,
         NEIGHBOURS(a->type), a->ring)
FORMS_OF(neighbor_alltoallw, Neighbor_alltoallw, a->send, ((int[]){a->count, a->count}),
         a->neighbour_places, a->types, a->receive, ((int[]){a->count, a->count}),
         a->neighbour_places, a->types, a->ring)

#define ROW(name, sent, received, in_place, reduces)                                               \
    {#name,           sent,          received,   in_place,   reduces,                              \
     name##_blocking, name##_in_mpi, name##_own, name##_init}
Collective const collectives[] = {
    ROW(bcast, NONE, BLOCK, 0, 0),
    ROW(gather, BLOCK, ALL, 0, 0),
    ROW(gatherv, OWN_OF_EACH, EACH, 0, 0),
    ROW(scatter, ALL, BLOCK, 0, 0),
    ROW(scatterv, EACH, OWN_OF_EACH, 0, 0),
    ROW(allgather, BLOCK, ALL, 1, 0),
    ROW(allgatherv, OWN_OF_EACH, EACH, 1, 0),
    ROW(alltoall, ALL, ALL, 1, 0),
    ROW(alltoallv, PAIRS, PAIRS, 1, 0),
    ROW(alltoallw, PAIRS, PAIRS, 1, 0),
    ROW(reduce, BLOCK, BLOCK, 0, 1),
    ROW(allreduce, BLOCK, BLOCK, 1, 1),
    ROW(reduce_scatter, SUM, OWN_OF_EACH, 0, 1),
    ROW(reduce_scatter_block, ALL, BLOCK, 0, 1),
    ROW(scan, BLOCK, BLOCK, 1, 1),
    ROW(exscan, BLOCK, BLOCK, 1, 1),
    ROW(neighbor_allgather, BLOCK, TWO, 0, 0),
    ROW(neighbor_allgatherv, BLOCK, TWO, 0, 0),
    ROW(neighbor_alltoall, TWO, TWO, 0, 0),
    ROW(neighbor_alltoallv, TWO, TWO, 0, 0),
    ROW(neighbor_alltoallw, TWO, TWO, 0, 0),
};
int const collective_count = sizeof collectives / sizeof *collectives;

Collective const* collective_named(char const* name) {
    for (int i = 0; i < collective_count; ++i)
        if (strcmp(collectives[i].name, name) == 0) return &collectives[i];
    abort();
}

static int wait_own(sluice_request request) {
    return SLUICES(sluice_wait)(request, MPI_STATUS_IGNORE);
}

static int run_persistent(Collective const* one, Arguments const* a) {
    sluice_request request;
    int code = one->init(a, &request);
    if (code != MPI_SUCCESS) return code;
    for (int i = 0; i < 2 && code == MPI_SUCCESS; ++i)
        if ((code = SLUICES(sluice_start)(request)) == MPI_SUCCESS) code = wait_own(request);
    int const freed = SLUICES(sluice_request_free)(&request);
    return code == MPI_SUCCESS ? freed : code;
}

int run_collective(Collective const* one, Form form, Arguments const* a) {
    MPI_Request in_mpi;
    sluice_request own;
    int code = MPI_SUCCESS;
    MPI_Comm_set_errhandler(a->communicator, MPI_ERRORS_RETURN);
    if (form == PERSISTENT) return run_persistent(one, a);
    if (form == OWN) return (code = one->own(a, &own)) == MPI_SUCCESS ? wait_own(own) : code;
    code = one->in_mpi(a, &in_mpi);
    return code == MPI_SUCCESS ? MPI_Wait(&in_mpi, MPI_STATUS_IGNORE) : code;
}

int is_undefined(Collective const* one, Arguments const* a) {
    return (strcmp(one->name, "exscan") == 0 && rank == 0) ||
           (strcmp(one->name, "reduce") == 0 && rank != a->root);
}

int run_results_gather(void* send, MPI_Count bytes, void* receive, MPI_Count capacity,
                       MPI_Count* lengths, int root) {
    sluice_request request;
    int const code = SLUICES(sluice_igather_results)(send, bytes, receive, capacity, lengths, root,
                                                     MPI_COMM_WORLD, &request);
    return code == MPI_SUCCESS ? wait_own(request) : code;
}

void add_named_case(char const* first, char const* second, char const* end,
                    void (*run)(void const*), void const* what) {
    char name[64];
    snprintf(name, sizeof name, "%s/%s%s", first, second, end);
    add_case(name, run, what);
}
