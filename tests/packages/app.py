"""A program of a user, which knows nothing of Sluice: it writes columns of an array, computes, and
reads them back."""
import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
mine = np.full((1024, 1024 // world.size), world.rank, dtype="d")
view = MPI.DOUBLE.Create_subarray([1024, 1024], mine.shape, [0, world.rank * mine.shape[1]])
file = MPI.File.Open(world, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.DOUBLE, view.Commit())
request = file.Iwrite_all(mine)
spectra = [np.fft.fft(mine.T).real for _ in range(5)]
request.Wait()
back = np.zeros_like(mine)
file.Read_at_all(0, back)
file.Close()
assert (back == mine).all()
if world.rank == 0:
    print("same bytes")
