"""FEniCSx: a function on a mesh at some times, in one XDMF file.

A mesh is partitioned by lot. So each value is compared with the one that belongs to its place.
"""
import h5py
import numpy
from dolfinx import fem, io, mesh
from mpi4py import MPI

world = MPI.COMM_WORLD
cube = mesh.create_unit_cube(world, 24, 24, 24)
function = fem.Function(fem.FunctionSpace(cube, ("Lagrange", 1)))


def wave(x, step):
    return numpy.sin(x[0] * (step + 1)) * x[1] + x[2]


with io.XDMFFile(world, "wave.xdmf", "w") as file:
    file.write_mesh(cube)
    for step in range(8):
        function.interpolate(lambda x, step=step: wave(x, step))
        file.write_function(function, step)
with h5py.File("wave.h5", "r", driver="mpio", comm=world) as file:
    places = file["Mesh/mesh/geometry"][:]
    for step in range(8):
        values = file[f"Function/f/{step}"][:, 0]
        same = len(values) == 25**3 and numpy.allclose(values, wave(places.T, step))
        if world.rank == 0:
            print(f"case {step}: {'right' if same else 'wrong'}", flush=True)
