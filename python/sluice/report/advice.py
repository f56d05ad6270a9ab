"""What would make the job wait less, each with the seconds that it would save at most. Pure.

Seconds are of the rank that would gain most. They come from the times between the job's calls: what
a call waited for can at best be hidden behind the computation beside it.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sluice.report import figures
from sluice.report.job import ALL_FILES, Access, Job

WORTH = 0.02  # of the job's time, or it is not told
SMALL = 64 << 10  # bytes of an access that is small


@dataclass
class Advice:
    """One thing to do."""
    seconds: float | None  # saved at most; None: this data cannot tell
    title: str
    text: str


def _gaps(job: Job) -> dict[int, list[tuple[float, float]]]:
    """Of each rank: begin and end of its calls on files, in their order."""
    calls = defaultdict(list)
    for rank, begin, end in job.calls():
        calls[rank].append((begin, end))
    return {rank: sorted(all_calls) for rank, all_calls in calls.items()}


def _after(calls: list[tuple[float, float]], moment: float, last: float) -> float:
    """Seconds from the end of a call to the next call."""
    return min((begin for begin, _ in calls if begin >= moment), default=last) - moment


def _before(calls: list[tuple[float, float]], moment: float) -> float:
    """Seconds from the end of the call before to the begin of one."""
    return moment - max((end for _, end in calls if end <= moment), default=0.0)


def _saved(job: Job, wanted: Callable[[Access], bool],
           room: Callable[[list[tuple[float, float]], Access], float],
           cost: Callable[[Access], float]) -> float:
    """Of the rank that saves most: what its calls cost, as far as there is room beside them."""
    gaps = _gaps(job)
    saved: dict[int, float] = defaultdict(float)
    for one in job.accesses:
        if wanted(one):
            saved[one.rank] += min(cost(one), max(0.0, room(gaps[one.rank], one)))
    return max(saved.values(), default=0.0)


def _behind(job: Job) -> Advice:
    saved = _saved(job, lambda one: one.writes and one.blocking and one.file not in job.behind,
                   lambda calls, one: _after(calls, one.returned, job.seconds),
                   lambda one: one.blocked)
    return Advice(saved, "Delay blocking writes with sluice run --behind",
                  "Blocking writes waited for their bytes, and computation came behind them. With "
                  "write-behind a call returns when its bytes are copied, and they reach the file "
                  "during that computation.")


def _ahead(job: Job) -> Advice:
    saved = _saved(job, lambda one: (not one.writes and one.blocking and one.collective
                                     and one.file not in job.ahead),
                   lambda calls, one: _before(calls, one.begin), lambda one: one.blocked)
    return Advice(saved, "Read ahead with sluice run --ahead",
                  "Blocking collective reads came with computation before them. Where each step "
                  "reads the next part of a file, read-ahead fetches it during that computation.")


def _close(job: Job) -> Advice:
    """Delayed writes for which the close waited. What all ranks of a file waited is meant: the
    rest is waiting for a rank that comes late."""
    closing = figures.closing_by_file(job)
    seconds: dict[int, float] = defaultdict(float)
    for name in job.behind & closing.keys():
        for rank in closing[name]:
            seconds[rank] += min(closing[name].values())
    delayed = [one for one in figures.by_file(job) if one.name in closing and one.delayed]
    rates = [one.rate for one in delayed if one.rate]
    rate = f" This file took at least {figures.rate_text(rates[0])}." if len(rates) == 1 else (
        f" These files took at least {figures.rate_text(min(rates))} each." if rates else "")
    return Advice(max(seconds.values(), default=0.0), "Write earlier, or less, before the close",
                  "Writes are delayed already, and MPI_File_close waits until they are in the "
                  f"file: no computation follows the last ones that could hide them.{rate} Write "
                  "them earlier, write less at the end, or close the file after more computation.")


def _wait_later(job: Job) -> Advice:
    saved = _saved(job, lambda one: not one.blocking and one.waited > 0,
                   lambda calls, one: _after(calls, one.completed, job.seconds),
                   lambda one: one.waited)
    return Advice(saved, "Complete nonblocking accesses later",
                  "Waits for nonblocking accesses took long, and computation came right behind "
                  "them. Where that computation does not need the buffer, call MPI_Wait after it.")


def _small(job: Job) -> Advice:
    """What they would take at the speed of the job's collective accesses, if it has any."""
    small = [one for one in job.accesses if not one.collective and 0 < one.bytes < SMALL]
    large = [one for one in job.accesses if one.collective and one.bytes >= SMALL]
    by_rank: dict[int, float] = defaultdict(float)
    moved: dict[int, int] = defaultdict(int)
    for one in small:
        by_rank[one.rank] += one.blocked
        moved[one.rank] += one.bytes
    speed = sum(one.bytes for one in large) / max(sum(one.blocked for one in large), 1e-9)
    worst = max(by_rank, key=lambda rank: by_rank[rank], default=None)
    saved = 0.0 if worst is None else by_rank[worst] - (moved[worst] / speed if large else 0.0)
    basis = ("at the speed of this job's collective accesses" if large
             else "if they cost nothing any more")
    return Advice(max(0.0, saved), "Use collective functions for small accesses",
                  f"{len(small)} independent calls of less than 64 KiB each: every one is a "
                  f"request to the file system. MPI_File_write_all and read_all join those of all "
                  f"ranks (h5py: `dset.collective`, PnetCDF: the functions with _all). Seconds are "
                  f"{basis}.")


def _open_once(job: Job) -> Advice:
    seconds: dict[int, float] = defaultdict(float)
    times: dict[tuple[int, str], int] = defaultdict(int)
    for other in job.others:
        if other.function in ("open", "close"):
            seconds[other.rank] += other.seconds
            known = other.function == "open" and other.file != ALL_FILES
            times[other.rank, other.file] += known
    again = max(times.values(), default=0)
    saved = max(seconds.values(), default=0.0) * (1 - 1 / again) if again > 1 else 0.0
    return Advice(saved, "Keep files open",
                  f"One file was opened up to {again} times on a rank. Opening and closing are "
                  "collective, and wait for all ranks.")


def _uneven(job: Job) -> Advice | None:
    """Ranks that come to a call before others: no setting helps."""
    if job.trace is None:
        return None
    last = figures.comes_last(job)
    who = "Ranks waited inside collective calls for others that computed longer."
    if last and 2 * last[1] > last[2]:
        who += f" Rank {last[0]} came last to {last[1]} of {last[2]} of them."
    elif last:
        who += " It was not always the same one that came last."
    waited: dict[int, float] = defaultdict(float)
    for one in job.trace.by_category("wait"):
        program = job.trace.rows.get((one.rank, one.row)) == "program"
        if program and one.name == "waits for other ranks' calls":
            waited[one.rank] += one.seconds
    return Advice(max(waited.values(), default=0.0), "Let ranks come to their calls together",
                  f"{who} A more even division of the work, or nonblocking calls, would save it.")


def advice(job: Job) -> list[Advice]:
    """Worth telling, the most useful first."""
    found: Iterable[Advice | None] = (_behind(job), _close(job), _ahead(job), _wait_later(job),
                                      _small(job), _open_once(job), _uneven(job))
    worth = [one for one in found if one and one.seconds is not None
             and one.seconds >= max(WORTH * job.seconds, 1e-3)]
    return sorted(worth, key=lambda one: -(one.seconds or 0.0))
