"""What a report is about: the accesses of a job and its other calls, from a log of `sluice record`
or from a trace of SLUICE_TRACE, in one form."""
from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from sluice import record, timeline

ALL_FILES = "(no single file)"


@dataclass
class Access:
    """A data access of one rank; seconds from the job's begin. `returned`: the call that begins it
    has returned; `waited`: in the call that completes it, where there is one."""
    rank: int
    file: str
    function: str
    begin: float
    returned: float
    completed: float
    waited: float
    bytes: int
    pieces: int  # contiguous ones in the file; 0: not known
    writes: bool
    collective: bool
    blocking: bool

    @property
    def blocked(self) -> float:
        """Seconds that the program spent in calls for it."""
        return self.returned - self.begin + self.waited

    @property
    def under_way(self) -> float:
        """Seconds from the call that begins it to its completion."""
        return self.completed - self.begin


@dataclass
class OtherCall:
    """A call on a file that moves no data of the program's: open, set_view, sync, close ..."""
    rank: int
    file: str
    function: str
    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """In the call."""
        return self.end - self.begin


@dataclass
class Job:
    """All that a page needs, whatever it was read from."""
    source: str
    program: str
    mpi: str
    hosts: list[str]
    ranks: int
    seconds: float
    accesses: list[Access] = field(default_factory=list)
    others: list[OtherCall] = field(default_factory=list)
    missing: str = ""  # what the log or the trace lacks, in words
    trace: timeline.Timeline | None = None
    behind: set[str] = field(default_factory=set)  # Files whose blocking writes are delayed.
    ahead: set[str] = field(default_factory=set)  # Those whose blocking reads are made ahead.

    def calls(self) -> Iterable[tuple[int, float, float]]:
        """Rank, begin and end of every call that the program spent time in."""
        for one in self.accesses:
            yield one.rank, one.begin, one.returned
            if one.waited:
                yield one.rank, one.completed - one.waited, one.completed
        for other in self.others:
            yield other.rank, other.begin, other.end


def plain(function: str) -> str:
    """The name without what differs between functions of one meaning."""
    name = function.removeprefix("MPI_File_").removeprefix("MPI_")
    return name.removesuffix("_c")


def is_collective(name: str) -> bool:
    """Of a data access."""
    return "_all" in name or "_ordered" in name


# ---- From a log ----------------------------------------------------------------------------------

def _completions(rank: record.Rank) -> dict[int, record.Call]:
    """The call that completed each request: the last that names it."""
    return {number: call for call in rank.calls if not call.moves_bytes
            for number in call.numbers("r")}


def _ends(rank: record.Rank) -> dict[tuple[int, int], record.Call]:
    """The end of each split collective, by file and the begin's place."""
    found, open_begin = {}, {}
    for place, call in enumerate(rank.calls):
        if call.name.endswith("_begin"):
            open_begin[call.file] = place
        elif call.name.endswith("_end") and call.file in open_begin:
            found[call.file, open_begin.pop(call.file)] = call
    return found


def _pieces(size: int, filetype: record.DataType | None) -> int:
    """Of an access through a view: contiguous pieces of the file."""
    if filetype is None or filetype.size in (0, filetype.extent):
        return 1
    return max(1, round(size * filetype.pieces / filetype.size))


def _access(rank: record.Rank, call: record.Call, start: int, end: record.Call | None,
            filetype: record.DataType | None) -> Access:
    """Times are those of the job's first rank."""
    begin, returned = (call.begin + start) * 1e-9, (call.end + start) * 1e-9
    blocking = not (call.name.startswith("i") or call.name.endswith("_begin"))
    # What nobody completed in the log is taken as complete at its return.
    completed = (end.end + start) * 1e-9 if end else returned
    return Access(rank.rank, rank.file_name(call), call.name, begin, returned,
                  max(completed, returned), end.seconds if end else 0.0, rank.bytes_of(call),
                  _pieces(rank.bytes_of(call), filetype), call.writes, call.collective, blocking)


def _is_on(value: str) -> bool:
    """Of write-behind and read-ahead: a size other than 0."""
    size = re.match(r"\s*(\d+)", value)
    return size is not None and int(size.group(1)) > 0


def _files_with(rank: record.Rank, hint: str, otherwise: str = "0") -> set[str]:
    """Where the library delayed writes, or read ahead: a hint of the open goes before those of the
    job, and these before what holds otherwise."""
    if rank.head.get("sluice") == "off":
        return set()
    found = set()
    of_job = dict(one.partition("=")[::2]
                  for one in rank.head.get("env.SLUICE_HINTS", "").split(";"))
    usual = of_job.get(hint, otherwise)
    for call in rank.calls:
        if call.name == "open" and _is_on(call.hints().get(hint, usual)):
            found.add(rank.file_name(call))
    return found


