/* Sluice's own functions, for what the MPI standard has no words for. A program needs none of
 * them: preloaded, Sluice serves MPI's collective file functions as they are.
 *
 * Conventions: functions return an MPI error class, MPI_SUCCESS when all is well, and call no
 * error handler. Structures begin with their size, set by the caller, so that they can grow.
 * Strings are cut to the space given and always end in a zero. Link with -lsluice before the MPI,
 * or preload. */
#ifndef SLUICE_H
#define SLUICE_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library, such as "0.1.0".
 *  Collective: no.
 *  Blocks: never.
 *  Lifetime: the string lives as long as the library.
 *  Errors: none. */
char const* sluice_version(void);

/** What was done for one open file on this rank, since it was opened. */
typedef struct sluice_statistics {
    size_t size;             /**< sizeof(sluice_statistics), set by the caller. */
    long long operations;    /**< Collective operations that were completed. */
    long long writes, reads; /**< Of these. */
    long long bytes;         /**< Transferred for this rank. */
    double blocked_seconds;  /**< Spent by the program inside these calls and their waits. */
    double busy_seconds;     /**< At least one operation was under way. */
    double helper_seconds;   /**< Processor time of this process's helper thread, all files. */
    double storage_seconds;  /**< The same of its storage threads. */
} sluice_statistics;

/** Reads the statistics of an open file on this rank.
 *  Collective: no.
 *  Blocks: never.
 *  Lifetime: `statistics` is filled before the call returns.
 *  Errors: MPI_ERR_ARG for a null pointer or a wrong size; MPI_ERR_FILE for a file that the MPI
 *  serves itself. Each rank sees its own. */
int sluice_file_statistics(MPI_File file, sluice_statistics* statistics);

/** Describes, for people, the plan of the last completed operation on a file and why it was chosen;
 *  empty when there was none yet.
 *  Collective: no.
 *  Blocks: never.
 *  Lifetime: `text` is filled before the call returns.
 *  Errors: MPI_ERR_ARG for no space; MPI_ERR_FILE for a file that the MPI serves itself. Plans are
 *  the same on all ranks. */
int sluice_file_plan(MPI_File file, char* text, size_t text_bytes);

#ifdef __cplusplus
}
#endif
#endif
