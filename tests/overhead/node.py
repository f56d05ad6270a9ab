#!/usr/bin/env python3
"""Messages between two ranks of a node: those of transport/node_network beside those of the MPIs.

Runs both kinds of programs in turn, in the next pass in the opposite order, and prints a table for
each pattern: the median over the passes of each run's median, and the least time that was seen,
in microseconds. Wants two cores that nobody else uses.
"""
import argparse
import re
import statistics
import subprocess
import sys
import uuid
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import run as runner
from small_programs import compiled

HERE = Path(__file__).resolve().parent
SECONDS = 120


def start(side):
    """One run: {(pattern, bytes): (median, least)}."""
    if side == "node":
        done = subprocess.run([runner.BUILD / "no-mpi" / "tests" / "overhead" / "node_messages"],
                              capture_output=True, text=True, timeout=SECONDS, check=True)
        output = done.stdout
    else:
        mark = uuid.uuid4().hex
        run = runner.Run(side, "exchange", 2, settings={})
        words = [str(runner.BUILD / "env" / side / "bin" / "mpiexec"), "-n", "2",
                 str(compiled(side, HERE / "exchange.cpp"))]
        code, output = runner.execute(words, runner.environment(run, mark, False), SECONDS, mark)
        if code != 0:
            raise RuntimeError(f"{' '.join(words)}: exit code {code}\n{output}")
    return {(name, int(size)): (float(median), float(least)) for name, size, median, least in
            re.findall(r"^(\w+) (\d+) (\S+) (\S+)$", output, re.MULTILINE)}


def cell(found):
    """Median and least of all passes, in microseconds."""
    if not found:
        return ""
    median = statistics.median(median for median, _ in found)
    return f"{median * 1e6:.2f} ({min(least for _, least in found) * 1e6:.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", nargs="*", default=["mpich", "openmpi"])
    parser.add_argument("--passes", type=int, default=5)
    args = parser.parse_args()
    sides = ["node", *args.mpi]
    found = {side: {} for side in sides}
    for index in range(args.passes):
        for side in sides if index % 2 == 0 else sides[::-1]:
            for key, times in start(side).items():
                found[side].setdefault(key, []).append(times)
    for pattern in dict.fromkeys(name for name, _ in found["node"]):
        print(f"\n| {pattern}: bytes | {' | '.join(sides)} |\n|{'---|' * (len(sides) + 1)}")
        for name, size in found["node"]:
            if name == pattern:
                cells = [cell(found[side].get((name, size))) for side in sides]
                print(f"| {size} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
