"""What a report says, in sections that both the page and the terminal show. Pure."""
from __future__ import annotations

from dataclasses import dataclass, field

from sluice.report import figures
from sluice.report.advice import WORTH, Advice, advice
from sluice.report.job import ALL_FILES, Job
from sluice.report.pictures import seconds_text

FILES_MOST, CALLS_MOST = 20, 20


@dataclass
class Table:
    """Rows below their heads; all columns but the first are figures."""
    heads: list[str]
    rows: list[list[str]] = field(default_factory=list)


def size_text(size: float) -> str:
    """Bytes with a unit that suits them."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.4g} {unit}"


def _moved(job: Job) -> str:
    """Bytes of all ranks, and how fast they were; empty: none were."""
    by_file = figures.by_file(job)
    moved = sum(one.bytes_written + one.bytes_read for one in by_file)
    seconds = figures.moving(job)
    if moved == 0 or seconds <= 0:
        return ""
    least = "at least " if any(one.rate_is_least for one in by_file) else ""
    rate = least + figures.rate_text(moved / seconds)
    return f"{size_text(moved)} by all ranks, {rate} while any were on their way"


def head(job: Job) -> list[tuple[str, str]]:
    """Name and value of what is known of the job."""
    waited = max(figures.blocked_by_rank(job).values(), default=0.0)
    share = f" ({100 * waited / job.seconds:.0f} % of the run)" if job.seconds else ""
    shown = ", ".join(job.hosts[:4]) + (" ..." if len(job.hosts) > 4 else "")
    hosts = "1 host" if len(job.hosts) == 1 else f"{len(job.hosts)} hosts"
    found = [("program", job.program), ("MPI", job.mpi),
             ("ranks", f"{job.ranks} on {hosts} ({shown})"),
             ("run", seconds_text(job.seconds)),
             ("moved", _moved(job)),
             ("in calls on files", f"{seconds_text(waited)}{share}, on the rank with most"),
             ("read from", job.source), ("missing", job.missing)]
    return [(name, value) for name, value in found if value]


def files(job: Job) -> Table:
    """Waited and hidden, by file."""
    table = Table(["file", "calls", "written", "read", "MiB/s", "waited", "in close", "under way",
                   "hidden"])
    for one in figures.by_file(job)[:FILES_MOST]:
        hidden = "" if one.hidden is None else f"{100 * one.hidden:.0f} %"
        table.rows.append([one.name, str(one.calls), size_text(one.bytes_written),
                           size_text(one.bytes_read), _rate(one.rate), seconds_text(one.blocked),
                           seconds_text(one.closing),
                           "-" if one.delayed else seconds_text(one.under_way),
                           "-" if one.delayed else hidden])
    return table


def _rate(rate: float | None) -> str:
    """Below a head that has the unit."""
    return "" if rate is None else figures.rate_text(rate).removesuffix(" MiB/s")


def delayed_note(job: Job) -> str:
    """Why a table lacks figures; empty: it lacks none."""
    if not any(one.delayed for one in figures.by_file(job)):
        return ""
    return ("Blocking writes were delayed (write-behind), and a log does not say when delayed "
            "bytes reached the file: MiB/s count until the close, and what was hidden is in the "
            "summary of SLUICE_LOG=2.")


def notes(job: Job) -> str:
    """What a table of files cannot say in its figures; empty: nothing."""
    later = any(one.completed_later for one in figures.by_file(job))
    return " ".join(note for note in (
        "Nonblocking accesses count until the call that completes them, and their bytes may have "
        "been in the file long before: then MiB/s are the least that it can have been."
        if later else "", delayed_note(job)) if note)


def calls(job: Job) -> Table:
    """Waited, by function."""
    table = Table(["function", "calls", "bytes", "waited", "longest call"])
    for one in figures.by_call(job)[:CALLS_MOST]:
        table.rows.append([one.name, str(one.calls), size_text(one.bytes) if one.bytes else "",
                           seconds_text(one.blocked), seconds_text(one.longest)])
    return table


def _range_text(least: int, most: int) -> str:
    """One size where all are alike."""
    first, last = size_text(least), size_text(most)
    return first if first == last else f"{first} to {last}"


def sizes(job: Job) -> Table:
    """How large accesses are, and their pieces in the file where they are known."""
    table = Table(["one access", "writes", "reads", "all bytes", "contiguous piece"])
    for one in figures.by_size(job):
        table.rows.append([_range_text(one.least, one.most), str(one.writes),
                           str(one.reads), size_text(one.bytes),
                           "" if one.piece is None else size_text(one.piece)])
    return table


def advised(job: Job) -> list[Advice]:
    """What would save time."""
    return advice(job)


def no_advice(job: Job) -> str:
    """What stands in the place of advice where there is none."""
    waited = max(figures.blocked_by_rank(job).values(), default=0.0)
    if job.trace is not None or waited < WORTH * job.seconds:
        return "Nothing that this report looks for would save 2 % of the run."
    return ("Nothing that a log alone can tell would save 2 % of the run. What the calls waited "
            "for, such as ranks that came late, is in a trace: sluice run --trace.")


# In a trace names are short, and a trace may be an old one.
WAITS = {"waits for other ranks' calls": "waits until other ranks make the call",
         "waits for other ranks' ends": "waits until other ranks have done their part",
         "waits for other ranks' claims": "waits to hear which bytes other ranks have"}


def waits(job: Job) -> Table:
    """What the program's threads waited for, where a trace says so."""
    table = Table(["in calls the program", "waited", "of rank"])
    if job.trace is None:
        return table
    found: dict[str, dict[int, float]] = {}
    for one in job.trace.by_category("wait"):
        if job.trace.rows.get((one.rank, one.row)) == "program":
            of_rank = found.setdefault(one.name, {})
            of_rank[one.rank] = of_rank.get(one.rank, 0.0) + one.seconds
    for name, of_rank in sorted(found.items(), key=lambda row: -max(row[1].values())):
        rank = max(of_rank, key=lambda one: of_rank[one])
        table.rows.append([WAITS.get(name, name), seconds_text(of_rank[rank]), str(rank)])
    return table


def bars(job: Job) -> list[tuple[str, float, float | None]]:
    """For the picture: file, seconds waited, seconds hidden; None: not known."""
    return [("independent calls" if one.name == ALL_FILES else one.name,
             one.in_calls, None if one.delayed else one.unwaited)
            for one in figures.by_file(job)[:8]]
