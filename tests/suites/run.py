#!/usr/bin/env python3
"""Runs real programs' own tests without and with Sluice, and compares them case by case.

The sources come from PyPI and Debian at run time, into build/suites; versions are pinned. A case
that passes without Sluice and fails with it is Sluice's fault; exit code 1 if there is one, or if
Sluice served nothing in a suite. What is not installed and cannot be is skipped, and said.
"""
import argparse
import collections
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid

import common
from common import MPIS, SUITES, Missing, Start
from mpis import BUILD, ROOT  # common makes tests/mpi known.
from run import MARK, end_processes, execute, leftover_processes, with_test_words

NAMES = ("mpi4py_tests", "pnetcdf", "hdf5", "applications")
FORTRAN = ROOT / "tests" / "fortran" / "run.py"  # Compares by itself.


def environment(mpi, mark, more):
    """Nothing of the make that may have started this reaches the programs."""
    inherited = {name: value for name, value in os.environ.items()
                 if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    settings = {MARK: mark, "SLUICE_LOG": "2", **mpi.settings, **more}
    return with_test_words({**inherited, **settings}, "stall=10")


class Comparison:
    """One suite with one MPI and one number of ranks."""

    def __init__(self, suite, mpi, ranks, delays):
        self.suite, self.mpi, self.ranks = suite, mpi, ranks
        self.delays = delays  # whether any write may be delayed
        self.without, self.with_sluice = {}, {}  # case -> passed
        self.operations = 0
        self.delayed = 0  # writes
        self.ends = {}  # case -> the log of the run with Sluice, and how that ended

    def add(self, job, args):
        begin = time.monotonic()
        plain, _, _ = self.start(job, False, args)
        served, output, end = self.start(job, True, args)
        self.without.update(plain)
        self.with_sluice.update(served)
        self.operations += common.served(output)
        self.delayed += common.delayed(output)
        self.ends.update(dict.fromkeys([*plain, *served], end))
        lost = [case for case in plain if plain[case] and not served.get(case)]
        print(f"{time.monotonic() - begin:6.1f} s  {self.suite} {self.mpi.name} {self.ranks} "
              f"{job.name}: {sum(plain.values())} | {sum(served.values())}"
              f" of {len({**plain, **served})}"
              + (f"  ONLY WITHOUT: {len(lost)}" if lost else ""), flush=True)

    def start(self, job, sluice, args):
        """Returns ({case: passed}, what was printed, the log and how it ended)."""
        name = re.sub(r"\W+", "-", f"{self.suite}-{self.mpi.name}-{self.ranks}-{job.name}")
        name += "-with" if sluice else "-without"
        work = SUITES / "work" / name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        mark = uuid.uuid4().hex
        command = list(map(str, job.command(Start(self.mpi, self.ranks, sluice, work))))
        settings = environment(self.mpi, mark, common.behind_settings(args) if sluice else {})
        code, output = execute(command, settings, job.seconds * args.patience, mark)
        if leftover_processes(mark):
            end_processes(mark)
        output += "".join(file.read_text(errors="replace") for file in sorted(work.glob("rank.*")))
        cases = job.cases(code, output, work) if job.cases else {job.name: code == 0}
        log = SUITES / "log" / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        how = "out of time" if code is None else f"exit code {code}"
        log.write_text(f"{' '.join(command)}\n{output}\n{how}\n")
        shutil.rmtree(work, ignore_errors=True)
        return cases, output, f"{log.relative_to(ROOT)}: {how}"

    def only_without(self):
        return [case for case, passed in self.without.items()
                if passed and not self.with_sluice.get(case)]

    def only_with(self):
        return [case for case, passed in self.with_sluice.items()
                if passed and not self.without.get(case)]

    def row(self):
        return (self.suite, self.mpi.name, self.ranks, len({**self.without, **self.with_sluice}),
                sum(self.without.values()), sum(self.with_sluice.values()),
                len(self.only_without()), len(self.only_with()), self.operations, self.delayed)


def run_suite(name, mpi, args):
    """Yields a comparison for each number of ranks."""
    suite = importlib.import_module(name)
    if args.build:
        common.run("make", "-C", ROOT, f"build-{mpi.name}")
    if not (BUILD / mpi.name / "lib" / "libsluice.so").exists():
        raise Missing(f"build/{mpi.name} has no library")
    if not shutil.which(mpi.mpiexec):
        raise Missing(f"there is no {mpi.mpiexec}")
    suite.prepare(mpi)
    for ranks in suite.RANKS:
        if args.ranks and ranks not in args.ranks:
            continue
        comparison = Comparison(name, mpi, ranks, args.behind and suite.DELAYS)
        for job in suite.jobs(mpi, ranks):
            if args.only in job.name:
                comparison.add(job, args)
        if comparison.without:
            yield comparison


def compare(args):
    comparisons, skipped = [], []
    for name in filter(NAMES.__contains__, args.suite):
        for mpi in importlib.import_module(name).MPIS:
            if args.mpi and mpi not in args.mpi:
                continue
            print(f"{name} with {mpi}", flush=True)
            try:
                comparisons += run_suite(name, MPIS[mpi], args)
            except Missing as why:
                skipped.append(f"skipped: {name} with {mpi}: {why}")
                print(skipped[-1], flush=True)
    return comparisons, skipped


def fortran_fails(args):
    """Runs the Fortran tests, whose runner starts everything without and with Sluice, too."""
    with_compiler = [mpi for mpi in args.mpi or MPIS if mpi not in ("mpich", "openmpi")]
    if "fortran" not in args.suite or not FORTRAN.exists() or not with_compiler:
        return False
    print("fortran", flush=True)
    options = ["--mpi", ",".join(with_compiler), "--behind", args.behind, "--ahead", args.ahead,
               "--close", args.close]
    return subprocess.run([sys.executable, FORTRAN, *options], check=False).returncode == 1


def print_table(comparisons):
    head = ("suite", "MPI", "ranks", "cases", "without", "with", "only without", "only with",
            "operations", "delayed")
    rows = [head, *(tuple(map(str, comparison.row())) for comparison in comparisons)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    print()
    for row in rows:
        print("  ".join(word.ljust(width) if column < 2 else word.rjust(width)
                        for column, (word, width) in enumerate(zip(row, widths))))


def print_faults(comparisons):
    """Says what is Sluice's fault; returns how many there are."""
    faults = 0
    for comparison in comparisons:
        alone = getattr(importlib.import_module(comparison.suite), "PASSES_ALONE", False)
        for case in comparison.without if alone else ():
            if not comparison.without[case]:
                print(f"fails without Sluice: {comparison.suite} {comparison.ranks} ranks: {case}")
                faults += 1
        title = f"{comparison.suite} {comparison.mpi.name} {comparison.ranks} ranks"
        for case in comparison.only_without():
            print(f"passes only without Sluice: {title}: {case} ({comparison.ends[case]})")
            faults += 1
    done = collections.Counter()
    for comparison in comparisons:
        counted = comparison.delayed if comparison.delays else comparison.operations
        what = "delayed" if comparison.delays else "served"
        done[comparison.suite, comparison.mpi.name, what] += counted
    for (suite, mpi, what), operations in done.items():
        if operations == 0:
            print(f"Sluice {what} nothing: {suite} {mpi}")
            faults += 1
    return faults


def write_json(comparisons, file):
    with open(file, "w") as lines:
        for comparison in comparisons:
            for case in {**comparison.without, **comparison.with_sluice}:
                print(json.dumps({
                    "suite": comparison.suite, "mpi": comparison.mpi.name,
                    "ranks": comparison.ranks, "case": case,
                    "without": comparison.without.get(case),
                    "with": comparison.with_sluice.get(case)}), file=lines)


def parse_arguments():
    def words(text):
        return [word for word in text.split(",") if word]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", type=words, default=[*NAMES, "fortran"],
                        help=f"of {','.join(NAMES)},fortran")
    parser.add_argument("--mpi", type=words, default=[], help=f"of {','.join(MPIS)}")
    parser.add_argument("--ranks", type=lambda text: list(map(int, words(text))), default=[])
    parser.add_argument("--only", default="", help="only jobs with this in their name")
    parser.add_argument("--build", action=argparse.BooleanOptionalAction, default=True,
                        help="make the library that is needed first")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on all time limits")
    parser.add_argument("--json", metavar="FILE", help="one line a case")
    common.behind_options(parser)
    return parser.parse_args()


def main():
    args = parse_arguments()
    started = time.monotonic()
    comparisons, skipped = compare(args)
    fortran_failed = fortran_fails(args)
    print_table(comparisons)
    print("\n".join(["", *skipped]))
    faults = print_faults(comparisons)
    if fortran_failed:
        print("the Fortran tests failed: see above")
        faults += 1
    if args.json:
        write_json(comparisons, args.json)
    print(f"suites: {len(comparisons)} compared, {len(skipped)} skipped, {faults} faults, "
          f"{time.monotonic() - started:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    # A stopped job ends its running processes too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
