#!/usr/bin/env python3
"""Several operations outstanding on an interleaved view, again and again: how often all is right.

For each MPI, number of operations and way of completing them one start of the program repeats a
write and a read many times. Counts those whose every byte and status was right, prints the counts
and adds them as lines to results/outstanding.jsonl. Exit code 1 if one was wrong.
"""
import argparse
import json
import re
import shutil
import signal
import sys
import tempfile
import uuid
from pathlib import Path

import run as runner

# How outstanding_test names the ways of completion and the numbers of operations.
WAYS = ("testall", "waitany", "test_round_robin")
OPERATIONS = {2: "two", 3: "three"}


def repeat(mpi, way, operations, args):
    """Returns a line of results."""
    test = f"{way}/{OPERATIONS[operations]}"
    options = ["--only", test, "--repeat", str(args.runs)]
    one = runner.Run(mpi, "outstanding_test", args.ranks, 0, ["-v", *options])
    args.dir.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="repeat_", dir=args.dir))
    mark = uuid.uuid4().hex
    try:
        code, output = runner.execute(runner.command(one, args.runner, work, None),
                                      runner.environment(one, mark, False), args.seconds, mark)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    # A run that hangs or crashes takes those behind it with it: what was seen to be right counts.
    right = len(re.findall(rf"^{test} +ok ", output, re.MULTILINE))
    if code != 0 or right < args.runs:
        print("\n".join(f"  | {line}" for line in output.splitlines()[-20:]))
    return {"command": f"mpiexec -n {args.ranks} sluice run outstanding_test {' '.join(options)}",
            "mpi": mpi, "operations": operations, "completed_by": way,
            "runs": args.runs, "right": right}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=90, help="time limit of one start")
    parser.add_argument("--dir", type=Path, default=runner.BUILD / "tmp")
    parser.add_argument("--results", type=Path,
                        default=runner.BUILD.parent / "results" / "outstanding.jsonl")
    args = parser.parse_args()
    args.runner = runner.parse_arguments([])
    return args


def main():
    args = parse_arguments()
    lines = []
    for mpi in args.mpi.split(","):
        for operations in OPERATIONS:
            for way in WAYS:
                line = repeat(mpi, way, operations, args)
                lines.append(line)
                print(f"{mpi:<8} {operations} outstanding, completed by {way:<17} "
                      f"{line['right']} of {line['runs']} right", flush=True)
    args.results.parent.mkdir(parents=True, exist_ok=True)
    with open(args.results, "a", encoding="utf-8") as results:
        results.writelines(json.dumps(line) + "\n" for line in lines)
    return 0 if all(line["right"] == line["runs"] for line in lines) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
