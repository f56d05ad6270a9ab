"""The pretended driver of CUDA, as the library that programs open."""
from pathlib import Path

from small_programs import compiled

HERE = Path(__file__).resolve().parent


def driver(mpi):
    """By the name that programs open. No part of an MPI is in it."""
    return compiled(mpi, HERE / "pretended_cuda.cpp", shared=True, name="libcuda.so.1",
                    beside=["pretended_work.cpp"], compiler="g++",
                    options=("-I", HERE.parents[1] / "src", "-fno-gnu-unique",
                             "-Wl,-soname,libcuda.so.1", "-Wl,-z,nodelete", "-Wl,--no-undefined"))
