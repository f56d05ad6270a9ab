#!/usr/bin/env python3
"""Runs real programs (tests/record/jobs.py) through all that sees a job: trace, record, replay,
explain, simulate, tune and report, by the commands of the documents, and checks what they give.

    programs.py [--mpi NAME] [--only TEXT] [--pictures FOLDER]

A replay must write the places that the program wrote, in files as long, with no byte wrong; and the
same bytes with Sluice and on the MPI alone. The pages are opened by a Chromium, where there is one,
which draws them into --pictures. Exit code 1 if anything is not as it should be. What is not
installed is said and skipped.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

from jobs import JOBS, ROOT, SHOWN_MPIS, Missing  # It makes the next folders known.

sys.path[:0] = [str(ROOT / "tests" / "mpi"), str(ROOT / "tests" / "trace"), str(ROOT / "python")]
import run as runner  # noqa: E402
from checks import faults_of  # noqa: E402
from sluice import record  # noqa: E402

RANKS = 2
SECONDS = 120
SECTIONS = ("Waited and hidden, by file", "By call", "Ranks against time", "Sizes", "Advice")
# Where the text has the first, the page has the second.
SECTIONS_OF_SOME = {"Waits": "What calls waited for",
                    "What the library decides": "What the library decides"}


class Failed(Exception):
    """What is not as it should be."""


def expect(condition, what, more=""):
    if not condition:
        raise Failed(f"{what}\n{more}")


class Place:
    """One job with one MPI, in a folder."""

    def __init__(self, job, mpi, folder, pictures):
        self.job, self.mpi, self.folder, self.pictures = job, mpi, folder, pictures
        self.words_in = job.made(mpi, folder)

    def execute(self, words, expected=0, **settings):
        """What it prints; Failed if it does not end as expected."""
        mark = uuid.uuid4().hex
        run = runner.Run(self.mpi.name, "record", RANKS,
                         settings={"H5PY_ALWAYS_USE_MPI": "1", "STEPS_RATE": "2e6", **settings})
        environment = runner.environment(run, mark, False) | self.mpi.settings
        code, output = runner.execute([str(word) for word in words], environment, SECONDS, mark)
        runner.end_processes(mark)
        expect(code == expected, f"{' '.join(map(str, words))}: exit code {code}", output)
        return output

    def ranks(self, *words, **settings):
        return self.execute([self.mpi.mpiexec, "-n", RANKS, *words], **settings)

    def command(self, *words, expected=0):
        return self.execute([self.mpi.sluice, *words], expected)

    def program(self, name):
        """The program's words, for files in a new folder."""
        at = self.folder / name
        at.mkdir()
        return at, self.words_in(at)


def files_in(folder):
    """By name, also those in folders."""
    return {path.name: path for path in sorted(folder.rglob("*")) if path.is_file()}


def traced(place):
    """A whole trace, in words and as a file."""
    path = place.folder / "seen" / "t.json"
    _, words = place.program("traced")
    said = place.ranks(place.mpi.sluice, "run", "--trace", path, *words)
    expect(path.exists(), "there is no trace", said)
    said = place.command("trace", path)
    for word in ("2 ranks on 1 hosts", "in calls of MPI I/O", "longest waits"):
        expect(word in said, f"sluice trace does not say '{word}'", said)
    faults, trace = faults_of(path, list(range(RANKS)), is_whole=False)
    expect(not faults and trace.slices, "the trace", "\n".join(faults[:5]))


def recorded(place):
    """The log, and the files that the program wrote, which are those of a run without it."""
    plain, words = place.program("plain")
    place.ranks(*words)
    log = place.folder / "seen" / "app.record"
    at, words = place.program("recorded")
    place.ranks(place.mpi.sluice, "record", "--out", log, *words)
    expect(record.read(log).missing() == "", record.read(log).missing())
    expect(files_in(at).keys() == files_in(plain).keys(), "other files are written")
    return log, at


def replayed(place, log, written):
    """The same calls give the same bytes, with Sluice and without it."""
    made, ratios = {}, {}
    for sluice in ("on", "off"):
        at = place.folder / "replayed"  # What is written follows from the name of the file.
        at.mkdir()
        lines = place.folder / f"replay-{sluice}.jsonl"
        place.ranks(place.mpi.sluice, "replay", log, "--dir", at, "--check", "--keep", "--json",
                    lines, SLUICE=sluice)
        row = json.loads(lines.read_text())
        expect(row["checked"] > 100_000 and row["wrong"] == row["errors"] == 0, "bytes", row)
        ratios[sluice] = row["seconds"] / row["recorded_seconds"]
        made[sluice] = files_in(at.rename(place.folder / f"replayed-{sluice}"))
    for name, path in files_in(written).items():
        same_places(name, path, made)
    return ratios


