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
//
// With CALL_TIMES=files, for programs that know nothing of it, `total` is what they spend in those
// functions of files that call_times.inc names, from C or from Fortran. CALL_TIMES_TO=FILE: the
// lines go there, as what a program prints may be mixed with them.
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

/// Whether a function counts outside of the calls that MPI_Pcontrol marks.
static int counts_by_itself(char const* name) {
    static int wanted = -1;
    if (wanted < 0) {
        char const* const value = getenv("CALL_TIMES");
        wanted = value && strcmp(value, "files") == 0;
    }
    return wanted && strncasecmp(name, "MPI_File_", strlen("MPI_File_")) == 0;
}

static double enter(char const* name) {
    return ++depth == 1 && (inside || counts_by_itself(name)) ? now(CLOCK_MONOTONIC) : 0;
}

static void leave(char const* name, double begin) {
    if (--depth > 0 || begin == 0) return;
    Function* const f = function_named(name);
    double const seconds = now(CLOCK_MONOTONIC) - begin;
    ++f->calls;
    f->seconds += seconds;
    if (!inside) total += seconds;
}

#define TIMED(name, parameters, arguments)                                                         \
    int name parameters {                                                                          \
        static int(*next) parameters;                                                              \
        if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name);                                       \
        double const begin = enter(#name);                                                         \
        int const code = next arguments;                                                           \
        leave(#name, begin);                                                                       \
        return code;                                                                               \
    }

#define TIMED_FORTRAN(name, parameters, arguments)                                                 \
    void name parameters;                                                                          \
    void name parameters {                                                                         \
        static void(*next) parameters;                                                             \
        if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name);                                       \
        double const begin = enter(#name);                                                         \
        next arguments;                                                                            \
        leave(#name, begin);                                                                       \
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

/// Once, although a function of Fortran may call that of C.
static void tell(void) {
    static int told = 0;
    if (told++) return;
    char line[line_length] = "";
    int rank = 0, ranks = 0;
    describe(line);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0) PMPI_Send(line, line_length, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    char const* const path = getenv("CALL_TIMES_TO");
    FILE* const out = rank == 0 && path ? fopen(path, "a") : stderr;
    for (int other = 0; rank == 0 && other < ranks; ++other) {
        if (other != 0)
            PMPI_Recv(line, line_length, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (out) fprintf(out, "%s\n", line);
    }
    if (out && out != stderr) fclose(out);
}

int MPI_Finalize(void) {
    int (*const next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize");
    tell();
    return next();
}

void mpi_finalize_(int* error);
void mpi_finalize_(int* error) {
    void (*const next)(int*) = (void (*)(int*))dlsym(RTLD_NEXT, "mpi_finalize_");
    tell();
    next(error);
}
