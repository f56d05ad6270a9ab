/* Cases of errors.c for any driver, since they order nothing of it: a device that is full, and what
 * a program does wrong with its memory. With a card each is a start of its own, as an error of a
 * kernel may end all that the process does on devices. */
#include "errors.h"

#include <stdlib.h>

/* ---- What goes wrong ---------------------------------------------------------------------- */

static void fill_device(Part const* part, CUcontext context) {
    CUdeviceptr at;
    (void)part;
    cuda_enter(context);
    for (size_t bytes = (size_t)1 << 40; bytes >= (size_t)1 << 16; bytes /= 2)
        while (cuda.cuMemAlloc_v2(&at, bytes) == CUDA_SUCCESS) continue;
    cuda_leave();
}

static void free_memory(Part const* part, CUcontext context) {
    (void)context;
    if (cuda.order) cuda.order("freed=known");
    cuda_free(part->buffer.allocated);
}

static void end_context(Part const* part, CUcontext context) {
    (void)part;
    if (cuda.order) cuda.order("freed=known");
    cuda_require(cuda.cuCtxDestroy_v2(context), "cuCtxDestroy");
}

/* A kernel writes where no memory is. From then on each call may return that error. */
static void lose_context(Part const* part, CUcontext context) {
    CUcontext left;
    (void)part;
    cuda_fill(context, NULL, (void*)64, 8, 1);
    cuda.cuCtxPushCurrent_v2(context);
    if (cuda.cuCtxSynchronize() == CUDA_SUCCESS) wrong("a kernel has written where no memory is");
    cuda.cuCtxPopCurrent_v2(&left);
}

/* ---- Trials ------------------------------------------------------------------------------- */

static int start(Trial const* trial, MPI_File file, Part const* part, MPI_Request* request) {
    MPI_Offset const at = place_of(part);
    void* const memory = address_of(part);
    return trial->writes
               ? MPI_File_iwrite_at_all(file, at, memory, part->items, part->memory.type, request)
               : MPI_File_iread_at_all(file, at, memory, part->items, part->memory.type, request);
}

typedef void Spoil(Part const*, CUcontext);

/* The program must not be killed, nor be told that all was well where it was not on all ranks;
 * memory of the host serves afterwards. */
static void try_own(Trial const* trial, Spoil* before, Spoil* meanwhile) {
    MPI_Request request;
    if (!has_devices()) {
        skip("no device");
        return;
    }
    char const* const name = file_name("data");
    CUcontext const context = own_context();
    Part part = part_of_trial(trial, context);
    Part sound = make_part(layout_of_bytes(trial->piece), trial->items, HOST, 0);
    MPI_File file = prepared_file(name, &part);
    if (trial->writes)
        fill_part(&part);
    else
        clear_part(&part);
    if (before && is_victim(trial)) before(&part, context);
    int code = start(trial, file, &part, &request);
    if (meanwhile && is_victim(trial)) meanwhile(&part, context);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    int const failed = count_errors(code);
    judge(trial, code, failed);
    if (before && failed == 0) check_outcome(trial, file, &part, name);
    check_next(trial, file, &sound, name);
    went(MPI_File_close(&file), "MPI_File_close");
    if (cuda.order) cuda.order("");
    if (meanwhile != end_context || !is_victim(trial)) cuda.cuCtxDestroy_v2(context);
    part.buffer.place = HOST, part.buffer.allocated = NULL;
    free_part(&part);
    free_part(&sound);
}

static void run_full(void const* what) { try_own(what, fill_device, NULL); }
static void run_lost(void const* what) { try_own(what, lose_context, NULL); }
static void run_freed_meanwhile(void const* what) { try_own(what, NULL, free_memory); }
static void run_ended_meanwhile(void const* what) { try_own(what, NULL, end_context); }

typedef struct OwnFault {
    Fault fault;
    void (*run)(void const*);
    int is_large;
} OwnFault;

void add_own_faults(void) {
    static OwnFault const faults[] = {
        {{"full", "", EITHER, 0}, run_full, 0},
        {{"full_large", "", EITHER, 0}, run_full, 1},
        {{"lost", "", FAILS, 1}, run_lost, 0},
        {{"lost_large", "", FAILS, 1}, run_lost, 1},
        {{"freed_meanwhile", "", EITHER, 0}, run_freed_meanwhile, 0},
        {{"freed_meanwhile_large", "", EITHER, 0}, run_freed_meanwhile, 1},
        {{"ended_meanwhile", "", EITHER, 0}, run_ended_meanwhile, 0},
        {{"ended_meanwhile_large", "", EITHER, 0}, run_ended_meanwhile, 1},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i)
        for (int kind = 0; kind < 4; ++kind)
            add_trial(&faults[i].fault, faults[i].run, "iat_all", kind % 2, kind / 2,
                      faults[i].is_large);
}
