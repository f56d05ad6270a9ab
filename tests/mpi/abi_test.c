/* Sluice's own functions as a C program sees them: version, statistics, plans, and what they
 * refuse. Linked to the library instead of preloading it. */
#include "sluice/sluice.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int faults = 0;
static int rank = 0, ranks = 1;

static void check(int right, char const* what) {
    if (right) return;
    ++faults;
    fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
}

enum { piece = 1000, pieces = 50, writes = 3 };

/* Ranks' pieces alternate in the file: such data is exchanged. */
static void set_interleaved_view(MPI_File file) {
    MPI_Datatype block, view;
    MPI_Type_contiguous(piece, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)piece * ranks, &view);
    MPI_Type_commit(&view);
    check(MPI_File_set_view(file, (MPI_Offset)piece * rank, MPI_BYTE, view, "native",
                            MPI_INFO_NULL) == MPI_SUCCESS,
          "the view is set");
    MPI_Type_free(&view);
    MPI_Type_free(&block);
}

static void check_empty(MPI_File file) {
    sluice_statistics s;
    char text[100] = "?";
    memset(&s, 0xee, sizeof s);
    s.size = sizeof s;
    check(sluice_file_statistics(file, &s) == MPI_SUCCESS, "statistics of a new file");
    check(s.operations == 0 && s.writes == 0 && s.reads == 0 && s.bytes == 0, "all counts are 0");
    check(s.blocked_seconds == 0 && s.busy_seconds == 0, "no time was spent");
    check(sluice_file_plan(file, text, sizeof text) == MPI_SUCCESS, "plan of a new file");
    check(text[0] == 0, "there is no plan yet");
}

static void check_counts(MPI_File file) {
    long long const bytes = (long long)piece * pieces;
    sluice_statistics s;
    s.size = sizeof s;
    check(sluice_file_statistics(file, &s) == MPI_SUCCESS, "statistics");
    check(s.operations == writes + 1, "operations");
    check(s.writes == writes, "writes");
    check(s.reads == 1, "reads");
    check(s.bytes == bytes * (writes + 1), "bytes of this rank");
    check(s.blocked_seconds > 0, "some time was spent in the calls");
    check(s.busy_seconds > 0, "some time was spent on operations");
    check(s.helper_seconds >= 0 && s.helper_seconds < 1000, "the helper's time makes sense");
    check(s.storage_seconds >= 0 && s.storage_seconds < 1000, "the storage threads' as well");
    s.size = offsetof(sluice_statistics, storage_seconds);
    s.storage_seconds = -1;
    check(sluice_file_statistics(file, &s) == MPI_SUCCESS, "statistics of a program of before");
    check(s.operations == writes + 1 && s.storage_seconds == -1, "and nothing behind its end");
}

static void check_plan(MPI_File file) {
    char text[1000], small[8];
    check(sluice_file_plan(file, text, sizeof text) == MPI_SUCCESS, "plan");
    check(strncmp(text, "read ", 5) == 0, "the plan is that of the last operation, a read");
    check(ranks == 1 || strstr(text, "aggregator") != NULL, "interleaved data has aggregators");
    memset(small, 'x', sizeof small);
    check(sluice_file_plan(file, small, sizeof small) == MPI_SUCCESS, "plan in little space");
    check(memchr(small, 0, sizeof small) != NULL, "a text that was cut ends in a zero");
    check(strncmp(small, text, strlen(small)) == 0, "a text that was cut is its beginning");
}

static void check_refusals(MPI_File file) {
    char text[10];
    sluice_statistics s;
    s.size = sizeof s;
    check(sluice_file_statistics(file, NULL) == MPI_ERR_ARG, "statistics: null");
    check(sluice_file_statistics(MPI_FILE_NULL, &s) == MPI_ERR_FILE, "statistics: no file");
    s.size = sizeof s - 1;
    check(sluice_file_statistics(file, &s) == MPI_ERR_ARG, "statistics: too small");
    s.size = 0;
    check(sluice_file_statistics(file, &s) == MPI_ERR_ARG, "statistics: size 0");
    check(sluice_file_plan(file, NULL, 10) == MPI_ERR_ARG, "plan: null");
    check(sluice_file_plan(file, text, 0) == MPI_ERR_ARG, "plan: no space");
    check(sluice_file_plan(MPI_FILE_NULL, text, sizeof text) == MPI_ERR_FILE, "plan: no file");
}

