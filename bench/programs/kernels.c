// What programs write that are not to be had as packages, written anew from what is public about
// them: which arrays, in which blocks, by which calls. A step is a computation and one output.
//
// - e3sm_f, e3sm_g, e3sm_i: E3SM's atmosphere, ocean and land by PnetCDF: columns are dealt to the
//   ranks by lot, in short runs, and each array is one nonblocking call of many pieces.
// - wrf: a frame of WRF's history by PnetCDF: a blocking call for each field of a 2-D patch.
// - btio: NAS BT-IO by MPI-IO: diagonal cells of an array of 5 numbers a point.
// - s3d: S3D-IO by PnetCDF: four arrays of 3-D blocks, a file for each step.
// - hacc: HACC-IO by MPI-IO: nine arrays of particles, each rank by itself, a file for each step.
// - lattice: the links of a lattice in four dimensions by MPI-IO, a file for each step.
//
// Usage: kernels KERNEL FILE STEPS BYTES_PER_RANK COMPUTE_SECONDS_PER_STEP
#include "kernels.h"

// ---- Blocks -------------------------------------------------------------------------------------

/// Where the part of a coordinate begins.
static MPI_Offset part_begin(MPI_Offset length, int part, int parts) {
    return length * part / parts;
}

/// One block of a grid of ranks over `split` dimensions, from the `first` one on.
static void add_blocked(Output* out, char const* name, nc_type type, int dims,
                        MPI_Offset const* shape, int first, int split) {
    int parts[most_dims] = {0}, at[most_dims];
    Array* const a = new_array(out, name, type, dims, shape, 1);
    MPI_Dims_create(out->ranks, split, parts);
    for (int d = split - 1, rank = out->rank; d >= 0; rank /= parts[d--]) at[d] = rank % parts[d];
    for (int d = 0; d < dims; ++d) {
        int const s = d - first, is_split = s >= 0 && s < split;
        MPI_Offset const begin = is_split ? part_begin(shape[d], at[s], parts[s]) : 0;
        a->start[0][d] = begin;
        a->count[0][d] = (is_split ? part_begin(shape[d], at[s] + 1, parts[s]) : shape[d]) - begin;
    }
    finish_array(a);
}

/// Draws by lot how long a run of columns is, or which rank has it: the same on all ranks.
static unsigned lot(unsigned run) {
    unsigned mixed = run * 2654435761U;
    mixed ^= mixed >> 15;
    mixed *= 2246822519U;
    return mixed ^ (mixed >> 13);
}

/// Runs of columns, of 1 to `longest`, of this rank. `upper` levels lie before the columns, each
/// with all of them; `lower` behind, in each column.
static void add_dealt(Output* out, char const* name, nc_type type, MPI_Offset upper,
                      MPI_Offset columns, MPI_Offset lower, unsigned longest) {
    MPI_Offset const shape[3] = {upper, columns, lower};
    Array* const a = new_array(out, name, type, 3, shape, (int)(upper * columns));
    a->blocks = 0;
    for (MPI_Offset level = 0; level < upper; ++level) {
        MPI_Offset begin = 0;
        for (unsigned run = 0; begin < columns; ++run) {
            MPI_Offset length = 1 + lot(2 * run) % longest;
            if (length > columns - begin) length = columns - begin;
            if ((int)(lot(2 * run + 1) % (unsigned)out->ranks) == out->rank) {
                Place const start = {level, begin, 0}, count = {1, length, lower};
                memcpy(a->start[a->blocks], start, sizeof start);
                memcpy(a->count[a->blocks++], count, sizeof count);
            }
            begin += length;
        }
    }
    finish_array(a);
}

static MPI_Offset at_least(MPI_Offset value, MPI_Offset least) {
    return value > least ? value : least;
}

/// The side of a cube, or another figure of so many dimensions, of so many points.
static MPI_Offset side(double points, int dims) {
    MPI_Offset found = 1;
    double all = 0;
    do {
        all = 1;
        ++found;
        for (int d = 0; d < dims; ++d) all *= (double)found;
    } while (all <= points);
    return found - 1;
}

static double all_bytes(Output const* out, size_t bytes) {
    return (double)bytes * (double)out->ranks;
}

// ---- Kernels ------------------------------------------------------------------------------------

