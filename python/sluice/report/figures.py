"""The figures of a report, from the job alone: pure functions."""
from __future__ import annotations

import bisect
from collections import defaultdict
from dataclasses import dataclass

from sluice import timeline
from sluice.report.job import Access, Job


@dataclass
class FileFigures:
    """One file. Seconds are of the rank with most."""
    name: str
    calls: int
    bytes_written: int
    bytes_read: int
    blocked: float
    under_way: float
    closing: float = 0.0
    in_calls: float = 0.0  # Blocked and closing, of the one rank for which that is most.
    unwaited: float = 0.0  # Of that rank: under way while no call waited.
    completed_later: bool = False  # By another call, at which bytes may have long been there.
    delayed: bool = False  # A log does not say when delayed writes reached the file.
    moving: float = 0.0  # Seconds in which its bytes were on their way, of all ranks.

    @property
    def rate(self) -> float | None:
        """Bytes of all ranks in a second while any were on their way; None: none were."""
        moved = self.bytes_written + self.bytes_read
        return moved / self.moving if moved and self.moving > 0 else None

    @property
    def rate_is_least(self) -> bool:
        """Bytes may have been in the file before the program heard of it."""
        return self.delayed or self.completed_later

    @property
    def hidden(self) -> float | None:
        """The part of the time under way in which no call waited; None: nothing was under way,
        or it is not known."""
        if self.under_way <= 0 or self.delayed:
            return None
        return max(0.0, 1 - self.blocked / self.under_way)


@dataclass
class CallFigures:
    """One function. Seconds are of the rank with most, but for the longest single call."""
    name: str
    calls: int
    bytes: int
    blocked: float
    longest: float


def _most(by_rank: dict[int, float]) -> float:
    return max(by_rank.values(), default=0.0)


def rate_text(rate: float) -> str:
    """In the unit that MPI programs are compared in."""
    value = rate / (1 << 20)
    return f"{value:.0f} MiB/s" if value >= 99.95 else f"{value:.3g} MiB/s"


def closing_by_file(job: Job) -> dict[str, dict[int, float]]:
    """Seconds in MPI_File_close, by file and rank."""
    found: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for other in job.others:
        if other.function == "close":
            found[other.file][other.rank] += other.seconds
    return found


def _on_their_way(job: Job) -> dict[str, list[timeline.Interval]]:
    """When bytes of each file were on their way. Delayed ones were at most until the rank's next
    sync or close of the file returned."""
    until: dict[tuple[str, int], list[float]] = defaultdict(list)
    for other in sorted(job.others, key=lambda one: one.end):
        if other.function in ("close", "sync"):
            until[other.file, other.rank].append(other.end)
    found: dict[str, list[timeline.Interval]] = defaultdict(list)
    for one in job.accesses:
        end = one.completed
        if one.writes and one.blocking and one.file in job.behind:
            ends = until[one.file, one.rank]
            place = bisect.bisect_left(ends, end)
            end = ends[place] if place < len(ends) else end
        found[one.file].append((int(one.begin * 1e9), int(end * 1e9)))
    return found


def moving(job: Job) -> float:
    """Seconds in which bytes of any file were on their way."""
    spans = [span for of_file in _on_their_way(job).values() for span in of_file]
    return timeline.seconds(timeline.union(spans))


def by_file(job: Job) -> list[FileFigures]:
    """Those in which the program waited longest come first."""
    blocked: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    spans: dict[str, dict[int, list[timeline.Interval]]] = defaultdict(lambda: defaultdict(list))
    found: dict[str, FileFigures] = {}
    delayed: set[str] = set()
    on_their_way = _on_their_way(job)
    closing = closing_by_file(job)
    for one in job.accesses:
        if one.writes and one.blocking and one.file in job.behind:
            delayed.add(one.file)
        figures = found.setdefault(one.file, FileFigures(one.file, 0, 0, 0, 0.0, 0.0))
        figures.calls += 1
        figures.completed_later |= not one.blocking
        if one.writes:
            figures.bytes_written += one.bytes
        else:
            figures.bytes_read += one.bytes
        blocked[one.file][one.rank] += one.blocked
        spans[one.file][one.rank].append((int(one.begin * 1e9), int(one.completed * 1e9)))
    for name, figures in found.items():
        figures.blocked = _most(blocked[name])
        figures.closing = _most(closing.get(name, {}))
        figures.delayed = name in delayed
        figures.moving = timeline.seconds(timeline.union(on_their_way[name]))
        under_way = {rank: timeline.seconds(timeline.union(all_spans))
                     for rank, all_spans in spans[name].items()}
        figures.under_way = _most(under_way)
        in_calls = {rank: seconds + closing.get(name, {}).get(rank, 0.0)
                    for rank, seconds in blocked[name].items()}
        worst = max(in_calls, key=lambda rank: in_calls[rank])
        figures.in_calls = in_calls[worst]
        figures.unwaited = max(0.0, under_way[worst] - blocked[name][worst])
    return sorted(found.values(), key=lambda one: -one.in_calls)


