#!/usr/bin/env python3
"""Instructions of the pure kernels, counted by callgrind: no clock, so no noise.

Runs tests/kernels/kernels.cpp once for each kernel and prints instructions a piece and a byte, and
what a layout takes in memory. With --json it appends one line a kernel, for results/.
--time prints nanoseconds as well, measured without callgrind: for a first look only.
"""
import argparse
import datetime
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 20


def output_of(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def counted(program, kernel):
    """What the kernel worked on, with the instructions that it took."""
    done = output_of(["valgrind", "--tool=callgrind", "--toggle-collect=*measured*",
                      "--callgrind-out-file=/dev/null", program, kernel])
    work = json.loads(done.stdout)
    del work["ns"]  # Of the simulated processor.
    work["instructions"] = int(re.search(r"Collected : (\d+)", done.stderr).group(1))
    return work


def nanoseconds(program, kernel):
    runs = [json.loads(output_of([program, kernel, str(REPEATS)]).stdout) for _ in range(3)]
    return min(run["ns"] for run in runs)


def line_of(work, version, valgrind):
    pieces, size = max(1, work["pieces"]), max(1, work["bytes"])
    line = {
        "mode": "kernels", **work, "unit": "instructions",
        "per_piece": round(work["instructions"] / pieces, 3),
        "per_byte": round(work["instructions"] / size, 5),
        "sluice_version": version, "valgrind": valgrind,
        "command": " ".join(["tests/kernels/run.py", *sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if line["memory_bytes"]:
        line["memory_per_piece"] = round(line["memory_bytes"] / pieces, 3)
    else:
        del line["memory_bytes"]
    return line


def show(line, time):
    memory = f"{line['memory_per_piece']:8.2f} B" if "memory_per_piece" in line else " " * 10
    spent = f"{time / max(1, line['pieces']):10.2f} ns" if time is not None else ""
    print(f"{line['kernel']:<18} {line['pieces']:>8} {line['per_piece']:>12.2f} "
          f"{line['per_byte']:>10.4f} {memory} {spent}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build/no-mpi/tests/kernels/kernels"))
    parser.add_argument("--only", default="", help="kernels whose name holds this")
    parser.add_argument("--time", action="store_true", help="nanoseconds a piece, too")
    parser.add_argument("--json", type=Path, help="appends one line a kernel")
    return parser.parse_args()


def main():
    args = parse_arguments()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed: setup/environment says how")
    version = re.search(r"project\(Sluice VERSION ([\d.]+)",
                        (ROOT / "CMakeLists.txt").read_text()).group(1)
    valgrind = output_of(["valgrind", "--version"]).stdout.strip().removeprefix("valgrind-")
    print(f"{'kernel':<18} {'pieces':>8} {'instr/piece':>12} {'instr/byte':>10}   memory/piece")
    for kernel in output_of([args.program]).stdout.split():
        if args.only not in kernel:
            continue
        line = line_of(counted(args.program, kernel), version, valgrind)
        show(line, nanoseconds(args.program, kernel) if args.time else None)
        if args.json:
            with open(args.json, "a", encoding="utf-8") as results:
                results.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
