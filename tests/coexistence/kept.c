/* What `sluice run --behind` promises where it starts a script. `kept HOW PATH PIECES LETTER`:
 *   end, kill   writes pieces of a letter through MPI, and ends well, or by a signal
 *   moved       ends by a signal when the file has another name, and its own leads to a FIFO
 *   stale       the same, where the program has a file of its own in the place of the journal
 *   plain       writes them without MPI, as a script repairs a file
 *   check       waits until all of them are in the file, and tells the letters that are there */
#include "letters.h"
#include "pieces.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWN_BYTES = 8 << 20 };

static char piece[LETTERS_BYTES];

static void move_away(char const* path) {
    char name[4096];
    snprintf(name, sizeof name, "%s2", path);
    require(rename(path, name) == 0 && mkfifo(path, 0600) == 0, "a FIFO in the place of the file");
}

static void write_by_mpi(char const* how, char const* path, int pieces) {
    MPI_Init(NULL, NULL);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File file = open_pieces(MPI_COMM_WORLD, path, MPI_INFO_NULL);
    for (int i = 0; i < pieces; ++i) {
        MPI_Offset const at = (MPI_Offset)(i * ranks + rank) * LETTERS_BYTES;
        int const code =
            MPI_File_write_at_all(file, at, piece, LETTERS_BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        require(code == MPI_SUCCESS, "MPI_File_write_at_all");
    }
    if (strcmp(how, "moved") == 0) move_away(path);
    if (strcmp(how, "end") != 0 && strcmp(how, "stale") != 0) raise(SIGKILL);
    MPI_File_close(&file);
    MPI_Finalize();
}

/* As a program may have it that was started without the descriptors of its parents. */
static int take_place_of_journal(char const* path) {
    char const* const told = getenv("SLUICE_KEEPER");
    char name[4096];
    snprintf(name, sizeof name, "%s.own", path);
    int const own = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    require(told && own >= 0 && ftruncate(own, OWN_BYTES) == 0, "a file of the program's own");
    return dup2(own, atoi(told));
}

static void check_own(int own) {
    char byte = 1;
    for (off_t at = 0; at < OWN_BYTES; at += 512)
        require(pread(own, &byte, 1, at) == 1 && byte == 0, "the program's own file is as it was");
}

static void write_plainly(char const* path, int pieces) {
    int const file = open(path, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < pieces; ++i)
        require(pwrite(file, piece, LETTERS_BYTES, (off_t)i * LETTERS_BYTES) == LETTERS_BYTES,
                "pwrite");
    close(file);
}

int main(int argc, char** argv) {
    require(argc == 5, "four arguments");
    char const *const how = argv[1], *const path = argv[2];
    int const pieces = atoi(argv[3]);
    memset(piece, argv[4][0], sizeof piece);
    if (strcmp(how, "plain") == 0) {
        write_plainly(path, pieces);
    } else if (strcmp(how, "check") == 0) {
        for (int i = 0; i < 100 && count_letters(path, pieces, argv[4][0]) < pieces; ++i)
            usleep(50000);
        usleep(500000); /* A keeper that writes late does it now. */
        printf("%d of %d pieces of %s\n", count_letters(path, pieces, argv[4][0]), pieces, argv[4]);
    } else {
        int const own = strcmp(how, "stale") == 0 ? take_place_of_journal(path) : -1;
        write_by_mpi(how, path, pieces);
        if (own >= 0) check_own(own);
    }
    return 0;
}
