/* Preloaded beside libsluice: messages of libfabric are delayed, split and refused by lot, as a
 * network that is full or slow does it. Sends and receives of libfabric on sockets take or bring a
 * part of their bytes, say EAGAIN, or come late; those of the MPI are left alone.
 *
 *   SLUICE_TEST_DISTURBED  the seed; each process has a lot of its own */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { REFUSED = 8, DELAYED = 32, DELAY_MICROSECONDS = 500, VECTORS = 64 };

static uint64_t draw(void) {
    static atomic_ullong state;
    uint64_t word = atomic_fetch_add(&state, 0x9e3779b97f4a7c15U);
    if (word == 0) {
        char const* const seed = getenv("SLUICE_TEST_DISTURBED");
        word = (uint64_t)getpid() * 1000003U + (uint64_t)(seed ? atoi(seed) : 0);
        atomic_fetch_add(&state, word);
    }
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
}

static int is_of_libfabric(void* caller) {
    Dl_info found;
    return dladdr(caller, &found) && found.dli_fname && strstr(found.dli_fname, "libfabric");
}

/* Whether the call is refused; before that it may be late. */
static int refuses(void) {
    if (draw() % DELAYED == 0) usleep((useconds_t)(draw() % DELAY_MICROSECONDS));
    if (draw() % REFUSED != 0) return 0;
    errno = EAGAIN;
    return 1;
}

static size_t part_of(size_t bytes) {
    return bytes > 1 && draw() % 2 == 0 ? 1 + (size_t)(draw() % bytes) : bytes;
}

/* A part of what the vectors have, in `part`; returns how many vectors that are. */
static size_t cut(struct iovec const* vectors, size_t count, struct iovec* part) {
    size_t all = 0, used = 0;
    for (size_t i = 0; i < count; ++i) all += vectors[i].iov_len;
    size_t left = part_of(all);
    for (; used < count && used < VECTORS && (left > 0 || used == 0); ++used) {
        part[used] = vectors[used];
        if (part[used].iov_len > left) part[used].iov_len = left;
        left -= part[used].iov_len;
    }
    return used;
}

static ssize_t message(long number, int fd, struct msghdr const* given, int flags, void* caller) {
    if (!is_of_libfabric(caller)) return syscall(number, fd, given, flags);
    if (refuses()) return -1;
    struct iovec part[VECTORS];
    struct msghdr its = *given;
    its.msg_iov = part;
    its.msg_iovlen = cut(given->msg_iov, given->msg_iovlen, part);
    return syscall(number, fd, &its, flags);
}

ssize_t sendmsg(int fd, struct msghdr const* given, int flags) {
    return message(SYS_sendmsg, fd, given, flags, __builtin_return_address(0));
}

ssize_t recvmsg(int fd, struct msghdr* given, int flags) {
    if (!is_of_libfabric(__builtin_return_address(0)))
        return syscall(SYS_recvmsg, fd, given, flags);
    return message(SYS_recvmsg, fd, given, flags, __builtin_return_address(0));
}

ssize_t send(int fd, void const* bytes, size_t count, int flags) {
    int const disturbs = is_of_libfabric(__builtin_return_address(0));
    if (disturbs && refuses()) return -1;
    return syscall(SYS_sendto, fd, bytes, disturbs ? part_of(count) : count, flags, NULL, 0);
}

ssize_t recv(int fd, void* bytes, size_t count, int flags) {
    int const disturbs = is_of_libfabric(__builtin_return_address(0));
    if (disturbs && refuses()) return -1;
    return syscall(SYS_recvfrom, fd, bytes, disturbs ? part_of(count) : count, flags, NULL, NULL);
}

static ssize_t vectors(long number, int fd, struct iovec const* all, int count, void* caller) {
    if (!is_of_libfabric(caller)) return syscall(number, fd, all, count);
    if (refuses()) return -1;
    struct iovec part[VECTORS];
    size_t const used = cut(all, (size_t)count, part);
    return syscall(number, fd, part, used);
}

ssize_t writev(int fd, struct iovec const* all, int count) {
    return vectors(SYS_writev, fd, all, count, __builtin_return_address(0));
}

ssize_t readv(int fd, struct iovec const* all, int count) {
    return vectors(SYS_readv, fd, all, count, __builtin_return_address(0));
}
