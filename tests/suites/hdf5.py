"""Parallel HDF5, NetCDF, PnetCDF and h5py as Debian packages them, driven by small programs of
ours. The files must be byte for byte those of the MPI alone: the sum of each is a case."""
from pathlib import Path

import common

MPIS = ("debian-mpich", "debian-openmpi")
RANKS = (1, 2, 3, 4)
DELAYS = True
HERE = Path(__file__).resolve().parent
NETCDF_MPI = "debian-openmpi"  # Debian builds these for its default MPI only.


def prepare(mpi):
    flavour = mpi.name.removeprefix("debian-")
    common.packages("pkg-config", f"lib{flavour}-dev", f"libhdf5-{flavour}-dev")
    for name in ("hdf5_collective.c", "hdf5_left_open.c"):
        common.compile_program(mpi, HERE / name, *flags(f"hdf5-{flavour}"))
    if mpi.name == NETCDF_MPI:
        common.packages("libnetcdf-mpi-dev", "libpnetcdf-dev", "python3-h5py-mpi")
        common.compile_program(mpi, HERE / "pnetcdf_layout.c", "-lpnetcdf")
        common.compile_program(mpi, HERE / "netcdf_parallel.c", *netcdf_flags())


def flags(package):
    return common.run("pkg-config", "--cflags", "--libs", package).split()


def netcdf_flags():
    """Debian's .pc file names the folder of the headers as prefix only."""
    prefix = common.run("pkg-config", "--variable=prefix", "netcdf-mpi").strip()
    return [f"-I{prefix}/include", *flags("netcdf-mpi")]


def jobs(mpi, _):
    programs = common.SUITES / "programs" / mpi.name
    yield job("hdf5_collective", programs / "hdf5_collective", "hdf5_collective.h5")
    yield job("hdf5_left_open", programs / "hdf5_left_open", "hdf5_left_open.h5")
    if mpi.name == NETCDF_MPI:
        yield job("pnetcdf_layout", programs / "pnetcdf_layout", "pnetcdf_layout.nc")
        yield job("netcdf_parallel", programs / "netcdf_parallel", "netcdf_parallel.nc")
        yield job("h5py_collective", mpi.python, HERE / "h5py_collective.py", "h5py.h5")


def job(name, *words):
    made = common.program(name, *words, seconds=90)
    plain_or_not = made.command
    made.command = lambda start: [*exact(start), *plain_or_not(start)]
    made.cases = lambda code, output, work: {
        f"{name} exit": code == 0, **sums_of_files(name, work),
        **{f"{name} {case}": right for case, right in common.told_cases(output).items()}}
    return made


def exact(start):
    """Has the MPI alone write no bytes but those of the program: behind the end of the file ROMIO
    fills gaps with what its buffer held before, here 32 bytes between an HDF5 chunk and a node."""
    if start.sluice:
        return []
    hints = start.work / "exact"
    hints.write_text("romio_cb_write disable\nromio_ds_write disable\n")
    return ["env", f"ROMIO_HINTS={hints}"]


def sums_of_files(name, work):
    """Another sum is another case, which fails on the other side."""
    return {f"{name} {path.name} is {common.sum_of(path)}":
            path.stat().st_size > 0 for path in sorted(work.glob("*.[hn]*[5c]"))}
