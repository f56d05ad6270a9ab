/* Buffers of an MPI program, brought to where the program does not have them. See far_memory.h.
 * With -DNEAR those on a device are brought to the host, which lets an MPI that knows no devices
 * run tests that have them; else those on the host are brought to a device. FAR_BUFFERS=N: only
 * about one call in so many. */
#include "far_memory.h"

#include "cuda_buffers.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Far* first;
static size_t const most_bytes = (size_t)1 << 29;

static void complain(Far const* far, char const* what, size_t at) {
    fprintf(stderr, "far buffers: %s: byte %zu of %zu, %s of %lld items\n", what, at, far->bytes,
            far->reads ? "a read" : "a write", (long long)far->count);
    fflush(NULL);
    abort();
}

/* ---- Which buffers are brought, and where ------------------------------------------------- */

/* All bytes of the items lie between these; false for what is no datatype to be used. */
static int bounds(MPI_Count count, MPI_Datatype type, MPI_Aint* low, MPI_Aint* high) {
    MPI_Aint lower, extent, true_low, true_extent;
    MPI_Count size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS ||
        size <= 0 || size > (MPI_Count)most_bytes / count)
        return 0;
    if (PMPI_Type_get_extent(type, &lower, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(type, &true_low, &true_extent) != MPI_SUCCESS)
        return 0;
    MPI_Aint const step = (MPI_Aint)(count - 1) * extent;
    *low = true_low + (step < 0 ? step : 0);
    *high = true_low + true_extent + (step > 0 ? step : 0);
    return (size_t)(*high - *low) <= most_bytes;
}

/* Some calls stay as they are, if the user wants it. */
static int is_its_turn(void) {
    static int calls;
    char const* const every = getenv("FAR_BUFFERS");
    int const number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return !every || atoi(every) <= 1 || number % atoi(every) == 0;
}

#ifdef NEAR
static int is_brought(void const* memory) {
    unsigned type = 0, managed = 0;
    CUdeviceptr const at = (CUdeviceptr)(uintptr_t)memory;
    cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
    cuda.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at);
    return type == CU_MEMORYTYPE_DEVICE && !managed;
}
static void* allocate(size_t bytes) { return malloc(bytes); }
static void release(void* memory) { free(memory); }
static void put_other(Far const* far, void const* from) { memcpy(far->other, from, far->bytes); }
static void get_other(void* to, Far const* far) { memcpy(to, far->other, far->bytes); }
static void get_user(void* to, Far const* far) {
    cuda_get(to, (char*)far->user + far->low, far->bytes);
}
static void put_user(Far const* far, void const* from) {
    cuda_put((char*)far->user + far->low, from, far->bytes);
}
#else
static int is_brought(void const* memory) {
    unsigned type = 0;
    CUdeviceptr const at = (CUdeviceptr)(uintptr_t)memory;
    return cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS;
}
static void* allocate(size_t bytes) {
    static int calls;
    int const number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return cuda_allocate(number % cuda_open(), bytes);
}
static void release(void* memory) { cuda_free(memory); }
static void put_other(Far const* far, void const* from) { cuda_put(far->other, from, far->bytes); }
static void get_other(void* to, Far const* far) { cuda_get(to, far->other, far->bytes); }
static void get_user(void* to, Far const* far) {
    memcpy(to, (char*)far->user + far->low, far->bytes);
}
#endif

Far* take_far(MPI_File file, void* buffer, MPI_Count count, MPI_Datatype type, int reads) {
    enum { ALIGNMENT = 64 };
    MPI_Aint low, high;
    if (buffer == MPI_BOTTOM || !bounds(count, type, &low, &high)) return NULL;
    if (cuda_open() == 0) {
        fprintf(stderr, "far buffers: there is no driver of CUDA\n");
        abort();
    }
    if (!is_brought((char*)buffer + low) || !is_its_turn()) return NULL;
    Far* const far = calloc(1, sizeof *far);
    far->user = buffer, far->count = count, far->reads = reads, far->file = file;
    far->request = MPI_REQUEST_NULL;
    far->low = low, far->bytes = (size_t)(high - low);
    /* The datatype may be freed before the transfer is complete. */
    PMPI_Type_dup(type, &far->type);
    far->allocated = allocate(far->bytes + ALIGNMENT);
    far->other = far->allocated + ((uintptr_t)buffer + (uintptr_t)low) % ALIGNMENT;
    far->before = malloc(far->bytes);
    get_user(far->before, far);
    put_other(far, far->before);
    return far;
}

