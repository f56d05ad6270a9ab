"""`sluice trace`: what SLUICE_TRACE recorded, in words; one operation of it; or as OTF2."""
from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from sluice import timeline
from sluice.arguments import Parser
from sluice.terminal import printable
from sluice.timeline import Slice, Timeline

COLUMNS_MOST = 8  # Ranks that have a column of their own.


class Refused(Exception):
    """What the user asked for cannot be done."""


def merge_parts(path: Path) -> None:
    """A job that was killed leaves parts: the command makes one file of them."""
    if not Path(f"{path}.parts").is_dir():
        return
    command = os.environ.get("SLUICE_COMMAND")
    if not command:
        raise Refused(f"{path}.parts holds parts that were not merged: run `sluice merge-trace "
                      f"{path}`")
    if subprocess.run([command, "merge-trace", str(path)], check=False).returncode != 0:
        raise Refused(f"the parts in {path}.parts could not be merged")


def shown(columns: dict[int, float]) -> list[float]:
    """Of few ranks each; of many the least, the median and the most."""
    values = list(columns.values())
    if len(values) <= COLUMNS_MOST:
        return values
    return [min(values), statistics.median(values), max(values)]


def table(title: str, ranks: list[int], rows: dict[str, dict[int, float]], unit: str) -> list[str]:
    """Lines of a table with a column for each rank."""
    few = len(ranks) <= COLUMNS_MOST
    heads = [f"rank {rank}" for rank in ranks] if few else ["least", "median", "most"]
    width = max([len(name) for name in rows] + [len(title)]) + 2
    lines = [title.ljust(width) + "".join(head.rjust(10) for head in heads)]
    for name, columns in rows.items():
        cells = shown({rank: columns.get(rank, 0.0) for rank in ranks})
        lines.append(name.ljust(width) + "".join(f"{cell:10.{3 if unit == 's' else 0}f}"
                                                 for cell in cells))
    return lines


def time_by_kind(trace: Timeline) -> dict[str, dict[int, float]]:
    """Seconds in which at least one thing of a kind was under way, by rank."""
    kinds = {"in calls of MPI I/O": ("call",), "between calls": ("program",),
             "operations under way": ("operation",), "copies": ("copy",),
             "transfers under way": ("transfer",), "requests to the system": ("request",),
             "messages under way": ("message",)}
    rows = {}
    for name, categories in kinds.items():
        found = trace.by_rank(*categories)
        if any(found.values()):
            rows[name] = {rank: timeline.seconds(timeline.intervals(slices))
                          for rank, slices in found.items()}
    return rows


def waits_by_reason(trace: Timeline) -> dict[str, dict[int, float]]:
    """Seconds that the program's threads found nothing to do, by what they waited for."""
    rows: dict[str, dict[int, float]] = {}
    for rank, slices in trace.by_rank("wait").items():
        for one in slices:
            if trace.rows.get((rank, one.row), "") == "program":
                of_rank = rows.setdefault(one.name, {})
                of_rank[rank] = of_rank.get(rank, 0.0) + one.seconds
    return dict(sorted(rows.items(), key=lambda row: -max(row[1].values())))


def hidden(trace: Timeline) -> dict[str, dict[int, float]]:
    """How much of the time of operations the program did not wait for, in percent."""
    calls, under_way = trace.by_rank("call"), trace.by_rank("operation")
    share = {}
    for rank in trace.ranks:
        busy = timeline.intervals(under_way[rank])
        blocked = timeline.common(timeline.intervals(calls[rank]), busy)
        share[rank] = 100 * (1 - timeline.seconds(blocked) / timeline.seconds(busy)) if busy else 0
    return {"hidden": share}


def where(one: Slice) -> str:
    """The operation of a slice, in words."""
    key = one.operation
    return f", operation {key[1]} of {key[0]}" if key else ""


def slowest_operations(trace: Timeline, most: int) -> list[str]:
    """Lines about the operations that took longest."""
    lines = []
    found = sorted(timeline.operations(trace), key=lambda one: -one.slowest.seconds)
    for one in found[:most]:
        slowest = one.slowest
        stages = ", ".join(f"{name} {value:.4f}"
                           for name, value in one.stages(slowest.rank).items())
        lines.append(f"  {slowest.seconds:.4f} s: {one.kind} {one.number} of {one.file}, "
                     f"{one.bytes / 2**20:.1f} MiB of all ranks; longest on rank {slowest.rank}: "
                     f"{stages}")
    return lines


def longest_waits(trace: Timeline, most: int) -> list[str]:
    """Lines about the waits of the program's threads that took longest."""
    waits = [one for one in trace.slices
             if one.category == "wait" and trace.rows.get((one.rank, one.row)) == "program"]
    lines = []
    for one in sorted(waits, key=lambda one: -one.seconds)[:most]:
        peer = one.arguments.get("peer")
        peer_text = "" if peer is None else f" (rank {peer})"
        lines.append(f"  {one.seconds:.4f} s at {one.begin / 1e9:.4f} s: rank {one.rank} "
                     f"{one.name}{peer_text}{where(one)}")
    return lines


