/* Opens a file where ROMIO_HINTS names a file of hints that only the first rank sees, and says what
 * holds then: `romio_hints PATH LINES [HINT VALUE]...`, with `;` for the ends of lines. "missing"
 * and "folder" stand for a file that is none. */
#include "pieces.h"

#include <string.h>

static int is_first(void) {
    char const* const mpich = getenv("PMI_RANK");
    char const* const rank = mpich ? mpich : getenv("OMPI_COMM_WORLD_RANK");
    return rank && atoi(rank) == 0;
}

static void make_lines(char const* path, char const* lines) {
    char name[4096];
    snprintf(name, sizeof name, "%s.hints", path);
    if (strcmp(lines, "folder") == 0) snprintf(name, sizeof name, "/tmp");
    setenv("ROMIO_HINTS", is_first() ? name : "/nowhere/hints", 1);
    int const made = is_first() && strcmp(lines, "folder") != 0 && strcmp(lines, "missing") != 0;
    FILE* const file = made ? fopen(name, "w") : NULL;
    if (!file) return;
    for (char const* at = lines; *at; ++at) fputc(*at == ';' ? '\n' : *at, file);
    fclose(file);
}

static void show(MPI_File file, int rank, char const* when, char const* const* names) {
    MPI_Info info;
    MPI_File_get_info(file, &info);
    for (; *names; ++names) {
        char value[MPI_MAX_INFO_VAL + 1] = "not there";
        int found;
        MPI_Info_get(info, *names, MPI_MAX_INFO_VAL, value, &found);
        printf("%srank %d: %s=%s\n", when, rank, *names, value);
    }
    MPI_Info_free(&info);
}

int main(int argc, char** argv) {
    char const* const names[] = {
        "cb_nodes",      "cb_buffer_size",  "romio_cb_write", "romio_cb_read", "cb_config_list",
        "striping_unit", "striping_factor", "sluice_domains", "sluice_close",  NULL};
    make_lines(argv[1], argv[2]);
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Info hints;
    MPI_Info_create(&hints);
    for (int i = 3; i + 1 < argc; i += 2) MPI_Info_set(hints, argv[i], argv[i + 1]);
    MPI_File file = open_pieces(MPI_COMM_WORLD, argv[1], hints);
    show(file, rank, "", names);
    int const by_sluice = served(file);
    unsigned char data[PIECES * PIECE_BYTES];
    fill_pieces(data, rank);
    view_pieces(file, rank, ranks);
    MPI_File_set_info(file, hints);
    show(file, rank, "later, ", names);
    MPI_Request request = start_pieces(file, data);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    typedef int Plan(MPI_File, char*, size_t);
    Plan* const plan = (Plan*)dlsym(RTLD_DEFAULT, "sluice_file_plan");
    char text[1000] = "none";
    if (plan && by_sluice) plan(file, text, sizeof text);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) check_pieces(argv[1], ranks);
    if (rank == 0) printf("plan: %s\n", text);
    if (rank == 0) printf("served by %s\n", by_sluice ? "sluice" : "the MPI");
    MPI_Info_free(&hints);
    MPI_Finalize();
    return 0;
}
