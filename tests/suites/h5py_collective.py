"""h5py with driver="mpio": columns written and read collectively. Usage: h5py_collective.py FILE"""
import sys

import h5py
import numpy as np
from mpi4py import MPI

ROWS, COLUMNS_EACH = 48, 20
world = MPI.COMM_WORLD
whole = np.arange(ROWS * COLUMNS_EACH * world.size).reshape(ROWS, -1)


def columns(rank):
    return np.s_[:, rank * COLUMNS_EACH:(rank + 1) * COLUMNS_EACH]


def report(name, right):
    right = world.allreduce(bool(right), MPI.LAND)
    if world.rank == 0:
        print(f"case {name}: {'right' if right else 'wrong'}", flush=True)


layouts = {"contiguous": {}, "chunked": {"chunks": (7, 6)}}
with h5py.File(sys.argv[1], "w", driver="mpio", comm=world) as file:
    for layout, options in layouts.items():
        data = file.create_dataset(layout, whole.shape, whole.dtype, **options)
        mine = columns(world.rank)
        with data.collective:
            data[mine] = whole[mine]
        report(f"write/{layout}", True)
with h5py.File(sys.argv[1], "r", driver="mpio", comm=world) as file:
    for layout in layouts:
        others = columns((world.rank + 1) % world.size)
        with file[layout].collective:
            report(f"read/{layout}", np.array_equal(file[layout][others], whole[others]))
world.Barrier()
with h5py.File(sys.argv[1], "r") as file:  # Without MPI.
    for layout in layouts:
        report(f"without_mpi/{layout}", np.array_equal(file[layout][()], whole))
