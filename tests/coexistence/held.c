/* What happens to a file's name, and to the process, between MPI_File_open and the first transfer
 * must not matter: the bytes go to the file that was opened. `held WHAT PATH`. */
#include "pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NOBODY = 65534 };

static int rank, ranks;
static char const* path;
static char others[PATH_BYTES]; /* A second file, which nobody writes. */
static char const others_text[] = "another file, in which nothing may change\n";

static void make_others(char const* name) {
    FILE* const file = fopen(name, "w");
    require(file && fputs(others_text, file) >= 0 && fclose(file) == 0, "the other file is made");
}

static void check_others(char const* name) {
    char text[2 * sizeof others_text] = "";
    FILE* const file = fopen(name, "r");
    require(file != NULL, "the other file is there");
    size_t const found = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    require(found == strlen(others_text) && strcmp(text, others_text) == 0,
            "the other file is as it was");
}

static void limit_descriptors(void) {
    int const next = dup(0);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)next;
    close(next);
    require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

static void unlimit_descriptors(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

static int is(char const* what, char const* name) { return strcmp(what, name) == 0; }

static void disturb(char const* what) {
    if (is(what, "limit")) limit_descriptors();
    /* The group is kept, so that temporary folders of root can be searched. */
    if (is(what, "privileges")) require(setresuid(NOBODY, NOBODY, NOBODY) == 0, "setresuid");
    if (rank == 0 && is(what, "rename")) {
        require(rename(path, others) == 0, "rename");
        make_others(path);
    }
    if (rank == 0 && is(what, "unlink")) require(unlink(path) == 0, "unlink");
    if (rank == 0 && is(what, "delete"))
        require(MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS, "MPI_File_delete");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks with another folder see another file under the same name. */
static char const* name_in_own_folder(void) {
    static char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "%s.%d", path, rank);
    require(mkdir(folder, 0700) == 0 && chdir(folder) == 0, "a folder of the rank's own");
    FILE* const file = fopen("file", "w");
    require(file && fclose(file) == 0, "the file is made");
    return "file";
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    require(argc == 3, "two arguments");
    char const* const what = argv[1];
    path = argv[2];
    snprintf(others, sizeof others, "%s.other", path);
    if (is(what, "privileges") && geteuid() != 0) {
        if (rank == 0) printf("skipped: privileges can be dropped by root only\n");
        return MPI_Finalize();
    }
    int const own_folders = is(what, "folders"), replaced = is(what, "replaced");
    if (is(what, "few")) { /* The ranks' memory is set up while there are descriptors. */
        MPI_File first = open_pieces(MPI_COMM_WORLD, others, MPI_INFO_NULL);
        MPI_File_close(&first);
    }
    if (replaced && rank == 0) make_others(others);
    char const* const name = own_folders ? name_in_own_folder() : path;
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_File file = open_pieces(MPI_COMM_WORLD, name, MPI_INFO_NULL);
    int const by_sluice = served(file);
    char moved[PATH_BYTES + 8];
    snprintf(moved, sizeof moved, "%s.moved", path);
    if (is(what, "few")) unlimit_descriptors();
    int const kept = open(own_folders ? name : replaced ? moved : path, O_RDONLY);
    MPI_Barrier(MPI_COMM_WORLD);
    disturb(what);

    unsigned char data[PIECES * PIECE_BYTES];
    fill_pieces(data, rank);
    view_pieces(file, rank, ranks);
    MPI_Request request = start_pieces(file, data);
    require(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "MPI_Wait");
    require(MPI_File_close(&file) == MPI_SUCCESS, "MPI_File_close");
    MPI_Barrier(MPI_COMM_WORLD);
    if (is(what, "limit")) unlimit_descriptors();

    if (rank == 0 && !own_folders) check_pieces_in(fdopen(kept, "rb"), ranks);
    if (rank == 0 && (replaced || is(what, "rename"))) check_others(path);
    if (rank == 0) printf("served by %s\n", by_sluice ? "sluice" : "the MPI");
    MPI_Finalize();
    return 0;
}
