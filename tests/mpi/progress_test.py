"""A Python program whose file operations must move while it computes (progress_test.cpp says why).

Each rank starts one operation on the slow device that SLUICE_TEST names, computes without a call of
MPI until all its bytes are there, and then asks once whether the operation is complete. With
helper=off there the bytes must be missing instead.
"""
import os
import sys
import time

import numpy as np
from mpi4py import MPI

PIECE, PIECES = 4096, 1024     # 4 MiB a rank: 70 ms of the device and more.
LONGEST, IN_VAIN, AFTERWARDS = 30, 0.5, 0.2  # seconds
ALONE = "helper=off" not in os.environ["SLUICE_TEST"]
comm = MPI.COMM_WORLD


def compute(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


def moved(are_there):
    end = time.monotonic() + (LONGEST if ALONE else IN_VAIN)
    while time.monotonic() < end:
        if are_there():
            return True
        compute(0.005)
    return False


def check(condition, what):
    if not condition:
        print(f"rank {comm.rank}: {what}: does not hold", file=sys.stderr, flush=True)
        comm.Abort(1)


def main():
    path = os.path.join(sys.argv[sys.argv.index("--dir") + 1], "progress_python.bin")
    whole = np.random.default_rng(1).integers(0, 256, (PIECES, comm.size, PIECE), np.uint8)
    mine = np.ascontiguousarray(whole[:, comm.rank])
    view = MPI.BYTE.Create_vector(PIECES, PIECE, PIECE * comm.size).Commit()
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_view(PIECE * comm.rank, MPI.BYTE, view)
    read = np.zeros_like(mine)

    def in_file():
        return np.array_equal(np.fromfile(path, np.uint8), whole.ravel())

    def in_memory():
        return np.array_equal(read, mine)

    for start, array, are_there, what in ((file.Iwrite_at_all, mine, in_file, "write"),
                                          (file.Iread_at_all, read, in_memory, "read")):
        comm.Barrier()
        request = start(0, array)
        check(moved(are_there) == ALONE, f"{what}: bytes move without a call: {ALONE}")
        if ALONE:
            compute(AFTERWARDS)
            check(request.Test(), f"{what}: the first Test finds the end")
        else:
            request.Wait()
    check(in_memory(), "bytes read")
    file.Close()
    check(in_file(), "bytes written")


main()
