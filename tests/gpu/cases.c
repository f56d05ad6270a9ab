/* The cases of a test program with several ranks. See cases.h. */
#include "cases.h"

#include "cuda_buffers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_CASES = 1000, MOST_NAMES = 32, WORDS = 240 };
typedef struct Case {
    char name[64];
    void (*run)(void const*);
    void const* what;
    int is_costly;
} Case;

int rank, ranks;
static Case cases[MOST_CASES];
static int case_count, current;
static char said[WORDS], skipped[WORDS];
static char const* folder = ".";
static char const *wanted[MOST_NAMES], *left_out[MOST_NAMES];
static int wanted_count, left_out_count, only_list, only_host;
static unsigned long seed;
static long sample = 1;

/* ---- What is found ------------------------------------------------------------------------ */

void wrong(char const* format, ...) {
    va_list arguments;
    if (said[0]) return;
    va_start(arguments, format);
    vsnprintf(said, WORDS, format, arguments);
    va_end(arguments);
}

int is_wrong(void) { return said[0] != '\0'; }
void skip(char const* why) { snprintf(skipped, WORDS, "%s", why); }

int went(int code, char const* call) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (code == MPI_SUCCESS) return 1;
    MPI_Error_string(code, text, &length);
    for (int i = 0; i < length; ++i)
        if (text[i] == '\n') text[i] = ' ';
    wrong("%s: %s", call, text + (length > 180 ? length - 180 : 0));
    return 0;
}

