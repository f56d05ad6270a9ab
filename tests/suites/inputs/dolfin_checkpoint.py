"""FEniCS: a function on a mesh, as checkpoints in XDMF and in HDF5, which are read again."""
import dolfin

world = dolfin.MPI.comm_world
mesh = dolfin.UnitCubeMesh(world, 24, 24, 24)
space = dolfin.FunctionSpace(mesh, "CG", 1)
wave = dolfin.Expression("sin(x[0] * t) * x[1] + x[2]", t=1.0, degree=1)
steps = []
with dolfin.XDMFFile(world, "wave.xdmf") as xdmf, dolfin.HDF5File(world, "state.h5", "w") as state:
    state.write(mesh, "mesh")
    for step in range(4):
        wave.t = step + 1.0
        steps.append(dolfin.interpolate(wave, space))
        xdmf.write_checkpoint(steps[-1], "wave", step, dolfin.XDMFFile.Encoding.HDF5, step > 0)
        state.write(steps[-1], "wave", step)
with dolfin.XDMFFile(world, "wave.xdmf") as xdmf, dolfin.HDF5File(world, "state.h5", "r") as state:
    for step, written in enumerate(steps):
        by_xdmf, by_state = dolfin.Function(space), dolfin.Function(space)
        xdmf.read_checkpoint(by_xdmf, "wave", step)
        state.read(by_state, f"wave/vector_{step}")
        for name, read in (("xdmf", by_xdmf), ("state", by_state)):
            same = (read.vector() - written.vector()).norm("linf") < 1e-12
            if world.rank == 0:
                print(f"case {name} {step}: {'right' if same else 'wrong'}", flush=True)
