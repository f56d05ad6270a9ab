#!/usr/bin/env python3
"""Simulated worlds on all cores, with a record of how many there have been.

    run.py --seconds 1500                     new worlds for so long
    run.py --until 1000000 --seconds 3600     the same, or until the record has so many; run again,
                                              it goes on

Each process draws seeds of its own. A world that fails is printed with the command that repeats
it, on the commit of the run, and the exit code is 1.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import json_lines
import machine
from selection import git

ROOT = Path(__file__).resolve().parents[2]
MOST = "most_events"


def commit():
    """The commit of the run, which with a seed repeats a world."""
    changed = git("status", "--porcelain", "-z", "--", "src", "simulate", "tests")
    return git("rev-parse", "HEAD")[0] + (", changed" if any(changed) else "")


def run(program, seconds):
    """What each process found, and whether all worlds were right."""
    words = [program, "--seconds", str(seconds), "--keep-going"]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
               for _ in range(os.cpu_count())]
    found, right = [], True
    for process in running:
        output = process.communicate()[0]
        *lines, last = output.splitlines() or [""]
        print("\n".join(lines), flush=True)
        right = right and process.returncode == 0 and last.startswith("{")
        if last.startswith("{"):
            found.append(json.loads(last))
    return found, right


def joined(found):
    """One line of what all processes found."""
    line = {key: sum(one[key] for one in found) for key in found[0] if key not in (MOST, "seed")}
    line[MOST] = max(one[MOST] for one in found)
    line["seeds"] = [one["seed"] for one in found]
    line["seconds"] = max(one["seconds"] for one in found)
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/no-mpi/tests/swarm/swarm"))
    parser.add_argument("--seconds", type=float, default=60, help="of a step, or of all")
    parser.add_argument("--until", type=int, default=0, help="worlds in the record")
    parser.add_argument("--json", type=Path, default=ROOT / "results/swarm.jsonl")
    args = parser.parse_args()
    before = sum(line["worlds"] for line in json_lines.lines_of(args.json))
    if args.until and before >= args.until:
        print(f"{before} worlds are in {args.json.name} already")
        return
    found, right = run(args.program, args.seconds)
    if not found:
        sys.exit("no process has ended as it should")
    line = {"commit": commit(), "date": datetime.date.today().isoformat(),
            "machine": machine.machine(), **joined(found),
            "command": f"tests/swarm/run.py --seconds {args.seconds:g}"}
    json_lines.append(args.json, line)
    print(f"{line['worlds']} worlds, {line['failed']} failed, {line['seconds']:.0f} s; "
          f"{before + line['worlds']} in {args.json.name}")
    sys.exit(0 if right and line["failed"] == 0 else 1)


if __name__ == "__main__":
    main()
