"""Programs that people run for their work, as Debian packages them, on small inputs of ours; and
the kernels of bench/programs/kernels.c, which stand for programs that are no packages.

Each job is one run. Its cases are: it ended well; what it read again was right, where it says so;
and the contents of the files that it wrote, which must be those of the run without Sluice.
"""
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import common

MPIS = ("debian-openmpi",)  # For which Debian builds them.
RANKS = (2, 3)
DELAYS = True
PASSES_ALONE = True  # What fails without Sluice is a fault of the suite.
INPUTS = Path(__file__).resolve().parent / "inputs"
PYTHON = "/usr/bin/python3"
KERNELS = common.ROOT / "bench" / "programs" / "kernels.c"
KERNEL_NAMES = ("e3sm_f", "e3sm_g", "e3sm_i", "wrf", "btio", "s3d", "hacc", "lattice")
SATURNE = "/usr/lib/code_saturne"


@dataclass(frozen=True)
class Application:
    name: str
    writes: str  # what it writes, and by what
    packages: tuple
    command: tuple  # words, after mpiexec and its options
    inputs: tuple  # of the folder inputs
    files: tuple = ()  # patterns of those whose contents are compared
    first: tuple = ()  # commands, each in words, that make more inputs
    even: bool = False  # runs with an even number of ranks only

    def prepare(self, folder):
        """Puts into a folder what a run needs."""
        for name in self.inputs:
            shutil.copy(INPUTS / name, folder)
        for words in self.first:
            common.run(*words, cwd=folder)

    def words(self, folder, launcher):
        """What starts it there."""
        return ["env", "-C", str(folder), "OMP_NUM_THREADS=1", "H5PY_ALWAYS_USE_MPI=1", *launcher,
                *self.command]

    def version(self):
        """That of the package of the program itself."""
        return common.run("dpkg-query", "-W", "-f", "${Version}", self.packages[0])

    def contents(self, folder):
        """{a file: a sum of what it holds}; ValueError where one is missing or cannot be read."""
        for pattern in self.files:
            if not list(folder.glob(pattern)):
                raise ValueError(f"there is no {pattern}")
        found = [path for pattern in self.files for path in sorted(folder.glob(pattern))]
        hdf5 = [path for path in found if path.suffix == ".h5"]
        sums = {path.name: contents_of_cube(path) if path.suffix == ".cube"
                else common.sum_of(path)
                for path in found if path.suffix != ".h5"}
        return {**sums, **contents_of_hdf5(hdf5)}


def contents_of_cube(path):
    """Its length, and a weighted sum of its numbers, of which the last digits differ from run to
    run: ranks add up in any order."""
    numbers = path.read_bytes().split(b"\n", 2)[2].split()  # Behind two lines of title.
    total = sum((1 + i % 97) * float(number) for i, number in enumerate(numbers))
    return f"{path.stat().st_size} bytes, {total:.3e}"


def contents_of_hdf5(paths):
    """Sums of the data in HDF5 files, which hold the date of their making as well."""
    if not paths:
        return {}
    done = subprocess.run([PYTHON, INPUTS / "hdf5_contents.py", *paths], text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return {Path(path).name: found for path, found in map(str.split, done.stdout.splitlines())}


def python(script, *words):
    return (PYTHON, script, *words)


APPLICATIONS = (
    Application("lammps", "atoms as text, and restarts: MPI-IO (`dump custom/mpiio`, `restart`)",
                ("lammps",), ("lmp", "-in", "lammps.in", "-log", "none"), ("lammps.in",),
                ("*.mpiio",)),
    Application("cp2k", "density and potential as cubes: MPI-IO, from Fortran",
                ("cp2k",), ("cp2k.psmp", "-i", "cp2k.inp", "-o", "water.out"), ("cp2k.inp",),
                ("*.cube",)),
    Application("abinit", "wave functions, read again: MPI-IO, from Fortran (`iomode 1`)",
                ("abinit", "abinit-data"), ("abinit", "abinit.abi"), ("abinit.abi",),
                ("*_WFK", "*_DEN"), even=True),
    Application("code_saturne", "a mesh, read, and its quality as EnSight files: MPI-IO",
                ("code-saturne",), (f"{SATURNE}/cs_solver", "--quality"), ("saturne_mesh.py",),
                ("postprocessing/results*", "postprocessing/mesh*"),
                ((PYTHON, "saturne_mesh.py"),
                 (f"{SATURNE}/cs_preprocess", "box.msh", "--out", "mesh_input"))),
    Application("meep", "a field over time, and the whole state: parallel HDF5",
                ("python3-meep-openmpi", "python3-matplotlib", "python3-h5py-mpi"),
                python("meep_ring.py"), ("meep_ring.py",), ("*.h5", "state/*.h5")),
    Application("mpb", "fields of bands: parallel HDF5",
                ("mpb-mpi", "python3-h5py-mpi"), ("mpb-mpi", "mpb.ctl"), ("mpb.ctl",), ("*.h5",)),
    Application("dolfin", "checkpoints in XDMF and HDF5, read again: parallel HDF5",
                ("python3-dolfin", "python3-h5py-mpi"), python("dolfin_checkpoint.py"),
                ("dolfin_checkpoint.py",)),
    Application("dolfinx", "a function over time in XDMF: parallel HDF5",
                ("python3-dolfinx-real", "python3-h5py-mpi"), python("dolfinx_xdmf.py"),
                ("dolfinx_xdmf.py",)),
    Application("petsc", "vectors and a matrix, read again: MPI-IO (`-viewer_binary_mpiio`)",
                ("python3-petsc4py-real",), python("petsc_vectors.py", "-viewer_binary_mpiio"),
                ("petsc_vectors.py",), ("*.bin",)),
)


def prepare(mpi):
    """Installs all programs: as root, some 1.5 GB."""
    common.packages("libpnetcdf-dev",
                    *sorted({name for each in APPLICATIONS for name in each.packages}))
    common.compile_program(mpi, KERNELS, "-lpnetcdf")


def jobs(mpi, ranks):
    for name in KERNEL_NAMES:
        yield kernel(mpi, name)
    for application in APPLICATIONS:
        if not (application.even and ranks % 2):
            yield job(application)


def kernel(mpi, name):
    """Three steps of 2 MiB of a rank; the kernel itself reads all bytes again, without MPI."""
    program = common.SUITES / "programs" / mpi.name / KERNELS.stem
    made = common.program(f"kernel {name}", "env", "STEPS_RATE=1e9", program, name, "out", "3",
                          str(2 << 20), "0")
    made.cases = lambda code, output, work: {
        f"kernel {name}": code == 0 and '"wrong": 0,' in output,
        **{f"kernel {name} {path.name} is {common.sum_of(path)}": True
           for path in sorted(work.glob("out*"))}}
    return made


def job(application):
    def command(start):
        try:
            application.prepare(start.work)
        except common.Missing as why:
            return ["sh", "-c", 'echo "$1"; exit 1', "sh", str(why)]
        return application.words(start.work, start.launcher())

    def cases(code, output, folder):
        found = {"ends well": code == 0, **common.told_cases(output)}
        try:
            contents = application.contents(folder)
        except ValueError:
            return {**found, "its files can be read": False}
        compared = bool(contents or common.told_cases(output))
        return {**found, "something is compared": compared,
                **{f"{name} holds {held}": True for name, held in contents.items()}}

    return common.Job(application.name, command, seconds=120, cases=lambda *ended: {
        f"{application.name}: {case}": passed for case, passed in cases(*ended).items()})
