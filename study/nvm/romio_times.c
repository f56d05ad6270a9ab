// Preloaded, it times what ROMIO does inside of a blocking collective call, where the NVM paper put
// timers into ROMIO's source: the exchange of data of each iteration (MPI_Alltoall, MPI_Irecv,
// MPI_Isend, MPI_Waitall) and the transfer to or from the file (pwrite, pread). MPICH's ROMIO calls
// these functions by their PMPI names and through the table of dynamic symbols, so that a preloaded
// library sees them. A program asks for `romio_times` by dlsym.
//
// The iterations begin behind the MPI_Allreduce by which ROMIO agrees on their number. What it does
// before (offsets of all ranks, whose pieces lie where) belongs to no iteration.
#define _GNU_SOURCE
#include "romio_times.h"

#include <dlfcn.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

enum Where { outside, before_iterations, in_iterations };

static RomioTimes times;
static __thread enum Where where;

RomioTimes const* romio_times(void);
RomioTimes const* romio_times(void) { return &times; }

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define NEXT(name)                                                                                 \
    static __typeof__(name)* next;                                                                 \
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name);

#define SHUFFLES(name, parameters, arguments)                                                      \
    int name parameters {                                                                          \
        NEXT(name)                                                                                 \
        double const begin = now();                                                                \
        int const code = next arguments;                                                           \
        if (where == in_iterations) times.shuffle += now() - begin;                                \
        return code;                                                                               \
    }

SHUFFLES(PMPI_Irecv,
         (void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
          MPI_Request* request),
         (buf, count, type, source, tag, comm, request))
SHUFFLES(PMPI_Isend,
         (void const* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
          MPI_Request* request),
         (buf, count, type, dest, tag, comm, request))
SHUFFLES(PMPI_Waitall, (int count, MPI_Request requests[], MPI_Status* statuses),
         (count, requests, statuses))

int PMPI_Alltoall(void const* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    NEXT(PMPI_Alltoall)
    double const begin = now();
    int const code = next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    if (where == in_iterations) {
        double const seconds = now() - begin;
        times.shuffle += seconds;
        times.meeting += seconds;
        ++times.iterations;
    }
    return code;
}

int PMPI_Allreduce(void const* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) {
    NEXT(PMPI_Allreduce)
    int const code = next(sendbuf, recvbuf, count, type, op, comm);
    if (where == before_iterations) where = in_iterations;
    return code;
}

static void transferred(double begin) {
    if (where == outside) return;
    times.transfer += now() - begin;
    ++times.transfers;
}

ssize_t pwrite(int file, void const* buf, size_t bytes, off_t offset) {
    NEXT(pwrite)
    double const begin = now();
    ssize_t const moved = next(file, buf, bytes, offset);
    transferred(begin);
    return moved;
}

ssize_t pread(int file, void* buf, size_t bytes, off_t offset) {
    NEXT(pread)
    double const begin = now();
    ssize_t const moved = next(file, buf, bytes, offset);
    transferred(begin);
    return moved;
}

#define COLLECTIVE(name, buffer)                                                                   \
    int name(MPI_File file, MPI_Offset offset, buffer, int count, MPI_Datatype type,               \
             MPI_Status* status) {                                                                 \
        double const begin = now();                                                                \
        where = before_iterations;                                                                 \
        int const code = P##name(file, offset, buf, count, type, status);                          \
        where = outside;                                                                           \
        times.call += now() - begin;                                                               \
        return code;                                                                               \
    }

COLLECTIVE(MPI_File_write_at_all, void const* buf)
COLLECTIVE(MPI_File_read_at_all, void* buf)
