"""The programs of this folder: what each needs, how it is compiled for an MPI, and its ways.

None of them names Sluice. Each is a loop of time steps with blocking calls of one interface; all
have the same command line (steps.h) and print one line of JSON.
"""
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "suites"))
import applications  # noqa: E402  tests/suites/applications.py
import hdf5  # noqa: E402  tests/suites/hdf5.py
from common import BUILD, MPIS, Missing, run  # noqa: E402, F401: MPIS is the caller's

# Libraries to be preloaded into the programs.
FREE_WRITES, CALL_TIMES = "free_writes.c", "call_times.c"
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Werror")


@dataclass(frozen=True)
class Program:
    """One interface."""
    name: str
    sources: tuple
    ways: dict  # name -> the way that makes the file; "": this one does, it writes
    flags: Callable = lambda mpi: []  # of the compiler; Missing: no library
    packages: Callable = lambda mpi: ""  # of Debian, that bring what may be missing
    fortran: bool = field(default=False)

    def command(self, mpi):
        """The words that start it, compiled if need be; Missing, with the reason, if it cannot."""
        try:
            if self.sources[0].endswith(".py"):
                return interpreted(mpi, self)
            return [str(compiled(mpi, self))]
        except (Missing, OSError, subprocess.SubprocessError) as why:
            packages = self.packages(mpi)
            raise Missing(f"{why}" + (f" (Debian: {packages})" if packages else "")) from None


def environment(mpi):
    return {**os.environ, **mpi.settings}


def is_made(target, sources, flags):
    """Whether a program is newer than its sources, and was made with these flags."""
    needed = [*sources, *HERE.glob("*.h"), Path(__file__)]
    stamp = target.with_suffix(".flags")
    return (target.exists() and stamp.exists() and stamp.read_text() == " ".join(flags)
            and target.stat().st_mtime > max(source.stat().st_mtime for source in needed))


def compiled(mpi, program):
    """The program made for an MPI in build/programs, again only when its sources are newer."""
    folder = BUILD / "programs" / mpi.name
    target = folder / program.name
    sources = [HERE / name for name in program.sources]
    flags = program.flags(mpi)
    if is_made(target, sources, flags):
        return target
    if program.fortran and not mpi.fortran:
        raise Missing(f"{mpi.name} has no Fortran compiler")
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for source in sources:
        compiler, options = mpi.fortran, ("-J", folder)
        if source.suffix == ".c":
            compiler, options = mpi.compiler, ("-std=gnu11", "-Wconversion")
        objects.append(folder / f"{program.name}-{source.stem}.o")
        run(compiler, "-O2", *WARNINGS, *options, *flags, "-c", "-o", objects[-1], source,
            env=environment(mpi))
    linker = mpi.fortran if program.fortran else mpi.compiler
    run(linker, "-o", target, *objects, *flags, env=environment(mpi))
    target.with_suffix(".flags").write_text(" ".join(flags))
    return target


def preloaded(mpi, name):
    """The library that is made of one source, here or elsewhere, to be preloaded."""
    source = HERE / name
    target = BUILD / "programs" / mpi.name / f"{source.stem}.so"
    if is_made(target, [source, *HERE.glob("*.inc"), *source.parent.glob("*.h")], []):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    run(mpi.compiler, "-std=gnu11", "-Wconversion", "-O2", *WARNINGS, "-shared", "-fPIC", "-o",
        target, source, "-ldl", env=environment(mpi))
    target.with_suffix(".flags").write_text("")
    return target


def interpreted(mpi, program):
    """The Python program, if its modules are there, with MPI."""
    if mpi.name.startswith("debian-"):
        only_default(mpi)
    test = "import h5py; assert h5py.get_config().mpi, 'h5py is without MPI'"
    # Debian has h5py twice, and takes the one with MPI in jobs and on request.
    settings = {**environment(mpi), "H5PY_ALWAYS_USE_MPI": "1"}
    done = subprocess.run([mpi.python, "-c", test], env=settings, text=True, capture_output=True,
                          timeout=60, check=False)
    if done.returncode:
        raise Missing(done.stderr.strip().splitlines()[-1])
    return [str(mpi.python), str(HERE / program.sources[0])]


def flavour(mpi):
    """The name of Debian's MPI in the names of its packages; Missing for others."""
    if not mpi.name.startswith("debian-"):
        raise Missing(f"there is no package for {mpi.name}")
    return mpi.name.removeprefix("debian-")


def only_default(mpi):
    """Debian builds some libraries for its default MPI only."""
    if mpi.name != hdf5.NETCDF_MPI:
        raise Missing(f"there is no package for {mpi.name}, only for {hdf5.NETCDF_MPI}")


def flags_of_pnetcdf(mpi):
    """PNETCDF names a folder where PnetCDF was installed for this MPI, instead of a package."""
    folder = os.environ.get("PNETCDF")
    if folder:
        return [f"-I{folder}/include", f"-L{folder}/lib", f"-Wl,-rpath,{folder}/lib", "-lpnetcdf"]
    only_default(mpi)
    return hdf5.flags("pnetcdf")


def flags_of_netcdf(mpi):
    only_default(mpi)
    return hdf5.netcdf_flags()



def debian(name, only=("debian-mpich", "debian-openmpi")):
    """A function that gives a package's name, with the MPI's in the place of {}, for some MPIs."""
    return lambda mpi: name.format(flavour(mpi)) if mpi.name in only else ""


DEFAULT = (hdf5.NETCDF_MPI,)
PROGRAMS = {program.name: program for program in (
    Program("mpiio", ("mpiio.c",),
            {"write_all": "", "write_at_all": "", "write_at": "", "read_all": "write_all",
             "read_at_all": "write_at_all", "read_at": "write_at"}),
    Program("pnetcdf", ("pnetcdf.c",),
            {"put_vara_all": "", "iput_wait_all": "", "get_vara_all": "put_vara_all"},
            flags_of_pnetcdf, debian("libpnetcdf-dev", DEFAULT)),
    Program("kernels", ("kernels.c",),
            dict.fromkeys(applications.KERNEL_NAMES, ""),
            flags_of_pnetcdf, debian("libpnetcdf-dev", DEFAULT)),
    Program("hdf5", ("hdf5.c",),
            {"write_collective": "", "read_collective": "write_collective"},
            lambda mpi: hdf5.flags(f"hdf5-{flavour(mpi)}"), debian("libhdf5-{}-dev")),
    Program("netcdf4", ("netcdf4.c",),
            {"put_vara": "", "put_vara_filled": "", "get_vara": "put_vara"},
            flags_of_netcdf, debian("libnetcdf-mpi-dev", DEFAULT)),
    Program("h5py", ("h5py_steps.py",),
            {"write_collective": "", "read_collective": "write_collective"},
            packages=debian("python3-h5py-mpi", DEFAULT)),
    Program("fortran", ("fortran.f90", "fortran_steps.c"),
            {"write_all": "", "write_at_all": "", "read_all": "write_all",
             "read_at_all": "write_at_all"},
            packages=debian("gfortran"), fortran=True),
)}