def from_log(log: record.Log, source: str) -> Job:
    """A log of `sluice record`."""
    first = min((rank.start for rank in log.ranks), default=0)
    head = log.ranks[0].head if log.ranks else {}
    job = Job(source, head.get("program", ""), head.get("mpi", ""),
              sorted({rank.head.get("node", "") for rank in log.ranks}), log.expected, 0.0,
              missing=log.missing())
    for rank in log.ranks:
        start = rank.start - first
        job.behind |= _files_with(rank, "sluice_write_behind",
                                  rank.head.get("env.SLUICE_WRITE_BEHIND", "0"))
        job.ahead |= _files_with(rank, "sluice_read_ahead")
        completions, ends = _completions(rank), _ends(rank)
        shared: set[int] = set()  # Calls that completed several: their time counts once.
        views: dict[int, record.DataType | None] = {}
        for place, call in enumerate(rank.calls):
            if call.name == "set_view":
                views[call.file] = rank.types.get(call.number("filetype"))
            if call.moves_bytes:
                end = completions.get(call.number("r")) or ends.get((call.file, place))
                one = _access(rank, call, start, end, views.get(call.file))
                if end is not None and id(end) in shared:
                    one.waited = 0.0
                shared |= {id(end)} if end is not None else set()
                job.accesses.append(one)
            elif call.file >= 0 and not call.name.endswith("_end"):
                job.others.append(OtherCall(rank.rank, rank.file_name(call), call.name,
                                            (call.begin + start) * 1e-9,
                                            (call.end + start) * 1e-9))
        last = rank.end if rank.end is not None else max((c.end for c in rank.calls), default=0)
        job.seconds = max(job.seconds, (last + start) * 1e-9)
    return job


# ---- From a trace --------------------------------------------------------------------------------

COMPLETING = {"Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"}


def _begins_later(name: str) -> bool:
    return name.startswith("i") or name.endswith("_begin")


def _copied_behind(trace: timeline.Timeline) -> set[str]:
    """The files whose writes were delayed: a copy names none, but the call that it lies in does."""
    calls: dict[int, list[timeline.Slice]] = trace.by_rank("call")
    found = set()
    for of_rank in calls.values():
        of_rank.sort(key=lambda call: call.begin)
    for copy in trace.by_category("copy"):
        of_rank = calls[copy.rank]
        place = bisect.bisect_right(of_rank, copy.begin, key=lambda call: call.begin) - 1
        if copy.name == "copy to write behind" and place >= 0:
            found.add(of_rank[place].arguments.get("file", ALL_FILES))
    return found


def from_trace(trace: timeline.Timeline, source: str) -> Job:
    """A trace of SLUICE_TRACE. It knows no sizes of what the MPI served."""
    parts = trace.parts
    job = Job(source, parts[0].get("program", "") if parts else "", "",
              sorted({part["host"] for part in parts}),
              max((part.get("ranks", 0) for part in parts), default=len(trace.ranks)),
              max((one.end for one in trace.slices), default=0) * 1e-9, trace=trace)
    job.behind = _copied_behind(trace)
    if trace.cut_off:
        job.missing = "the end of the trace is missing"
    ends = {(one.rank, one.operation): one for one in trace.slices
            if one.category == "operation"}
    begun: dict[tuple[int, object], Access] = {}
    for one in sorted(trace.by_category("call"), key=lambda call: call.begin):
        name = plain(one.name)
        if name in COMPLETING or name.endswith("_end"):
            access = begun.get((one.rank, one.operation))
            if access:
                access.waited += one.seconds
                access.completed = max(access.completed, one.end * 1e-9)
        elif "write" in name or "read" in name:
            job.accesses.append(_traced(one, name, ends))
            if _begins_later(name):
                begun[one.rank, one.operation] = job.accesses[-1]
        elif one.name.startswith("MPI_File_"):
            job.others.append(OtherCall(one.rank, one.arguments.get("file", ALL_FILES), name,
                                        one.begin * 1e-9, one.end * 1e-9))
    return job


def _traced(call: timeline.Slice, name: str, ends: dict) -> Access:
    whole = ends.get((call.rank, call.operation))
    returned = call.end * 1e-9
    completed = max(returned, whole.end * 1e-9) if whole and _begins_later(name) else returned
    return Access(call.rank, call.arguments.get("file", ALL_FILES), name, call.begin * 1e-9,
                  returned, completed, 0.0, call.arguments.get("bytes", 0), 0, "write" in name,
                  is_collective(name), not _begins_later(name))
