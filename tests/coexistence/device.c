/* One rank's buffer says that it is memory of a device; the others' are ordinary. Its own
 * cuPointerGetAttribute stands for the driver's. `device PATH` */
#include "pieces.h"

#include <stdatomic.h>
#include <string.h>

enum { MEMORY_TYPE = 2, MEMORY_TYPE_DEVICE = 2, SUCCESS = 0, INVALID_VALUE = 1 };

static unsigned char on_device[PIECES * PIECE_BYTES];
static atomic_int asked;

/* As the driver's: memory that it does not know is an error. */
int cuPointerGetAttribute(void* data, int attribute, unsigned long long pointer) {
    unsigned long long const begin = (unsigned long long)(MPI_Aint)on_device;
    if (attribute != MEMORY_TYPE || pointer < begin || pointer >= begin + sizeof on_device)
        return INVALID_VALUE;
    ++asked;
    *(unsigned*)data = MEMORY_TYPE_DEVICE;
    return SUCCESS;
}

/* The MPI says that it copies such memory. */
int MPIX_Query_cuda_support(void) { return 1; }

#ifdef UNPACK_FAILS
int PMPI_Unpack(void const* from, int bytes, int* position, void* to, int count, MPI_Datatype type,
                MPI_Comm communicator) {
    (void)from, (void)bytes, (void)position, (void)to, (void)count, (void)type, (void)communicator;
    return MPI_ERR_OTHER;
}
#endif

/* What cannot be brought into the memory was not read. */
static void check_failures(MPI_File file, unsigned char* data) {
    MPI_Request request;
    int const fails = data == on_device;
    int code = MPI_File_read_at_all(file, 0, data, HALF, MPI_BYTE, MPI_STATUS_IGNORE);
    require((code != MPI_SUCCESS) == fails, "MPI_File_read_at_all tells of it");
    MPI_File_iread_at_all(file, 0, data, HALF, MPI_BYTE, &request);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    require((code != MPI_SUCCESS) == fails, "MPI_Wait tells of it");
    if (fails) printf("device: failures were told\n");
}

static void read_back(MPI_File file, unsigned char* data, unsigned char const* expected) {
    MPI_Request request;
    memset(data, 0, PIECES * PIECE_BYTES);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    int code = MPI_File_read_all(file, data, HALF, MPI_BYTE, MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "MPI_File_read_all");
    code = MPI_File_iread_all(file, data + HALF, HALF, MPI_BYTE, &request);
    require(code == MPI_SUCCESS, "MPI_File_iread_all");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    require(memcmp(data, expected, PIECES * PIECE_BYTES) == 0, "all bytes are read back");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    static unsigned char on_host[PIECES * PIECE_BYTES], expected[PIECES * PIECE_BYTES];
    unsigned char* const data = rank == ranks - 1 ? on_device : on_host;
    fill_pieces(data, rank);
    fill_pieces(expected, rank);
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[1], MPI_INFO_NULL);
    view_pieces(file, rank, ranks);
    MPI_Request request = start_pieces(file, data);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#ifdef UNPACK_FAILS
    (void)read_back;
    check_failures(file, data);
#else
    (void)check_failures;
    read_back(file, data, expected);
#endif
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) check_pieces(argv[1], ranks);
    if (rank == ranks - 1) printf("device: the driver was %s\n", asked ? "asked" : "not asked");
    MPI_Finalize();
    return 0;
}
