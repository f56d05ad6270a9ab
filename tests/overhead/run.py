#!/usr/bin/env python3
"""What Sluice costs a program that does no file I/O: messages without and with the preload.

Starts tests/overhead/messages.cpp again and again: in one pass once for each side, in the next
pass in the opposite order, so that a slow drift of the machine cancels out. Each pass gives one
ratio of every side to the plain MPI. Prints their medians and quartiles. Wants a quiet machine.
"""
import argparse
import datetime
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import uuid
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import run as runner
from small_programs import compiled

HERE = Path(__file__).resolve().parent
RANKS = 2
SECONDS = 120

# What differs from the plain program: None is without Sluice.
SIDES = {
    "plain": None,
    "again": None,  # How far two equal sides lie apart: the noise.
    "preload": {},
    # As with several nodes.
    "fabric": {"SLUICE_TEST": "ranks_per_node=1", "SLUICE_NETWORK": "fabric"},
    "raised": {"SLUICE_TEST": "ranks_per_node=1", "SLUICE_NETWORK": "mpi"},  # MPI_THREAD_MULTIPLE
}


def start(mpi, side, args):
    """One run of the program: {(pattern, size): seconds} and its words on MPI and thread level."""
    settings = SIDES[side]
    mark = uuid.uuid4().hex
    run = runner.Run(mpi, "messages", RANKS, settings=settings or {})
    sluice = [] if settings is None else [str(runner.BUILD / mpi / "bin" / "sluice"), "run"]
    words = [str(runner.BUILD / "env" / mpi / "bin" / "mpiexec"), *args.binding.split(), "-n",
             str(RANKS), *sluice, str(compiled(mpi, HERE / "messages.cpp")), str(args.samples)]
    code, output = runner.execute(words, runner.environment(run, mark, False), SECONDS, mark)
    if code != 0:
        raise RuntimeError(f"{' '.join(words)}: exit code {code}\n{output}")
    times = {(name, int(size)): float(seconds) for name, size, seconds in
             re.findall(r"^(\w+) (\d+) ([\d.e-]+)$", output, re.MULTILINE)}
    return times, re.search(r"^library (.*)$", output, re.MULTILINE).group(1)


def measure(mpi, args):
    """The times of all passes: {side: {(pattern, size): [seconds]}}, and the library's name."""
    times = {side: {} for side in args.sides}
    library = ""
    for index in range(args.passes):
        order = args.sides if index % 2 == 0 else args.sides[::-1]
        for side in order:
            found, library = start(mpi, side, args)
            for pattern, seconds in found.items():
                times[side].setdefault(pattern, []).append(seconds)
    return times, " ".join(library.split())


def spread(values):
    """Median, quartiles and extremes."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": middle, "low": low, "high": high, "min": min(values), "max": max(values)}


def sluice_version(mpi):
    info = subprocess.run([runner.BUILD / mpi / "bin" / "sluice", "info"], capture_output=True,
                          text=True, check=True).stdout
    return re.search(r"\d+\.\d+\.\d+", info).group()


def lines_of(mpi, args):
    """One line of results for each side but the plain one, and each pattern."""
    times, library = measure(mpi, args)
    version = sluice_version(mpi)
    now = datetime.datetime.now(datetime.timezone.utc)
    for side in args.sides:
        for (name, size), ours in times[side].items() if side != "plain" else ():
            plain = times["plain"][name, size]
            unit = "calls" if name == "asked_in_vain" else "bytes"
            yield {
                "mode": "messages", "pattern": name, unit: size, "variant": side, "unit": "s",
                "sluice": spread(ours), "peer": spread(plain),
                "sluice_over_peer": spread([a / b for a, b in zip(ours, plain)]),
                "ranks": RANKS, "host_cores": os.cpu_count(), "repeat": args.passes,
                "mpi_library": library,
                "sluice_version": version,
                "command": " ".join(["tests/overhead/run.py", *sys.argv[1:]]),
                "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            }


def show(line):
    ratio = line["sluice_over_peer"]
    size = line.get("bytes", line.get("calls"))
    print(f"{line['mpi_library'][:24]:<24} {line['variant']:<8} {line['pattern']:<13} {size:>6} "
          f"{1e6 * line['peer']['median']:8.3f} us {1e6 * line['sluice']['median']:8.3f} us   "
          f"{ratio['median']:6.3f}  ({ratio['low']:.3f} .. {ratio['high']:.3f})", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--samples", type=int, default=500, help="of each pattern, in one run")
    parser.add_argument("--sides", default=",".join(SIDES), help="plain, and what to compare")
    parser.add_argument("--binding", default="--bind-to core", help="options of mpiexec")
    parser.add_argument("--json", type=Path, help="appends one line a figure")
    args = parser.parse_args()
    args.sides = args.sides.split(",")
    if "plain" not in args.sides or set(args.sides) - set(SIDES) or args.passes < 2:
        parser.error(f"sides are {', '.join(SIDES)}, plain among them; passes are two or more")
    return args


def main():
    args = parse_arguments()
    print(f"{'MPI':<24} {'side':<8} {'pattern':<13} {'size':>6} {'plain':>11} {'Sluice':>11}   "
          " ratio  (quartiles)")
    for mpi in args.mpi.split(","):
        for line in lines_of(mpi, args):
            show(line)
            if args.json:
                with open(args.json, "a", encoding="utf-8") as results:
                    results.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
