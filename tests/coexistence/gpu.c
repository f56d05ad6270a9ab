/* The last rank's data lie on a GPU of which the MPI knows nothing. The program opens the driver
 * late and for itself alone, as CUDA's runtime does. `gpu PATH DRIVER` */
#include "pieces.h"

#include <string.h>

static int passed;

/* As the library finds it: a collective that it leaves to the MPI comes here. */
int PMPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator,
                MPI_Request* request) {
    (void)buffer, (void)count, (void)type, (void)root, (void)communicator;
    ++passed;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static void expect(int code, int fails, char const* call) {
    int found = MPI_SUCCESS;
    MPI_Error_class(code, &found);
    require(found == (fails ? MPI_ERR_BUFFER : MPI_SUCCESS), call);
}

static void* pretended(char const* driver, int is_managed) {
    void* const library = dlopen(driver, RTLD_NOW | RTLD_LOCAL);
    require(library != NULL, "the driver is opened");
    void* (*memory)(int) = (void* (*)(int))dlsym(library, "pretended_memory");
    void* const found = memory(is_managed);
    require(found != NULL, "the driver has memory");
    return found;
}

/* All ranks hear of it. */
static void write_together(MPI_File file, unsigned char* data, MPI_Datatype scattered) {
    MPI_Request request;
    MPI_Datatype absolute;
    MPI_Aint at = 0;
    int bytes = HALF;
    expect(MPI_File_write_all(file, data, HALF, MPI_BYTE, MPI_STATUS_IGNORE), 1, "write_all");
    expect(MPI_File_write_all(file, data, 1, scattered, MPI_STATUS_IGNORE), 1, "scattered");
    expect(MPI_File_read_at_all(file, 0, data, HALF, MPI_BYTE, MPI_STATUS_IGNORE), 1, "read");
    MPI_File_iwrite_all(file, data, HALF, MPI_BYTE, &request);
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE), 1, "iwrite_all");
    MPI_File_write_at_all_begin(file, 0, data, HALF, MPI_BYTE);
    expect(MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE), 1, "write_at_all_end");
    MPI_Get_address(data, &at);
    MPI_Type_create_hindexed(1, &bytes, &at, MPI_BYTE, &absolute);
    MPI_Type_commit(&absolute);
    expect(MPI_File_write_all(file, MPI_BOTTOM, 1, absolute, MPI_STATUS_IGNORE), 1, "MPI_BOTTOM");
    MPI_Type_free(&absolute);
    expect(MPI_File_write_all(file, data, 0, MPI_BYTE, MPI_STATUS_IGNORE), 0, "nothing");
}

/* The rank whose data it is hears of it. */
static void write_alone(MPI_File file, unsigned char* data, MPI_Datatype scattered, int fails) {
    MPI_Request request = MPI_REQUEST_NULL;
    expect(MPI_File_write_at(file, 0, data, HALF, MPI_BYTE, MPI_STATUS_IGNORE), fails, "write_at");
    expect(MPI_File_write_at(file, 0, data, 1, scattered, MPI_STATUS_IGNORE), fails, "scattered");
    int code = MPI_File_iwrite_at(file, 0, data, HALF, MPI_BYTE, &request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(code, fails, "iwrite_at");
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    static unsigned char on_host[PIECES * PIECE_BYTES];
    MPI_Datatype scattered;
    MPI_Type_vector(8, 100, 200, MPI_BYTE, &scattered);
    MPI_Type_commit(&scattered);
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[1], MPI_INFO_NULL);
    view_pieces(file, rank, ranks);
    int const on_device = rank == ranks - 1;
    unsigned char* const data = on_device ? pretended(argv[2], 0) : on_host;
    write_together(file, data, scattered);
    write_alone(file, data, scattered, on_device);
    MPI_Request request;
    unsigned char* const own = pretended(argv[2], 0);
    MPI_Ibcast(own, HALF, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    require(passed == 1, "the MPI has the broadcast between devices");
    unsigned char* const moving = on_device ? pretended(argv[2], 1) : on_host;
    fill_pieces(moving, rank);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    request = start_pieces(file, moving);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&scattered);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) check_pieces(argv[1], ranks);
    if (on_device) printf("gpu: refused, and managed memory is the host's\n");
    MPI_Finalize();
    return 0;
}
