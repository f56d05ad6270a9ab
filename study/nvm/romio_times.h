// What romio_times.c, preloaded, tells of this rank's blocking collective calls so far.
#pragma once

typedef struct {
    double call;      // Seconds in MPI_File_write_at_all and MPI_File_read_at_all.
    double transfer;  // Of them, in ROMIO's pwrite and pread.
    double shuffle;   // In ROMIO's iterations: MPI_Alltoall, MPI_Irecv, MPI_Isend, MPI_Waitall.
    double meeting;   // Of `shuffle`, in MPI_Alltoall, where ranks wait for each other.
    long iterations;  // Of ROMIO, each with one MPI_Alltoall.
    long transfers;   // Calls of pwrite and pread.
} RomioTimes;
