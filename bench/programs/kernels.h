// How the kernels of kernels.c move their arrays, by PnetCDF or by MPI-IO; the check of all bytes.
//
// A step has some arrays of a file. A rank has blocks of each; its memory holds them one after the
// other. An element's value follows from the step, the array and the element's place in it.
#pragma once
#include "pnetcdf_errors.h"

#include <fcntl.h>
#include <unistd.h>

enum { most_dims = 5, most_arrays = 160, name_length = 16 };

typedef MPI_Offset Place[most_dims];

typedef struct {
    char name[name_length];
    nc_type type;
    int dims;
    Place shape;
    int blocks;              // of this rank
    Place *start, *count;    // of each
    size_t elements, bytes;  // of this rank
    char* values;
    MPI_Offset at, stride;  // in the file: of the first step, from step to step
} Array;

/// A file of the steps, or of one step.
typedef struct {
    char const* path;
    int steps, rank, ranks;
    int arrays;
    Array array[most_arrays];
} Output;

typedef struct {
    char const* name;
    void (*plan)(Output*, size_t bytes);  // Makes the arrays; `bytes`: of a rank in a step.
    void (*create)(Output*, char const* path);
    void (*put)(Output*, int step);  // Blocking.
    void (*close)(Output*);
    int big_endian;
    int file_for_each_step;
} Kernel;

static int file;           // of PnetCDF
static MPI_File mpi_file;  // of MPI-IO
static int variable[most_arrays];

// ---- Arrays -------------------------------------------------------------------------------------

static size_t size_of(nc_type type) {
    return type == NC_SHORT ? 2 : type == NC_INT || type == NC_FLOAT ? 4 : 8;
}

static MPI_Datatype type_of(nc_type type) {
    return type == NC_SHORT   ? MPI_SHORT
           : type == NC_INT   ? MPI_INT
           : type == NC_FLOAT ? MPI_FLOAT
           : type == NC_INT64 ? MPI_INT64_T
                              : MPI_DOUBLE;
}

static size_t product(MPI_Offset const* of, int dims) {
    size_t all = 1;
    for (int d = 0; d < dims; ++d) all *= (size_t)of[d];
    return all;
}

/// Room for this rank's blocks, which the caller fills.
static Array* new_array(Output* out, char const* name, nc_type type, int dims,
                        MPI_Offset const* shape, int blocks) {
    require(out->arrays < most_arrays, "room for an array");
    Array* const a = &out->array[out->arrays++];
    snprintf(a->name, sizeof a->name, "%s%d", name, out->arrays);
    a->type = type;
    a->dims = dims;
    memcpy(a->shape, shape, (size_t)dims * sizeof *shape);
    a->blocks = blocks;
    a->start = calloc((size_t)blocks + 1, sizeof *a->start);
    a->count = calloc((size_t)blocks + 1, sizeof *a->count);
    require(a->start && a->count, "memory for blocks");
    return a;
}

/// The blocks are known.
static void finish_array(Array* a) {
    a->elements = 0;
    for (int b = 0; b < a->blocks; ++b) a->elements += product(a->count[b], a->dims);
    a->bytes = a->elements * size_of(a->type);
    a->values = malloc(a->bytes + 1);
    require(a->values != NULL, "memory for values");
    memset(a->values, 0xff, a->bytes);  // pages that are new cost no call its time
}

static MPI_Offset bytes_of(Array const* a) {
    return (MPI_Offset)(product(a->shape, a->dims) * size_of(a->type));
}

// ---- Values -------------------------------------------------------------------------------------

/// Small enough for each type.
static int value_at(int step, int array, size_t place) {
    return (int)((place * 31 + (size_t)array * 7 + (size_t)step * 1013) % 8191);
}

static void store(nc_type type, char* at, int value) {
    short const s = (short)value;
    float const f = (float)value;
    double const d = value;
    int64_t const l = value;
    void const* const from = type == NC_SHORT   ? (void const*)&s
                             : type == NC_INT   ? (void const*)&value
                             : type == NC_FLOAT ? (void const*)&f
                             : type == NC_INT64 ? (void const*)&l
                                                : (void const*)&d;
    memcpy(at, from, size_of(type));
}

static void fill_block(Array* a, int number, int step, int block, char** at) {
    Place index = {0};
    size_t const size = size_of(a->type);
    for (size_t left = product(a->count[block], a->dims); left > 0; --left, *at += size) {
        size_t place = 0;
        for (int d = 0; d < a->dims; ++d)
            place = place * (size_t)a->shape[d] + (size_t)(a->start[block][d] + index[d]);
        store(a->type, *at, value_at(step, number, place));
        for (int d = a->dims - 1; d >= 0 && ++index[d] == a->count[block][d]; --d) index[d] = 0;
    }
}

