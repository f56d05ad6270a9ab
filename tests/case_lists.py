#!/usr/bin/env python3
"""Which cases of the tests a change takes away, and which it adds.

    case_lists.py OLD [NEW]     two commits; without NEW, the last one

A case is a test of CTest in a build of `make test`, a googletest case, a method of a Python test,
or a start of mpiexec in a level of tests/mpi/levels.py. A test that was renamed is gone and new.
Exit code 1 if any is gone.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from reach import ROOT

TOOLS = ROOT / "build" / "env" / "tools" / "bin"
BUILDS = ("no-mpi", "asan", "tsan", "mpich", "openmpi")
RUNS = """
import sys
sys.path[:0] = ["tests/mpi", "tests"]
from levels import LEVELS
for level, runs in LEVELS.items():
    for mpi in ("mpich", "openmpi"):
        for run in runs(mpi):
            print(f"run, level {level}: {run.title()}")
"""


def output_of(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, text=True,
                          stdout=subprocess.PIPE, **options).stdout


def check_out(commit, tree):
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True,
                             stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x", "-C", tree], input=archive, check=True)
    (tree / "build").mkdir()
    (tree / "build" / "env").symlink_to(TOOLS.parents[1].resolve())


def ctest_cases(tree):
    for build in BUILDS:
        output_of(TOOLS / "cmake", "--preset", build, cwd=tree)
        listed = output_of(TOOLS / "ctest", "--test-dir", tree / "build" / build,
                           "--show-only=json-v1")
        yield from (f"CTest: {test['name']}" for test in json.loads(listed)["tests"])


def unit_cases(tree):
    for source in sorted((tree / "tests" / "unit").rglob("*.cpp")):
        found = re.findall(r"^(?:TEST\w*|INSTANTIATE_TEST_SUITE_P)\(\s*(\w+),\s*(\w+)",
                           source.read_text(), re.MULTILINE)
        yield from (f"googletest: {suite}.{case}" for suite, case in found)


def python_cases(tree):
    for source in sorted((tree / "tests").rglob("*_test.py")):
        found = re.findall(r"^    def (test_\w+)", source.read_text(), re.MULTILINE)
        yield from (f"Python: {source.stem}.{case}" for case in found)


def mpi_runs(tree):
    """Without the seeds, which are drawn anew each time."""
    printed = output_of(sys.executable, "-B", "-c", RUNS, cwd=tree)
    yield from re.sub(r" --seed \d+", "", printed).replace(str(tree), ".").splitlines()


def cases_of(commit):
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        check_out(commit, tree)
        return {case for kind in (ctest_cases, unit_cases, python_cases, mpi_runs)
                for case in kind(tree)}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    old, new = cases_of(sys.argv[1]), cases_of(sys.argv[2] if len(sys.argv) == 3 else "HEAD")
    for word, cases in (("gone", old - new), ("new", new - old)):
        for case in sorted(cases):
            print(f"{word}: {case}")
    print(f"{len(old)} cases before, {len(new)} after; {len(old - new)} gone, {len(new - old)} new")
    return 1 if old - new else 0


if __name__ == "__main__":
    sys.exit(main())
