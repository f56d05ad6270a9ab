/* A pretended driver of CUDA. The processor can touch managed memory, but no device memory. */
#include <stddef.h>
#include <sys/mman.h>

enum { BYTES = 1 << 20, MEMORY_TYPE = 2, IS_MANAGED = 8, INVALID_VALUE = 1 };
static unsigned const device_type = 2;

static char *device, *managed;

/* What the program takes for memory of a device. */
void* pretended_memory(int is_managed) {
    char** const memory = is_managed ? &managed : &device;
    int const access = is_managed ? PROT_READ | PROT_WRITE : PROT_NONE;
    if (!*memory) *memory = mmap(NULL, BYTES, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return *memory == MAP_FAILED ? NULL : *memory;
}

static unsigned is_in(char const* begin, char const* at) {
    return begin && at >= begin && at < begin + BYTES;
}

int cuPointerGetAttribute(void* data, int attribute, unsigned long long pointer) {
    char const* const at = (char const*)(size_t)pointer;
    if (!is_in(device, at) && !is_in(managed, at)) return INVALID_VALUE;
    if (attribute != MEMORY_TYPE && attribute != IS_MANAGED) return INVALID_VALUE;
    *(unsigned*)data = attribute == MEMORY_TYPE ? device_type : is_in(managed, at);
    return 0;
}
