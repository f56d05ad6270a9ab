"""The jobs that are recorded, traced and played again, by tests/record/programs.py and
results/record: programs that do not know Sluice, each with the MPIs that it is there for. And the
devices on which they run.
"""
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "suites"), str(ROOT / "bench" / "programs")]
from common import MPIS, SUITES, Missing, compile_program  # noqa: E402
from programs import PROGRAMS  # noqa: E402

FLASH = Path("benchmarks") / "FLASH-IO" / "flash_benchmark_io"
STEPS = ("4", str(2 << 20), "0.15")  # steps, bytes of a rank in each, seconds of computation
IOR = ("-a", "MPIIO", "-b", "2m", "-t", "256k", "-s", "4", "-C", "-d", "0.4")


@contextlib.contextmanager
def mounted(mpi, profile):
    """A folder on an emulated device."""
    with tempfile.TemporaryDirectory(prefix="device_") as folder:
        served = subprocess.Popen([mpi.sluice, "device", "--profile", profile, "--mount", folder],
                                  stdout=subprocess.DEVNULL)
        try:
            for _ in range(100):
                if os.path.ismount(folder):
                    break
                time.sleep(0.05)
            yield Path(folder)
        finally:
            served.terminate()
            served.wait()


@dataclass(frozen=True)
class Job:
    """A program with its data."""
    name: str
    made: Callable  # (MPI, folder for what it needs) -> (folder of its files -> words); or Missing


def demo(mpi, folder):
    """The image application of `make demo`, with an image of noise."""
    if mpi.name.startswith("debian-"):
        raise Missing("the demo needs packages that only build/env has")
    image = folder / "image.u8"
    image.write_bytes(os.urandom(4 * 512 * 512))
    return lambda at: [mpi.python, ROOT / "examples" / "texture.py", "--image", image,
                       "--channels", 4, "--size", 512, "--filters", 4, "--mode", "nonblocking",
                       "--output", at / "out"]


def flash(mpi, _):
    """PnetCDF's, as tests/suites builds it: `make test-suites`."""
    program = SUITES / "pnetcdf" / mpi.name / FLASH
    if not program.exists():
        raise Missing(f"{program} is not built: tests/suites/run.py --suite pnetcdf does it")
    return lambda at: [program, at / "flash_"]


def series(interface):
    """A time series by h5py or by HDF5 from C. Debian has h5py for its default MPI only."""
    def made(mpi, _):
        words = PROGRAMS[interface].command(mpi)
        return lambda at: [*words, "write_collective", at / "steps.h5", *STEPS]
    return made


def ior(*options):
    """IOR's accesses under its options: IOR itself is in no package."""
    def made(mpi, _):
        program = compile_program(mpi, ROOT / "tests" / "record" / "ior_pattern.c")
        return lambda at: [program, *IOR, *options, "-o", at / "ior"]
    return made


JOBS = tuple(Job(*job) for job in (
    ("texture, make demo's", demo), ("FLASH-IO, PnetCDF", flash),
    ("time series, h5py", series("h5py")), ("time series, HDF5", series("hdf5")),
    ("IOR's pattern, collective", ior("-c")),
    ("IOR's pattern, independent", ior()),
    ("IOR's pattern, a file each", ior("-F", "-e"))))
SHOWN_MPIS = tuple(MPIS[name] for name in ("mpich", "openmpi", "debian-mpich", "debian-openmpi"))
