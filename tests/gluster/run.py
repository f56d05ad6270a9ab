#!/usr/bin/env python3
"""Runs the tests of storage and the MPI test programs on GlusterFS: `make test-gluster`.

    run.py                              all tests, MPICH and Open MPI
    run.py --only outstanding --mpi mpich
    run.py -- PROGRAM WORDS...          one program; {files} in a word is the mounted volume

The volume is made for the run (volume.py) and gone after it. It needs root, FUSE, namespaces and
Debian's packages of GlusterFS; where they are missing it says which and ends with exit code 77.
"""
import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", "nodes")]
import hosts
import run as runner
import volume
from mpis import MPIS

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
TESTS = ROOT / "tests"
# Each in the folder that SLUICE_TEST_DIR names.
UNIT_TESTS = ("conformance*_test.cpp", "storage_test.cpp")
# GlusterFS's own fault with sharded files: see docs/gluster.md.
NOT_SHARDED = "-*direct*:*fallocate_is_refused*"
FEW = ["--only", "/all,/iat_all", "--large-mib", "5"]
SEVERAL = ["--only", "wait_forward/three,freed"]


def mpi_runs(mpi):
    """As tests/mpi/run.py has them, fewer: each system call takes a message to a server here."""
    return [
        runner.Run(mpi, "patterns_test", 1, 0, FEW),
        runner.Run(mpi, "patterns_test", 4, 0, FEW, 400),
        runner.Run(mpi, "patterns_test", 3, 1, ["--only", "/iall,/begin", "--large-mib", "5"], 400),
        runner.Run(mpi, "outstanding_test", 4, 0, SEVERAL, 400),
        runner.Run(mpi, "outstanding_test", 3, 1, SEVERAL, 400),
        runner.Run(mpi, "errors_test", 3),
        runner.Run(mpi, "errors_test", 4, 2),
    ]


class Tests:
    """What passed and what failed, one line each."""

    def __init__(self, volumes, args):
        self.files, self.whole, self.args = volumes.sharded, volumes.whole, args
        self.passed, self.failed = 0, []
        self.mpi_arguments = runner.parse_arguments(
            ["--dir", str(self.files), "--patience", str(args.patience)])

    def count(self, name, passed):
        self.passed += passed
        if not passed:
            self.failed.append(name)

    def wanted(self, name):
        return self.args.only in name

    def command(self, name, words, seconds, settings=None, show=False):
        """One command that tells by its exit code whether it passed."""
        if not self.wanted(name):
            return
        mark = f"gluster-{os.getpid()}-{len(self.failed)}-{self.passed}"
        begin = time.monotonic()
        code, output = runner.execute([str(word) for word in words],
                                      {**os.environ, runner.MARK: mark, **(settings or {})},
                                      seconds * self.args.patience, mark)
        why = "out of time" if code is None else f"exit code {code}" if code else ""
        taken = time.monotonic() - begin
        print(f"{'FAILED' if why else 'ok    '} {taken:6.1f} s  {name}"
              + (f"  ({why})" if why else ""))
        if why or show:
            print("\n".join("  | " + line for line in output.splitlines()[-60:]))
        sys.stdout.flush()
        self.count(name, not why)

    def units(self):
        """The engines on this file system, with the sanitizers."""
        for pattern in UNIT_TESTS:
            for source in sorted((TESTS / "unit").glob(pattern)):
                program = BUILD / "asan" / "tests" / "unit" / "unit_system"
                for folder, tests in ((self.whole, "*"), (self.files, NOT_SHARDED)):
                    self.command(f"{source.stem} asan, {folder.name}",
                                 [program, source.stem, "--gtest_brief=1",
                                  f"--gtest_filter={tests}"], 900,
                                 {"SLUICE_TEST_DIR": str(folder)})

    def programs(self, mpi):
        for run in mpi_runs(mpi):
            if self.wanted(run.title()):
                self.count(run.title(), not runner.do_run(run, self.mpi_arguments, None))
        self.command(f"random programs, {mpi}",
                     [sys.executable, TESTS / "mpi" / "random_programs.py", "--mpi", mpi,
                      "--programs", 20, "--no-shrink", "--dir", self.files], 300)

    def bench(self, mpi):
        """For information: nothing is asked of the times. Open MPI writes each piece by itself."""
        words = [MPIS[mpi].mpiexec, "-n", 2, BUILD / mpi / "bin" / "sluice", "bench", "--mode",
                 "blocking", "--bytes", "1M", "--piece", "4K", "--repeat", 3, "--warmup", 0,
                 "--pattern", "contiguous,strided,block3d", "--dir", self.files]
        self.command(f"bench, blocking, {mpi}", words, 300, MPIS[mpi].settings, show=True)


def run_tests(volumes, args):
    tests = Tests(volumes, args)
    tests.units()
    for mpi in args.mpi.split(","):
        tests.programs(mpi)
    for mpi in args.mpi.split(","):
        tests.bench(mpi)
    return tests


def run_program(files, words):
    return subprocess.run([word.replace("{files}", str(files)) for word in words],
                          check=False).returncode


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--only", default="", help="tests with this in their name")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on all time limits")
    parser.add_argument("program", nargs="*", help="after --: run this and no tests")
    return parser.parse_args()


def main():
    args = parse_arguments()
    hosts.enter(volume.missing)
    begin = time.monotonic()
    gluster = volume.Volumes()
    try:
        print(f"{gluster.version()}: 2 bricks in memory, shards of {volume.SHARD}, mounted by FUSE "
              f"at {gluster.sharded} after {time.monotonic() - begin:.1f} s", flush=True)
        if args.program:
            return run_program(gluster.sharded, args.program)
        tests = run_tests(gluster, args)
        for name in tests.failed:
            print(f"failed: {name}")
        print(f"tests on GlusterFS: {tests.passed} passed, {len(tests.failed)} failed, "
              f"{time.monotonic() - begin:.0f} s")
        return 1 if tests.failed else 0
    finally:
        gluster.close()


if __name__ == "__main__":
    sys.exit(main())