static void fill(Output* out, int step) {
    for (int i = 0; i < out->arrays; ++i) {
        char* at = out->array[i].values;
        for (int b = 0; b < out->array[i].blocks; ++b) fill_block(&out->array[i], i, step, b, &at);
    }
}

static void reverse(char* at, size_t size) {
    for (size_t i = 0; i < size / 2; ++i) {
        char const kept = at[i];
        at[i] = at[size - 1 - i];
        at[size - 1 - i] = kept;
    }
}

/// How many bytes of this rank's share of an array's elements differ from what was written. The
/// file is read without MPI.
static long long wrong_in_array(Kernel const* kernel, Output const* out, int number, int step,
                                int from) {
    int const record = kernel->file_for_each_step ? 0 : step;
    Array const* const a = &out->array[number];
    size_t const size = size_of(a->type), all = product(a->shape, a->dims);
    size_t const first = all * (size_t)out->rank / (size_t)out->ranks;
    size_t const last = all * (size_t)(out->rank + 1) / (size_t)out->ranks;
    MPI_Offset const at = a->at + record * a->stride + (MPI_Offset)(first * size);
    char* const found = malloc((last - first) * size + 1);
    long long wrong = 0;
    memset(found, 0xee, (last - first) * size);
    for (size_t got = 0; got < (last - first) * size;) {
        ssize_t const n = pread(from, found + got, (last - first) * size - got, at + (off_t)got);
        if (n <= 0) break;
        got += (size_t)n;
    }
    for (size_t g = first; g < last; ++g) {
        char expected[8];
        store(a->type, expected, value_at(step, number, g));
        if (kernel->big_endian) reverse(expected, size);
        for (size_t i = 0; i < size; ++i) wrong += found[(g - first) * size + i] != expected[i];
    }
    free(found);
    return wrong;
}

static void path_of_step(Kernel const* kernel, char const* path, int step, char* text,
                         size_t size) {
    if (kernel->file_for_each_step)
        snprintf(text, size, "%s.%d", path, step);
    else
        snprintf(text, size, "%s", path);
}

static long long count_wrong(Kernel const* kernel, Output const* out) {
    long long mine = 0, all = 0;
    for (int step = 0; step < out->steps; ++step) {
        char path[4096];
        path_of_step(kernel, out->path, step, path, sizeof path);
        int const from = open(checked_path(path), O_RDONLY);
        for (int i = 0; i < out->arrays; ++i) mine += wrong_in_array(kernel, out, i, step, from);
        if (from >= 0) close(from);
    }
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

// ---- PnetCDF ------------------------------------------------------------------------------------

static int dimension(MPI_Offset length, int number) {
    char name[name_length];
    int found = -1;
    snprintf(name, sizeof name, "d%d_%lld", number, (long long)length);
    if (ncmpi_inq_dimid(file, name, &found) != NC_NOERR)
        require_nc(ncmpi_def_dim(file, name, length, &found), "dimension");
    return found;
}

/// Arrays are records of an unlimited dimension.
static void create_netcdf(Output* out, char const* path) {
    int step = -1;
    MPI_Offset record = 0;
    require_nc(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
               "create");
    require_nc(ncmpi_def_dim(file, "step", NC_UNLIMITED, &step), "dimension");
    for (int i = 0; i < out->arrays; ++i) {
        Array const* const a = &out->array[i];
        int dims[most_dims + 1] = {step};
        for (int d = 0; d < a->dims; ++d) dims[d + 1] = dimension(a->shape[d], d);
        require_nc(ncmpi_def_var(file, a->name, a->type, a->dims + 1, dims, &variable[i]),
                   "variable");
    }
    require_nc(ncmpi_enddef(file), "enddef");
    ncmpi_inq_recsize(file, &record);
    for (int i = 0; i < out->arrays; ++i) {
        require_nc(ncmpi_inq_varoffset(file, variable[i], &out->array[i].at), "offset");
        out->array[i].stride = record;
    }
}

static void close_netcdf(Output* out) {
    (void)out;
    require_nc(ncmpi_close(file), "close");
}

/// One blocking collective call for each array, as WRF makes.
static void put_each(Output* out, int step) {
    for (int i = 0; i < out->arrays; ++i) {
        Array const* const a = &out->array[i];
        MPI_Offset start[most_dims + 1] = {step}, count[most_dims + 1] = {1};
        memcpy(start + 1, a->start[0], sizeof a->start[0]);
        memcpy(count + 1, a->count[0], sizeof a->count[0]);
        require_nc(ncmpi_put_vara_all(file, variable[i], start, count, a->values,
                                      (MPI_Offset)a->elements, type_of(a->type)),
                   "put_vara_all");
    }
}

/// A nonblocking call for each array, of all blocks, which one collective call completes.
static void put_together(Output* out, int step) {
    for (int i = 0; i < out->arrays; ++i) {
        Array const* const a = &out->array[i];
        MPI_Offset(*const at)[most_dims + 1] = calloc((size_t)a->blocks * 2 + 1, sizeof *at);
        MPI_Offset** const start = calloc((size_t)a->blocks * 2 + 1, sizeof *start);
        MPI_Offset** const count = start + a->blocks;
        require(at && start, "memory for blocks");
        for (int b = 0; b < a->blocks; ++b) {
            start[b] = at[b];
            count[b] = at[a->blocks + b];
            start[b][0] = step;
            count[b][0] = 1;
            memcpy(start[b] + 1, a->start[b], sizeof a->start[b]);
            memcpy(count[b] + 1, a->count[b], sizeof a->count[b]);
        }
        require_nc(ncmpi_iput_varn(file, variable[i], a->blocks, start, count, a->values,
                                   (MPI_Offset)a->elements, type_of(a->type), NULL),
                   "iput_varn");
        free(start);
        free(at);
    }
    require_nc(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL), "wait_all");
}

