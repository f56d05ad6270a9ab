/* Preloaded beside libsluice: ends one rank by SIGKILL at a chosen storage action on the tested
 * file, as a crash would, and notes all actions on that file in the order in which they ended.
 *
 *   SLUICE_TEST_FILE         the tested file
 *   SLUICE_TEST_NOTES        where lines are appended: "RANK action NAME", "RANK kill NAME"
 *   SLUICE_TEST_KILL_RANK    the rank to end; without it nobody is ended
 *   SLUICE_TEST_KILL_ACTION  at which of its actions, from 1
 *   SLUICE_TEST_KILL_MOMENT  before, after, or middle: half of the bytes are written. Only
 *                            writes have a middle, so then only they are counted.
 *   SLUICE_TEST_KEEPER_ACTION  the same for each keeper, which is then ended, too
 *   SLUICE_TEST_NO_KEEPER    ranks that run with write-behind have none
 *
 * A flush of a journal in a folder is an action as well. */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char const* setting(char const* name) {
    char const* const value = getenv(name);
    return value ? value : "";
}

static char const keeper[] = "keeper";

/* This process's rank as its launcher tells it; empty in all other processes. A rank that runs
 * with write-behind knows its keeper, which is no rank and acts when the rank has ended. */
static char const* rank(void) {
    int const kept = *setting("SLUICE_WRITE_BEHIND") && !*setting("SLUICE_TEST_NO_KEEPER");
    if (kept && !*setting("SLUICE_KEEPER"))
        return *setting("SLUICE_TEST_KEEPER_ACTION") ? keeper : "";
    char const* const value = setting("PMI_RANK");
    return *value ? value : setting("OMPI_COMM_WORLD_RANK");
}

static void note(char const* what, char const* name) {
    char line[64];
    int const length = snprintf(line, sizeof line, "%s %s %s\n", rank(), what, name);
    long const fd = syscall(SYS_openat, AT_FDCWD, setting("SLUICE_TEST_NOTES"),
                            O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0 || syscall(SYS_write, fd, line, length) != length) abort();
    syscall(SYS_close, fd);
}

static int is_tested(struct stat const* found) {
    struct stat tested;
    return *rank() && stat(setting("SLUICE_TEST_FILE"), &tested) == 0 &&
           found->st_ino == tested.st_ino && found->st_dev == tested.st_dev;
}

static int is_tested_descriptor(int fd) {
    struct stat found;
    return fstat(fd, &found) == 0 && is_tested(&found);
}

static int is_journal(int fd) {
    static char const suffix[] = ".sluice-journal";
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t const length = *rank() ? readlink(link, path, sizeof path) : -1;
    ssize_t const end = (ssize_t)sizeof suffix - 1;
    return length > end && memcmp(path + length - end, suffix, (size_t)end) == 0;
}

static int is_tested_path(char const* path) {
    struct stat found;
    return stat(path, &found) == 0 && is_tested(&found);
}

static int moment_is(char const* moment) {
    return strcmp(setting("SLUICE_TEST_KILL_MOMENT"), moment) == 0;
}

/* Whether this is the action to end at. */
static int chosen(void) {
    static atomic_int actions;
    int const keeps = rank() == keeper;
    if (!keeps && strcmp(setting("SLUICE_TEST_KILL_RANK"), rank()) != 0) return 0;
    char const* const which = keeps ? "SLUICE_TEST_KEEPER_ACTION" : "SLUICE_TEST_KILL_ACTION";
    return atomic_fetch_add(&actions, 1) + 1 == atoi(setting(which));
}

static void end(char const* name) {
    if (rank() != keeper) note("kill", name);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* A system call; if it is on the tested file, an action of that name. */
static long act(char const* name, int tested, long number, long a, long b, long c, long d) {
    if (!tested) return syscall(number, a, b, c, d, 0);
    int const ends = !moment_is("middle") && chosen();
    if (ends && moment_is("before")) end(name);
    long const result = syscall(number, a, b, c, d, 0);
    if (result >= 0 && rank() != keeper) note("action", name);
    if (ends) end(name);
    return result;
}

/* The first half of the bytes, however they are cut into pieces. */
static void write_half(int fd, struct iovec const* vector, int count, off_t offset) {
    size_t half = 0;
    for (int i = 0; i < count; ++i) half += vector[i].iov_len;
    half /= 2;
    for (int i = 0; i < count && half > 0; ++i) {
        size_t const length = vector[i].iov_len < half ? vector[i].iov_len : half;
        if (syscall(SYS_pwrite64, fd, vector[i].iov_base, length, offset) < 0) abort();
        offset += (off_t)length;
        half -= length;
    }
}

ssize_t pwritev(int fd, struct iovec const* vector, int count, off_t offset) {
    int const tested = is_tested_descriptor(fd);
    if (tested && moment_is("middle") && chosen()) {
        write_half(fd, vector, count, offset);
        end("write");
    }
    return act("write", tested, SYS_pwritev, fd, (long)vector, count, offset);
}

ssize_t pwrite(int fd, void const* data, size_t bytes, off_t offset) {
    struct iovec const vector = {(void*)data, bytes};
    return pwritev(fd, &vector, 1, offset);
}

ssize_t preadv(int fd, struct iovec const* vector, int count, off_t offset) {
    return act("read", is_tested_descriptor(fd), SYS_preadv, fd, (long)vector, count, offset);
}

ssize_t pread(int fd, void* data, size_t bytes, off_t offset) {
    struct iovec const vector = {data, bytes};
    return preadv(fd, &vector, 1, offset);
}

static int flush(int fd, long number) {
    if (is_journal(fd)) return (int)act("journal", 1, number, fd, 0, 0, 0);
    return (int)act("flush", is_tested_descriptor(fd), number, fd, 0, 0, 0);
}

int fsync(int fd) { return flush(fd, SYS_fsync); }
int fdatasync(int fd) { return flush(fd, SYS_fdatasync); }

int ftruncate(int fd, off_t length) {
    return (int)act("resize", is_tested_descriptor(fd), SYS_ftruncate, fd, length, 0, 0);
}

int open(char const* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int const mode = va_arg(rest, int); /* Not used by the system unless it was given. */
    va_end(rest);
    return (int)act("open", is_tested_path(path), SYS_openat, AT_FDCWD, (long)path, flags, mode);
}

ssize_t pwritev64(int, struct iovec const*, int, off64_t) __attribute__((alias("pwritev")));
ssize_t pwrite64(int, void const*, size_t, off64_t) __attribute__((alias("pwrite")));
ssize_t preadv64(int, struct iovec const*, int, off64_t) __attribute__((alias("preadv")));
ssize_t pread64(int, void*, size_t, off64_t) __attribute__((alias("pread")));
int ftruncate64(int, off64_t) __attribute__((alias("ftruncate")));
int open64(char const*, int, ...) __attribute__((alias("open")));
