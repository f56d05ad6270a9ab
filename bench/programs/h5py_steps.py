"""Time steps by h5py with driver="mpio": one dataset, of which each step is written or read with
collective transfers. The twin in Python of what steps.h does for the programs in C.

Usage: h5py_steps.py WAY FILE STEPS BYTES_PER_RANK COMPUTE_SECONDS_PER_STEP
"""
import contextlib
import json
import os
import sys
import time

import h5py
import numpy as np
from mpi4py import MPI

WIDTH = 512  # doubles of a rank in a row: 4 KiB
WAYS = ("write_collective", "read_collective")
world = MPI.COMM_WORLD


def spin(iterations):
    """Dependent multiplications, counted and not timed: lost cores make it last longer."""
    x = 1
    for _ in range(iterations):
        x = (x * 6364136223846793005 + 1442695040888963407) & 0xffffffffffffffff
    return x


def wait_for_all():
    """A barrier in which a rank sleeps, so that it takes no core from one that is timed."""
    request = world.Ibarrier()
    while not request.Test():
        time.sleep(1e-4)


def time_together(iterations):
    """Seconds for which all ranks compute at the same time."""
    wait_for_all()
    begin = MPI.Wtime()
    spin(iterations)
    mine = MPI.Wtime() - begin
    wait_for_all()
    return world.allreduce(mine, MPI.MAX)


def calibrated_rate():
    """Iterations a second of each rank while all compute, the fastest of some; or STEPS_RATE."""
    if "STEPS_RATE" in os.environ:
        return float(os.environ["STEPS_RATE"])
    sample = 1 << 16
    while time_together(sample) < 0.2:
        sample *= 2
    return sample / min(time_together(sample) for _ in range(5))


class Array:
    """The array of each step, of which a rank has some columns."""

    def __init__(self, bytes_per_rank):
        self.rows = bytes_per_rank // 8 // WIDTH
        self.columns = world.size * WIDTH
        self.mine = slice(world.rank * WIDTH, (world.rank + 1) * WIDTH)
        places = np.arange(self.rows * self.columns, dtype="d").reshape(self.rows, self.columns)
        self.places = np.ascontiguousarray(places[:, self.mine])

    def fill(self, step, values):
        np.add(self.places, (step + 1) * 1e9, out=values)

    def wrong_in_memory(self, step, values):
        return differing_bytes(values, self.places + (step + 1) * 1e9)

    def wrong_in_file(self, path, steps):
        """Each rank checks other rows than it wrote."""
        first, end = (self.rows * rank // world.size for rank in (world.rank, world.rank + 1))
        places = np.arange(first * self.columns, end * self.columns, dtype="d").reshape(-1,
                                                                                      self.columns)
        with h5py.File(path, "r") as plain:  # without MPI
            return sum(differing_bytes(plain["steps"][step, first:end], places + (step + 1) * 1e9)
                       for step in range(steps))


def differing_bytes(found, expected):
    found = np.ascontiguousarray(found)
    return int(np.count_nonzero(found.view(np.uint8) != expected.view(np.uint8)))


class Clock:
    """Seconds of this rank, by what they were spent on."""

    def __init__(self):
        self.spent = dict.fromkeys(("total", "calls", "close", "compute"), 0.0)

    def add(self, name, begin):
        self.spent[name] += MPI.Wtime() - begin


@contextlib.contextmanager
def measured():
    """Does nothing, but tells a library that measures (call_times.c) what is meant."""
    MPI.Pcontrol(1)
    yield
    MPI.Pcontrol(0)


def write_steps(data, array, steps, work, values, clock):
    """New values come in the place of the old ones, as in a simulation."""
    for step in range(steps):
        begin = MPI.Wtime()
        array.fill(step, values)
        spin(work)
        clock.add("compute", begin)
        begin = MPI.Wtime()
        with data.collective, measured():
            data[step, :, array.mine] = values
        clock.add("calls", begin)


def read_steps(data, array, steps, work, values, clock):
    for step in range(steps):
        begin = MPI.Wtime()
        with data.collective, measured():
            data.read_direct(values[step], np.s_[step, :, array.mine])
        clock.add("calls", begin)
        begin = MPI.Wtime()
        spin(work)
        clock.add("compute", begin)


def run_steps(writes, path, array, steps, work, values):
    clock = Clock()
    file = h5py.File(path, "w" if writes else "r", driver="mpio", comm=world)
    if writes:
        file.create_dataset("steps", (steps, array.rows, array.columns), "<f8")
    wait_for_all()
    begin = MPI.Wtime()
    (write_steps if writes else read_steps)(file["steps"], array, steps, work, values, clock)
    closing = MPI.Wtime()
    file.close()
    clock.add("close", closing)
    clock.add("total", begin)
    wait_for_all()
    return clock.spent


def count_wrong(writes, path, array, steps, values):
    folder = os.environ.get("STEPS_CHECK_IN")
    if writes:
        checked = os.path.join(folder, os.path.basename(path)) if folder else path
        wrong = array.wrong_in_file(checked, steps)
    else:
        wrong = sum(array.wrong_in_memory(step, values[step]) for step in range(steps))
    return world.allreduce(wrong)


def main():
    way, path, steps, bytes_per_rank, seconds = sys.argv[1:]
    if way not in WAYS:
        sys.exit(f"there is no way {way}")
    writes, steps = way == "write_collective", int(steps)
    array = Array(int(bytes_per_rank))
    values = np.full(array.places.shape if writes else (steps, *array.places.shape), np.nan)
    rate = calibrated_rate()
    spent = run_steps(writes, path, array, steps, int(rate * float(seconds)), values)
    line = {name: round(world.allreduce(mine, MPI.MAX), 6) for name, mine in spent.items()}
    line |= {"wrong": count_wrong(writes, path, array, steps, values), "rate": round(rate),
             "mpi_library": MPI.Get_library_version().split("\n")[0].replace("\t", " "),
             "library": f"h5py {h5py.__version__}, HDF5 {h5py.version.hdf5_version}"}
    if world.rank == 0:
        print(json.dumps(line), flush=True)


main()