void* address_of_far(Far const* far, void* buffer) {
    return far ? (void*)(far->other - far->low) : buffer;
}

/* ---- Back --------------------------------------------------------------------------------- */

static int packed_bytes(Far const* far) {
    int bytes = 0;
    PMPI_Pack_size((int)far->count, far->type, MPI_COMM_SELF, &bytes);
    return bytes;
}

/* From what is laid out in an image to a stream; how many bytes these are. */
static int pack(Far const* far, unsigned char const* image, unsigned char* stream) {
    int at = 0;
    PMPI_Pack(image - far->low, (int)far->count, far->type, stream, packed_bytes(far), &at,
              MPI_COMM_SELF);
    return at;
}

static void unpack(Far const* far, unsigned char* stream, int bytes, void* base) {
    int at = 0;
    PMPI_Unpack(stream, bytes, &at, base, (int)far->count, far->type, MPI_COMM_SELF);
}

static void check_same(Far const* far, unsigned char const* found, char const* what) {
    if (memcmp(found, far->before, far->bytes) == 0) return;
    size_t at = 0;
    while (found[at] == far->before[at]) ++at;
    complain(far, what, at);
}

/* Only the bytes of the datatype are the transfer's: others may be another's by now. */
static void bring_back(Far* far, unsigned char const* image) {
    unsigned char* const stream = malloc((size_t)packed_bytes(far) + 1);
    int const bytes = pack(far, image, stream);
    unpack(far, stream, bytes, far->before - far->low);
    check_same(far, image, "memory between the bytes that were read has changed");
#ifdef NEAR
    unsigned char* const now = malloc(far->bytes);
    get_user(now, far);
    unpack(far, stream, bytes, now - far->low);
    put_user(far, now);
    free(now);
#else
    unpack(far, stream, bytes, far->user);
#endif
    free(stream);
}

void copy_back(Far* far) {
    unsigned char* const image = malloc(far->bytes);
    if (far->is_copied) {
        free(image);
        return;
    }
    far->is_copied = 1;
    get_other(image, far);
    if (far->reads)
        bring_back(far, image);
    else
        check_same(far, image, "memory that was written has changed");
    free(image);
}

void end_far(Far* far) {
    if (!far) return;
    copy_back(far);
    PMPI_Type_free(&far->type);
    release(far->allocated);
    free(far->before);
    free(far);
}

/* ---- Those under way ---------------------------------------------------------------------- */

void keep_far(Far* far) {
    if (!far) return;
    pthread_mutex_lock(&mutex);
    far->next = first;
    first = far;
    pthread_mutex_unlock(&mutex);
}

typedef int Matches(Far const*, void const*);
static int has_request(Far const* far, void const* request) {
    return far->request != MPI_REQUEST_NULL && far->request == *(MPI_Request const*)request;
}
static int is_split_of(Far const* far, void const* file) {
    return far->is_split && far->file == *(MPI_File const*)file;
}
static int is_freed_of(Far const* far, void const* file) {
    return far->file == *(MPI_File const*)file && far->request == MPI_REQUEST_NULL &&
           !far->is_split;
}

static Far* find(Matches* matches, void const* key, int takes) {
    pthread_mutex_lock(&mutex);
    Far** at = &first;
    while (*at && !matches(*at, key)) at = &(*at)->next;
    Far* const found = *at;
    if (found && takes) *at = found->next;
    pthread_mutex_unlock(&mutex);
    return found;
}

Far* far_of_request(MPI_Request request) { return find(has_request, &request, 1); }
Far* far_of_split(MPI_File file) { return find(is_split_of, &file, 1); }
Far* far_of_freed(MPI_File file) { return find(is_freed_of, &file, 1); }

void copy_back_early(MPI_Request request) {
    Far* const far = find(has_request, &request, 0);
    if (far) copy_back(far);
}

void forget_request(MPI_Request request) {
    Far* const far = find(has_request, &request, 0);
    if (far) far->request = MPI_REQUEST_NULL;
}
