/* Files of long pieces, each of one letter. */
#ifndef LETTERS_H
#define LETTERS_H

#include <stdio.h>

enum { LETTERS_BYTES = 1 << 20 }; /* Of a piece. */

/* How many of the first pieces are of the letter. Looks without MPI. */
static inline int count_letters(char const* path, int pieces, char letter) {
    int found = 0;
    FILE* const file = fopen(path, "rb");
    for (int i = 0; file && i < pieces; ++i) {
        fseek(file, (long)i * LETTERS_BYTES + 4711, SEEK_SET);
        found += fgetc(file) == letter;
    }
    if (file) fclose(file);
    return found;
}

#endif