/* A file that a hint leaves to the MPI is unknown to Sluice. */
static void check_disabled(char const* name) {
    MPI_Info info;
    MPI_File file;
    sluice_statistics s;
    char text[10];
    s.size = sizeof s;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sluice", "disable");
    check(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, info, &file) == MPI_SUCCESS,
          "open with sluice=disable");
    check(sluice_file_statistics(file, &s) == MPI_ERR_FILE, "statistics: the MPI's file");
    check(sluice_file_plan(file, text, sizeof text) == MPI_ERR_FILE, "plan: the MPI's file");
    MPI_File_close(&file);
    MPI_Info_free(&info);
}

/* Such a call returns when the bytes of its own rank are in the file, before late ranks come to it.
 * It counts all the same. */
static void check_early_return(char const* name) {
    enum { bytes = 1 << 20 };
    char* const memory = calloc(1, bytes);
    char text[1000] = "";
    MPI_File file;
    sluice_statistics s;
    s.size = sizeof s;
    check(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS,
          "open again");
    if (rank != 0) usleep(200000);
    check(MPI_File_write_at_all(file, (MPI_Offset)bytes * rank, memory, bytes, MPI_BYTE,
                                MPI_STATUS_IGNORE) == MPI_SUCCESS,
          "contiguous write");
    check(sluice_file_statistics(file, &s) == MPI_SUCCESS, "statistics behind one call");
    check(s.operations == 1 && s.writes == 1 && s.bytes == bytes, "that call is counted");
    check(sluice_file_plan(file, text, sizeof text) == MPI_SUCCESS, "plan behind one call");
    check(strncmp(text, "write ", 6) == 0, "the plan is that call's");
    check(MPI_File_close(&file) == MPI_SUCCESS, "close again");
    free(memory);
}

static void write_and_read(MPI_File file) {
    int const bytes = piece * pieces;
    char* const memory = malloc((size_t)bytes);
    int i;
    memset(memory, 'a' + rank, (size_t)bytes);
    for (i = 0; i < writes; ++i) {
        check(MPI_File_write_all(file, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
              "write");
    }
    memset(memory, 0, (size_t)bytes);
    check(MPI_File_read_at_all(file, (MPI_Offset)bytes, memory, bytes, MPI_BYTE,
                               MPI_STATUS_IGNORE) == MPI_SUCCESS,
          "read");
    for (i = 0; i < bytes && memory[i] == 'a' + rank; ++i) {
    }
    check(i == bytes, "what is read was written");
    free(memory);
}

static void name_of_file(int argc, char** argv, char* name, size_t space) {
    char const* folder = ".";
    int i;
    for (i = 1; i + 1 < argc; ++i) {
        if (strcmp(argv[i], "--dir") == 0) folder = argv[i + 1];
    }
    snprintf(name, space, "%s/abi.bin", folder);
}

int main(int argc, char** argv) {
    char name[4096];
    MPI_File file;
    int all = 0;
    check(sluice_version()[0] >= '0' && sluice_version()[0] <= '9', "a version before MPI_Init");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    name_of_file(argc, argv, name, sizeof name);

    check(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS,
          "open");
    set_interleaved_view(file);
    check_empty(file);
    write_and_read(file);
    check_counts(file);
    check_plan(file);
    check_refusals(file);
    check(MPI_File_close(&file) == MPI_SUCCESS, "close");
    check_early_return(name);
    check_disabled(name);
    if (rank == 0) MPI_File_delete(name, MPI_INFO_NULL);

    MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("abi_test: %d ranks, %d faults\n", ranks, all);
    MPI_Finalize();
    return all == 0 ? 0 : 1;
}
