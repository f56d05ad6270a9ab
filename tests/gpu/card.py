#!/usr/bin/env python3
"""Runs the tests of buffers on devices, and the benchmark, on a machine that has a card.

    card.py pack FILE      packs what is needed of this checkout: one file for another machine
    card.py run            runs the steps in this checkout, or in an unpacked one
    card.py rehearse       packs, unpacks, and runs there with the pretended driver of CUDA

`run` begins with what matters most, and ends in time: each step has a limit, and those for which
no time is left are named at the end. In the folder --out, card.jsonl has one line for each step,
card.log what the steps have printed, bench.jsonl the benchmark's figures. Exit code 1 if a step
failed or all were skipped.
"""
import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import steps
from devices import DRIVERS, HERE, ROOT
from facts import machine_facts
from packing import pack

MIB = 1 << 20


class Session:
    """The steps of one run: what they share, what came of them, and the time that is left."""

    def __init__(self, args):
        self.args, self.until = args, time.monotonic() + args.seconds
        self.facts = machine_facts(args.driver)
        self.counts = {"ok": 0, "failed": 0, "skipped": 0, "not run": 0}
        args.out.mkdir(parents=True, exist_ok=True)

    def left(self):
        return self.until - time.monotonic()

    def run(self, step):
        began = time.monotonic()
        if self.left() < step.least:
            outcome, figures, output = "not run", {"reason": "no time is left"}, ""
        else:
            outcome, figures, output = steps.carried_out(step, min(step.most, self.left()))
        self.note(step, outcome, figures, time.monotonic() - began, output)

    def note(self, step, outcome, figures, seconds, output):
        self.counts[outcome] += 1
        line = {"step": step.name, "mpi": step.mpi, "outcome": outcome,
                "seconds": round(seconds, 1), **figures, **self.facts}
        with open(self.args.out / "card.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        with open(self.args.out / "card.log", "a", encoding="utf-8") as file:
            file.write(f"==== {step.mpi} {step.name}: {outcome}\n{output}\n")
        words = ", ".join(f"{name} {value}" for name, value in figures.items())
        print(f"{outcome:8} {seconds:6.1f} s  {step.mpi} {step.name}: {words}", flush=True)
        if outcome == "failed":
            print("\n".join(f"  | {text}" for text in output.splitlines()[-12:]), flush=True)


def run(args):
    try:
        session = Session(args)
    except OSError as error:
        print(f"card.py: {error}; `--driver pretended` tries the steps without a card")
        return 1
    print(", ".join(f"{name} {value}" for name, value in session.facts.items()), flush=True)
    with tempfile.TemporaryDirectory(prefix="card_", dir=steps.scratch()) as folder:
        for step in steps.all_steps(args, Path(folder)):
            session.run(step)
    print("card: " + ", ".join(f"{count} {name}" for name, count in session.counts.items()))
    return 0 if session.counts["ok"] and not session.counts["failed"] else 1


def rehearse(args):
    """Only what was packed is used: the copy lies elsewhere, and has its own programs."""
    with tempfile.TemporaryDirectory(prefix="card_", dir=steps.scratch()) as folder:
        archive, unpacked = Path(folder) / "card.tgz", Path(folder) / "checkout"
        print(f"packed: {pack(archive, args.mpi, args.python) // MIB} MiB", flush=True)
        shutil.unpack_archive(archive, unpacked)
        words = [sys.executable, "-B", unpacked / HERE.relative_to(ROOT) / "card.py", "run",
                 "--driver", "pretended", "--mpi", ",".join(args.mpi), "--seconds",
                 str(args.seconds), "--only", args.only, "--out", args.out,
                 *(["--short"] if args.short else [])]
        with subprocess.Popen(words) as child:
            signal.signal(signal.SIGTERM, lambda *_: child.terminate())
            return child.wait()


def parse_arguments():
    def names(text):
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("pack", "run", "rehearse"))
    parser.add_argument("file", type=Path, nargs="?", help="what pack makes: card.tgz")
    parser.add_argument("--mpi", type=names, default=["mpich", "openmpi"])
    parser.add_argument("--python", type=names, default=[f"3.{sys.version_info.minor}"],
                        help="versions of Python for which mpi4py is packed: 3.11,3.12")
    parser.add_argument("--driver", choices=DRIVERS, default="card", help="for run")
    parser.add_argument("--seconds", type=float, default=290, help="for all steps")
    parser.add_argument("--short", action="store_true", help="a little of each step, by lot")
    parser.add_argument("--only", default="", help="only steps with this in their name")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "card")
    args = parser.parse_args()
    if (args.command == "pack") != bool(args.file):
        parser.error("pack, and nothing else, has a file")
    if unknown := set(args.mpi) - {"mpich", "openmpi"}:
        parser.error(f"no such MPI: {', '.join(unknown)}; there are mpich and openmpi")
    return args


def main():
    args = parse_arguments()
    if args.command == "pack":
        print(f"{args.file}: {pack(args.file, args.mpi, args.python) / MIB:.1f} MiB")
        return 0
    return run(args) if args.command == "run" else rehearse(args)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:  # It has said itself what is wrong.
        sys.exit(f"card.py: nothing is packed: {error}")
