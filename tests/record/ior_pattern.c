// The accesses of IOR with its MPIIO interface, under IOR's names of options. It is not IOR, which
// is in no package here: it makes the same calls at the same offsets, and leaves out what IOR does
// and prints besides.
//
//   ior_pattern -a MPIIO -b 4m -t 1m -s 2 -o FILE [-c] [-F] [-C] [-e] [-w] [-r] [-d SECONDS]
//
// A file has -s segments, each with a block of -b bytes of every rank, which goes through its block
// by -t bytes a call. -c: collective calls. -F: a file for each rank. -C: reads what its neighbour
// wrote. -e: MPI_File_sync after writing. -w, -r: only that, else both. -d: computation before each
// phase, in seconds.
#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    long long block, transfer, segments;
    int collective, file_each, reorder, sync, writes, reads;
    double delay;
    char file[4096];
} Options;

static int rank, ranks;

static void fail(char const* why) {
    fprintf(stderr, "ior_pattern: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void require(int code, char const* what) {
    if (code != MPI_SUCCESS) fail(what);
}

/// As IOR has it: 4k, 1m, 2g.
static long long size_of(char const* text) {
    char* end = NULL;
    long long const number = strtoll(text, &end, 10);
    char const* const units = "kmg";
    char const* const unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    if (number < 1 || (*end && !unit)) fail("a size is a number with k, m or g");
    return number << (unit ? 10 * (int)(unit - units + 1) : 0);
}

static Options options_of(int argc, char** argv) {
    Options found = {.block = 1 << 20, .transfer = 256 << 10, .segments = 1};
    for (int option; (option = getopt(argc, argv, "a:b:t:s:o:d:cFCewr")) != -1;) switch (option) {
        case 'a':
            if (strcmp(optarg, "MPIIO") != 0) fail("-a is MPIIO");
            break;
        case 'b':
            found.block = size_of(optarg);
            break;
        case 't':
            found.transfer = size_of(optarg);
            break;
        case 's':
            found.segments = atoll(optarg);
            break;
        case 'o':
            snprintf(found.file, sizeof found.file, "%s", optarg);
            break;
        case 'd':
            found.delay = atof(optarg);
            break;
        case 'c':
            found.collective = 1;
            break;
        case 'F':
            found.file_each = 1;
            break;
        case 'C':
            found.reorder = 1;
            break;
        case 'e':
            found.sync = 1;
            break;
        case 'w':
            found.writes = 1;
            break;
        case 'r':
            found.reads = 1;
            break;
        default:
            fail("an option is not known");
        }
    if (!found.file[0]) fail("-o FILE is missing");
    if (found.block % found.transfer != 0) fail("-b is a multiple of -t");
    if (!found.writes && !found.reads) found.writes = found.reads = 1;
    return found;
}

static MPI_File opened(Options const* options, int owner, int mode) {
    char name[sizeof options->file + 16];
    MPI_File file;
    MPI_Comm const ranks_of_file = options->file_each ? MPI_COMM_SELF : MPI_COMM_WORLD;
    if (options->file_each)
        snprintf(name, sizeof name, "%s.%08d", options->file, owner);
    else
        snprintf(name, sizeof name, "%s", options->file);
    require(MPI_File_open(ranks_of_file, name, mode, MPI_INFO_NULL, &file), name);
    return file;
}

/// Where a block of a rank begins.
static long long place_of(Options const* options, long long segment, int owner) {
    long long const block = options->file_each ? segment : segment * ranks + owner;
    return block * options->block;
}

/// Every byte follows from its place in the rank's data, and none is zero.
static void fill(char* bytes, long long count, long long place, int owner) {
    for (long long i = 0; i < count; ++i)
        bytes[i] = (char)(1 + (place + i + 31 * (long long)owner) % 251);
}

static void compute(double seconds) {
    for (double const end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    }
}

static void transfer(Options const* options, MPI_File file, long long at, char* bytes, int writes) {
    int const count = (int)options->transfer;
    MPI_Status* const status = MPI_STATUS_IGNORE;
    if (writes && options->collective)
        require(MPI_File_write_at_all(file, at, bytes, count, MPI_BYTE, status), "a write");
    else if (writes)
        require(MPI_File_write_at(file, at, bytes, count, MPI_BYTE, status), "a write");
    else if (options->collective)
        require(MPI_File_read_at_all(file, at, bytes, count, MPI_BYTE, status), "a read");
    else
        require(MPI_File_read_at(file, at, bytes, count, MPI_BYTE, status), "a read");
}

/// Goes through all blocks of a rank; returns how many transfers were read wrong.
static int go_through(Options const* options, int writes, int owner) {
    int const mode = writes ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
    char* const bytes = malloc((size_t)options->transfer);
    char* const expected = malloc((size_t)options->transfer);
    int wrong = 0;
    if (!bytes || !expected) fail("there is no memory");
    MPI_File file = opened(options, owner, mode);
    for (long long segment = 0; segment < options->segments; ++segment)
        for (long long done = 0; done < options->block; done += options->transfer) {
            fill(expected, options->transfer, segment * options->block + done, owner);
            if (writes) memcpy(bytes, expected, (size_t)options->transfer);
            transfer(options, file, place_of(options, segment, owner) + done, bytes, writes);
            wrong += memcmp(bytes, expected, (size_t)options->transfer) != 0;
        }
    if (writes && options->sync) require(MPI_File_sync(file), "a sync");
    require(MPI_File_close(&file), "a close");
    free(bytes);
    free(expected);
    return wrong;
}

static int phase(Options const* options, int writes) {
    int const owner = !writes && options->reorder ? (rank + 1) % ranks : rank;
    compute(options->delay);
    MPI_Barrier(MPI_COMM_WORLD);
    double const began = MPI_Wtime();
    int wrong = go_through(options, writes, owner);
    MPI_Barrier(MPI_COMM_WORLD);
    double const mebibytes = (double)(options->segments * options->block * ranks) / (1 << 20);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%-5s %.2f MiB/s, %d transfers wrong\n", writes ? "write" : "read",
               mebibytes / (MPI_Wtime() - began), wrong);
    return wrong;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Options const options = options_of(argc, argv);
    int wrong = 0;
    if (options.writes) wrong += phase(&options, 1);
    if (options.reads) wrong += phase(&options, 0);
    MPI_Finalize();
    return wrong != 0;
}