def about(trace: Timeline) -> list[str]:
    """The first lines: what was recorded, and what is missing."""
    begin = min((one.begin for one in trace.slices), default=0)
    end = max((one.end for one in trace.slices), default=0)
    hosts = {part["host"] for part in trace.parts}
    files = {one.arguments["file"] for one in trace.slices if "file" in one.arguments}
    lines = [f"{len(trace.ranks)} ranks on {len(hosts)} hosts, {(end - begin) / 1e9:.3f} s, "
             f"{len(timeline.operations(trace))} operations on {len(files)} files, "
             f"{len(trace.slices)} events"]
    lost = sum(part["lost"] for part in trace.parts)
    if lost:
        lines.append(f"{lost} older events are lost: SLUICE_TRACE=FILE,SIZE makes more room")
    killed = [str(part["rank"]) for part in trace.parts if not part["ended"]]
    if killed:
        lines.append(f"cut off, as these ranks did not end: {', '.join(killed)}")
    if trace.cut_off:
        lines.append("cut off: the end of the file is missing")
    error = max((part["clock_error_ns"] for part in trace.parts), default=0)
    if len(hosts) > 1 and error > 0:
        lines.append(f"the clocks of the hosts agree to {error / 1000:.1f} us")
    return lines


def summary(trace: Timeline, most: int) -> list[str]:
    """The trace in words."""
    ranks = trace.ranks
    lines = about(trace)
    lines += ["", *table("seconds", ranks, time_by_kind(trace), "s")]
    waits = waits_by_reason(trace)
    if waits:
        lines += ["", *table("the program waited", ranks, waits, "s")]
    lines += ["", *table("percent of operations' time", ranks, hidden(trace), "%")]
    lines += ["", "slowest operations", *slowest_operations(trace, most)]
    lines += ["", "longest waits", *longest_waits(trace, most)]
    return lines


def chosen_operation(trace: Timeline, number: int, file: str | None) -> timeline.Operation:
    """The operation with this number."""
    found = [one for one in timeline.operations(trace)
             if one.number == number and (file is None or one.file == file
                                          or Path(one.file).name == file)]
    if not found:
        raise Refused(f"there is no operation {number}" + (f" of {file}" if file else ""))
    names = sorted({one.file for one in found})
    if len(names) > 1:
        raise Refused(f"operation {number} is of {', '.join(names)}: choose one by --file")
    return found[0]


def cut(path: Path, trace: Timeline, wanted: timeline.Operation, out: Path) -> int:
    """Writes what belongs to an operation, and what its ranks did meanwhile of no operation."""
    begin, end = wanted.span
    kept = 0
    with out.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ms","traceEvents":[')
        for event in timeline.events_of(path):
            moment = timeline.nanoseconds(event.get("ts", begin / 1000))
            last = moment + timeline.nanoseconds(event.get("dur", 0))
            own = event.get("args", {})
            mine = own.get("operation") in (None, wanted.number) and own.get(
                "file", wanted.file) == wanted.file
            if event["ph"] == "end" or not mine or last < begin or moment > end:
                continue
            file.write((",\n" if kept else "\n") + json.dumps(event, separators=(",", ":")))
            kept += 1
        about_parts = {"format": "sluice 1", "parts": trace.parts}
        file.write("\n],\"otherData\":" + json.dumps(about_parts, separators=(",", ":")) + "}\n")
    return kept


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = Parser(
        prog="sluice trace", description="What SLUICE_TRACE recorded, in words; one operation of "
        "it; or as OTF2. Parts that a killed job left are merged first.")
    options.add_argument("file", type=Path, help="the file of SLUICE_TRACE")
    options.add_argument("--most", type=int, default=5, help="operations and waits to list (5)")
    options.add_argument("--operation", type=int, help="cut out the operation with this number")
    options.add_argument("--file", dest="of", help="of this file, where several have that number")
    options.add_argument("--out", type=Path, help="where what was cut out goes")
    options.add_argument("--otf2", type=Path, metavar="FOLDER",
                         help="convert for Vampir and others (needs the package otf2)")
    return options


def run(options: argparse.Namespace) -> int:
    """What was asked for."""
    merge_parts(options.file)
    trace = timeline.read(options.file)
    if options.otf2:
        from sluice import trace_otf2
        trace_otf2.write(trace, options.otf2)
        print(f"{options.otf2}/traces.otf2")
    elif options.operation is not None:
        wanted = chosen_operation(trace, options.operation, options.of)
        out = options.out or options.file.with_suffix(f".{options.operation}.json")
        print(f"{cut(options.file, trace, wanted, out)} events are in {out}")
    else:
        print("\n".join(map(printable, summary(trace, options.most))))
    return 0


def why_no_trace(error: Exception) -> str:
    """In words for whoever gave another kind of file."""
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return "it holds no JSON"
    return printable(str(error))


def main(arguments: list[str]) -> int:
    """The command; returns its exit code."""
    options = parser().parse_args(arguments)
    try:
        return run(options)
    except BrokenPipeError:
        raise
    except (Refused, OSError, ImportError) as error:
        print(f"sluice trace: {printable(str(error))}", file=sys.stderr)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        print(f"sluice trace: {options.file} is no trace that SLUICE_TRACE wrote: "
              f"{why_no_trace(error)}", file=sys.stderr)
    return 1
