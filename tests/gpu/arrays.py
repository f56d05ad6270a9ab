"""A rank of a program that writes arrays of a GPU by mpi4py and reads them back. `arrays.py KIND
FILE`, where KIND is cupy, torch, or driver: memory that the driver of CUDA allocates, which needs
no package. Each byte is checked. Ends with 77, and the reason, where the kind is not there."""
import ctypes
import os
import sys

BYTES = 300_000  # Of a rank.
COLUMNS = 100    # Of a rank, in the file that is written by columns.


class Missing(Exception):
    """Why a kind cannot be tried here."""


def pattern(rank):
    return bytes((rank * 37 + i * 131 + (i >> 8) * 29) & 255 for i in range(BYTES))


# ---- Kinds of arrays: of bytes, filled from the host, and brought back ---------------------------


class DriverMemory:
    """An object that other packages take for an array of a GPU."""

    def __init__(self, content):
        path = os.environ.get("PRETENDED_CUDA", "libcuda.so.1")
        self.cuda = ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)
        context, self.at = ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.call("cuMemAlloc_v2", ctypes.byref(self.at), ctypes.c_size_t(len(content)))
        self.call("cuMemcpyHtoD_v2", self.at, content, ctypes.c_size_t(len(content)))
        self.__cuda_array_interface__ = {"shape": (len(content),), "typestr": "|u1", "version": 3,
                                         "data": (self.at.value, False), "stream": None}

    def call(self, name, *arguments):
        if code := getattr(self.cuda, name)(*arguments):
            raise RuntimeError(f"{name}: error {code}")

    def content(self):
        (count,) = self.__cuda_array_interface__["shape"]
        found = ctypes.create_string_buffer(count)
        self.call("cuMemcpyDtoH_v2", found, self.at, ctypes.c_size_t(count))
        return found.raw


def driver_kind():
    try:
        DriverMemory(b"0")
    except (OSError, RuntimeError) as error:
        raise Missing(error) from error
    return DriverMemory, DriverMemory.content


def cupy_kind():
    try:
        import cupy
        import numpy
        cupy.cuda.Device(0).use()
    except Exception as error:  # It has errors of its own for what is missing.
        raise Missing(f"cupy: {error}") from error

    def made(content):
        array = cupy.asarray(numpy.frombuffer(content, dtype=numpy.uint8))
        cupy.cuda.get_current_stream().synchronize()
        return array

    return made, lambda array: array.get().tobytes()


def torch_kind():
    try:
        import torch
    except ImportError as error:
        raise Missing(f"torch: {error}") from error
    if not torch.cuda.is_available():
        raise Missing("torch finds no GPU")

    def made(content):
        tensor = torch.frombuffer(bytearray(content), dtype=torch.uint8).to("cuda")
        torch.cuda.synchronize()
        return tensor

    return made, lambda tensor: bytes(tensor.cpu().numpy())


KINDS = {"driver": driver_kind, "cupy": cupy_kind, "torch": torch_kind}


# ---- What is written, and read -------------------------------------------------------------------


def column_view(mpi, world):
    """The columns of a rank, in rows that all ranks share."""
    sizes = [BYTES // COLUMNS, COLUMNS * world.size]
    return mpi.BYTE.Create_subarray(sizes, [sizes[0], COLUMNS], [0, COLUMNS * world.rank]).Commit()


def write_and_read(mpi, kind, name, by_columns):
    made, content = kind
    world = mpi.COMM_WORLD
    mine, back = made(pattern(world.rank)), made(bytes(BYTES))
    file = mpi.File.Open(world, name, mpi.MODE_CREATE | mpi.MODE_RDWR)
    if by_columns:
        file.Set_view(0, mpi.BYTE, column_view(mpi, world))
    at = 0 if by_columns else world.rank * BYTES
    file.Iwrite_at_all(at, [mine, mpi.BYTE]).Wait()
    file.Sync()
    file.Read_at_all(at, [back, mpi.BYTE])
    file.Close()
    return content(back) == pattern(world.rank) and content(mine) == pattern(world.rank)


def expected_file(ranks, by_columns):
    parts = [pattern(rank) for rank in range(ranks)]
    if not by_columns:
        return b"".join(parts)
    return b"".join(part[row:row + COLUMNS] for row in range(0, BYTES, COLUMNS) for part in parts)


def kind_named(name, world):
    try:
        return KINDS[name]()
    except Missing as missing:
        if world.rank == 0:
            print(f"skipped: {missing}", flush=True)
        world.Barrier()  # A rank that ends may take the others with it.
        sys.exit(77)


def main():
    from mpi4py import MPI
    (word, name), world, right = sys.argv[1:], MPI.COMM_WORLD, True
    kind = kind_named(word, world)
    for by_columns in (False, True):
        right &= write_and_read(MPI, kind, name, by_columns)
        if world.rank == 0:
            with open(name, "rb") as file:
                right &= file.read() == expected_file(world.size, by_columns)
        world.Barrier()
    all_right = world.allreduce(right, MPI.LAND)
    if world.rank == 0:
        print(f"arrays of {word} on {world.size} ranks: {'right' if all_right else 'WRONG'}")
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
