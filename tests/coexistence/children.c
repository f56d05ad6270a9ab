/* Starts other programs in three ways; each says what is preloaded into it. */
#include "pieces.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAY " preloads [$LD_PRELOAD], maps $(grep -c libsluice /proc/self/maps)\""

static void by_popen(char const* command) {
    char line[4096];
    FILE* const child = popen(command, "r");
    require(child && fgets(line, sizeof line, child), "popen");
    fputs(line, stdout);
    pclose(child);
}

static void by_posix_spawn(char* command) {
    char shell[] = "sh", option[] = "-c";
    char* const arguments[] = {shell, option, command, NULL};
    pid_t child;
    require(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) == 0, "posix_spawn");
    waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        char spawned[] = "echo \"posix_spawn" SAY;
        printf("this program %s\n", dlsym(RTLD_DEFAULT, "sluice_version") ? "is preloaded" : "-");
        fflush(stdout);
        require(system("echo \"system" SAY) == 0, "system");
        by_popen("echo \"popen" SAY);
        fflush(stdout);
        by_posix_spawn(spawned);
    }
    MPI_Finalize();
    return 0;
}
