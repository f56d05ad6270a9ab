"""What a program that uses mpi4py can ask Sluice of its files, and tell it.

Sluice serves programs that know nothing of it; this is for those that want its figures. Whether the
library is in the process depends on how it was started (`sluice run`): `is_active()` says it.
"""
import ctypes
import dataclasses
import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpi4py import MPI

# The members of the structure sluice_statistics (sluice/sluice.h), in their order.
_COUNTS = ("operations", "writes", "reads", "bytes")
_TIMES = ("blocked_seconds", "busy_seconds", "helper_seconds", "storage_seconds",
          "survey_seconds", "claims_seconds", "exchange_seconds", "agreement_seconds",
          "copy_seconds", "transfer_seconds", "message_seconds")
_LAST = (("messages", ctypes.c_longlong), ("message_bytes", ctypes.c_longlong),
         ("priced_operations", ctypes.c_longlong), ("estimated_seconds", ctypes.c_double),
         ("priced_seconds", ctypes.c_double))
_PLAN_BYTES = 65536


class _Statistics(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), *((name, ctypes.c_longlong) for name in _COUNTS),
                *((name, ctypes.c_double) for name in _TIMES), *_LAST]


@dataclasses.dataclass(frozen=True)
class Statistics:
    """What was done for one open file on this rank, since it was opened: see the manual page
    sluice_statistics(3)."""
    operations: int
    writes: int
    reads: int
    bytes: int
    blocked_seconds: float
    busy_seconds: float
    helper_seconds: float
    storage_seconds: float
    survey_seconds: float
    claims_seconds: float
    exchange_seconds: float
    agreement_seconds: float
    copy_seconds: float
    transfer_seconds: float
    message_seconds: float
    messages: int
    message_bytes: int
    priced_operations: int
    estimated_seconds: float
    priced_seconds: float

    @property
    def hidden(self) -> float:
        """The part of the time of operations in which the program was not held up: 0 to 1."""
        return max(0.0, 1 - self.blocked_seconds / self.busy_seconds) if self.busy_seconds else 0.0


class NotServed(RuntimeError):
    """Sluice is not in this process, or the MPI serves this file itself."""


@functools.cache
def _library() -> ctypes.CDLL | None:
    process = ctypes.CDLL(None)
    return process if hasattr(process, "sluice_version") else None


def is_active() -> bool:
    """Whether the library is in this process."""
    return _library() is not None


def version() -> str:
    """Of the library in this process; empty where it is not."""
    library = _library()
    if library is None:
        return ""
    library.sluice_version.restype = ctypes.c_char_p
    return library.sluice_version().decode()


def _handle(file: "MPI.File") -> ctypes.c_void_p:
    """As C has it: a pointer with the MPIs that Sluice is built for."""
    from mpi4py import MPI  # Only here: it initialises MPI.
    return ctypes.c_void_p.from_address(MPI._addressof(file))


def _call(name: str, file: "MPI.File", *arguments: object) -> None:
    library = _library()
    if library is None:
        raise NotServed("Sluice is not in this process: start the program by `sluice run`")
    error = getattr(library, name)(_handle(file), *arguments)
    if error:
        raise NotServed(f"{name}: the MPI serves this file itself (error class {error})")


def statistics(file: "MPI.File") -> Statistics:
    """The figures of an open file on this rank. Waits for blocking calls that have not ended."""
    raw = _Statistics(size=ctypes.sizeof(_Statistics))
    _call("sluice_file_statistics", file, ctypes.byref(raw))
    return Statistics(**{field.name: getattr(raw, field.name)
                         for field in dataclasses.fields(Statistics)})


def plan(file: "MPI.File") -> str:
    """Says how the last operation on the file was done, and why; empty when there was none."""
    text = ctypes.create_string_buffer(_PLAN_BYTES)
    _call("sluice_file_plan", file, text, ctypes.c_size_t(_PLAN_BYTES))
    return text.value.decode()


def hints(**values: object) -> "MPI.Info":
    """An Info for MPI.File.Open, such as hints(cb_nodes=2, sluice_close="durable"). True and False
    become the words that ROMIO's hints use. The caller frees it."""
    from mpi4py import MPI
    words = {True: "enable", False: "disable"}
    info = MPI.Info.Create()
    for name, value in values.items():
        info.Set(name, words[value] if isinstance(value, bool) else str(value))
    return info
