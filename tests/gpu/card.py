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
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "carried"))
import steps
from devices import DRIVERS, FAR_PROGRAMS, HERE, ROOT, SOURCES, bringer, driver, program
from facts import machine_facts
from packing import Content, pack
from session import Session, scratch

MIB = 1 << 20
PROGRAMS = ("random_test", *FAR_PROGRAMS)  # Of tests/mpi.
OF_BUILD = ("bin/sluice", "lib/libsluice.so", "libexec/sluice-bench", "tests/gpu/*",
            *(f"tests/mpi/{name}" for name in PROGRAMS))


def compile_programs(mpi):
    driver(mpi)
    bringer(mpi, True)
    for name in SOURCES:
        program(mpi, name)


CONTENT = Content(("tests/gpu", "tests/carried", "tests/mpi", ":(glob)tests/*.py",
                   "docs/start/gpu.md"),
                  ("sluice", "sluice_command", "sluice-bench", *PROGRAMS), OF_BUILD,
                  compile_programs)


def run(args):
    try:
        facts = machine_facts(args.driver)
    except OSError as error:
        print(f"card.py: {error}; `--driver pretended` tries the steps without a card")
        return 1
    session = Session("card", args.out, args.seconds, facts)
    with tempfile.TemporaryDirectory(prefix="card_", dir=scratch()) as folder:
        for step in steps.all_steps(args, Path(folder)):
            session.run(step)
    return session.summary()


def rehearse(args):
    """Only what was packed is used: the copy lies elsewhere, and has its own programs."""
    with tempfile.TemporaryDirectory(prefix="card_", dir=scratch()) as folder:
        archive, unpacked = Path(folder) / "card.tgz", Path(folder) / "checkout"
        print(f"packed: {pack(archive, CONTENT, args.mpi, args.python) // MIB} MiB", flush=True)
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
        print(f"{args.file}: {pack(args.file, CONTENT, args.mpi, args.python) / MIB:.1f} MiB")
        return 0
    return run(args) if args.command == "run" else rehearse(args)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:  # It has said itself what is wrong.
        sys.exit(f"card.py: nothing is packed: {error}")