/* A touch of a device's memory ends the process; the last words tell in which case. */
static void tell_crash(int signal_number) {
    char text[128];
    int const length = snprintf(text, sizeof text, "wrong %s: rank %d: signal %d\n",
                                cases[current].name, rank, signal_number);
    ssize_t const written = write(STDOUT_FILENO, text, (size_t)length);
    (void)written;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* ---- What is drawn ------------------------------------------------------------------------ */

static unsigned long long next(unsigned long long* state) {
    unsigned long long z = *state += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/* The name is a part of it, so that a case by itself draws the same as among others. */
Random random_of_case(int number) {
    Random random = {seed * 1000003UL + (unsigned long)number};
    for (char const* at = cases[current].name; *at; ++at)
        random.state = next(&random.state) + (unsigned char)*at;
    return random;
}

long draw(Random* random, long low, long high) {
    unsigned long long const count = (unsigned long long)(high - low) + 1;
    return low + (long)(next(&random->state) % count);
}

/* ---- Buffers ------------------------------------------------------------------------------ */

int has_devices(void) { return !only_host && cuda_open() > 0; }
int device_of(int number) { return has_devices() ? number % cuda_open() : 0; }

/* Few begin where what was allocated begins. */
static size_t odd_of(size_t bytes) { return 8 * (bytes % 7); }

static void* allocate(Place place, int device, size_t bytes) {
    switch (place) {
    case PINNED:
        return cuda_allocate_pinned(device, bytes);
    case MANAGED:
        return cuda_allocate_managed(device, bytes);
    case DEVICE:
        return cuda_allocate(device, bytes);
    default:
        return malloc(bytes);
    }
}

static Buffer buffer_of(Place place, void* allocated, size_t bytes) {
    Buffer buffer = {place, bytes, malloc(bytes + 1), NULL, allocated};
    buffer.memory = (unsigned char*)allocated + odd_of(bytes);
    memset(buffer.image, GAP, bytes);
    return buffer;
}

Buffer make_buffer(Place wanted_place, int device, size_t bytes) {
    Place const place = has_devices() ? wanted_place : HOST;
    return buffer_of(place, allocate(place, device, bytes + odd_of(bytes) + 8), bytes);
}

Buffer make_buffer_in(void* context, size_t bytes) {
    return buffer_of(DEVICE, cuda_allocate_in(context, bytes + odd_of(bytes) + 8), bytes);
}

void put_buffer(Buffer const* buffer) {
    if (buffer->place == DEVICE)
        cuda_put(buffer->memory, buffer->image, buffer->bytes);
    else
        memcpy(buffer->memory, buffer->image, buffer->bytes);
}

unsigned char* get_buffer(Buffer const* buffer) {
    unsigned char* const found = malloc(buffer->bytes + 1);
    if (buffer->place == DEVICE)
        cuda_get(found, buffer->memory, buffer->bytes);
    else
        memcpy(found, buffer->memory, buffer->bytes);
    return found;
}

void check_buffer(Buffer const* buffer, char const* what) {
    unsigned char* const found = get_buffer(buffer);
    check_bytes(found, buffer->image, buffer->bytes, what);
    free(found);
}

void free_buffer(Buffer* buffer) {
    if (buffer->place == HOST)
        free(buffer->allocated);
    else
        cuda_free(buffer->allocated);
    free(buffer->image);
}

/* ---- Files -------------------------------------------------------------------------------- */

void check_bytes(unsigned char const* found, unsigned char const* expected, size_t bytes,
                 char const* what) {
    size_t at = 0, different = 0;
    if (memcmp(found, expected, bytes) == 0) return;
    while (found[at] == expected[at]) ++at;
    for (size_t i = at; i < bytes; ++i) different += found[i] != expected[i];
    wrong("%s: byte %zu of %zu is %02x, not %02x; %zu are wrong", what, at, bytes, found[at],
          expected[at], different);
}

char const* file_name(char const* end) {
    static char name[4096];
    snprintf(name, sizeof name, "%s/%s", folder, end);
    if (rank == 0) unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
    return name;
}

void check_file(char const* name, unsigned char const* expected, size_t bytes) {
    struct stat about;
    int const file = open(name, O_RDONLY);
    if (file < 0 || fstat(file, &about) != 0) {
        wrong("no file was written");
        return;
    }
    size_t const size = (size_t)about.st_size;
    unsigned char* const found = malloc(size + 1);
    size_t taken = 0;
    for (ssize_t got; taken < size; taken += (size_t)got)
        if ((got = read(file, found + taken, size - taken)) <= 0) break;
    close(file);
    check_bytes(found, expected, taken < bytes ? taken : bytes, "the file");
    if (size != bytes) wrong("the file has %zu bytes, not %zu", size, bytes);
    free(found);
}

/* ---- Cases -------------------------------------------------------------------------------- */

static void add(char const* name, void (*run)(void const*), void const* what, int is_costly) {
    if (case_count == MOST_CASES) abort();
    Case* const one = &cases[case_count++];
    snprintf(one->name, sizeof one->name, "%s", name);
    one->run = run, one->what = what, one->is_costly = is_costly;
}

void add_case(char const* name, void (*run)(void const*), void const* what) {
    add(name, run, what, 0);
}

void add_costly_case(char const* name, void (*run)(void const*), void const* what) {
    add(name, run, what, 1);
}

static int begins_with_any(char const* name, char const* const* begins, int count) {
    for (int i = 0; i < count; ++i)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0) return 1;
    return 0;
}

/* All ranks draw alike. */
static int is_chosen(Case const* one) {
    if (begins_with_any(one->name, left_out, left_out_count)) return 0;
    if (wanted_count > 0) return begins_with_any(one->name, wanted, wanted_count);
    if (one->is_costly) return 0;
    Random random = random_of_case(-1);
    return draw(&random, 1, sample) == 1;
}

/* Prints what the ranks have found; whether any found something wrong. */
static int report(Case const* one) {
    char* const all = malloc((size_t)ranks * WORDS);
    int found = 0;
    MPI_Gather(said, WORDS, MPI_CHAR, all, WORDS, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; ++i) {
        char const* const words = all + (size_t)i * WORDS;
        if (words[0]) printf("wrong %s: rank %d: %s\n", one->name, i, words), found = 1;
    }
    if (rank == 0 && !found && skipped[0])
        printf("skipped %s: %s\n", one->name, skipped);
    else if (rank == 0 && !found)
        printf("ok %s\n", one->name);
    fflush(stdout);
    MPI_Bcast(&found, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(all);
    return found;
}

static int run_all(void) {
    int tried = 0, failed = 0;
    for (current = 0; current < case_count; ++current) {
        Case const* const one = &cases[current];
        if (!is_chosen(one)) continue;
        ++tried;
        if (only_list) {
            if (rank == 0) printf("%s\n", one->name);
            continue;
        }
        said[0] = skipped[0] = '\0';
        one->run(one->what);
        failed += report(one);
    }
    if (rank == 0 && !only_list)
        printf("%d cases on %d ranks, seed %lu: %d wrong\n", tried, ranks, seed, failed);
    return tried == 0 || failed > 0;
}

/* False for an unknown option. */
static int parse(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        char const *const name = argv[i], *const value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--list") == 0)
            only_list = 1;
        else if (strcmp(name, "--host") == 0)
            only_host = 1;
        else if (++i == argc)
            return 0;
        else if (strcmp(name, "--folder") == 0)
            folder = value;
        else if (strcmp(name, "--seed") == 0)
            seed = strtoul(value, NULL, 10);
        else if (strcmp(name, "--sample") == 0)
            sample = strtol(value, NULL, 10);
        else if (strcmp(name, "--case") == 0 && wanted_count < MOST_NAMES)
            wanted[wanted_count++] = value;
        else if (strcmp(name, "--skip") == 0 && left_out_count < MOST_NAMES)
            left_out[left_out_count++] = value;
        else
            return 0;
    }
    return 1;
}

int run_cases(int argc, char** argv, void (*add_all)(void)) {
    int provided;
    if (!parse(argc, argv)) {
        fprintf(stderr, "--case NAME, --skip NAME, --list, --folder DIR, --seed N, --sample N,"
                        " --host\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    signal(SIGSEGV, tell_crash);
    signal(SIGBUS, tell_crash);
    if (sample < 1) sample = 1;
    add_all();
    int const code = run_all();
    MPI_Finalize();
    return code;
}
