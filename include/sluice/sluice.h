/* Sluice's own functions, for what the MPI standard has no words for. A program needs none of
 * them: preloaded, Sluice serves MPI's collective file functions as they are.
 *
 * Conventions: functions return an MPI error class, MPI_SUCCESS when all is well, and call no
 * error handler, but where one is named. Structures begin with their size, set by
 * the caller, so that they can grow.
 * Strings are cut to the space given and always end in a zero. Link with -lsluice before the MPI,
 * or preload. */
#ifndef SLUICE_H
#define SLUICE_H

#include "sluice/collectives.h"

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
    /* Of this rank, added up over operations: the stages of an operation follow each other. */
    double survey_seconds;    /**< From the call until all know what all want. */
    double claims_seconds;    /**< Until aggregators know whose bytes they get. */
    double exchange_seconds;  /**< Until this rank's part of the data has been moved. */
    double agreement_seconds; /**< Until all ranks know the outcome. */
    /* Inside of these: */
    double
        copy_seconds; /**< Copies between the program's memory, collective buffers and messages. */
    double transfer_seconds; /**< A transfer to or from the file was under way. */
    double message_seconds;  /**< A message was on its way to or from another node, or awaited. */
    long long
        messages; /**< Sent to other nodes, without those of exchange of summaries and agreement. */
    long long message_bytes; /**< Their lengths, added up. */
    /* Where the machine is known (SLUICE_PROFILE): the cost model against the clock. */
    long long priced_operations; /**< Of which it said how long they take. */
    double estimated_seconds;    /**< What it said, added up. */
    double priced_seconds;       /**< What they took on this rank, from the call to its end. */
} sluice_statistics;

/** Reads the statistics of an open file on this rank.
 *  Collective: no.
 *  Blocks: until the blocking collective calls that this rank has made have ended on all ranks.
 *  Lifetime: `statistics` is filled before the call returns.
 *  Errors: MPI_ERR_ARG for a null pointer or a wrong size; MPI_ERR_FILE for a file that the MPI
 *  serves itself. Each rank sees its own. */
int sluice_file_statistics(MPI_File file, sluice_statistics* statistics);

/** Describes, for people, the plan of the last completed operation on a file and why it was chosen;
 *  empty when there was none yet.
 *  Collective: no.
 *  Blocks: as sluice_file_statistics().
 *  Lifetime: `text` is filled before the call returns.
 *  Errors: MPI_ERR_ARG for no space; MPI_ERR_FILE for a file that the MPI serves itself. Plans are
 *  the same on all ranks. */
int sluice_file_plan(MPI_File file, char* text, size_t text_bytes);

/** Lets the data accesses of this rank begin when all is done that a stream of a GPU was given
 *  before the call, so that the program need not wait for the kernel that fills a buffer. A
 *  blocking call waits for the stream itself, and so do a split one with write-behind or
 *  read-ahead, one that converts, and one that the MPI serves. Others return at once and begin
 *  later, as do the collective calls after them on the file. The info object of MPI_File_open,
 *  MPI_File_set_view or MPI_File_set_info says the same by the keys "type" and "value", as MPICH's
 *  MPIX_Stream_create has them.
 *  Collective: no; each rank has a stream of its own, or none. Not while another thread is in a
 *  call on the file.
 *  Blocks: never.
 *  Lifetime: the stream must live until another one is set or the file is closed. The library puts
 *  events into it and nothing else, so it waits for nothing of the library's.
 *  `type`: "cudaStream_t" (or a CUstream) or "hipStream_t"; a null pointer: no stream any more.
 *  Errors: MPI_ERR_ARG for another type; MPI_ERR_FILE for a file that the MPI serves itself. What
 *  the driver says of the stream later is an error of the call that begins after it, on all ranks
 *  of a collective call. */
int sluice_file_set_stream(MPI_File file, char const* type, void* stream);

/* A `sluice_request` of a file is a collective access that is set up once and started any number
 * of times: what MPI's persistent collective operations (MPI-4.1, 6.13) are to messages. It is
 * inactive until it is started, and again once a wait or a successful test has returned.
 *
 * The arguments, the view, its data representation and the layout of the datatype are those of the
 * call that made it: a later MPI_File_set_view does not concern it, and the datatype may be freed.
 * Hints and the atomic mode are those of each start. Each start is an operation of its own, in the
 * order of the collective calls on the file; several of different requests may be under way.
 * MPI_File_sync and MPI_File_close complete what was started; after the close it can only be
 * waited for and freed. */
