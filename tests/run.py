#!/usr/bin/env python3
"""Builds what the tests need, has CTest run them, and ends with "N passed, N failed, N skipped".

What there is to run stands in tests/tests.cmake. The tests of all builds run in one CTest, so those
that may run beside others do; the reasons of what was skipped stand above the last line. Exit code
1 if something failed. One test alone: build/env/tools/bin/ctest --test-dir build -R NAME
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CTEST = BUILD / "env" / "tools" / "bin" / "ctest"
MPIS = ("mpich", "openmpi")
SANITIZED = tuple(f"{mpi}-{sanitizer}" for mpi in MPIS for sanitizer in ("asan", "tsan"))
# Part -> the builds that it needs, each with the targets (none: all), and the label of its tests.
PARTS = {
    "build": (dict.fromkeys(MPIS, ()), ""),
    "lint": (dict.fromkeys(("no-mpi", "mpich"), ("configured",)), "lint"),
    "unit": ({"no-mpi": (), "asan": ("unit_tests", "sluice_command"), "tsan": ("unit_tests",)},
             "unit"),
    "mpi": (dict.fromkeys(MPIS, ()), "mpi"),
    "mpis": (dict.fromkeys(("mpich", "intel", "debian-mpich", "debian-openmpi"),
                           ("all", "abi_programs")), "mpis"),
    "sanitized": (dict.fromkeys(SANITIZED, ()), "sanitized"),
}
LONG = {"unit", "mpi", "mpis"}  # have tests of their own that take longer


def build(variant, targets):
    """Whether it could be built."""
    begin = time.monotonic()
    print(f"build {variant} ...", flush=True)
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    try:
        done = subprocess.run(["make", "--no-print-directory", "-C", ROOT, "build",
                               f"MPI={variant}", f"TARGETS={' '.join(targets)}"],
                              env=environment, timeout=3000, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        done = False
    result = "ok" if done else "FAILED"
    print(f"build {variant:<34} {time.monotonic() - begin:6.1f} s  {result}", flush=True)
    return done


def needed_builds(parts, is_long):
    """variant -> targets; all of it where one part wants all."""
    needed = {}
    for part in parts:
        for variant, targets in PARTS[part][0].items():
            if variant == "tsan" and is_long:
                targets = ()
            everything = not targets or needed.get(variant) == ()
            needed[variant] = () if everything else (*needed.get(variant, ()), *targets)
    return needed


def run_tests(variants, labels, only):
    """Has CTest run the tests of these builds; returns the cases of its report."""
    (BUILD / "CTestTestfile.cmake").write_text("".join(f'subdirs("{v}")\n' for v in variants))
    for folder in (path for v in variants for path in (BUILD / v / "scratch").glob("*")):
        shutil.rmtree(folder)  # Each test begins in an empty folder.
        folder.mkdir()
    report = BUILD / "log" / "tests.xml"
    report.unlink(missing_ok=True)
    words = [CTEST, "--test-dir", BUILD, "-j", str(os.cpu_count() or 1), "--no-label-summary",
             "-L", f"^({'|'.join(labels)})$", *(["-R", re.escape(only)] if only else []),
             "--output-on-failure", "--test-output-size-passed", "20000",
             "--test-output-size-failed", "20000", "--test-output-truncation", "head",
             "--output-junit", report]
    subprocess.run(words, cwd=BUILD, check=False)
    return list(xml.etree.ElementTree.parse(report).getroot()) if report.exists() else []


def has_failed(case):
    """A test that CTest could not start is none that was skipped."""
    skipped = case.find("skipped")
    return case.get("status") == "fail" or (
        case.get("status") != "run"
        and (skipped is None or not skipped.get("message", "").startswith("SKIP_")))


def skips_of(case):
    """Why a test, or cases in one that passed, were skipped."""
    output = (case.findtext("system-out") or "").strip()
    if case.get("status") != "run":
        lines = output.splitlines()
        return [lines[-1] if lines else "no reason given"]
    return re.findall(r": Skipped\n(.*)", output)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="|".join(PARTS))
    parser.add_argument("--long", action="store_true", help="more ranks and repetitions")
    parser.add_argument("--only", default="", help="run only the tests with this in their name")
    options = parser.parse_args()
    options.parts = options.parts or ["build", "lint", "unit", "mpi"]
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(unknown)}")
    return options


def main():
    options = parse_arguments()
    (BUILD / "log").mkdir(parents=True, exist_ok=True)
    builds = {variant: build(variant, targets)
              for variant, targets in needed_builds(options.parts, options.long).items()}
    labels = [label + ("-long" if options.long and part in LONG else "")
              for part, (_, label) in PARTS.items() if part in options.parts and label]
    built = [variant for variant, done in builds.items() if done]
    cases = run_tests(built, labels, options.only) if built and labels else []
    failed = [case.get("name") for case in cases if has_failed(case)]
    failed += [f"build {variant}" for variant, done in builds.items() if not done]
    skips = [(case.get("name"), why) for case in cases if not has_failed(case)
             for why in skips_of(case)]
    passed = sum(case.get("status") == "run" for case in cases) + len(built)
    for name, why in skips:
        print(f"skipped: {name}: {why}")
    for name in failed:
        print(f"failed: {name}")
    if labels and built and not cases:
        print("failed: CTest ran nothing")
        failed.append("ctest")
    print(f"{passed} passed, {len(failed)} failed, {len(skips)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
