/* A device that takes its time: each write happens 20 ms after the call. For LD_PRELOAD. */
#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MICROSECONDS = 20000 };

#define SLOW(name, parameters, ...)                                                                \
    ssize_t name parameters {                                                                      \
        static ssize_t(*next) parameters;                                                          \
        if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name);                                       \
        usleep(MICROSECONDS);                                                                      \
        return next(__VA_ARGS__);                                                                  \
    }

SLOW(pwrite, (int fd, void const* data, size_t bytes, off_t at), fd, data, bytes, at)
SLOW(pwrite64, (int fd, void const* data, size_t bytes, off_t at), fd, data, bytes, at)
SLOW(pwritev, (int fd, struct iovec const* parts, int count, off_t at), fd, parts, count, at)
SLOW(pwritev64, (int fd, struct iovec const* parts, int count, off_t at), fd, parts, count, at)
