#!/usr/bin/env python3
"""Calibrates on two ranks, quickly, and runs programs with what came out: the profile has all
numbers, the library finds it, takes rank 0's, and survives one that is broken.

Times are never compared with a limit: only longer requests with shorter ones. Exit code 1 if a
case failed.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mpi"))
import run as runner

SECONDS = 120
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
WITHOUT = "the library decides without a profile"


class Place:
    """A folder for files, one for profiles, and the ways to run things with them."""

    def __init__(self, mpi, folder):
        self.mpi, self.folder = mpi, folder
        self.build = runner.BUILD / runner.MPIS[mpi].build
        self.files, self.config = folder / "files", folder / "config"
        self.files.mkdir()

    def environment(self, mark, **settings):
        run = runner.Run(self.mpi, "calibrate", 2, settings=settings)
        return {**runner.environment(run, mark, False), "XDG_CONFIG_HOME": str(self.config)}

    def ranks(self, count, *words):
        return [str(word) for word in (runner.MPIS[self.mpi].mpiexec, "-n", count, *words)]

    def start(self, words, **settings):
        """Returns (exit code, output, processes left)."""
        mark = uuid.uuid4().hex
        code, output = runner.execute([str(word) for word in words],
                                      self.environment(mark, **settings), SECONDS, mark)
        left = runner.leftover_processes(mark)
        runner.end_processes(mark)
        return code, output, left

    def calibrate(self, *options, ranks=2):
        words = [self.build / "bin" / "sluice", "calibrate", "--dir", self.files, "--seconds",
                 2 if ranks else 1, "--bytes", "16M", *options]
        return self.start(self.ranks(ranks, *words) if ranks else words)

    def program(self, prefix=(), **settings):
        """A test program that checks every byte it reads."""
        test = self.build / "tests" / "mpi" / "patterns_test"
        return self.start(self.ranks(2, *prefix, self.build / "bin" / "sluice", "run", test,
                                     "--dir", self.files, "--only", "strided/all"),
                          SLUICE_LOG="3", **settings)

    def scratch_files(self):
        found = [path.name for path in self.files.iterdir()] + os.listdir("/dev/shm")
        return sorted(name for name in found if name.startswith("calibrate-"))

    def profiles(self):
        return sorted((self.config / "sluice").glob("*"))


def seconds(text):
    number, unit = re.fullmatch(r"([\d.e+-]+)(s|ms|us|ns)", text).groups()
    return float(number) * UNITS[unit]


def faults_of_storage(storage):
    for way in ("write", "read"):
        for kind in ("sequential", "random"):
            costs = storage[way][kind]
            sizes = costs.pop("sizes").split()
            if not {"4K", "64K", "1M"} <= set(sizes):
                yield f"{way} {kind}: sizes {sizes}"
            if set(costs) != {f"clients_{n}" for n in (1, 2, 4, 8)}:
                yield f"{way} {kind}: {sorted(costs)}"
            shortest = longest = 0  # Sums, since a single time may be spoiled by other programs.
            for clients, text in costs.items():
                times = [seconds(word) for word in text.split()]
                if len(times) != len(sizes) or min(times) <= 0:
                    yield f"{way} {kind} {clients}: {text}"
                shortest, longest = shortest + times[0], longest + times[-1]
            if shortest >= longest:
                yield f"{way} {kind}: long requests take no longer than short ones"


def faults_of_profile(path):
    profile = tomllib.loads(path.read_text())
    yield from faults_of_storage(profile["storage"])
    if "2 ranks on 1 node" not in profile["measured"]:
        yield f"measured: {profile['measured']}"
    costs = {name: seconds(text) for name, text in profile["costs"].items()}
    # The others are differences, which may vanish in the noise.
    yield from (f"{name} = {costs[name]}" for name in ("copy_byte", "plan_piece", "wake",
                                                       "operation") if costs[name] <= 0)
    within = {name: seconds(text) for name, text in profile["messages"]["within"].items()}
    if within["start"] + within["byte"] <= 0:
        yield f"messages: {within}"


def case_calibrate(place):
    code, output, left = place.calibrate()
    yield from ended(code, left)
    if len(found := place.profiles()) != 1:
        yield f"profiles {found}"
        return
    yield from faults_of_profile(found[0])
    if place.scratch_files():
        yield f"left: {place.scratch_files()}"
    if str(found[0]) not in output:
        yield "does not say where the profile is"


def case_info(place):
    code, output, left = place.start([place.build / "bin" / "sluice", "info", place.files])
    yield from ended(code, left)
    if not re.search(rf"profile of the machine +{re.escape(str(place.profiles()[0]))} \(", output):
        yield "does not name the profile"


def case_found(place):
    """Without a word the library finds what was calibrated."""
    code, output, left = place.program()
    yield from ended(code, left)
    yield from (f"no 'profile {p}'" for p in place.profiles() if f"profile {p}" not in output)


def case_none(place):
    code, output, left = place.program(SLUICE_PROFILE="none")
    yield from ended(code, left)
    if "profile" in output:
        yield "a profile is told of"


def case_rank_0_counts(place):
    """Rank 1 would complain of its own, and might decide otherwise."""
    here = 'test "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 && export SLUICE_PROFILE=%s; exec "$@"'
    prefix = ("sh", "-c", here % place.profiles()[0], "sh")
    code, output, left = place.program(prefix, SLUICE_PROFILE="/nowhere")
    yield from ended(code, left)
    if WITHOUT in output or f"profile {place.profiles()[0]}" not in output:
        yield "rank 0's profile is not the one"


def warned_once(place, path, why):
    code, output, left = place.program(SLUICE_PROFILE=str(path))
    yield from ended(code, left)
    warnings = [line for line in output.splitlines() if WITHOUT in line]
    if len(warnings) != 1 or why not in warnings[0]:
        yield f"warnings: {warnings}"


def case_broken(place):
    broken = place.folder / "broken.toml"
    broken.write_text(place.profiles()[0].read_text() + "\n[costs]\nwake = \"soon\"\n")
    yield from warned_once(place, broken, "wake = soon")


def case_missing(place):
    yield from warned_once(place, place.folder / "missing.toml", "No such file")


def case_folder(place):
    yield from warned_once(place, place.folder, "directory")


def case_alone(place):
    """One process without mpiexec; the profile goes where --out says."""
    out = place.folder / "alone.toml"
    code, output, left = place.calibrate("--out", out, ranks=0)
    yield from ended(code, left)
    if "not measured" not in output:
        yield "does not say that messages were not measured"
    if not out.exists() or f"SLUICE_PROFILE={out}" not in output:
        yield "no profile"


def case_no_place(place):
    code, output, left = place.calibrate("--out", "/dev/null/profile.toml")
    if code == 0 or left or "cannot make /dev/null" not in output:
        yield f"exit code {code}, left {left}"
    if place.scratch_files():
        yield f"left: {place.scratch_files()}"


def is_held(folder):
    """Whether a process has a file of that folder, which need not have a name."""
    def target(link):
        try:
            return os.readlink(link)
        except OSError:  # Gone meanwhile.
            return ""
    return any(target(link).startswith(f"{folder}/") for link in Path("/proc").glob("[0-9]*/fd/*"))


def case_stopped(place):
    """A job that is ended leaves no files, though launchers do not wait for a handler's end."""
    mark = uuid.uuid4().hex
    words = place.ranks(2, place.build / "bin" / "sluice", "calibrate", "--dir", place.files,
                        "--seconds", 10, "--bytes", "16M")
    job = subprocess.Popen(words, env=place.environment(mark), start_new_session=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    def wait_until(condition):
        until = time.monotonic() + SECONDS
        while not condition() and time.monotonic() < until:
            time.sleep(0.05)
        return condition()
    if not wait_until(lambda: is_held(place.files)):
        yield "no file is made"
    job.terminate()
    job.wait()
    if not wait_until(lambda: not place.scratch_files()):
        yield f"left: {place.scratch_files()}"
    if left := runner.leftover_processes(mark):
        yield f"processes left: {left}"
    runner.end_processes(mark)


def ended(code, left):
    if code != 0:
        yield "out of time" if code is None else f"exit code {code}"
    if left:
        yield f"processes left: {left}"


CASES = (case_calibrate, case_info, case_found, case_none, case_rank_0_counts, case_broken,
         case_missing, case_folder, case_alone, case_no_place, case_stopped)


def run_cases(mpi, only, base):
    results = []
    folder = Path(tempfile.mkdtemp(prefix="calibrate_", dir=base))
    try:
        place = Place(mpi, folder)
        for case in CASES:
            name = case.__name__.removeprefix("case_")
            # Most cases need the profile that the first one makes.
            if case is not case_calibrate and only not in name:
                continue
            began = time.monotonic()
            try:
                reasons = list(case(place))
            except (IndexError, KeyError, AttributeError, ValueError) as error:
                reasons = [repr(error)]
            print(f"{'FAILED' if reasons else 'ok    '} {time.monotonic() - began:6.1f} s  {mpi} "
                  f"{name}" + (f"  ({'; '.join(reasons)})" if reasons else ""), flush=True)
            results.append(not reasons)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return results


def main():
    args = runner.parse_for_cases(__doc__)
    results = [result for mpi in args.mpi.split(",")
               for result in run_cases(mpi, args.only, args.dir)]
    return runner.exit_code_of("calibrate", results)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
