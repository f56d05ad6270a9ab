"""Tests that run in a folder of another file system: what passed and what failed, a line each."""
import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent / name) for name in ("mpi", ".")]
import run as runner

TESTS = Path(__file__).resolve().parent
# Each in the folder that SLUICE_TEST_DIR names.
UNIT_TESTS = ("conformance*_test.cpp", "storage_test.cpp")
FEW = ["--only", "/all,/iat_all,/iall,/begin", "--large-mib", "5"]
SECONDS = 25  # Of ranks that are killed, and of calls that fail.
RANDOM = 60  # Programs.


def parse_arguments(description, takes_program=False):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--only", default="", help="tests with this in their name")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on all time limits")
    if takes_program:
        parser.add_argument("program", nargs="*", help="after --: run this and no tests")
    return parser.parse_args()


def run_program(folder, words):
    """Its exit code; {files} in a word is the folder."""
    return subprocess.run([word.replace("{files}", str(folder)) for word in words],
                          check=False).returncode


@contextlib.contextmanager
def mounting_folder(prefix):
    """A folder below build in which file systems are mounted: nothing of it is left at the end."""
    base = runner.BUILD / "tmp"
    base.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=base))
    try:
        yield folder
    finally:
        for place in folder.iterdir():
            subprocess.run(["umount", "-l", place], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


class FolderTests:
    """Those whose name has the word that `args.only` is; all limits are `args.patience` times as
    long."""

    def __init__(self, args):
        self.args = args
        self.passed, self.failed = 0, []
        self.started = time.monotonic()

    def count(self, name, passed):
        self.passed += passed
        if not passed:
            self.failed.append(name)

    def wanted(self, name):
        return self.args.only in name

    def command(self, name, words, seconds, settings=None, show=False, said=""):
        """One command that tells by its exit code whether it passed, and prints what is `said`."""
        if not self.wanted(name):
            return
        mark = f"folder-{os.getpid()}-{len(self.failed)}-{self.passed}"
        begin = time.monotonic()
        code, output = runner.execute([str(word) for word in words],
                                      {**os.environ, runner.MARK: mark, **(settings or {})},
                                      seconds * self.args.patience, mark)
        why = "out of time" if code is None else f"exit code {code}" if code else ""
        if not why and said not in output:
            why = f'no "{said}"'
        taken = time.monotonic() - begin
        print(f"{'FAILED' if why else 'ok    '} {taken:6.1f} s  {name}"
              + (f"  ({why})" if why else ""))
        if why or show:
            print("\n".join("  | " + line for line in output.splitlines()[-60:]))
        sys.stdout.flush()
        self.count(name, not why)

    def units(self, title, folder, chosen="*"):
        """The storage engines, with the sanitizers."""
        for source in sorted(path for pattern in UNIT_TESTS
                             for path in (TESTS / "unit").glob(pattern)):
            program = runner.BUILD / "asan" / "tests" / "unit" / "unit_system"
            self.command(f"{source.stem} asan, {title}",
                         [program, source.stem, "--gtest_brief=1", f"--gtest_filter={chosen}"],
                         900, {"SLUICE_TEST_DIR": str(folder)})

    def program(self, title, folder, run, full=None):
        """A run of a program of tests/mpi; `full` is a folder with room for 4 MiB."""
        title = f"{run.title()}, {title}"
        if self.wanted(title):
            arguments = runner.parse_arguments(
                ["--dir", str(folder), "--patience", str(self.args.patience)])
            self.count(title, not runner.do_run(run, arguments, full))

    def random_programs(self, title, folder, mpi, count):
        self.command(f"random programs, {mpi}, {title}",
                     [sys.executable, TESTS / "mpi" / "random_programs.py", "--mpi", mpi,
                      "--programs", count, "--no-shrink", "--dir", folder], 300)

    def with_mpi(self, title, folder, mpi, patterns=FEW):
        """Programs, random ones, and ranks and calls that fail, as a sample."""
        self.program(title, folder, runner.Run(mpi, "patterns_test", 4, 0, patterns))
        self.program(title, folder, runner.Run(mpi, "behind_test", 3))
        self.random_programs(title, folder, mpi, RANDOM)
        for name in ("run", "failures"):
            self.command(f"durability, {name}, {mpi}, {title}",
                         [sys.executable, TESTS / "durability" / f"{name}.py", "--mpi", mpi,
                          "--dir", folder, "--seconds", SECONDS], 300)

    def summary(self, title):
        """Prints it; returns the exit code."""
        for name in self.failed:
            print(f"failed: {name}")
        print(f"{title}: {self.passed} passed, {len(self.failed)} failed, "
              f"{time.monotonic() - self.started:.0f} s")
        return 1 if self.failed else 0
