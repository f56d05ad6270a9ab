/* The first ports of FI_TCP_PORT_LOW_RANGE and up that a process is bound to are taken when it
 * wants to listen there, as where another process was bound to the same port and listened first.
 * For LD_PRELOAD. */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { TAKEN = 3, PORTS = 100 };

int listen(int fd, int backlog) {
    static int taken;
    int (*next)(int, int);
    *(void**)&next = dlsym(RTLD_NEXT, "listen");
    char const* const lowest = getenv("FI_TCP_PORT_LOW_RANGE");
    struct sockaddr_in own = {0};
    socklen_t length = sizeof own;
    getsockname(fd, (struct sockaddr*)&own, &length);
    int const port = own.sin_family == AF_INET && lowest ? ntohs(own.sin_port) - atoi(lowest) : -1;
    if (port < 0 || port >= PORTS || taken == TAKEN) return next(fd, backlog);
    ++taken;
    errno = EADDRINUSE;
    return -1;
}
