"""What runs test programs with buffers on devices: the programs, and the driver that they open."""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
from mpis import BUILD, MPIS, ROOT
from pretended import driver
from small_programs import compiled

HERE = Path(__file__).resolve().parent
SHARED_PARTS = ("cases.c", "cuda_buffers.c", "layouts.c", "ways.c", "transfers.c")
# What these have besides.
SOURCES = {"files": ("files.c", "files_places.c", "files_programs.c", "files_streams.c"),
           "errors": ("errors.c", "errors_own.c"),
           "collectives": ("collectives.c", "collective_calls.c")}
# Programs of tests/mpi that run with far buffers as they are.
FAR_PROGRAMS = ("patterns_test", "outstanding_test", "legal_test", "datatypes_test",
                "shared_test", "large_count_test")
DRIVERS = ("pretended", "card")  # The pretended one is that of a machine without a card.


def driver_settings(mpi, name, orders=""):
    """Environment variables with which programs open this driver."""
    if name == "card":
        return {}
    return {"PRETENDED_CUDA": str(driver(mpi)), "PRETENDED_GPU": orders}


def driver_test(mpi):
    return compiled(mpi, HERE / "driver_test.cpp", compiler="g++",
                    beside=["driver_test_memory.cpp", "driver_test_streams.cpp",
                            cuda_buffers(mpi)], options=("-I", ROOT / "src"))


def cuda_buffers(mpi):
    """As a library for C++, whose compiler would take its source for C++."""
    return compiled(mpi, HERE / "cuda_buffers.c", shared=True, compiler="gcc")


def program(mpi, name):
    first, *others = SOURCES[name]
    return compiled(mpi, HERE / first, options=("-rdynamic",), beside=(*SHARED_PARTS, *others))


def bringer(mpi, to_device):
    """Brings buffers of the program to a device, or from there to the host."""
    return compiled(mpi, HERE / "far_buffers.c", shared=True,
                    name="far_buffers" if to_device else "near_buffers",
                    beside=["far_memory.c", "cuda_buffers.c"],
                    options=("-fvisibility=hidden", *(() if to_device else ("-DNEAR",))))


def far_preload(mpi):
    """The words before a program whose buffers are brought to devices, under Sluice."""
    library = BUILD / MPIS[mpi].build / "lib" / "libsluice.so"
    return ["env", f"LD_PRELOAD={bringer(mpi, True)}:{library}",
            "SLUICE=chain"]  # Calls come by way of another library.
