/* What a program may do with the MPI alone and must be able to do under Sluice. `limits WHAT PATH`:
 *   descriptors     900 files open at once, of 1,024 descriptors
 *   communicators   900 files open at once, each of a communicator of its own
 *   sync            one rank alone calls MPI_File_sync, which ROMIO takes
 *   unreadable      writes memory that cannot be read: an error, and no signal
 *   nothing         writes no bytes, and closes the file at once
 *   locks           has locks of the whole file, as anybody may who may read it */
#include "pieces.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILES = 900, LIMIT = 1024 };

static int rank, ranks;

static void set_limit(void) {
    struct rlimit limit;
    require(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = LIMIT;
    require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

static void open_many(char const* path, int communicators) {
    static MPI_File files[FILES];
    static MPI_Comm owners[FILES];
    char name[4096];
    for (int i = 0; i < FILES; ++i) {
        if (i < communicators) MPI_Comm_dup(MPI_COMM_WORLD, &owners[i]);
        snprintf(name, sizeof name, "%s.%d", path, i);
        files[i] = open_pieces(owners[i % communicators], name, MPI_INFO_NULL);
    }
    FILE* const own = fopen(path, "w");
    require(own != NULL && (communicators == FILES || fileno(own) < LIMIT), "a file of its own");
    fclose(own);
    for (int i = 0; i < FILES; ++i) {
        char const byte = (char)i;
        int code = MPI_File_write_at_all(files[i], rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
        require(code == MPI_SUCCESS && MPI_File_close(&files[i]) == MPI_SUCCESS, "a write");
    }
    for (int i = 0; i < communicators; ++i) MPI_Comm_free(&owners[i]);
    for (int i = rank; i < FILES; i += ranks) {
        snprintf(name, sizeof name, "%s.%d", path, i);
        FILE* const file = fopen(name, "rb");
        for (int r = 0; r < ranks; ++r) require(fgetc(file) == (i & 255), "all bytes are right");
        fclose(file);
    }
}

static void sync_alone(MPI_File file) {
    char const byte = 'x';
    for (int i = 0; i < 4; ++i) {
        if (rank == i % ranks) {
            int const code = MPI_File_write_at(file, i, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
            require(code == MPI_SUCCESS && MPI_File_sync(file) == MPI_SUCCESS, "write and sync");
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void write_unreadable(MPI_File file) {
    int const bytes = 1 << 20;
    char* const data = mmap(NULL, (size_t)bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Offset const at = (MPI_Offset)rank * bytes;
    int code = MPI_File_write_at(file, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code != MPI_SUCCESS, "an error of the independent write");
    code = MPI_File_write_at_all(file, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code != MPI_SUCCESS, "an error of the collective write");
}

static void write_locked(MPI_File file, char const* path) {
    int const fd = open(path, O_RDWR);
    struct flock own = {.l_type = F_RDLCK, .l_whence = SEEK_SET}, any = own;
    any.l_len = 4096;
    require(fcntl(fd, F_SETLK, &own) == 0 && fcntl(fd, F_OFD_SETLK, &any) == 0, "two locks");
    for (int step = 0; step < 4; ++step) {
        char sent = (char)(rank + step), received = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        int code = MPI_File_write_at(file, rank, &sent, 1, MPI_BYTE, MPI_STATUS_IGNORE);
        require(code == MPI_SUCCESS, "a write");
        MPI_Barrier(MPI_COMM_WORLD);
        int const other = (rank + 1) % ranks;
        code = MPI_File_read_at(file, other, &received, 1, MPI_BYTE, MPI_STATUS_IGNORE);
        require(code == MPI_SUCCESS && received == (char)(other + step), "the other rank's byte");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
}

int main(int argc, char** argv) {
    require(argc == 3, "two arguments");
    char const* const what = argv[1];
    if (strcmp(what, "descriptors") == 0) set_limit();
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(what, "descriptors") == 0) open_many(argv[2], 4);
    if (strcmp(what, "communicators") == 0) open_many(argv[2], FILES);
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[2], MPI_INFO_NULL);
    if (strcmp(what, "sync") == 0) sync_alone(file);
    if (strcmp(what, "unreadable") == 0) write_unreadable(file);
    if (strcmp(what, "locks") == 0) write_locked(file, argv[2]);
    if (strcmp(what, "nothing") == 0) {
        int const code = MPI_File_write_at(file, 0, NULL, 0, MPI_BYTE, MPI_STATUS_IGNORE);
        require(code == MPI_SUCCESS, "a write of nothing");
    }
    require(MPI_File_close(&file) == MPI_SUCCESS, "MPI_File_close");
    MPI_Finalize();
    if (rank == 0) printf("%s: as with the MPI alone\n", what);
    return 0;
}
