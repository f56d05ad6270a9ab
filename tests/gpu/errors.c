/* What a program sees where a driver fails: an error on all ranks of a collective call, never a
 * crash, wrong bytes or ranks that wait for ever, and the next call works. Each case orders a
 * failure of the pretended driver, on the last rank or on all; those of errors_own.c order nothing.
 * The options are those of cases.h. */
#include "errors.h"

#include <stdio.h>
#include <stdlib.h>

static Fault const faults[] = {
    {"late", "fail=late:1:700", FAILS, 1},
    {"ecc", "fail=late:1:214", FAILS, 1},
    {"copies", "fail=copy:1+:999", FAILS, 0},
    {"copy", "fail=copy:1:2", EITHER, 0},
    {"no_answer", "fail=cuPointerGetAttribute:1+:700", FAILS, 0},
    {"no_register", "fail=cuMemHostRegister:1+:801", WORKS, 0},
    {"no_kernel", "fail=cuModuleLoadData:1+:218", WORKS, 0},
    {"no_launch", "fail=cuLaunchKernel:1+:701", EITHER, 0},
    {"no_rows", "fail=cuMemcpy2DAsync:1+:1", EITHER, 0},
    {"no_stream", "fail=cuStreamCreate:1+:2,fail=cuStreamCreateWithPriority:1+:2", EITHER, 0},
    {"no_event", "fail=cuEventCreate:1+:2", EITHER, 0},
    {"no_record", "fail=cuEventRecord:1+:999", EITHER, 0},
    {"no_host_function", "fail=cuLaunchHostFunc:1+:801", EITHER, 0},
    {"no_memory", "fail=cuMemAlloc:1+:2,fail=cuMemHostAlloc:1+:2,fail=cuMemAllocHost:1+:2", EITHER,
     0},
    {"no_context", "fail=cuCtxSetCurrent:1+:201,fail=cuCtxPushCurrent:1+:201", EITHER, 0},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static char const* const some_ways[] = {"at", "iat", "all", "iat_all", "at_all_split", "ordered"};
enum { SOME_WAYS = sizeof some_ways / sizeof *some_ways };

int is_victim(Trial const* trial) { return trial->on_all || rank == ranks - 1; }

CUcontext own_context(void) {
    CUcontext context;
    cuda_require(cuda.cuCtxCreate_v2(&context, 0, device_of(rank)), "cuCtxCreate");
    cuda_leave();
    return context;
}

Part part_of_trial(Trial const* trial, CUcontext context) {
    MPI_Aint const at = 0;
    Layout const memory = layout_of_blocks(1, &at, &trial->piece, trial->piece + trial->gap);
    return make_part_in(memory, trial->items, context);
}

/* ---- What came of it ---------------------------------------------------------------------- */

int count_errors(int code) {
    int class_of = MPI_SUCCESS, failed = code != MPI_SUCCESS, all = 0;
    MPI_Error_class(code, &class_of);
    if (failed && class_of == MPI_SUCCESS) wrong("an error without a class");
    MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* On how many ranks the context can no more be used. */
static int count_lost(CUcontext context) {
    int all = 0;
    cuda_enter(context);
    int lost = cuda.cuCtxSynchronize() != CUDA_SUCCESS;
    cuda_leave();
    MPI_Allreduce(&lost, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

void judge(Trial const* trial, int code, int failed) {
    int const expected = trial->way->is_collective || trial->on_all ? ranks : 1;
    if (trial->outcome == WORKS) went(code, "a call that another way is open to");
    if (trial->outcome == FAILS && failed == 0)
        wrong("no rank has an error");
    else if (trial->outcome == FAILS && failed != expected)
        wrong("%d ranks have an error, not %d", failed, expected);
    else if (trial->way->is_collective && failed != 0 && failed != ranks)
        wrong("%d of %d ranks have an error", failed, ranks);
    if (!trial->way->is_collective && !is_victim(trial)) went(code, "a call of another rank");
}

MPI_Offset place_of(Part const* part) { return rank * part->bytes; }

/* Nothing else here calls the driver, as all of its calls may fail. */
static int call(Trial const* trial, MPI_File file, Part const* part) {
    MPI_Status status;
    Way const* const way = trial->way;
    if (way->position == POINTER) MPI_File_seek(file, place_of(part), MPI_SEEK_SET);
    if (way->position == SHARED_POINTER) MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    return (trial->writes ? way->write : way->read)(file, place_of(part), address_of(part),
                                                    part->items, part->memory.type, &status);
}

/* A rank whose call has returned before the others' is told of their error later, once. */
static int told(Trial const* trial, MPI_File file, int code) {
    if (!trial->way->is_collective) return code;
    int const later = MPI_File_sync(file);
    return code == MPI_SUCCESS ? later : code;
}

void check_outcome(Trial const* trial, MPI_File file, Part* part, char const* name) {
    if (!trial->writes) {
        check_read(part);
        return;
    }
    MPI_Aint* const bytes = all_bytes(part->bytes);
    size_t size = 0;
    went(MPI_File_sync(file), "MPI_File_sync");
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned char* const expected = expected_file(BLOCKS, bytes, &size);
    if (rank == 0) check_file(name, expected, size);
    MPI_Barrier(MPI_COMM_WORLD); /* The next bytes come behind that. */
    free(expected);
    free(bytes);
}

void check_next(Trial const* trial, MPI_File file, Part* part, char const* name) {
    if (trial->writes)
        fill_part(part);
    else
        clear_part(part);
    went(call(trial, file, part), "the next call");
    check_outcome(trial, file, part, name);
}

/* ---- Trials ------------------------------------------------------------------------------- */

MPI_File prepared_file(char const* name, Part const* part) {
    MPI_File file = open_file(name);
    went(MPI_File_write_at(file, place_of(part), part->stream, (int)part->bytes, MPI_BYTE,
                           MPI_STATUS_IGNORE),
         "MPI_File_write_at");
    went(MPI_File_sync(file), "MPI_File_sync");
    MPI_Barrier(MPI_COMM_WORLD);
    went(MPI_File_sync(file), "MPI_File_sync");
    return file;
}

/* Returns how much of the driver was used: calls, and stream operations of the last part. */
static long try_once(Trial const* trial, int counts_operations) {
    char const* const name = file_name("data");
    CUcontext const context = own_context();
    Part part = part_of_trial(trial, context), sound = part_of_trial(trial, NULL);
    MPI_File file = prepared_file(name, &part);
    if (trial->writes)
        fill_part(&part);
    else
        clear_part(&part);
    if (is_victim(trial)) cuda.order(trial->order);
    int code = call(trial, file, &part);
    long const used = counts_operations ? cuda.operations() : cuda.calls();
    cuda.order("");
    code = told(trial, file, code);
    int const failed = count_errors(code);
    judge(trial, code, failed);
    int const is_lost = count_lost(context) > 0;
    if (is_lost && failed == 0) wrong("a context is lost, but no rank has an error");
    if (failed == 0 && !is_lost) check_outcome(trial, file, &part, name);
    if (!is_lost) check_next(trial, file, &part, name);
    check_next(trial, file, &sound, name);
    went(MPI_File_close(&file), "MPI_File_close");
    free_part(&sound);
    cuda_require(cuda.cuCtxDestroy_v2(context), "cuCtxDestroy");
    part.buffer.place = HOST, part.buffer.allocated = NULL;
    free_part(&part);
    return used;
}

static int can_order(void) {
    if (has_devices() && cuda.order) return 1;
    skip("no pretended driver");
    return 0;
}

static void run_fault(void const* what) {
    if (can_order()) try_once(what, 0);
}

/* Each of the calls, or of the operations, of a transfer fails once. */
static void sweep(Trial trial, char const* function, int code) {
    int const counts_operations = trial.loses_context;
    enum { MOST = 60 };
    long used = 1, most = 1;
    for (int at = 1; at <= most && at <= MOST && !is_wrong(); ++at) {
        char order[64];
        snprintf(order, sizeof order, "fail=%s:%d:%d", function, at, code);
        trial.order = order;
        used = try_once(&trial, counts_operations);
        MPI_Allreduce(&used, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        int found = is_wrong(), any = 0;
        MPI_Allreduce(&found, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (any) wrong("another rank was wrong where %s", order);
    }
}

static void run_sweep_of_calls(void const* what) {
    Trial const* const trial = what;
    if (!can_order()) return;
    sweep(*trial, "any", CUDA_ERROR_OUT_OF_MEMORY);
    sweep(*trial, "any", CUDA_ERROR_UNKNOWN);
}

static void run_sweep_of_operations(void const* what) {
    if (can_order()) sweep(*(Trial const*)what, "late", CUDA_ERROR_LAUNCH_FAILED);
}

/* ---- Memory that is gone ------------------------------------------------------------------ */

/* The driver still says whose it was, as of pools. It is freed, or its context ends. */
static void try_gone(Trial const* trial, int ends_context) {
    char const* const name = file_name("data");
    CUcontext const context = own_context();
    Part part = part_of_trial(trial, context), sound = part_of_trial(trial, NULL);
    MPI_File file = prepared_file(name, &part);
    check_next(trial, file, &sound, name);
    if (!ends_context) check_next(trial, file, &part, name);
    cuda.order("freed=known");
    if (is_victim(trial) && ends_context)
        cuda_require(cuda.cuCtxDestroy_v2(context), "cuCtxDestroy");
    else if (is_victim(trial))
        cuda_free(part.buffer.allocated);
    int const code = told(trial, file, call(trial, file, &part));
    judge(trial, code, count_errors(code));
    check_next(trial, file, &sound, name);
    went(MPI_File_close(&file), "MPI_File_close");
    cuda.order("");
    if (!is_victim(trial) || !ends_context)
        cuda_require(cuda.cuCtxDestroy_v2(context), "cuCtxDestroy");
    part.buffer.place = HOST, part.buffer.allocated = NULL;
    free_part(&part);
    free_part(&sound);
}

static void run_freed(void const* what) {
    if (can_order()) try_gone(what, 0);
}
static void run_destroyed(void const* what) {
    if (can_order()) try_gone(what, 1);
}

/* ---- All of them -------------------------------------------------------------------------- */

static Trial* new_trial(Fault const* fault, char const* way, int writes, int on_all) {
    static Trial trials[1000];
    static int count;
    Trial const trial = {fault->name,
                         fault->order,
                         fault->outcome,
                         fault->loses_context,
                         writes,
                         on_all,
                         way_named(way),
                         700,
                         300,
                         40};
    trials[count] = trial;
    return &trials[count++];
}

void add_trial(Fault const* fault, void (*run)(void const*), char const* way, int writes,
               int on_all, int is_large) {
    char name[64];
    Trial* const trial = new_trial(fault, way, writes, on_all);
    if (is_large) trial->piece = 7 << 18, trial->items = 3, trial->gap = 64;
    snprintf(name, sizeof name, "%s/%s/%s/%s", fault->name, writes ? "write" : "read", way,
             on_all ? "all" : "last");
    add_case(name, run, trial);
}

static void add_all(void) {
    static Fault const freed = {"freed", "", FAILS, 0}, destroyed = {"destroyed", "", FAILS, 0};
    static Fault const calls = {"each_call", "", EITHER, 0},
                       operations = {"each_operation", "", EITHER, 1};
    for (int way = 0; way < SOME_WAYS; ++way)
        for (int kind = 0; kind < 4; ++kind) {
            char const* const name = some_ways[way];
            int const writes = kind % 2, on_all = kind / 2;
            for (int i = 0; i < FAULTS; ++i)
                add_trial(&faults[i], run_fault, name, writes, on_all, 0);
            add_trial(&freed, run_freed, name, writes, on_all, 0);
            add_trial(&destroyed, run_destroyed, name, writes, on_all, 0);
            if (on_all && way != 3) continue;
            add_trial(&calls, run_sweep_of_calls, name, writes, on_all, 0);
            add_trial(&operations, run_sweep_of_operations, name, writes, on_all, 1);
        }
    add_own_faults();
}

int main(int argc, char** argv) { return run_cases(argc, argv, add_all); }