def same_places(name, path, made):
    """A file of the program, and those of its replays."""
    with_it, without = (
        next((found for of, found in files.items() if of.endswith(f"-{name}")), None)
        for files in made.values())
    expect(with_it and without, f"{name} is not replayed", [*made["on"], *made["off"]])
    bytes_on, bytes_off, bytes_of_program = (one.read_bytes() for one in (with_it, without, path))
    expect(bytes_on == bytes_off, f"{name}: a replay on the MPI alone gives other bytes")
    expect(len(bytes_on) == len(bytes_of_program), f"{name}: {len(bytes_on)} bytes are replayed, "
           f"{len(bytes_of_program)} were written")
    ours, theirs = (int.from_bytes(bytes(map(bool, all_of_them)), "big")
                    for all_of_them in (bytes_on, bytes_of_program))
    expect(theirs & ~ours == 0, f"{name}: not all places are replayed")


def explained(place, log):
    """What is decided for collective accesses; of a job that has none, that it has none."""
    has_collective = any(call.collective and call.moves_bytes
                         for rank in record.read(log).ranks for call in rank.calls)
    for command in ("explain", "simulate"):
        said = place.command(command, log, expected=0 if has_collective else 2)
        wanted = "by 2 ranks" if has_collective else "independent calls of"
        expect(wanted in said, f"sluice {command}", said)


def tuned(place, log):
    said = place.command("tune", log, "--dir", place.folder, "--time", 6, "--mpiexec",
                         place.mpi.mpiexec)
    expect("SLUICE_HINTS='" in said or "leave SLUICE_HINTS unset" in said, "sluice tune", said)


def reported(place):
    """A page of the log and the trace, and what a browser makes of it."""
    said = place.command("report", place.folder / "seen")
    page = place.folder / "seen" / "report.html"
    expect(page.exists() and "\nFiles\n" in said, "sluice report", said)
    browser = shutil.which("chromium")
    if not browser:
        return "not opened: there is no chromium"
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={place.folder}/browser", f"file://{page}"]
    shown = subprocess.run([*words, "--dump-dom"], capture_output=True, text=True, timeout=90,
                           check=False).stdout
    of_this = [title for word, title in SECTIONS_OF_SOME.items() if f"\n{word}" in said]
    for section in (*SECTIONS, *of_this):
        expect(f"<h2>{section}" in shown, f"the page does not show '{section}'", said)
    name = re.sub(r"\W+", "-", f"{place.job.name}-{place.mpi.name}")
    place.pictures.mkdir(parents=True, exist_ok=True)
    picture = place.pictures / f"{name}.png"
    subprocess.run([*words, f"--screenshot={picture}", "--window-size=1100,3000"],
                   capture_output=True, timeout=90, check=False)
    expect(picture.exists(), "the browser draws no picture")
    return picture


def go_through(place):
    """All of it; returns what is to be said."""
    (place.folder / "seen").mkdir()
    traced(place)
    log, written = recorded(place)
    ratios = replayed(place, log, written)
    explained(place, log)
    tuned(place, log)
    return (f"replay / job {ratios['on']:.2f}, on the MPI alone {ratios['off']:.2f}; "
            f"{reported(place)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", action="append", choices=[mpi.name for mpi in SHOWN_MPIS])
    parser.add_argument("--only", default="", help="jobs with this in their names")
    parser.add_argument("--pictures", type=Path, default=ROOT / "build" / "pictures" / "programs")
    options = parser.parse_args()
    failed = 0
    for mpi in SHOWN_MPIS:
        for job in JOBS:
            if (options.mpi and mpi.name not in options.mpi) or options.only not in job.name:
                continue
            with tempfile.TemporaryDirectory(prefix="programs_", dir="/dev/shm") as folder:
                how = "passed: "
                try:
                    what = go_through(Place(job, mpi, Path(folder), options.pictures))
                except Missing as why:
                    how, what = "skipped:", why
                except Failed as fault:
                    how, what = "FAILED: ", fault
                    failed += 1
            print(f"{how} {mpi.name}, {job.name}: {what}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
