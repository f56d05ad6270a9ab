"""A provider of libfabric that registers no memory, so that long messages between nodes fail.

A collective write that needs them ends with MPI_ERR_NO_MEM on all ranks; one with short messages
goes on, before and after. Whether a read needs them is the plan's affair: it ends on all ranks
with that class or brings the right bytes. The file can be closed.
"""
import os
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
SHORT, LONG = 16, 16384  # bytes of a piece; each rank has some
PIECES = 32


def check(condition, what):
    if not condition:
        print(f"rank {comm.rank}: {what}: does not hold", file=sys.stderr, flush=True)
        comm.Abort(1)


def call(file, function, piece, array):
    """Pieces of the ranks take turns in the file. The error class, which all ranks have."""
    view = MPI.BYTE.Create_vector(PIECES, piece, piece * comm.size).Commit()
    file.Set_view(piece * comm.rank, MPI.BYTE, view)
    view.Free()
    found = MPI.SUCCESS
    try:
        function(0, array)
    except MPI.Exception as error:
        found = error.Get_error_class()
    classes = comm.allgather(found)
    check(len(set(classes)) == 1, f"all ranks have the same class, not {classes}")
    return found


def bytes_of(rank, piece):
    return np.random.default_rng(rank).integers(0, 256, (PIECES, piece), np.uint8)


def short_write_goes_on(file, path, when):
    found = call(file, file.Write_at_all, SHORT, bytes_of(comm.rank, SHORT))
    check(found == MPI.SUCCESS, f"short write {when}: class {found} is MPI_SUCCESS")
    whole = np.stack([bytes_of(rank, SHORT) for rank in range(comm.size)], axis=1).ravel()
    check(np.array_equal(np.fromfile(path, np.uint8, len(whole)), whole),
          f"short write {when}: the bytes are in the file")
    comm.Barrier()


def read_is_right_or_fails(file, path):
    read = np.zeros((PIECES, LONG), np.uint8)
    found = call(file, file.Read_at_all, LONG, read)
    whole = np.fromfile(path, np.uint8).reshape(PIECES, comm.size, LONG)
    check(found == MPI.ERR_NO_MEM or
          (found == MPI.SUCCESS and np.array_equal(read, whole[:, comm.rank])),
          f"long read: class {found} is MPI_ERR_NO_MEM, or the bytes are right")


def main():
    path = os.path.join(sys.argv[sys.argv.index("--dir") + 1], "refused.bin")
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_size(PIECES * LONG * comm.size)
    short_write_goes_on(file, path, "before")
    for _ in range(2):
        found = call(file, file.Write_at_all, LONG, bytes_of(comm.rank, LONG))
        check(found == MPI.ERR_NO_MEM, f"long write: class {found} is MPI_ERR_NO_MEM")
        read_is_right_or_fails(file, path)
    short_write_goes_on(file, path, "after")
    file.Close()


main()
