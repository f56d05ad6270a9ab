"""`sluice darshan LOG.darshan`: a log of Darshan with extended tracing (DXT) becomes one of
`sluice record`.

DXT has the offset, length and time of each request, but neither views nor which calls were
collective: every request becomes an independent call of its rank on a file that it opened alone.
Those that the program made of MPI-IO are taken where there are any; else those that reached the
file system, which the MPI has reshaped already. Needs the package `darshan` of PyPI.
"""
from __future__ import annotations

import argparse
import pathlib
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sluice.arguments import Parser

BAD_USAGE = 2
MODULES = ("DXT_MPIIO", "DXT_POSIX")
BYTE = "type 0 size=1 extent=1 pieces=1 maker=element form=bytes element=1 lower=0 upto=1"
SECOND = 10 ** 9  # in nanoseconds


class NoTrace(Exception):
    """The log cannot be converted, and why."""


@dataclass(frozen=True)
class Segment:
    """One request of one rank."""
    rank: int
    file: str
    writes: bool
    offset: int
    length: int
    begin: int  # nanoseconds from the start of the job
    took: int


def encoded(value: str) -> str:
    """A word of a log."""
    return "".join(char if char > " " and char not in "%=\x7f" else f"%{ord(char):02x}"
                   for char in value)


def _segments(report: Any, module: str) -> Iterator[Segment]:
    report.mod_read_all_dxt_records(module)
    for found in report.records[module].to_df():
        name = report.name_records.get(found["id"], str(found["id"]))
        for kind in ("write", "read"):
            for one in found[f"{kind}_segments"].itertuples(index=False):
                begin = round(one.start_time * SECOND)
                yield Segment(int(found["rank"]), name, kind == "write", int(one.offset),
                              int(one.length), begin,
                              max(0, round(one.end_time * SECOND) - begin))


def _lines_of_rank(segments: list[Segment], modes: dict[str, str]) -> Iterator[str]:
    """Each file is opened right before its first request, and closed after its last."""
    yield BYTE
    last = {one.file: one for one in segments}
    numbers: dict[str, int] = {}
    for one in segments:
        if one.file not in numbers:
            numbers[one.file] = len(numbers)
            yield (f"open {numbers[one.file]} {one.begin} 0 group=0 name={encoded(one.file)} "
                   f"mode={modes[one.file]}")
        yield (f"{'write' if one.writes else 'read'}_at {numbers[one.file]} {one.begin} {one.took} "
               f"n={one.length} t=0 at={one.offset}")
        if last[one.file] is one:
            yield f"close {numbers[one.file]} {one.begin + one.took} 0"


def _modes(segments: Iterable[Segment]) -> dict[str, str]:
    """Files that are read first were there."""
    modes: dict[str, str] = {}
    for one in segments:
        modes.setdefault(one.file, "create+rdwr" if one.writes else "rdwr")
    return modes


def text_of(segments: list[Segment], ranks: int, start: int, program: str) -> str:
    """The log of a job's requests."""
    in_time = sorted(segments, key=lambda one: (one.begin, one.rank))
    modes = _modes(in_time)
    lines = ["sluice-record 1"]
    for rank in range(ranks):
        own = [one for one in in_time if one.rank == rank]
        lines += [f"rank {rank} ranks={ranks} start={start} node=unknown mpi=unknown "
                  f"program={encoded(program)} sluice=off source=darshan", f"group 0 ranks={rank}",
                  *_lines_of_rank(own, modes),
                  f"end {max((one.begin + one.took for one in own), default=0)}"]
    return "\n".join(lines) + "\n"


def convert(path: str | pathlib.Path) -> str:
    """The text of a log of `sluice record`; raises NoTrace."""
    try:
        import darshan  # type: ignore[import-untyped]
    except ImportError as fault:
        raise NoTrace("logs of Darshan need its package: pip install darshan") from fault
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            report = darshan.DarshanReport(str(path), read_all=False)
            job = report.metadata["job"]
            for module in MODULES:
                found = list(_segments(report, module)) if module in report.modules else []
                if found:
                    start = int(job.get("start_time_sec", job.get("start_time", 0))) * SECOND
                    return text_of(found, int(job["nprocs"]), start, report.metadata["exe"])
        except (RuntimeError, KeyError, OSError) as fault:
            raise NoTrace(f"{path} cannot be read: {fault}") from fault
    raise NoTrace(f"{path} has no extended trace: run the job with DXT_ENABLE_IO_TRACE=1")


def main(words: list[str]) -> int:
    """The command."""
    parser = Parser(prog="sluice darshan", description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", help="LOG.darshan")
    parser.add_argument("--out", help="the new log (LOG.record)")
    try:
        options = parser.parse_args(words)
        out = pathlib.Path(options.out or pathlib.Path(options.log).with_suffix(".record"))
        out.write_text(convert(options.log), encoding="utf-8")
    except SystemExit as asked:
        return asked.code if isinstance(asked.code, int) else BAD_USAGE
    except (OSError, NoTrace) as fault:
        sys.stderr.write(f"sluice darshan: {fault}\n")
        return 1
    print(out)
    return 0
