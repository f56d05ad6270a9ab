"""Reading traces: the Chrome JSON Trace Event Format as SLUICE_TRACE writes it.

One event lies in a line, so a trace is read as a stream, and its end may be missing.
"""
from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Interval = tuple[int, int]


@dataclass(slots=True)
class Slice:
    """Something that lasted from one moment to another; nanoseconds."""

    rank: int
    row: int
    category: str
    name: str
    begin: int
    end: int
    arguments: dict[str, Any]

    @property
    def seconds(self) -> float:
        """How long it lasted."""
        return (self.end - self.begin) / 1e9

    @property
    def operation(self) -> tuple[str, int] | None:
        """Its file and its number there."""
        number = self.arguments.get("operation")
        return None if number is None else (self.arguments.get("file", ""), number)


@dataclass
class Timeline:
    """A trace: its slices, and what is known of the ranks."""

    slices: list[Slice] = field(default_factory=list)
    others: list[dict[str, Any]] = field(default_factory=list)  # Arrows, counts, names: as read.
    rows: dict[tuple[int, int], str] = field(default_factory=dict)
    parts: list[dict[str, Any]] = field(default_factory=list)
    cut_off: bool = False  # The end of the file is missing.

    @property
    def ranks(self) -> list[int]:
        """Those with anything in the trace."""
        return sorted({one.rank for one in self.slices} | {part["rank"] for part in self.parts})

    def by_category(self, category: str) -> list[Slice]:
        """The slices of a category, as they were read."""
        return [one for one in self.slices if one.category == category]

    def by_rank(self, *categories: str) -> dict[int, list[Slice]]:
        """The slices of these categories."""
        found: dict[int, list[Slice]] = {rank: [] for rank in self.ranks}
        for one in self.slices:
            if one.category in categories:
                found[one.rank].append(one)
        return found


def events_of(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a file, then what it says of its parts, if its end is there."""
    with path.open(encoding="utf-8") as lines:
        first = lines.readline()
        if not first.rstrip().endswith('"traceEvents":['):  # Of another program.
            whole = json.loads(first + lines.read())
            yield from whole["traceEvents"] if isinstance(whole, dict) else whole
            yield {"ph": "end", "args": whole.get("otherData", {}) if isinstance(whole, dict)
                   else {}}
            return
        for line in lines:
            try:
                if line.startswith("]"):
                    yield {"ph": "end", "args": json.loads("{" + line[2:])["otherData"]}
                elif line.startswith("{"):
                    yield json.loads(line.rstrip().rstrip(","))
            except json.JSONDecodeError:  # The file is cut off here.
                return


def nanoseconds(microseconds: float) -> int:
    """Whole ones: sums of decimals would make neighbours overlap."""
    return round(microseconds * 1000)


def read(path: Path) -> Timeline:
    """The whole trace."""
    trace = Timeline(cut_off=True)
    for event in events_of(path):
        arguments = event.get("args", {})
        if event["ph"] == "end":
            trace.parts, trace.cut_off = arguments.get("parts", []), False
        elif event["ph"] == "X":
            begin = nanoseconds(event["ts"])
            trace.slices.append(Slice(event["pid"] - 1, event["tid"], event.get("cat", ""),
                                      event["name"], begin, begin + nanoseconds(event["dur"]),
                                      arguments))
        else:
            trace.others.append(event)
            if event["ph"] == "M" and event["name"] == "thread_name":
                trace.rows[event["pid"] - 1, event["tid"]] = arguments["name"]
    return trace


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The same moments in intervals that do not touch, in order."""
    joined: list[Interval] = []
    for begin, end in sorted(intervals):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def common(one: list[Interval], other: list[Interval]) -> list[Interval]:
    """Moments that are in both, each the result of union()."""
    both, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        begin, end = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if begin < end:
            both.append((begin, end))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return both


def seconds(intervals: Iterable[Interval]) -> float:
    """The length of intervals that do not overlap."""
    return sum(end - begin for begin, end in intervals) / 1e9


def intervals(slices: Iterable[Slice]) -> list[Interval]:
    """The moments in which at least one of them was under way."""
    return union((one.begin, one.end) for one in slices)


@dataclass
class Operation:
    """One operation of all ranks."""

    file: str
    number: int
    slices: list[Slice]

    @property
    def whole(self) -> list[Slice]:
        """From call to completion, of each rank."""
        return [one for one in self.slices if one.category == "operation"]

    @property
    def kind(self) -> str:
        """Write, read or agree; what is known, if its end is not in the trace."""
        return self.whole[0].name if self.whole else "not ended"

    @property
    def bytes(self) -> int:
        """Of all ranks."""
        return sum(one.arguments.get("bytes", 0) for one in self.whole)

    @property
    def span(self) -> Interval:
        """From the first to the last moment of any rank."""
        return min(one.begin for one in self.slices), max(one.end for one in self.slices)

    @property
    def slowest(self) -> Slice:
        """Of the rank on which it took longest."""
        return max(self.whole or self.slices, key=lambda one: one.seconds)

    def stages(self, rank: int) -> dict[str, float]:
        """Seconds of each stage on a rank."""
        found: dict[str, float] = defaultdict(float)
        for one in self.slices:
            if one.category == "stage" and one.rank == rank:
                found[one.name] += one.seconds
        return dict(found)


def operations(trace: Timeline) -> list[Operation]:
    """All operations, in the order of their begins."""
    found: dict[tuple[str, int], list[Slice]] = defaultdict(list)
    for one in trace.slices:
        key = one.operation
        if key is not None and one.category in ("operation", "stage"):
            found[key].append(one)
    return sorted((Operation(file, number, slices) for (file, number), slices in found.items()),
                  key=lambda one: one.span[0])