/** Sets up a write of `count` items of `type` at `offset`, in etypes of the view that is set now.
 *  Writes nothing: sluice_start() does.
 *  Collective: yes, over the file's communicator, in the same order as other calls on the file.
 *  Blocks: until all ranks have called it.
 *  Lifetime: `buffer` is kept, not copied: it must live until the request is freed, and be left
 *  alone while it is active. The datatype may be freed when the call returns. The request has to be
 *  freed by sluice_request_free().
 *  Errors: bad arguments of any rank (MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_ARG, MPI_ERR_READ_ONLY)
 *  end the call on all ranks with the same class, through the file's error handler; `request` is
 *  then SLUICE_REQUEST_NULL. MPI_ERR_ARG for a null pointer, MPI_ERR_FILE for no file. On a file
 *  that the MPI serves itself bad arguments show at sluice_start(), and the view is that of the
 *  start. */
int sluice_write_at_all_init(MPI_File file, MPI_Offset offset, void const* buffer, MPI_Count count,
                             MPI_Datatype type, sluice_request* request);

/** Sets up a read; else as sluice_write_at_all_init().
 *  Collective: yes, over the file's communicator.
 *  Blocks: until all ranks have called it.
 *  Lifetime: `buffer` must live until the request is freed; it holds the data after each wait.
 *  Errors: as sluice_write_at_all_init(), with MPI_ERR_ACCESS for a file that is not read. */
int sluice_read_at_all_init(MPI_File file, MPI_Offset offset, void* buffer, MPI_Count count,
                            MPI_Datatype type, sluice_request* request);

/** Starts a persistent request that is inactive, of a file or of sluice/collectives.h.
 *  Collective: yes, over the communicator, in the same order as other calls on the file (or on the
 *  communicator).
 *  Blocks: never, but for buffers on a GPU where the call converts, or the MPI serves it, or of a
 *  collective between memories; a helper thread moves the bytes while the program computes.
 *  Lifetime: the buffer must be left alone until a wait or a successful test has returned.
 *  Errors: MPI_ERR_REQUEST for one that is active, through the error handler of the file or the
 *  communicator, or for none; MPI_ERR_FILE when the file was closed. What goes wrong later is told
 *  by the wait. */
int sluice_start(sluice_request request);

/** Starts all of `requests`, in their order.
 *  Collective: yes, as as many calls of sluice_start().
 *  Blocks: never.
 *  Lifetime: as sluice_start().
 *  Errors: those of sluice_start(): that of the first that failed; the others are started. */
int sluice_startall(int count, sluice_request const* requests);

/** Waits until the operation has ended: of a file on all ranks, of a collective between memories on
 *  this one. A persistent request is inactive then, another one gone. One that is inactive already
 *  has an empty status.
 *  Collective: no, but every rank has to complete what it has started.
 *  Blocks: until the ranks that this one needs have started it and all its bytes were moved.
 *  Lifetime: the buffer belongs to the program again, until the next start.
 *  Errors: of a file the same class on all ranks, through its error handler; of a collective
 *  between memories what this rank met, through the communicator's; MPI_ERR_REQUEST for none.
 *  `status` tells the bytes of a file's access; it may be MPI_STATUS_IGNORE. */
int sluice_wait(sluice_request request, MPI_Status* status);

/** Waits for all of `requests`.
 *  Collective: no, as sluice_wait().
 *  Blocks: until all are complete.
 *  Lifetime: as sluice_wait().
 *  Errors: that of the first that failed; MPI_ERROR of each status has its own. `statuses` may be
 *  MPI_STATUSES_IGNORE. */
int sluice_waitall(int count, sluice_request const* requests, MPI_Status* statuses);

/** Sets `complete` to 1 and does what sluice_wait() does if that need not wait, else to 0.
 *  Collective: no.
 *  Blocks: never.
 *  Lifetime: as sluice_wait() where `complete` is 1.
 *  Errors: as sluice_wait(); MPI_ERR_ARG for a null pointer. */
int sluice_test(sluice_request request, int* complete, MPI_Status* status);

/** Frees a request that is inactive and sets it to SLUICE_REQUEST_NULL.
 *  Collective: no.
 *  Blocks: never.
 *  Lifetime: the buffer is not used any more.
 *  Errors: MPI_ERR_REQUEST for one that is active, through the error handler of the file or, of a
 *  persistent one, of the communicator, or for none; it is then left as it is. */
int sluice_request_free(sluice_request* request);

#ifdef __cplusplus
}
#endif
#endif
