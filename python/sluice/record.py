"""Logs of `sluice record`: what each rank of a job called, when, and for how long.

    log = record.read("program.record")
    for rank in log.ranks:
        for call in rank.calls:
            print(call.name, rank.file_name(call), rank.bytes_of(call), call.seconds)

The format is described in docs/record.md. What is cut off is read up to there.
"""
from __future__ import annotations

import gzip
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

SIGNATURE = "sluice-record"
VERSION = 1
_NAME = re.compile(r"[a-z_]+$")
_CODE = re.compile(r"%([0-9a-f]{2})")


class NotALog(Exception):
    """The file is no log, or one of a later version."""


@dataclass(frozen=True)
class DataType:
    """Of one instance: bytes, from one to the next, and contiguous pieces (0: not known)."""
    size: int
    extent: int
    pieces: int
    fields: dict[str, str]


@dataclass(frozen=True)
class Call:
    """One function of MPI, without MPI_ and MPI_File_: `write_at_all`, `open`, `waitall` ..."""
    name: str
    file: int  # number among those of the rank; -1: of none
    begin: int  # nanoseconds from the rank's start
    took: int
    fields: dict[str, str]

    @property
    def seconds(self) -> float:
        """How long the program was in it."""
        return self.took * 1e-9

    @property
    def end(self) -> int:
        """When it returned, in nanoseconds from the rank's start."""
        return self.begin + self.took

    @property
    def moves_bytes(self) -> bool:
        """Whether it is a data access, or begins one."""
        return "n" in self.fields

    @property
    def writes(self) -> bool:
        """Of a data access."""
        return "write" in self.name

    @property
    def collective(self) -> bool:
        """Of a data access."""
        return "_all" in self.name or "_ordered" in self.name

    def number(self, key: str, fallback: int = -1) -> int:
        """A field that is a number."""
        try:
            return int(self.fields[key])
        except (KeyError, ValueError):
            return fallback

    def numbers(self, key: str) -> list[int]:
        """A field that is a list of numbers."""
        return [int(word) for word in self.fields.get(key, "").split(",") if word]

    def hints(self) -> dict[str, str]:
        """Those of an open or a view."""
        return {decoded(key[5:]): value for key, value in self.fields.items()
                if key.startswith("hint.")}


@dataclass
class Rank:
    """What one rank did."""
    rank: int
    ranks: int
    head: dict[str, str]
    calls: list[Call] = field(default_factory=list)
    types: dict[int, DataType] = field(default_factory=dict)
    groups: dict[int, list[int]] = field(default_factory=dict)
    end: int | None = None  # nanoseconds at MPI_Finalize; None: the log is cut off before it

    @property
    def start(self) -> int:
        """The wall clock at its start, in nanoseconds."""
        return int(self.head.get("start", 0))

    def bytes_of(self, call: Call) -> int:
        """What a data access asks for; 0 for other calls."""
        found = self.types.get(call.number("t"))
        return call.number("n", 0) * found.size if found else 0

    def pieces_of(self, call: Call) -> int:
        """Contiguous pieces in memory of a data access, at most."""
        found = self.types.get(call.number("t"))
        return call.number("n", 0) * max(found.pieces, 1) if found else 0

    def file_name(self, call: Call) -> str:
        """The name with which the call's file was opened."""
        return self.file_names().get(call.file, call.fields.get("name", ""))

    def file_names(self) -> dict[int, str]:
        """By their numbers, which are used once."""
        return {call.file: call.fields.get("name", "") for call in self.calls
                if call.name == "open"}


@dataclass
class Log:
    """All ranks that are there, in their order."""
    ranks: list[Rank]
    expected: int  # ranks of the job

    def missing(self) -> str:
        """What is missing, in words; empty: nothing."""
        parts = []
        if len(self.ranks) < self.expected:
            parts.append(f"{self.expected - len(self.ranks)} of {self.expected} ranks are missing")
        if cut := sum(rank.end is None for rank in self.ranks):
            parts.append(f"the log of {cut} ranks ends before MPI_Finalize")
        return ", ".join(parts)


def decoded(word: str) -> str:
    """A value as it was: bytes that separate words are written as %XX."""
    return _CODE.sub(lambda code: chr(int(code.group(1), 16)), word)


def _parse(line: str) -> tuple[str, list[int], dict[str, str]] | None:
    words = line.split(" ")
    if not _NAME.match(words[0]):
        return None
    numbers: list[int] = []
    fields: dict[str, str] = {}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if equals:
            fields[key] = decoded(value)
            continue
        try:
            numbers.append(int(word))
        except ValueError:
            return None
    return (words[0], numbers, fields) if len(numbers) in (0, 1, 3) else None


def parse(text: str) -> Log:
    """The log in a text; raises NotALog."""
    log = Log([], 0)
    if not text.startswith(SIGNATURE):
        raise NotALog("this is no log of sluice record")
    current: Rank | None = None
    for line in text[:text.rfind("\n") + 1].splitlines():
        if line.startswith(SIGNATURE):
            if line.split()[1:2] != [str(VERSION)]:
                raise NotALog("the log has a format that this version of Sluice does not know")
            current = None
            continue
        if not line or line.startswith("#"):
            continue
        found = _parse(line)
        if found and found[0] == "rank":
            current = _open_rank(log, found[1][0], found[2])
        elif current is not None and (not found or not _take(current, *found)):
            current = None  # What comes behind it may refer to what is lost.
    log.ranks.sort(key=lambda rank: rank.rank)
    return log


def _open_rank(log: Log, number: int, head: dict[str, str]) -> Rank:
    rank = Rank(number, int(head.get("ranks", 1)), head)
    log.expected = max(log.expected, rank.ranks)
    log.ranks = [one for one in log.ranks if one.rank != number] + [rank]
    return rank


def _take(rank: Rank, name: str, numbers: list[int], fields: dict[str, str]) -> bool:
    """False: the line is not understood."""
    if len(numbers) == 3:
        rank.calls.append(Call(name, numbers[0], numbers[1], numbers[2], fields))
    elif name == "end" and numbers:
        rank.end = numbers[0]
    elif name == "type" and numbers:
        rank.types[numbers[0]] = DataType(int(fields.get("size", 0)), int(fields.get("extent", 0)),
                                          int(fields.get("pieces", 0)), fields)
    elif name == "group" and numbers:
        rank.groups[numbers[0]] = [int(one) for one in fields.get("ranks", "").split(",") if one]
    else:
        return bool(numbers)  # A later version may say more.
    return True


def _texts(path: pathlib.Path) -> Iterator[str]:
    parts = path.with_name(path.name + ".parts")
    if path.exists() or not parts.is_dir():
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        yield data.decode(errors="replace")
    if parts.is_dir():
        for part in sorted(parts.iterdir()):
            yield part.read_text(errors="replace")


def read(path: str | pathlib.Path) -> Log:
    """The log of a file, plain or packed by gzip, with what ranks left of it in FILE.parts that did
    not come to their end. Raises OSError and NotALog."""
    # A line that was cut off ends with its part: what follows is another rank's.
    return parse("".join(text[:text.rfind("\n") + 1] for text in _texts(pathlib.Path(path))))


def is_record(path: str | pathlib.Path) -> bool:
    """Whether there is such a log."""
    try:
        return next(_texts(pathlib.Path(path))).startswith(SIGNATURE)
    except (OSError, EOFError, StopIteration):
        return False