static void put_together_in_new_file(Output* out, int step) {
    (void)step;
    put_together(out, 0);
}

// ---- MPI-IO -------------------------------------------------------------------------------------

/// Arrays lie one behind the other, and steps behind that.
static void create_plain(Output* out, char const* path) {
    MPI_Offset at = 0;
    for (int i = 0; i < out->arrays; ++i) {
        out->array[i].at = at;
        at += bytes_of(&out->array[i]);
    }
    for (int i = 0; i < out->arrays; ++i) out->array[i].stride = at;
    require(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                          &mpi_file) == MPI_SUCCESS,
            "open");
}

static void close_plain(Output* out) {
    (void)out;
    require(MPI_File_close(&mpi_file) == MPI_SUCCESS, "close");
}

static MPI_Datatype block_type(Array const* a, int block) {
    int shape[most_dims], start[most_dims], count[most_dims];
    MPI_Datatype made = MPI_DATATYPE_NULL;
    for (int d = 0; d < a->dims; ++d) {
        shape[d] = (int)a->shape[d];
        start[d] = (int)a->start[block][d];
        count[d] = (int)a->count[block][d];
    }
    MPI_Type_create_subarray(a->dims, shape, count, start, MPI_ORDER_C, type_of(a->type), &made);
    return made;
}

/// All blocks of an array, in the order in which they lie in memory.
static MPI_Datatype view_of(Array const* a) {
    enum { most_blocks = 64 };
    MPI_Datatype types[most_blocks], made = MPI_DATATYPE_NULL;
    MPI_Aint at[most_blocks] = {0};
    int ones[most_blocks];
    require(a->blocks <= most_blocks, "few blocks in a view");
    for (int b = 0; b < a->blocks; ++b) {
        types[b] = block_type(a, b);
        ones[b] = 1;
    }
    MPI_Type_create_struct(a->blocks, ones, at, types, &made);
    MPI_Type_commit(&made);
    for (int b = 0; b < a->blocks; ++b) MPI_Type_free(&types[b]);
    return made;
}

/// A view of the rank's blocks, and one collective call, for each array.
static void put_by_views(Output* out, int step) {
    for (int i = 0; i < out->arrays; ++i) {
        Array const* const a = &out->array[i];
        MPI_Datatype view = view_of(a);
        MPI_File_set_view(mpi_file, a->at + step * a->stride, type_of(a->type), view, "native",
                          MPI_INFO_NULL);
        require(MPI_File_write_all(mpi_file, a->values, (int)a->elements, type_of(a->type),
                                   MPI_STATUS_IGNORE) == MPI_SUCCESS,
                "write_all");
        MPI_Type_free(&view);
    }
}

/// Each rank writes its one block of each array by itself.
static void put_alone(Output* out, int step) {
    for (int i = 0; i < out->arrays; ++i) {
        Array const* const a = &out->array[i];
        MPI_Offset const mine = a->start[0][0] * (MPI_Offset)size_of(a->type);
        require(MPI_File_write_at(mpi_file, a->at + step * a->stride + mine, a->values,
                                  (int)a->elements, type_of(a->type),
                                  MPI_STATUS_IGNORE) == MPI_SUCCESS,
                "write_at");
    }
}

static void put_by_views_in_new_file(Output* out, int step) {
    (void)step;
    put_by_views(out, 0);
}

static void put_alone_in_new_file(Output* out, int step) {
    (void)step;
    put_alone(out, 0);
}