/// Arrays of all levels of each column, and `flat` ones of a number a column; see add_dealt().
static void plan_columns(Output* out, size_t bytes, nc_type type, int deep, MPI_Offset upper,
                         MPI_Offset lower, int flat, unsigned longest) {
    double const column = (double)size_of(type) * (double)(deep * upper * lower + flat);
    MPI_Offset const columns = at_least((MPI_Offset)(all_bytes(out, bytes) / column), 1);
    for (int i = 0; i < deep; ++i) add_dealt(out, "deep", type, upper, columns, lower, longest);
    for (int i = 0; i < flat; ++i) add_dealt(out, "flat", type, 1, columns, 1, longest);
}

/// 72 levels, each of all columns.
static void plan_e3sm_f(Output* out, size_t bytes) {
    plan_columns(out, bytes, NC_FLOAT, 4, 72, 1, 12, 16);
}

/// 80 levels of each cell, one after the other.
static void plan_e3sm_g(Output* out, size_t bytes) {
    plan_columns(out, bytes, NC_DOUBLE, 6, 1, 80, 12, 4);
}

/// Many arrays of a number a cell.
static void plan_e3sm_i(Output* out, size_t bytes) {
    plan_columns(out, bytes, NC_FLOAT, 8, 15, 1, 120, 12);
}

static void plan_wrf(Output* out, size_t bytes) {
    enum { deep = 20, soil = 3, flat = 60, levels = 35, soil_levels = 4 };
    double const column = sizeof(float) * (deep * levels + soil * soil_levels + flat);
    MPI_Offset const n = side(all_bytes(out, bytes) / column, 2);
    MPI_Offset const air[3] = {levels, n, n}, ground[3] = {soil_levels, n, n};
    for (int i = 0; i < deep; ++i) add_blocked(out, "air", NC_FLOAT, 3, air, 1, 2);
    for (int i = 0; i < soil; ++i) add_blocked(out, "soil", NC_FLOAT, 3, ground, 1, 2);
    for (int i = 0; i < flat; ++i) add_blocked(out, "flat", NC_FLOAT, 2, air + 1, 0, 2);
}

/// Each rank has a cell in each slab of each dimension. Where the ranks are no square, cells are as
/// long as the array in one dimension.
static void plan_btio(Output* out, size_t bytes) {
    enum { numbers = 5 };
    MPI_Offset const n = side(all_bytes(out, bytes) / (numbers * sizeof(double)), 3);
    MPI_Offset const shape[4] = {n, n, n, numbers};
    int root = 1;
    while ((root + 1) * (root + 1) <= out->ranks) ++root;
    int const square = root * root == out->ranks, cells = square ? root : out->ranks;
    Array* const a = new_array(out, "solution", NC_DOUBLE, 4, shape, cells);
    for (int c = 0; c < cells; ++c) {
        int const at[3] = {c, (out->rank / (square ? root : 1) + c) % cells,
                           square ? (out->rank % root + c) % cells : 0};
        for (int d = 0; d < 3; ++d) {
            int const parts = d < 2 || square ? cells : 1;
            a->start[c][d] = part_begin(n, at[d], parts);
            a->count[c][d] = part_begin(n, at[d] + 1, parts) - a->start[c][d];
        }
        a->count[c][3] = numbers;
    }
    finish_array(a);
}

static void plan_s3d(Output* out, size_t bytes) {
    enum { species = 11, velocities = 3, numbers = species + velocities + 2 };
    MPI_Offset const n = side(all_bytes(out, bytes) / (numbers * sizeof(double)), 3);
    MPI_Offset const mass[4] = {species, n, n, n}, flow[4] = {velocities, n, n, n};
    add_blocked(out, "mass", NC_DOUBLE, 4, mass, 1, 3);
    add_blocked(out, "flow", NC_DOUBLE, 4, flow, 1, 3);
    add_blocked(out, "pressure", NC_DOUBLE, 3, mass + 1, 0, 3);
    add_blocked(out, "temperature", NC_DOUBLE, 3, mass + 1, 0, 3);
}

static void plan_hacc(Output* out, size_t bytes) {
    enum { floats = 7, particle = floats * sizeof(float) + sizeof(int64_t) + sizeof(short) };
    MPI_Offset const particles = (MPI_Offset)(bytes / particle) * out->ranks;
    for (int i = 0; i < floats; ++i) add_blocked(out, "place", NC_FLOAT, 1, &particles, 0, 1);
    add_blocked(out, "number", NC_INT64, 1, &particles, 0, 1);
    add_blocked(out, "mask", NC_SHORT, 1, &particles, 0, 1);
}

