/* A device that takes its time: each write happens 20 ms after the call, or SLOW_<rank>
 * microseconds in a rank, SLOW_KEEPERS in their keepers. It has no room for what rank 0 writes at
 * the offset FULL_AT. With KILL_AT_MARK rank 1 is killed when a mark of bytes of a file was just
 * released. The keeper of rank 0 leaves its process number in the file KEEPER_OF_0. Ranks are those
 * of Open MPI. For LD_PRELOAD. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MICROSECONDS = 20000, MARK_BYTES = 1 << 20 };

static int rank = -1, is_keeper;
static useconds_t microseconds = MICROSECONDS;
static long long full_at = -1;

__attribute__((constructor)) static void look_around(void) {
    char const *const told = getenv("OMPI_COMM_WORLD_RANK"), *const full = getenv("FULL_AT");
    if (told) rank = atoi(told);
    is_keeper = !getenv("SLUICE_KEEPER"); /* `sluice run` sets it for the program. */
    char name[32] = "SLOW_KEEPERS";
    if (!is_keeper) snprintf(name, sizeof name, "SLOW_%d", rank);
    if (getenv(name)) microseconds = (useconds_t)atoi(getenv(name));
    if (full && rank == 0 && !is_keeper) full_at = atoll(full);
}

static void* next_of(char const* name) { return dlsym(RTLD_NEXT, name); }

#define SLOW(name, parameters, ...)                                                                \
    ssize_t name parameters {                                                                      \
        static ssize_t(*next) parameters;                                                          \
        if (!next) *(void**)&next = next_of(#name);                                                \
        usleep(microseconds);                                                                      \
        if (at == full_at) {                                                                       \
            errno = ENOSPC;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        return next(__VA_ARGS__);                                                                  \
    }

SLOW(pwrite, (int fd, void const* data, size_t bytes, off_t at), fd, data, bytes, at)
SLOW(pwrite64, (int fd, void const* data, size_t bytes, off_t at), fd, data, bytes, at)
SLOW(pwritev, (int fd, struct iovec const* parts, int count, off_t at), fd, parts, count, at)
SLOW(pwritev64, (int fd, struct iovec const* parts, int count, off_t at), fd, parts, count, at)

static int control(char const* name, int fd, int command, void* argument) {
    int (*next)(int, int, ...);
    *(void**)&next = next_of(name);
    int const result = next(fd, command, argument);
    if (command != F_OFD_SETLK || rank != 1 || is_keeper || !getenv("KILL_AT_MARK")) return result;
    struct flock const* const lock = argument;
    if (lock->l_type == F_UNLCK && lock->l_len >= MARK_BYTES) raise(SIGKILL);
    return result;
}

#define CONTROL(name)                                                                              \
    int name(int fd, int command, ...) {                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, command);                                                              \
        void* const argument = va_arg(arguments, void*);                                           \
        va_end(arguments);                                                                         \
        return control(#name, fd, command, argument);                                              \
    }

CONTROL(fcntl)
CONTROL(fcntl64)

/* A keeper calls it first. */
pid_t setsid(void) {
    pid_t (*next)(void);
    *(void**)&next = next_of("setsid");
    char const* const path = getenv("KEEPER_OF_0");
    FILE* const file = path && rank == 0 && is_keeper ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
    }
    return next();
}
