/* Lets files called "file" be on another file system. FILE_SYSTEM: its type as statfs tells it.
 * CLOSE_FAILS: in this rank of the world a close of one that holds bytes has ENOSPC to tell, as
 * where a server refuses what a node has kept of writes: the first, or that of CLOSE_NUMBER. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static int is_file(int fd) {
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t const length = readlink(link, name, sizeof name - 1);
    if (length < 0) return 0;
    name[length] = '\0';
    char const* const last = strrchr(name, '/');
    return last && strcmp(last, "/file") == 0;
}

int fstatfs(int fd, struct statfs* found) {
    int (*const next)(int, struct statfs*) =
        (int (*)(int, struct statfs*))dlsym(RTLD_NEXT, "fstatfs");
    int const code = next(fd, found);
    char const* const type = getenv("FILE_SYSTEM");
    if (code == 0 && type && is_file(fd))
        found->f_type = (__typeof__(found->f_type))strtoul(type, NULL, 0);
    return code;
}

static int is_chosen_rank(void) {
    char const* const chosen = getenv("CLOSE_FAILS");
    char const* rank = getenv("PMI_RANK");
    if (!rank) rank = getenv("OMPI_COMM_WORLD_RANK");
    return chosen && rank && strcmp(chosen, rank) == 0;
}

static int holds_bytes(int fd) {
    struct stat about;
    return is_file(fd) && fstat(fd, &about) == 0 && about.st_size > 0;
}

int close(int fd) {
    static int number = 0;
    char const* const wanted = getenv("CLOSE_NUMBER");
    int (*const next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
    int const counts = is_chosen_rank() && holds_bytes(fd);
    int const code = next(fd);
    if (!counts || ++number != (wanted ? atoi(wanted) : 1)) return code;
    errno = ENOSPC;
    return -1;
}
