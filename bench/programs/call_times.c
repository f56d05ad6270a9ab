// Preloaded, it says where the time of a program's own calls goes: between MPI_Pcontrol(1) and
// MPI_Pcontrol(0), which the programs of this folder have around each write or read. It measures
// the MPI functions that are called meanwhile, the processor time, and how much earlier than the
// last rank each rank came. At the end rank 0 writes one line for each rank to standard error:
//
//   call times: rank 0: total 0.115 s, processor 0.060 s, before the last rank 0.040 s; ...
//
// "Before the last rank" is what a rank would wait if each call began with a barrier: computation
// never takes equally long on all ranks. It means something on one node only, whose ranks have one
// clock. Before Sluice in LD_PRELOAD it sees what the program and its libraries call; what Sluice
// calls goes by the functions' PMPI names. A function that calls another one counts as a whole.
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { most_calls = 4096, most_functions = 64, line_length = 4096 };

typedef struct {
    char const* name;
    long calls;
    double seconds;
} Function;

static Function functions[most_functions];
static int function_count;
static double begun[most_calls];  // when each call of the program began
static int call_count;
static int inside, depth;  // of a call of the program, of functions of the MPI
static double call_begin, processor_begin, total, processor;

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Function* function_named(char const* name) {
    for (int i = 0; i < function_count; ++i)
        if (strcmp(functions[i].name, name) == 0) return &functions[i];
    functions[function_count].name = name;
    return &functions[function_count++];
}

static double enter(void) { return ++depth == 1 && inside ? now(CLOCK_MONOTONIC) : 0; }

static void leave(char const* name, double begin) {
    if (--depth > 0 || begin == 0) return;
    Function* const f = function_named(name);
    ++f->calls;
    f->seconds += now(CLOCK_MONOTONIC) - begin;
}

#define TIMED(name, parameters, arguments)                                                         \
    int name parameters {                                                                          \
        static int(*next) parameters;                                                              \
        if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name);                                       \
        double const begin = enter();                                                              \
        int const code = next arguments;                                                           \
        leave(#name, begin);                                                                       \
        return code;                                                                               \
    }

#include "call_times.inc"

int MPI_Pcontrol(int const level, ...) {
    int (*const next)(int, ...) = (int (*)(int, ...))dlsym(RTLD_NEXT, "MPI_Pcontrol");
    if (level == 1 && call_count < most_calls) {
        inside = 1;
        begun[call_count++] = call_begin = now(CLOCK_MONOTONIC);
        processor_begin = now(CLOCK_THREAD_CPUTIME_ID);
    } else if (inside) {
        total += now(CLOCK_MONOTONIC) - call_begin;
        processor += now(CLOCK_THREAD_CPUTIME_ID) - processor_begin;
        inside = 0;
    }
    return next(level);
}

/// What this rank would have waited for the last one at the begin of each call.
static double before_last(void) {
    static double last[most_calls];
    double sum = 0;
    PMPI_Allreduce(begun, last, call_count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < call_count; ++i) sum += last[i] - begun[i];
    return sum;
}

static void describe(char* line) {
    int rank = 0, length = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    length = snprintf(line, line_length,
                      "call times: rank %d: total %.4f s, processor %.4f s, "
                      "before the last rank %.4f s",
                      rank, total, processor, before_last());
    for (int i = 0; i < function_count && length < line_length; ++i)
        length += snprintf(line + length, (size_t)(line_length - length), "; %s %ld %.4f s",
                           functions[i].name, functions[i].calls, functions[i].seconds);
}

int MPI_Finalize(void) {
    char line[line_length] = "";
    int rank = 0, ranks = 0;
    describe(line);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0) PMPI_Send(line, line_length, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    for (int other = 0; rank == 0 && other < ranks; ++other) {
        if (other != 0)
            PMPI_Recv(line, line_length, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fprintf(stderr, "%s\n", line);
    }
    int (*const next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize");
    return next();
}
