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
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "carried"))
import steps
from command import carry_out, parsed, parser_of
from devices import DRIVERS, FAR_PROGRAMS, SOURCES, bringer, driver, program
from facts import facts_of
from packing import Content
from session import Session, scratch

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
        facts = facts_of(args.driver)
    except OSError as error:
        print(f"card.py: {error}; `--driver pretended` tries the steps without a card")
        return 1
    session = Session("card", args.out, args.seconds, facts)
    with tempfile.TemporaryDirectory(prefix="card_", dir=scratch()) as folder:
        for step in steps.all_steps(args, Path(folder)):
            session.run(step)
    return session.summary()


def parse_arguments():
    parser = parser_of(__doc__.splitlines()[0], "card", 290)
    parser.add_argument("--python", type=lambda text: text.split(","),
                        default=[f"3.{sys.version_info.minor}"],
                        help="versions of Python for which mpi4py is packed: 3.11,3.12")
    parser.add_argument("--driver", choices=DRIVERS, default="card", help="for run")
    parser.add_argument("--short", action="store_true", help="a little of each step, by lot")
    return parsed(parser)


def main():
    args = parse_arguments()
    rehearsed = ["--driver", "pretended", *(["--short"] if args.short else [])]
    return carry_out(__file__, CONTENT, args, run, rehearsed, args.python)


if __name__ == "__main__":
    sys.exit(main())
