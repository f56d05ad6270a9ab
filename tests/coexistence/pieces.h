/* A file that all ranks write together, in pieces side by side, and its check. */
#ifndef PIECES_H
#define PIECES_H

#include <dlfcn.h>
#include <mpi.h>
#include <sluice/sluice.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECES = 64, PIECE_BYTES = 1000, HALF = PIECES / 2 * PIECE_BYTES };

static inline void require(int holds, char const* what) {
    if (holds) return;
    fprintf(stderr, "failed: %s\n", what);
    fflush(NULL);
    abort();
}

static inline unsigned char piece_value(int rank, int piece) {
    return (unsigned char)(1 + (rank * 89 + piece * 13) % 250);
}

static inline void fill_pieces(unsigned char* data, int rank) {
    for (int i = 0; i < PIECES * PIECE_BYTES; ++i) data[i] = piece_value(rank, i / PIECE_BYTES);
}

/* Each rank sees its own pieces only. */
static inline void view_pieces(MPI_File file, int rank, int ranks) {
    MPI_Datatype piece, tile;
    MPI_Type_contiguous(PIECE_BYTES, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE_BYTES * ranks, &tile);
    MPI_Type_commit(&tile);
    int const code = MPI_File_set_view(file, (MPI_Offset)PIECE_BYTES * rank, MPI_BYTE, tile,
                                       "native", MPI_INFO_NULL);
    require(code == MPI_SUCCESS, "MPI_File_set_view");
    MPI_Type_free(&tile);
    MPI_Type_free(&piece);
}

static inline MPI_File open_pieces(MPI_Comm communicator, char const* name, MPI_Info hints) {
    MPI_File file;
    int const code =
        MPI_File_open(communicator, name, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file);
    require(code == MPI_SUCCESS, "MPI_File_open");
    return file;
}

/* Whether Sluice is there and serves this file. */
static inline int served(MPI_File file) {
    typedef int Statistics(MPI_File, sluice_statistics*);
    Statistics* const statistics = (Statistics*)dlsym(RTLD_DEFAULT, "sluice_file_statistics");
    sluice_statistics found = {.size = sizeof found};
    return statistics && statistics(file, &found) == MPI_SUCCESS;
}

/* The first half by a blocking call, the second by a nonblocking one. */
static inline MPI_Request start_pieces(MPI_File file, unsigned char* data) {
    MPI_Request request;
    int code = MPI_File_write_all(file, data, HALF, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_write_all");
    code = MPI_File_iwrite_all(file, data + HALF, HALF, MPI_BYTE, &request);
    require(code == MPI_SUCCESS, "MPI_File_iwrite_all");
    return request;
}

/* Reads without MPI, so that no part of what is tested takes part. */
static inline void check_pieces_in(FILE* file, int ranks) {
    require(file != NULL, "the file is there");
    for (int piece = 0; piece < PIECES; ++piece)
        for (int rank = 0; rank < ranks; ++rank)
            for (int i = 0; i < PIECE_BYTES; ++i)
                require(fgetc(file) == piece_value(rank, piece), "all bytes are right");
    require(fgetc(file) == EOF, "nothing behind them");
    fclose(file);
}
static inline void check_pieces(char const* name, int ranks) {
    check_pieces_in(fopen(name, "rb"), ranks);
}

#endif
