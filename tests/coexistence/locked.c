/* A program that locks its memory, or has little of it. `locked PATH HOW`
 *
 *   all       mlockall(MCL_FUTURE) before MPI begins: address space that is reserved must not
 *             become memory, and none of it belongs into a core dump
 *   later     mlockall(MCL_CURRENT) while a file is open
 *   lock N    mlockall(MCL_FUTURE) once MPI has begun, and at most N MiB may be locked
 *   space N   the process gets at most N MiB of address space more
 *
 * The file is right in any case; who served it is said. */
#include "pieces.h"
#include <limits.h>
#include <linux/capability.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static long status_kib(char const* name) {
    char line[256];
    long kib = -1;
    FILE* const in = fopen("/proc/self/status", "r");
    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, name, strlen(name)) == 0) kib = atol(line + strlen(name) + 1);
    if (in) fclose(in);
    return kib;
}

/* Memory of the files in memory that Sluice maps; all of it is left out of core dumps. */
static long shared_kib(void) {
    char line[4096];
    long kib = 0;
    int ours = 0;
    FILE* const in = fopen("/proc/self/smaps", "r");
    require(in != NULL, "/proc/self/smaps can be read");
    while (fgets(line, sizeof line, in)) {
        if (line[0] >= '0' && line[0] <= '9') ours = strstr(line, "memfd:sluice") != NULL;
        if (line[0] >= 'a' && line[0] <= 'f') ours = strstr(line, "memfd:sluice") != NULL;
        if (ours && strncmp(line, "Rss:", 4) == 0) kib += atol(line + 4);
        if (ours && strncmp(line, "VmFlags:", 8) == 0)
            require(strstr(line, " dd") != NULL, "shared memory is not dumped");
    }
    fclose(in);
    return kib;
}

/* The super-user may lock any amount. */
static void forgo_locking_rights(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    require(syscall(SYS_capget, &header, data) == 0, "capget");
    data[0].effective &= ~(1U << CAP_IPC_LOCK);
    require(syscall(SYS_capset, &header, data) == 0, "capset");
}

static void not_tried(char const* why) {
    printf("locked: not tried, %s\n", why);
    fflush(NULL);
    _exit(0);
}

/* The stack of a thread is memory until the thread runs for the first time and gives it back. */
static long grown_kib(long before, long most) {
    long grown = 0;
    for (int tries = 0; tries < 500; ++tries) {
        grown = status_kib("VmRSS") - before;
        if (grown <= most) break;
        usleep(10000);
    }
    return grown;
}

static void limit_to(int resource, rlim_t bytes) {
    struct rlimit limit;
    getrlimit(resource, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    require(setrlimit(resource, &limit) == 0, "setrlimit");
}

static void lock_all(int what) {
    if (mlockall(what) != 0) not_tried("the system refuses mlockall");
}

/* What the MPI allocates for itself is not to fail: it has locked memory at hand. */
static void fill_heap(void) {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    void* volatile room = malloc((size_t)64 << 20);
    free(room);
}

int main(int argc, char** argv) {
    require(argc > 2, "usage: locked PATH HOW [MEBIBYTES]");
    char const* const how = argv[2];
    rlim_t const bytes = argc > 3 ? (rlim_t)atol(argv[3]) << 20 : 0;
    int const all = !strcmp(how, "all");
    if (all) lock_all(MCL_CURRENT | MCL_FUTURE);
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    unsigned char data[PIECES * PIECE_BYTES];
    fill_pieces(data, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "lock")) {
        fill_heap();
        forgo_locking_rights();
        limit_to(RLIMIT_MEMLOCK, bytes);
        lock_all(MCL_FUTURE);
    }
    if (!strcmp(how, "space")) limit_to(RLIMIT_AS, bytes + ((rlim_t)status_kib("VmSize") << 10));

    long const before = status_kib("VmRSS");
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[1], MPI_INFO_NULL);
    long const opened = shared_kib();
    int const by_sluice = served(file);
    view_pieces(file, rank, ranks);
    MPI_Request request = start_pieces(file, data);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!strcmp(how, "later")) lock_all(MCL_CURRENT);
    long const most = 24 * 1024;
    long const written = shared_kib(), grown = grown_kib(before, all ? most : LONG_MAX);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        check_pieces(argv[1], ranks);
        printf("locked: %ld KiB shared after the open, %ld after writing; %ld more resident\n",
               opened, written, grown);
        printf("locked: served by %s\n", by_sluice ? "sluice" : "the MPI");
    }
    if (all || !strcmp(how, "later")) {
        require(opened <= 1024, "an open takes little memory");
        require(written <= 16 * 1024, "writing takes what it needs");
    }
    if (all) require(grown <= most, "no address space becomes memory");
    MPI_Finalize();
    return 0;
}
