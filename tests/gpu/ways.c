/* The ways in which MPI transfers data of a file. See ways.h. */
#include "ways.h"

#include <dlfcn.h>
#include <string.h>

#define ARGUMENTS                                                                                  \
    MPI_File file, MPI_Offset offset, void *buffer, int count, MPI_Datatype type, MPI_Status *status

static int waited(int code, MPI_Request* request, MPI_Status* status) {
    return code == MPI_SUCCESS ? MPI_Wait(request, status) : code;
}

/* Completed by tests, as a program does it that computes meanwhile. */
static int tested(int code, MPI_Request* request, MPI_Status* status) {
    for (int done = 0; code == MPI_SUCCESS && !done;) code = MPI_Test(request, &done, status);
    return code;
}

#define BLOCKING_AT(name)                                                                          \
    static int name(ARGUMENTS) {                                                                   \
        return MPI_File_##name(file, offset, buffer, count, type, status);                         \
    }
#define BLOCKING(name)                                                                             \
    static int file_##name(ARGUMENTS) {                                                            \
        (void)offset;                                                                              \
        return MPI_File_##name(file, buffer, count, type, status);                                 \
    }
#define NONBLOCKING_AT(name, completed)                                                            \
    static int name(ARGUMENTS) {                                                                   \
        MPI_Request request;                                                                       \
        int const code = MPI_File_##name(file, offset, buffer, count, type, &request);             \
        return completed(code, &request, status);                                                  \
    }
#define NONBLOCKING(name, completed)                                                               \
    static int name(ARGUMENTS) {                                                                   \
        MPI_Request request;                                                                       \
        (void)offset;                                                                              \
        int const code = MPI_File_##name(file, buffer, count, type, &request);                     \
        return completed(code, &request, status);                                                  \
    }
#define SPLIT_AT(name)                                                                             \
    static int name##_split(ARGUMENTS) {                                                           \
        int const code = MPI_File_##name##_begin(file, offset, buffer, count, type);               \
        return code == MPI_SUCCESS ? MPI_File_##name##_end(file, buffer, status) : code;           \
    }
#define SPLIT(name)                                                                                \
    static int name##_split(ARGUMENTS) {                                                           \
        (void)offset;                                                                              \
        int const code = MPI_File_##name##_begin(file, buffer, count, type);                       \
        return code == MPI_SUCCESS ? MPI_File_##name##_end(file, buffer, status) : code;           \
    }

BLOCKING_AT(write_at)
BLOCKING_AT(read_at)
BLOCKING_AT(write_at_all)
BLOCKING_AT(read_at_all)
BLOCKING(write)
BLOCKING(read)
BLOCKING(write_all)
BLOCKING(read_all)
BLOCKING(write_shared)
BLOCKING(read_shared)
BLOCKING(write_ordered)
BLOCKING(read_ordered)
NONBLOCKING_AT(iwrite_at, waited)
NONBLOCKING_AT(iread_at, waited)
NONBLOCKING_AT(iwrite_at_all, waited)
NONBLOCKING_AT(iread_at_all, waited)
NONBLOCKING(iwrite, tested)
NONBLOCKING(iread, tested)
NONBLOCKING(iwrite_all, tested)
NONBLOCKING(iread_all, tested)
NONBLOCKING(iwrite_shared, waited)
NONBLOCKING(iread_shared, waited)
SPLIT_AT(write_at_all)
SPLIT_AT(read_at_all)
SPLIT(write_all)
SPLIT(read_all)
SPLIT(write_ordered)
SPLIT(read_ordered)

/* ---- Sluice's persistent requests --------------------------------------------------------- */

#if __has_include(<sluice/sluice.h>)
#include <sluice/sluice.h>

typedef int Init(MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, sluice_request*);

static void* function(char const* name) { return dlsym(RTLD_DEFAULT, name); }
int has_persistent(void) { return function("sluice_write_at_all_init") != NULL; }

/* Started twice: the second time does the same again. */
static int persistent(Init* init, MPI_File file, MPI_Offset offset, void* buffer, int count,
                      MPI_Datatype type, MPI_Status* status) {
    int (*const start)(sluice_request) = (int (*)(sluice_request))function("sluice_start");
    int (*const wait)(sluice_request, MPI_Status*) =
        (int (*)(sluice_request, MPI_Status*))function("sluice_wait");
    int (*const release)(sluice_request*) =
        (int (*)(sluice_request*))function("sluice_request_free");
    sluice_request request;
    int code = init(file, offset, buffer, count, type, &request);
    for (int i = 0; i < 2 && code == MPI_SUCCESS; ++i)
        if ((code = start(request)) == MPI_SUCCESS) code = wait(request, status);
    if (code == MPI_SUCCESS) code = release(&request);
    return code;
}

static int write_persistent(ARGUMENTS) {
    Init* const init = (Init*)function("sluice_write_at_all_init");
    return persistent(init, file, offset, buffer, count, type, status);
}
static int read_persistent(ARGUMENTS) {
    Init* const init = (Init*)function("sluice_read_at_all_init");
    return persistent(init, file, offset, buffer, count, type, status);
}
#else
int has_persistent(void) { return 0; }
#define write_persistent write_at_all
#define read_persistent read_at_all
#endif

/* ------------------------------------------------------------------------------------------- */

Way const ways[] = {
    {"at", OFFSET, 0, 0, write_at, read_at},
    {"own", POINTER, 0, 0, file_write, file_read},
    {"iat", OFFSET, 0, 0, iwrite_at, iread_at},
    {"iown", POINTER, 0, 0, iwrite, iread},
    {"at_all", OFFSET, 1, 0, write_at_all, read_at_all},
    {"all", POINTER, 1, 0, file_write_all, file_read_all},
    {"iat_all", OFFSET, 1, 0, iwrite_at_all, iread_at_all},
    {"iall", POINTER, 1, 0, iwrite_all, iread_all},
    {"at_all_split", OFFSET, 1, 0, write_at_all_split, read_at_all_split},
    {"all_split", POINTER, 1, 0, write_all_split, read_all_split},
    {"persistent", OFFSET, 1, 0, write_persistent, read_persistent},
    {"shared", SHARED_POINTER, 0, 1, file_write_shared, file_read_shared},
    {"ishared", SHARED_POINTER, 0, 1, iwrite_shared, iread_shared},
    {"ordered", SHARED_POINTER, 1, 0, file_write_ordered, file_read_ordered},
    {"ordered_split", SHARED_POINTER, 1, 0, write_ordered_split, read_ordered_split},
};
int const way_count = sizeof ways / sizeof *ways;

Way const* way_named(char const* name) {
    for (int i = 0; i < way_count; ++i)
        if (strcmp(ways[i].name, name) == 0) return &ways[i];
    return NULL;
}
