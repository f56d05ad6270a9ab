"""Ten thousand nonblocking collective writes of 64 KiB a rank, each behind some computation: what
results/traced runs with a trace. Names no Sluice.

    many_operations.py FILE OPERATIONS

A step is computation, call and wait. In turn ten steps are recorded and ten are not
(MPI_Pcontrol), so that what else the machine does meets both. Rank 0 prints for each such pair the
seconds of the ten steps without a record, and of those with.
"""
import sys
import time

import numpy as np
from mpi4py import MPI

ROWS, COLUMNS = 64, 128  # doubles of one rank; rows of the ranks lie in turn
WORK, TIMES = 150_000, 4  # elements that are squared behind each write, and how often: 0.2 ms
BLOCK = 10  # steps
world = MPI.COMM_WORLD


def main(name, operations):
    mine = np.full((ROWS, COLUMNS), world.rank, dtype="d")
    view = MPI.DOUBLE.Create_subarray([ROWS, COLUMNS * world.size], mine.shape,
                                      [0, COLUMNS * world.rank]).Commit()
    file = MPI.File.Open(world, name, MPI.MODE_CREATE | MPI.MODE_WRONLY)
    file.Set_view(0, MPI.DOUBLE, view)
    values, squares = np.ones(WORK), np.empty(WORK)
    world.Barrier()
    for first in range(0, operations, 2 * BLOCK):
        pair = {}
        for recorded in ((False, True) if first // (2 * BLOCK) % 2 else (True, False)):
            MPI.Pcontrol(1 if recorded else 0)
            began = time.monotonic()
            steps(file, mine, values, squares)
            pair[recorded] = time.monotonic() - began
        if world.rank == 0:
            print(f"seconds {pair[False]:.9f} {pair[True]:.9f}")
    file.Close()


def steps(file, mine, values, squares):
    for step in range(BLOCK):
        request = file.Iwrite_at_all(step % 16 * mine.size, mine)  # The file stays small.
        for _ in range(TIMES):
            np.multiply(values, values, out=squares)
        request.Wait()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
