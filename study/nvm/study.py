#!/usr/bin/env python3
"""The study of the NVM paper, reproduced: `sluice bench nvm`.

    sluice bench nvm                       all parts: half an hour on a quiet machine of 2 cores
    sluice bench nvm --quick               small sizes: two minutes; only to see that it works
    sluice bench nvm --part cache,posix    these parts; the others' lines stay as they were
    sluice bench nvm --draw                no measuring: the report of lines that are there

Parts: cache (figures 4 to 6), posix (7, 8), collective (9, 10), profile (table II), model (tables V,
VI), tradeoff (figure 11). It writes OUT/nvm.md, OUT/images/nvm-*.png and, unless --json names
another file, OUT/nvm.jsonl. What a part needs and the machine does not have (root, FUSE, loop devices,
a cgroup v1 memory controller, network namespaces) is named, and the rest is done.
"""
import argparse
import signal
import subprocess
import sys
from pathlib import Path

import report
import runs
import tools

PARTS = ("cache", "posix", "collective", "profile", "model", "tradeoff")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="sluice bench nvm", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, one repeat")
    parser.add_argument("--part", default=",".join(PARTS), help="of " + ", ".join(PARTS))
    parser.add_argument("--out", type=Path, help="folder (nvm-study; with --quick nvm-study-quick)")
    parser.add_argument("--json", type=Path, help="lines are appended here (OUT/nvm.jsonl)")
    parser.add_argument("--draw", action="store_true", help="only the report")
    args = parser.parse_args()
    args.part = args.part.split(",")
    if unknown := set(args.part) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    args.out = args.out or Path("nvm-study-quick" if args.quick else "nvm-study")
    args.json = (args.json or args.out / "nvm.jsonl").resolve()
    return args


def measure(args, progress):
    """Runs the parts; returns what went wrong, one line each."""
    study = runs.Study(args.json, args.out.resolve(), args.quick, progress)
    progress.expected = runs.steps_of(args.part, study.size)
    steps = [(runs.caches, ()) for part in args.part if part == "cache"]
    steps += [(runs.one_node, ()) for part in args.part if part == "posix"]
    steps += [(runs.iterations, ()) for part in args.part if part == "profile"]
    if runs.settings_of(args.part, study.size):
        steps.append((runs.settings, (args.part,)))
    steps += [(runs.tradeoff, ()) for part in args.part if part == "tradeoff"]
    faults = []
    for step, words in steps:
        try:
            tools.need_programs()
            step(study, *words)
        except tools.Missing as what:
            progress.note(f"{step.__name__} left out, this is missing: {what}")
        except tools.Failed as why:
            progress.note(f"{step.__name__} failed: {why}")
            faults.append(step.__name__)
    return faults


def draw(args, progress):
    page = args.out / "nvm.md"
    page.write_text(report.page(report.read(args.json)))
    progress.note(f"{page}")
    python = tools.python_that_draws()
    if not python:
        progress.note("no pictures: matplotlib is missing")
        return
    drawn = subprocess.run([python, Path(__file__).with_name("pictures.py"), args.json,
                            args.out / "images"], capture_output=True, text=True, check=False)
    print((drawn.stdout + drawn.stderr).strip())


def main():
    args = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # unmounts what it must
    args.out.mkdir(parents=True, exist_ok=True)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    progress = tools.Progress()
    faults = [] if args.draw else measure(args, progress)
    if args.json.exists():
        draw(args, progress)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
