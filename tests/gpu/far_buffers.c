/* Preloaded ahead of Sluice's library, it gives the buffers of any MPI program's file accesses
 * names that only a driver understands: each buffer is brought to memory of a device before the
 * call, and back when the call, or its request, is complete. Memory that is written, and gaps of
 * memory that is read, must not change. Buffers at MPI_BOTTOM stay. far_memory.c does the work;
 * here are the functions. Those for persistent requests of Sluice are not among them. */
#include "far_memory.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))
/* The function of the next library that has it. */
#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name);

static int finished(Far* far, int code) {
    end_far(far);
    return code;
}

static int started(Far* far, MPI_Request* request, int code) {
    if (code != MPI_SUCCESS || *request == MPI_REQUEST_NULL) return finished(far, code);
    if (far) far->request = *request;
    keep_far(far);
    return code;
}

static int begun(Far* far, int code) {
    if (code != MPI_SUCCESS) return finished(far, code);
    if (far) far->is_split = 1;
    keep_far(far);
    return code;
}

/* ---- Accesses: F(name, type of the buffer, type of the count, whether it reads) ------------- */

#define AT(F, of, C, suffix)                                                                       \
    F(MPI_File_write_at##of##suffix, void const*, C, 0)                                            \
    F(MPI_File_read_at##of##suffix, void*, C, 1)
#define HERE(F, of, C, suffix)                                                                     \
    F(MPI_File_write##of##suffix, void const*, C, 0)                                               \
    F(MPI_File_read##of##suffix, void*, C, 1)
#define IAT(F, of, C, suffix)                                                                      \
    F(MPI_File_iwrite_at##of##suffix, void const*, C, 0)                                           \
    F(MPI_File_iread_at##of##suffix, void*, C, 1)
#define IHERE(F, of, C, suffix)                                                                    \
    F(MPI_File_iwrite##of##suffix, void const*, C, 0)                                              \
    F(MPI_File_iread##of##suffix, void*, C, 1)

#define ALL_FUNCTIONS(C, suffix)                                                                   \
    AT(BLOCKING_AT, , C, suffix)                                                                   \
    AT(BLOCKING_AT, _all, C, suffix)                                                               \
    HERE(BLOCKING, , C, suffix)                                                                    \
    HERE(BLOCKING, _all, C, suffix)                                                                \
    HERE(BLOCKING, _shared, C, suffix)                                                             \
    HERE(BLOCKING, _ordered, C, suffix)                                                            \
    IAT(NONBLOCKING_AT, , C, suffix)                                                               \
    IAT(NONBLOCKING_AT, _all, C, suffix)                                                           \
    IHERE(NONBLOCKING, , C, suffix)                                                                \
    IHERE(NONBLOCKING, _all, C, suffix)                                                            \
    IHERE(NONBLOCKING, _shared, C, suffix)                                                         \
    AT(BEGIN_AT, _all_begin, C, suffix)                                                            \
    HERE(BEGIN, _all_begin, C, suffix)                                                             \
    HERE(BEGIN, _ordered_begin, C, suffix)

#define BLOCKING_AT(name, B, C, reads)                                                             \
    SHOWN int name(MPI_File file, MPI_Offset offset, B buffer, C count, MPI_Datatype type,         \
                   MPI_Status* status) {                                                           \
        NEXT(name)                                                                                 \
        Far* const far = take_far(file, (void*)buffer, count, type, reads);                        \
        return finished(                                                                           \
            far, next(file, offset, address_of_far(far, (void*)buffer), count, type, status));     \
    }
#define BLOCKING(name, B, C, reads)                                                                \
    SHOWN int name(MPI_File file, B buffer, C count, MPI_Datatype type, MPI_Status* status) {      \
        NEXT(name)                                                                                 \
        Far* const far = take_far(file, (void*)buffer, count, type, reads);                        \
        return finished(far, next(file, address_of_far(far, (void*)buffer), count, type, status)); \
    }
#define NONBLOCKING_AT(name, B, C, reads)                                                          \
    SHOWN int name(MPI_File file, MPI_Offset offset, B buffer, C count, MPI_Datatype type,         \
                   MPI_Request* request) {                                                         \
        NEXT(name)                                                                                 \
        Far* const far = take_far(file, (void*)buffer, count, type, reads);                        \
        return started(                                                                            \
            far, request,                                                                          \
            next(file, offset, address_of_far(far, (void*)buffer), count, type, request));         \
    }
#define NONBLOCKING(name, B, C, reads)                                                             \
    SHOWN int name(MPI_File file, B buffer, C count, MPI_Datatype type, MPI_Request* request) {    \
        NEXT(name)                                                                                 \
        Far* const far = take_far(file, (void*)buffer, count, type, reads);                        \
        return started(far, request,                                                               \
                       next(file, address_of_far(far, (void*)buffer), count, type, request));      \
    }
#define BEGIN_AT(name, B, C, reads)                                                                \
    SHOWN int name(MPI_File file, MPI_Offset offset, B buffer, C count, MPI_Datatype type) {       \
        NEXT(name)                                                                                 \
        Far* const far = take_far(file, (void*)buffer, count, type, reads);                        \
        return begun(far, next(file, offset, address_of_far(far, (void*)buffer), count, type));    \
    }
#define BEGIN(name, B, C, reads)                                                                   \
    SHOWN int name(MPI_File file, B buffer, C count, MPI_Datatype type) {                          \
        NEXT(name)                                                                                 \
        Far* const far = take_far(file, (void*)buffer, count, type, reads);                        \
        return begun(far, next(file, address_of_far(far, (void*)buffer), count, type));            \
    }
ALL_FUNCTIONS(int, )
#if MPI_VERSION >= 4
ALL_FUNCTIONS(MPI_Count, _c)
#endif

#define END(name, B)                                                                               \
    SHOWN int name(MPI_File file, B buffer, MPI_Status* status) {                                  \
        NEXT(name)                                                                                 \
        Far* const far = far_of_split(file);                                                       \
        return finished(far, next(file, address_of_far(far, (void*)buffer), status));              \
    }
END(MPI_File_write_at_all_end, void const*)
END(MPI_File_read_at_all_end, void*)
END(MPI_File_write_all_end, void const*)
END(MPI_File_read_all_end, void*)
END(MPI_File_write_ordered_end, void const*)
END(MPI_File_read_ordered_end, void*)

/* ---- Functions that return when freed requests of the file are complete --------------------- */

static int completed(MPI_File file, int code) {
    for (Far* far; (far = far_of_freed(file)) != NULL;) end_far(far);
    return code;
}

SHOWN int MPI_File_close(MPI_File* file) {
    NEXT(MPI_File_close)
    MPI_File const closed = *file;
    return completed(closed, next(file));
}
SHOWN int MPI_File_sync(MPI_File file) { NEXT(MPI_File_sync) return completed(file, next(file)); }
SHOWN int MPI_File_set_size(MPI_File file, MPI_Offset size) {
    NEXT(MPI_File_set_size)
    return completed(file, next(file, size));
}
SHOWN int MPI_File_preallocate(MPI_File file, MPI_Offset size) {
    NEXT(MPI_File_preallocate)
    return completed(file, next(file, size));
}
SHOWN int MPI_File_set_atomicity(MPI_File file, int flag) {
    NEXT(MPI_File_set_atomicity)
    return completed(file, next(file, flag));
}

/* ---- Requests ----------------------------------------------------------------------------- */

/* What was complete has become null. */
static void end_completed(int count, MPI_Request const* before, MPI_Request const* after) {
    for (int i = 0; i < count; ++i)
        if (before[i] != MPI_REQUEST_NULL && after[i] != before[i])
            end_far(far_of_request(before[i]));
}

static MPI_Request* copy_of(int count, MPI_Request const* requests) {
    size_t const bytes = (size_t)(count > 0 ? count : 0) * sizeof *requests;
    MPI_Request* const copy = malloc(bytes + 1);
    if (bytes > 0) memcpy(copy, requests, bytes);
    return copy;
}

/* Calls a function for requests that may complete in it. */
#define COMPLETING(count, requests, call)                                                          \
    MPI_Request* const before = copy_of(count, requests);                                          \
    int const code = call;                                                                         \
    end_completed(count, before, requests);                                                        \
    free(before);                                                                                  \
    return code;

SHOWN int MPI_Wait(MPI_Request* request, MPI_Status* status){
    NEXT(MPI_Wait) COMPLETING(1, request, next(request, status))} SHOWN
    int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status){
        NEXT(MPI_Test) COMPLETING(1, request, next(request, flag, status))} SHOWN
    int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]){
        NEXT(MPI_Waitall) COMPLETING(count, requests, next(count, requests, statuses))} SHOWN
    int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]){
        NEXT(MPI_Testall) COMPLETING(count, requests, next(count, requests, flag, statuses))} SHOWN
    int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status){
        NEXT(MPI_Waitany) COMPLETING(count, requests, next(count, requests, index, status))} SHOWN
    int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status){
        NEXT(MPI_Testany)
            COMPLETING(count, requests, next(count, requests, index, flag, status))} SHOWN
    int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[],
                     MPI_Status statuses[]){
        NEXT(MPI_Waitsome)
            COMPLETING(count, requests, next(count, requests, done, indices, statuses))} SHOWN
    int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[],
                     MPI_Status statuses[]){
        NEXT(MPI_Testsome)
            COMPLETING(count, requests, next(count, requests, done, indices, statuses))}

SHOWN int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    NEXT(MPI_Request_get_status)
    int const code = next(request, flag, status);
    if (code == MPI_SUCCESS && *flag) copy_back_early(request);
    return code;
}

SHOWN int MPI_Request_free(MPI_Request* request) {
    NEXT(MPI_Request_free)
    forget_request(*request);
    return next(request);
}