def by_call(job: Job) -> list[CallFigures]:
    """The waits of nonblocking calls count as theirs."""
    blocked: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    found: dict[str, CallFigures] = {}

    def add(name: str, rank: int, seconds: float, moved: int) -> None:
        figures = found.setdefault(name, CallFigures(name, 0, 0, 0.0, 0.0))
        figures.calls += 1
        figures.bytes += moved
        figures.longest = max(figures.longest, seconds)
        blocked[name][rank] += seconds

    for one in job.accesses:
        add(one.function + ("" if one.blocking else " and its wait"), one.rank, one.blocked,
            one.bytes)
    for other in job.others:
        add(other.function, other.rank, other.seconds, 0)
    for name, figures in found.items():
        figures.blocked = _most(blocked[name])
    return sorted(found.values(), key=lambda one: -one.blocked)


def blocked_by_rank(job: Job) -> dict[int, float]:
    """Seconds in calls on files, of each rank."""
    seconds: dict[int, float] = defaultdict(float)
    for rank, begin, end in job.calls():
        seconds[rank] += end - begin
    return dict(seconds)


def heat(job: Job, columns: int, rows_most: int) -> list[list[float]]:
    """For each rank, or group of neighbouring ranks, and each part of the job's time: which share
    of it was spent in calls on files."""
    rows = min(job.ranks, rows_most) or 1
    cells = [[0.0] * columns for _ in range(rows)]
    width = job.seconds / columns if job.seconds else 1.0
    begins = [-(-row * job.ranks // rows) for row in range(rows + 1)]  # Its first rank.
    members = [end - begin for begin, end in zip(begins, begins[1:])]
    for rank, begin, end in job.calls():
        row = cells[min(rank * rows // max(job.ranks, 1), rows - 1)]
        for column in range(max(0, int(begin / width)), min(int(end / width), columns - 1) + 1):
            left, right = column * width, (column + 1) * width
            row[column] += max(0.0, min(end, right) - max(begin, left)) / width
    return [[min(1.0, value / max(count, 1)) for value in row]
            for row, count in zip(cells, members)]


SIZES = [4 << 10, 64 << 10, 1 << 20, 16 << 20]  # Bytes up to which accesses are taken together.


@dataclass
class SizeFigures:
    """Accesses of about one size."""
    least: int
    most: int
    writes: int = 0
    reads: int = 0
    bytes: int = 0
    pieces: int = 0

    @property
    def piece(self) -> float | None:
        """Bytes of a contiguous piece of the file on average; None: not known."""
        return self.bytes / self.pieces if self.pieces else None


def by_size(job: Job) -> list[SizeFigures]:
    """What one call of one rank asks for."""
    found: dict[int, SizeFigures] = {}
    for one in job.accesses:
        figures = found.setdefault(bisect.bisect_left(SIZES, one.bytes),
                                   SizeFigures(one.bytes, one.bytes))
        figures.least = min(figures.least, one.bytes)
        figures.most = max(figures.most, one.bytes)
        figures.writes += one.writes
        figures.reads += not one.writes
        figures.bytes += one.bytes
        figures.pieces += one.pieces
    return [figures for _, figures in sorted(found.items())]


def slowest(job: Job) -> Access | None:
    """The access that kept a rank longest."""
    return max(job.accesses, key=lambda one: one.blocked, default=None)


def together(job: Job, access: Access) -> list[Access]:
    """A collective access on all ranks: the one with the same place among those of its file."""
    def places(rank: int) -> list[Access]:
        return [one for one in job.accesses if one.rank == rank and one.file == access.file
                and one.collective]

    if not access.collective:
        return [access]
    number = next(i for i, one in enumerate(places(access.rank)) if one is access)
    found = [places(rank)[number:number + 1] for rank in sorted({a.rank for a in job.accesses})]
    return [one for here in found for one in here]


def comes_last(job: Job) -> tuple[int, int, int] | None:
    """The rank that comes last to most collective accesses of several ranks: to how many of how
    many. None: there are none."""
    begins: dict[tuple[str, int], list[tuple[float, int]]] = defaultdict(list)
    before: dict[tuple[str, int], int] = defaultdict(int)
    for one in sorted(job.accesses, key=lambda access: access.begin):
        if one.collective:
            place = before[one.file, one.rank]
            before[one.file, one.rank] += 1
            begins[one.file, place].append((one.begin, one.rank))
    last = [max(calls)[1] for calls in begins.values() if len(calls) > 1]
    if not last:
        return None
    rank = max(sorted(set(last)), key=last.count)
    return rank, last.count(rank), len(last)
