"""What tests/trace/run.py traces: every way to move bytes, with computation between the calls.

    program.py FILE [--long | --die | --limit BYTES | --pause]

Each rank has its columns of an array. --long: operations until the ring is full. --die: rank 1 is
killed amid the job. --limit: from then on no file may be longer, as on a full disk. --pause: the
trace is paused while it writes.
"""
import os
import resource
import signal
import sys
import time

import numpy as np
from mpi4py import MPI

ROWS, COLUMNS = 64, 64
world = MPI.COMM_WORLD


def compute(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def columns(value):
    return np.full((ROWS, COLUMNS // world.size), value, dtype="d")


def write_in_every_way(file):
    """Five operations whose bytes are of a pattern that ranks share, and one of a rank alone."""
    request = file.Iwrite_all(columns(world.rank))
    compute(0.01)
    request.Wait()
    first, second = file.Iwrite_all(columns(1)), file.Iwrite_all(columns(2))
    while not second.Test():
        compute(0.001)
    first.Wait()
    file.Write_all(columns(3))
    file.Write_all_begin(columns(4))
    compute(0.005)
    file.Write_all_end(columns(4))
    file.Iwrite_at(0, np.ones(COLUMNS // world.size)).Wait()


def read_back(file):
    """The second of the arrays that were written."""
    found = columns(0)
    file.Seek(found.size)
    file.Read_all(found)
    if not (found == 1).all():
        print(f"rank {world.rank}: wrong bytes", file=sys.stderr, flush=True)
        world.Abort(3)


def main(name, *words):
    mine = columns(0)
    view = MPI.DOUBLE.Create_subarray([ROWS, COLUMNS], mine.shape,
                                      [0, world.rank * mine.shape[1]]).Commit()
    file = MPI.File.Open(world, name, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_view(0, MPI.DOUBLE, view)
    if "--limit" in words:
        most = int(words[words.index("--limit") + 1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    MPI.Pcontrol(0 if "--pause" in words else 1)
    write_in_every_way(file)
    MPI.Pcontrol(1)
    for _ in range(200 if "--long" in words else 0):
        file.Write_all(columns(5))
    for _ in range(800 if "--limit" in words else 0):
        file.Read_at_all(0, columns(0))
    if "--limit" in words:
        time.sleep(1.5)  # Parts are written once a second.
    if "--die" in words:
        time.sleep(2.5)
        if world.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(30)
    world.Barrier()
    read_back(file)
    file.Close()


if __name__ == "__main__":
    main(*sys.argv[1:])
