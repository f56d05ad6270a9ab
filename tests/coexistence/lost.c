/* Writes together without end, amid which the last rank is lost: it loses all of its connections,
 * or is killed. The launcher, which would end the others, does not notice: what it started is a
 * process that only waits for the rank. Each of the others gets an error in time.
 * `lost connections|killed PATH` */
#include "pieces.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 2000 * PIECE_BYTES, LOST_IN = 4, SECONDS = 20, DESCRIPTORS = 1024 };

static int is_on_internet(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr*)&address, &length) != 0) return 0;
    return address.ss_family == AF_INET || address.ss_family == AF_INET6;
}

/* But those that it inherited: they are the launcher's. */
static void lose_connections(char const* inherited) {
    int const nothing = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < DESCRIPTORS; ++fd) {
        if (inherited[fd] || !is_on_internet(fd)) continue;
        shutdown(fd, SHUT_RDWR);
        dup2(nothing, fd);
    }
}

/* The launcher's child outlives the rank, which is its child, by as long as the others need. */
static void become_child(void) {
    pid_t const child = fork();
    if (child == 0) return;
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) sleep(SECONDS);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

static void be_lost(char const* how, char const* inherited) {
    if (strcmp(how, "killed") == 0) raise(SIGKILL);
    lose_connections(inherited);
    sleep(2 * SECONDS);
    abort();
}

/* The first rank that ends is the end of all. Each leaves a mark beside the file. */
static void wait_for_others(char const* path, int rank, int ranks) {
    char mark[4096];
    snprintf(mark, sizeof mark, "%s.%d", path, rank);
    close(open(mark, O_CREAT | O_WRONLY, 0600));
    for (int other = 0, tries = 0; other < ranks - 1 && tries < 100 * SECONDS; ++tries) {
        snprintf(mark, sizeof mark, "%s.%d", path, other);
        if (access(mark, F_OK) == 0)
            ++other;
        else
            usleep(10000);
    }
    sleep(1); /* The launchers pass on what was printed. */
}

int main(int argc, char** argv) {
    if (strcmp(argv[1], "killed") == 0) become_child();
    static char inherited[DESCRIPTORS];
    for (int fd = 0; fd < DESCRIPTORS; ++fd) inherited[fd] = is_on_internet(fd) != 0;
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[2], MPI_INFO_NULL);
    view_pieces(file, rank, ranks);
    char const* const by = served(file) ? "sluice" : "the MPI";
    static char data[BYTES];
    for (int round = 0;; ++round) {
        if (round == LOST_IN && rank == ranks - 1) be_lost(argv[1], inherited);
        double const begin = MPI_Wtime();
        int const code = MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS) continue;
        printf("lost: rank %d by %s, an error in round %d %s\n", rank, by, round,
               MPI_Wtime() - begin < SECONDS ? "in time" : "late");
        fflush(stdout);
        wait_for_others(argv[2], rank, ranks);
        _exit(0); /* MPI_Finalize would wait for the rank that is lost. */
    }
}
