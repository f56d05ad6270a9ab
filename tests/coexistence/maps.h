/* What of Sluice's is mapped into this process. */
#ifndef MAPS_H
#define MAPS_H

#include <stdio.h>
#include <string.h>

static inline int shared_maps(void) {
    char line[4096];
    int found = 0;
    FILE* const maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) found += strstr(line, "/memfd:") != NULL;
    fclose(maps);
    return found;
}

#endif
