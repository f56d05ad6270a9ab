/* What a Fortran program calls, without a compiler of Fortran: the names that this library defines,
 * with addresses as arguments. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef void Function(); /* Each has parameters of its own, all of them addresses. */

static MPI_File served;
static int rank, size;
static MPI_Fint failure = -1; /* The last argument of all. */

static Function* named(char const* name) {
    char full[80];
#ifdef OPEN_MPI
    snprintf(full, sizeof full, "mpi_%s_", name);
#else
    snprintf(full, sizeof full, "mpi_%s_f08_", name);
#endif
    Function* found = NULL;
    *(void**)&found = dlsym(RTLD_DEFAULT, full);
    if (!found) printf("%s: not defined\n", full), MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) printf("next: %s\n", full), fflush(stdout);
    return found;
}

#define CALL(NAME, ...)                                                                            \
    do {                                                                                           \
        named(#NAME)(__VA_ARGS__, &failure);                                                       \
        expect(failure == MPI_SUCCESS, #NAME);                                                     \
    } while (0)

static void expect(int right, char const* what) {
    if (right) return;
    printf("rank %d: wrong: %s\n", rank, what), fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void communicators(MPI_Fint* world) {
    MPI_Comm both;
    MPI_Fint made, grid, line, one = 1, zero = 0, tag = 3, high = rank == 0;
    MPI_Fint sizes[2] = {1, size}, periods[2] = {0, 1}, remain[2] = {0, 1};
    int dimensions[2], periodic[2], place[2];
    MPI_Fint two = 2;
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Fint all = MPI_Group_c2f(group);
    CALL(comm_create_group, world, &all, &tag, &made);
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, rank == 0, 3, &both);
    made = MPI_Comm_c2f(both);
    CALL(intercomm_merge, &made, &high, &line);
    MPI_Comm_rank(MPI_Comm_f2c(line), &place[0]);
    expect(place[0] == (rank == 0), "intercomm_merge: the high side");
    CALL(cart_create, world, &two, sizes, periods, &zero, &grid);
    MPI_Cart_get(MPI_Comm_f2c(grid), 2, dimensions, periodic, place);
    expect(dimensions[1] == size && !periodic[0] && periodic[1], "cart_create");
    CALL(cart_sub, &grid, remain, &line);
    MPI_Cartdim_get(MPI_Comm_f2c(line), &dimensions[0]);
    expect(dimensions[0] == 1, "cart_sub");
#ifdef OPEN_MPI
    MPI_Fint number = rank, numbers[2] = {-1, -1}, type = MPI_Type_c2f(MPI_INT);
    MPI_Fint request;
    CALL(ineighbor_allgather, &number, &one, &type, numbers, &one, &type, &line, &request);
    CALL(wait, &request, MPI_F_STATUS_IGNORE);
    expect(numbers[0] == 1 - rank && numbers[1] == 1 - rank, "ineighbor_allgather");
#endif
    (void)one;
    MPI_Group_free(&group);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Fint world = MPI_Comm_c2f(MPI_COMM_WORLD), whence = MPI_SEEK_SET;
    MPI_Offset at = 0;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &served);
    MPI_Fint file = MPI_File_c2f(served);
    communicators(&world);
    CALL(file_seek_shared, &file, &at, &whence);
    MPI_File_close(&served);
    if (rank == 0) printf("all names were there\n");
    MPI_Finalize();
    return 0;
}
