/* What is preloaded beside libsluice to disturb its storage: the calls of ranks, or of their
 * keepers, that touch the tested file or flush a journal in a folder. Each is an action, and act(),
 * which the including file defines, makes it, or does something else.
 *
 *   SLUICE_TEST_FILE           the tested file
 *   SLUICE_TEST_NOTES          where lines are appended: "RANK WHAT NAME"
 *   SLUICE_TEST_KEEPER_ACTION  if set, the calls of keepers are actions, too
 *   SLUICE_TEST_NO_KEEPER      ranks that run with write-behind have none */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* A system call, and the bytes of the file that it is about. */
struct action {
    char const* name;
    long number, a, b, c, d;
    long long offset, bytes;
};

static long act(struct action const* action);

static char const* setting(char const* name) {
    char const* const value = getenv(name);
    return value ? value : "";
}

static char const keeper[] = "keeper";

/* This process's rank as its launcher tells it; empty in all other processes. A keeper, which is no
 * rank and acts when its rank has ended, is a process of `sluice run`. A `sluice recover` that is
 * to be ended has no write-behind, and is told a rank. */
static char const* rank(void) {
    int const kept = *setting("SLUICE_WRITE_BEHIND") && !*setting("SLUICE_TEST_NO_KEEPER");
    if (kept && strcmp(program_invocation_short_name, "sluice") == 0)
        return *setting("SLUICE_TEST_KEEPER_ACTION") ? keeper : "";
    char const* const value = setting("PMI_RANK");
    if (*value) return value;
    char const* const by_mpiexec = setting("OMPI_COMM_WORLD_RANK");
    return *by_mpiexec ? by_mpiexec : setting("PMIX_RANK"); /* srun --mpi=pmix has none else. */
}

static void note(char const* what, char const* name) {
    char line[128];
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

static long perform(struct action const* it) {
    return syscall(it->number, it->a, it->b, it->c, it->d, 0);
}

static long meet(int tested, struct action action) {
    return tested ? act(&action) : perform(&action);
}

static long transfer(char const* name, long number, int fd, struct iovec const* vector, int count,
                     off_t offset) {
    long long bytes = 0;
    for (int i = 0; i < count; ++i) bytes += (long long)vector[i].iov_len;
    return meet(is_tested_descriptor(fd),
                (struct action){name, number, fd, (long)vector, count, offset, offset, bytes});
}

ssize_t pwritev(int fd, struct iovec const* vector, int count, off_t offset) {
    return transfer("write", SYS_pwritev, fd, vector, count, offset);
}

ssize_t pwrite(int fd, void const* data, size_t bytes, off_t offset) {
    struct iovec const vector = {(void*)data, bytes};
    return pwritev(fd, &vector, 1, offset);
}

ssize_t preadv(int fd, struct iovec const* vector, int count, off_t offset) {
    return transfer("read", SYS_preadv, fd, vector, count, offset);
}

ssize_t pread(int fd, void* data, size_t bytes, off_t offset) {
    struct iovec const vector = {data, bytes};
    return preadv(fd, &vector, 1, offset);
}

static int flush(int fd, long number) {
    int const journal = is_journal(fd);
    char const* const name = journal ? "journal" : "flush";
    return (int)meet(journal || is_tested_descriptor(fd), (struct action){name, number, .a = fd});
}

int fsync(int fd) { return flush(fd, SYS_fsync); }
int fdatasync(int fd) { return flush(fd, SYS_fdatasync); }

int ftruncate(int fd, off_t length) {
    return (int)meet(is_tested_descriptor(fd),
                     (struct action){"resize", SYS_ftruncate, fd, length, .bytes = length});
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
    return (int)meet(is_tested_descriptor(fd), (struct action){"allocate", SYS_fallocate, fd, mode,
                                                               offset, length, offset, length});
}

int open(char const* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int const mode = va_arg(rest, int); /* Not used by the system unless it was given. */
    va_end(rest);
    return (int)meet(is_tested_path(path),
                     (struct action){"open", SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0});
}

ssize_t pwritev64(int, struct iovec const*, int, off64_t) __attribute__((alias("pwritev")));
ssize_t pwrite64(int, void const*, size_t, off64_t) __attribute__((alias("pwrite")));
ssize_t preadv64(int, struct iovec const*, int, off64_t) __attribute__((alias("preadv")));
ssize_t pread64(int, void*, size_t, off64_t) __attribute__((alias("pread")));
int ftruncate64(int, off64_t) __attribute__((alias("ftruncate")));
int fallocate64(int, int, off64_t, off64_t) __attribute__((alias("fallocate")));
int open64(char const*, int, ...) __attribute__((alias("open")));
