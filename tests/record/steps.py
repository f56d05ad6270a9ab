"""A time series in Python, for sluice record: FILE. Every byte written is not zero."""
import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
side = 32
mine = numpy.full((side, side), 0x01010101 * (1 + world.rank), dtype="i4")
wide = [side, side * world.size]
view = MPI.INT.Create_subarray(wide, [side, side], [0, side * world.rank], order=MPI.ORDER_F)
view.Commit()
hints = MPI.Info.Create({"cb_nodes": "1"})
file = MPI.File.Open(world, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR, hints)
file.Preallocate(4 * side * side * world.size)
for step in range(5):
    file.Set_view(step * mine.nbytes * world.size, MPI.INT, view)
    request = file.Iwrite_all(mine)
    numpy.fft.fft(mine)
    request.Wait()
last = numpy.empty_like(mine)
file.Read_at_all(0, last)
assert (last == mine).all()
file.Close()
again = MPI.File.Open(world, sys.argv[1], MPI.MODE_RDONLY)
again.Set_view(0, MPI.INT, view)
again.Read_all(last)
again.Close()
