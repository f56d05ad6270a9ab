"""`sluice report FOLDER|LOG|TRACE`: one page about a job's file I/O, and the same as text."""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from sluice import record, timeline
from sluice.arguments import Parser
from sluice.report import job as jobs
from sluice.report import page, words
from sluice.terminal import printable

BAD_USAGE = 2


class Refused(Exception):
    """There is nothing to report on."""


def is_trace(path: Path) -> bool:
    """By its first line; also of one that is cut off."""
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            return '"traceEvents":[' in lines.readline(200)
    except OSError:
        return False


def sources(path: Path) -> tuple[Path | None, Path | None]:
    """The log and the trace that a path means; of a folder the newest of each."""
    if path.is_dir():
        newest = sorted((one for one in path.iterdir() if one.is_file()),
                        key=lambda one: -one.stat().st_mtime)
        return (next((one for one in newest if record.is_record(one)), None),
                next((one for one in newest if is_trace(one)), None))
    if not path.exists() and not Path(f"{path}.parts").is_dir():
        raise Refused(f"there is no {path}")
    if record.is_record(path):
        return path, None
    return None, path if is_trace(path) else None


def read(path: Path) -> tuple[jobs.Job, Path | None]:
    """The job, and its log if there is one."""
    log_path, trace_path = sources(path)
    trace = timeline.read(trace_path) if trace_path else None
    if log_path:
        job = jobs.from_log(record.read(log_path), str(log_path))
        job.trace = trace
        if trace_path:
            job.source += f", {trace_path}"
        return job, log_path
    if trace is None:
        raise Refused(f"{path} has neither a log of `sluice record` nor a trace of `sluice run "
                      "--trace`")
    return jobs.from_trace(trace, str(trace_path)), None


def plan_of(log: Path | None) -> list[str]:
    """What the library would decide for the access that took longest, and why; nothing where the
    command cannot tell."""
    command = os.environ.get("SLUICE_COMMAND")
    if log is None or not command:
        return []
    told = subprocess.run([command, "explain", str(log)], capture_output=True, text=True,
                          check=False).stdout.splitlines()
    lines = []
    for title in ("Pattern", "Decision"):
        if title not in told:
            continue
        for line in told[told.index(title) + 1:]:
            if not line.strip():
                break
            lines.append(line.strip())
    return lines


def version() -> str:
    """Of the command, in its words; empty where it is not there."""
    command = os.environ.get("SLUICE_COMMAND")
    if not command:
        return "Sluice"
    return subprocess.run([command, "--version"], capture_output=True, text=True,
                          check=False).stdout.strip()


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = Parser(
        prog="sluice report", description="One page about a job's file I/O: how long the program "
        "waited, for which files and calls, and what would help. Reads a log of `sluice record`, "
        "a trace of `sluice run --trace`, or a folder with either or both.")
    options.add_argument("path", type=Path, metavar="FOLDER|LOG|TRACE")
    options.add_argument("--out", type=Path, help="the page (the log's name with .html)")
    options.add_argument("--text", action="store_true", help="only print, write no page")
    return options


def run(options: argparse.Namespace) -> int:
    """What was asked for."""
    job, log = read(options.path)
    if not job.accesses and not job.others:
        raise Refused(f"{job.source} has no call on a file")
    plan = plan_of(log)
    out = options.out or (options.path / "report.html" if options.path.is_dir()
                          else Path(f"{options.path}.html"))
    if not options.text:  # First: who reads the words may stop to.
        out.write_text(page.page(job, plan, version()), encoding="utf-8")
    print(words.text(job, plan))
    if not options.text:
        print(f"\nThe page is in {out}")
    return 0


def main(arguments: list[str]) -> int:
    """The command; returns its exit code."""
    try:
        return run(parser().parse_args(arguments))
    except BrokenPipeError:
        raise
    except (Refused, record.NotALog, OSError) as error:
        print(f"sluice report: {printable(str(error))}", file=sys.stderr)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        print(f"sluice report: this is no log or trace of Sluice: {printable(str(error))}",
              file=sys.stderr)
    return 1
