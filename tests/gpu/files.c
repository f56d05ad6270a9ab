/* Files whose data lie in memory of devices: all ways that MPI has to write and read, all kinds of
 * memory and views, and what programs do besides. Each byte is checked. The options are those of
 * cases.h. */
#include "files.h"

#include "transfers.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Pattern {
    Way const* way;
    MemoryKind memory;
    FileKind file;
} Pattern;

/* A few items, of about as many bytes on each rank. */
static Part draw_part(MemoryKind kind, Place place) {
    Random random = random_of_case(rank);
    Layout const memory = draw_memory(kind, &random);
    long const most = 60000 / (long)memory.bytes;
    return make_part(memory,
                     (int)draw(&random, 1,
                               most < 1    ? 1
                               : most > 12 ? 12
                                           : most),
                     place, device_of(rank));
}

static void run_pattern(void const* what) {
    Pattern const* const pattern = what;
    if (pattern->way == way_named("persistent") && !has_persistent()) {
        skip("no function for it");
        return;
    }
    Part part = draw_part(pattern->memory, DEVICE);
    write_and_read(pattern->way, pattern->file, &part);
    free_part(&part);
}

/* The same in a file that the MPI serves. */
static void run_left(void const* what) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sluice", "disable");
    open_with(info);
    run_pattern(what);
    open_with(MPI_INFO_NULL);
    MPI_Info_free(&info);
}

static void add_left(void) {
    static Pattern patterns[100];
    int count = 0;
    for (int way = 0; way < way_count; ++way)
        for (int memory = 0; memory <= RANDOM; ++memory) {
            char name[64];
            FileKind const file = ways[way].position == SHARED_POINTER ? BLOCKS : TILES;
            Pattern const pattern = {&ways[way], (MemoryKind)memory, file};
            patterns[count] = pattern;
            snprintf(name, sizeof name, "left/%s/%s", ways[way].name, memory_names[memory]);
            add_case(name, run_left, &patterns[count++]);
        }
}

/* With the shared pointer there is one view. */
static void add_patterns(void) {
    static Pattern patterns[400];
    int count = 0;
    for (int way = 0; way < way_count; ++way)
        for (int memory = 0; memory < MEMORY_KINDS; ++memory)
            for (int file = 0; file < FILE_KINDS; ++file) {
                char name[64];
                int const is_shared = ways[way].position == SHARED_POINTER;
                if (is_shared && file != BLOCKS) continue;
                Pattern const pattern = {&ways[way], (MemoryKind)memory, (FileKind)file};
                patterns[count] = pattern;
                snprintf(name, sizeof name, "%s/%s/%s", ways[way].name, memory_names[memory],
                         file_names[file]);
                add_case(name, run_pattern, &patterns[count++]);
            }
}

static void add_all(void) {
    add_patterns();
    add_left();
    add_places();
    add_programs();
    add_streams();
}

int main(int argc, char** argv) { return run_cases(argc, argv, add_all); }