/// Four links of a site, each 3 x 3 complex numbers.
static void plan_lattice(Output* out, size_t bytes) {
    enum { numbers = 4 * 3 * 3 * 2 };
    MPI_Offset const n = side(all_bytes(out, bytes) / (numbers * sizeof(double)), 4);
    MPI_Offset const shape[5] = {n, n, n, n, numbers};
    add_blocked(out, "links", NC_DOUBLE, 5, shape, 0, 4);
}

static Kernel const kernels[] = {
    {"e3sm_f", plan_e3sm_f, create_netcdf, put_together, close_netcdf, 1, 0},
    {"e3sm_g", plan_e3sm_g, create_netcdf, put_together, close_netcdf, 1, 0},
    {"e3sm_i", plan_e3sm_i, create_netcdf, put_together, close_netcdf, 1, 0},
    {"wrf", plan_wrf, create_netcdf, put_each, close_netcdf, 1, 0},
    {"btio", plan_btio, create_plain, put_by_views, close_plain, 0, 0},
    {"s3d", plan_s3d, create_netcdf, put_together_in_new_file, close_netcdf, 1, 1},
    {"hacc", plan_hacc, create_plain, put_alone_in_new_file, close_plain, 0, 1},
    {"lattice", plan_lattice, create_plain, put_by_views_in_new_file, close_plain, 0, 1},
};

// ---- The run ------------------------------------------------------------------------------------

static void open_for(Kernel const* kernel, Output* out, int step) {
    char path[4096];
    path_of_step(kernel, out->path, step, path, sizeof path);
    kernel->create(out, path);
}

/// A step's output is what its program waits for: with a file of its own, also that one's open and
/// close.
static void put_step(Kernel const* kernel, Output* out, int step) {
    MPI_Pcontrol(1);
    if (kernel->file_for_each_step) open_for(kernel, out, step);
    kernel->put(out, step);
    if (kernel->file_for_each_step) kernel->close(out);
    MPI_Pcontrol(0);
}

/// A close may have returned before its file was complete: a run is over when all files are. What
/// was put off has to be done when the mode of a file changes.
static void await_files(Kernel const* kernel, Output const* out) {
    int const files = kernel->file_for_each_step ? out->steps : 1;
    for (int step = 0; step < files; ++step) {
        char path[4096];
        MPI_File again;
        path_of_step(kernel, out->path, step, path, sizeof path);
        int const code =
            MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &again);
        require(code == MPI_SUCCESS, "a file is opened again");
        MPI_File_set_atomicity(again, 1);
        MPI_File_close(&again);
    }
}

static Times run_steps(Kernel const* kernel, Output* out, uint64_t work) {
    Times times = {0, 0, 0, 0};
    if (!kernel->file_for_each_step) open_for(kernel, out, 0);
    wait_for_all();
    double const begin = MPI_Wtime();
    for (int step = 0; step < out->steps; ++step) {
        double at = MPI_Wtime();
        fill(out, step);  // in the place of the old values
        spin(work);
        add_time(&times.compute, at);
        at = MPI_Wtime();
        put_step(kernel, out, step);
        add_time(&times.calls, at);
    }
    double const closing = MPI_Wtime();
    if (!kernel->file_for_each_step) kernel->close(out);
    add_time(&times.close, closing);
    await_files(kernel, out);
    add_time(&times.total, begin);
    wait_for_all();
    return times;
}

static Kernel const* kernel_named(char const* name) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i)
        if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
    fprintf(stderr, "there is no kernel %s\n", name);
    require(0, "choice of a kernel");
    return NULL;
}

int main(int argc, char** argv) {
    static Output out;
    MPI_Init(&argc, &argv);
    require(argc == 6, "usage: kernels KERNEL FILE STEPS BYTES_PER_RANK COMPUTE_SECONDS_PER_STEP");
    Kernel const* const kernel = kernel_named(argv[1]);
    out.path = argv[2];
    out.steps = atoi(argv[3]);
    require(out.steps > 0 && atoll(argv[4]) > 0, "steps and bytes");
    MPI_Comm_rank(MPI_COMM_WORLD, &out.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &out.ranks);
    kernel->plan(&out, strtoull(argv[4], NULL, 10));
    double const rate = calibrated_rate();
    Times const times = run_steps(kernel, &out, (uint64_t)(rate * atof(argv[5])));
    print_json(times, count_wrong(kernel, &out), rate, ncmpi_inq_libvers());
    MPI_Finalize();
    return 0;
}
