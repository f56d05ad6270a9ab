/* What documents promise of a process under Sluice. `promises WHAT PATH`:
 *   signals         calls are right while a timer sends a signal every 200 us
 *   dumps           memory that the ranks share is in no core dump
 *   durable, plain  whether the file is written with O_DSYNC: so between nodes, with a folder
 *   shared          the journals of all ranks, in PATH.journals, have 64 MiB together */
#include "pieces.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { STEPS = 60, BYTES = 200000, INTERVAL = 200 };

static int rank, ranks;
static volatile sig_atomic_t signals;

static void count(int number) { signals += number != 0; }

static void send_signals(int microseconds) {
    struct sigaction on_alarm = {.sa_handler = count}; /* Without SA_RESTART: calls see EINTR. */
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    sigaction(SIGALRM, &on_alarm, NULL);
    require(setitimer(ITIMER_REAL, &timer, NULL) == 0, "setitimer");
}

static void write_and_read(MPI_File file, int step) {
    static unsigned char sent[BYTES], received[BYTES];
    int const other = (rank + 1) % ranks;
    MPI_Offset const row = (MPI_Offset)step * ranks;
    memset(sent, 1 + (step + rank) % 250, BYTES);
    int code =
        MPI_File_write_at_all(file, (row + rank) * BYTES, sent, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_write_at_all");
    MPI_Barrier(MPI_COMM_WORLD);
    code =
        MPI_File_read_at(file, (row + other) * BYTES, received, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_read_at");
    for (int i = 0; i < BYTES; ++i)
        require(received[i] == 1 + (step + other) % 250, "all bytes are right");
}

/* Lines of smaps: a mapping, what is known of it, and last its flags; dd: not in dumps. */
static int count_dumped(int* shared) {
    char line[8192];
    int is_ours = 0, dumped = 0;
    FILE* const maps = fopen("/proc/self/smaps", "r");
    while (fgets(line, sizeof line, maps)) {
        if (strchr(line, '-') && strstr(line, "s 0"))
            is_ours = strstr(line, "sluice") != NULL && strstr(line, "---s") == NULL;
        else if (strchr(line, '-') && strstr(line, "p 0"))
            is_ours = 0;
        if (!is_ours || strncmp(line, "VmFlags:", 8) != 0) continue;
        ++*shared;
        dumped += strstr(line, " dd") == NULL;
        is_ours = 0;
    }
    fclose(maps);
    return dumped;
}

static int writes_durably(char const* path) {
    char name[64], target[PATH_MAX];
    int found = 0;
    DIR* const all = opendir("/proc/self/fd");
    for (struct dirent* one; (one = readdir(all)) != NULL;) {
        snprintf(name, sizeof name, "/proc/self/fd/%.20s", one->d_name);
        ssize_t const length = readlink(name, target, sizeof target - 1);
        if (length < 0 || (target[length] = '\0', strcmp(target, path) != 0)) continue;
        found += (fcntl(atoi(one->d_name), F_GETFL) & O_DSYNC) != 0;
    }
    closedir(all);
    return found > 0;
}

/* Of as many journals as there are ranks; each has a head of its own. */
static int share_the_memory(char const* path) {
    char name[PATH_MAX + 256];
    struct stat about;
    long long bytes = 0;
    int journals = 0;
    snprintf(name, sizeof name, "%s.journals", path);
    DIR* const all = opendir(name);
    for (struct dirent* one; (one = readdir(all)) != NULL;) {
        if (one->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s.journals/%s", path, one->d_name);
        if (stat(name, &about) == 0) bytes += about.st_size;
        ++journals;
    }
    closedir(all);
    return journals == ranks && bytes > 64 << 20 && bytes < 65 << 20;
}

int main(int argc, char** argv) {
    require(argc == 3, "two arguments");
    char const *const what = argv[1], *const path = argv[2];
    int provided, shared = 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File const file = open_pieces(MPI_COMM_WORLD, path, MPI_INFO_NULL);
    if (strcmp(what, "signals") == 0) send_signals(INTERVAL);
    for (int step = 0; step < STEPS; ++step) write_and_read(file, step);
    send_signals(0);
    require(strcmp(what, "signals") != 0 || signals > 10, "signals came");
    if (strcmp(what, "dumps") == 0)
        require(count_dumped(&shared) == 0 && shared > 0, "shared memory, none of it dumped");
    if (strcmp(what, "durable") == 0) require(writes_durably(path), "a descriptor with O_DSYNC");
    if (strcmp(what, "plain") == 0) require(!writes_durably(path), "none with O_DSYNC");
    if (strcmp(what, "shared") == 0) require(share_the_memory(path), "64 MiB of journals");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File mine = file;
    require(MPI_File_close(&mine) == MPI_SUCCESS, "MPI_File_close");
    MPI_Finalize();
    if (rank == 0) printf("%s: as promised\n", what);
    return 0;
}
