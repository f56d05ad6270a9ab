/* The cases of a test program with several ranks: their names, what was found wrong in one, what is
 * drawn for it, and buffers in memory of all kinds. */
#ifndef CASES_H
#define CASES_H

#include <mpi.h>
#include <stddef.h>

extern int rank, ranks;

/* Notes what is wrong on this rank in the case under way; the first words stay. */
void wrong(char const* format, ...) __attribute__((format(printf, 1, 2)));
int is_wrong(void);
/* This case cannot be tried here. All ranks must say so. */
void skip(char const* why);
/* Whether a call was well; else its error is noted, with the end of its words. */
int went(int code, char const* call);

/* Adds a case; `what` is given to `run`. */
void add_case(char const* name, void (*run)(void const* what), void const* what);
/* The same, but only tried when its name is given. */
void add_costly_case(char const* name, void (*run)(void const* what), void const* what);
/* The main part of a program: options, MPI, all cases that were added by `add`. Options:
 *   --case NAME    only cases whose names begin so; may be given again
 *   --skip NAME    none of those; may be given again
 *   --list         names only
 *   --folder DIR   where files go
 *   --seed N       of what is drawn
 *   --sample N     about one case in so many, drawn
 *   --host         all memory is the host's, to try the program itself */
int run_cases(int argc, char** argv, void (*add)(void));

/* A name in the folder that is the same on all ranks; one rank removes an earlier file. */
char const* file_name(char const* end);

/* What is drawn by this case with this number (such as a rank). */
typedef struct Random {
    unsigned long long state;
} Random;
Random random_of_case(int number);
/* From low to high, both included. */
long draw(Random* random, long low, long high);

typedef enum Place { HOST, PINNED, MANAGED, DEVICE } Place;
/* The devices are those of the ranks in turn. */
int device_of(int number);
int has_devices(void);

/* Memory somewhere, and its image on the host. */
typedef struct Buffer {
    Place place;
    size_t bytes;
    unsigned char *image, *memory;
    void* allocated;
} Buffer;
/* All bytes of the image are GAP. */
enum { GAP = 0xEE };
Buffer make_buffer(Place place, int device, size_t bytes);
/* On a device, of this CUcontext. */
Buffer make_buffer_in(void* context, size_t bytes);
void put_buffer(Buffer const* buffer);
/* A copy of what the memory holds now; to be freed. */
unsigned char* get_buffer(Buffer const* buffer);
/* Notes what differs between the memory and the image. */
void check_buffer(Buffer const* buffer, char const* what);
void free_buffer(Buffer* buffer);

/* Notes the first difference. */
void check_bytes(unsigned char const* found, unsigned char const* expected, size_t bytes,
                 char const* what);
/* Whether the file has just these bytes; read without MPI. */
void check_file(char const* name, unsigned char const* expected, size_t bytes);

#endif
