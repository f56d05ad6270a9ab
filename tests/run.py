#!/usr/bin/env python3
"""Builds what the tests need, has CTest run them, and ends with "N passed, N failed, ...".

    run.py [--all] [--only TEXT]   `make test`: what a change since the last full run can break, or
                                   all of it; the last line counts what was selected away
    run.py --parts [NAME ...]      `make test-all`: the parts that have not passed on this commit
                                   yet, or those whose names begin so; see tests/parts.py

What there is to run stands in tests/tests.cmake. A part is noted in results/tests.jsonl when it has
ended, so that a run that is stopped goes on there. Exit code 1 if something failed. One test alone:
build/env/tools/bin/ctest --test-dir build/VARIANT -R NAME
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

import report
import selection
from json_lines import append
from machine import machine
from parts import GROUPS, PARTS

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CTEST = BUILD / "env" / "tools" / "bin" / "ctest"
TIMES = BUILD / "log" / "times.jsonl"
SEEDS = BUILD / "log" / "seeds.txt"
MPIS = ("mpich", "openmpi")
# Builds of `make test`: those of a line wait for each other, as they take parts of each other's.
CHAINS = (("no-mpi", *MPIS), ("asan", "tsan"))
BUILD_SECONDS = 3000


def make(variant, targets, name):
    """Whether the targets of a build could be made; without any, all of it."""
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    words = [sys.executable, ROOT / "tests" / "timed.py", TIMES, name, "--", "make",
             "--no-print-directory", "-C", ROOT, "build", f"MPI={variant}",
             f"TARGETS={' '.join(sorted(targets))}"]
    try:
        return subprocess.run(words, env=environment, timeout=BUILD_SECONDS,
                              check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def build(variant, targets):
    begin = time.monotonic()
    print(f"build {variant} ...", flush=True)
    done = make(variant, targets, f"build {variant}")
    print(f"build {variant:<34} {time.monotonic() - begin:6.1f} s  {'ok' if done else 'FAILED'}",
          flush=True)
    return done


def build_all(needed):
    """variant -> targets. Returns variant -> whether it could be built; chains run side by side."""
    chains = [[v for v in chain if v in needed] for chain in CHAINS]
    chains.append([v for v in needed if not any(v in chain for chain in CHAINS)])

    def of_chain(chain):
        return [(variant, build(variant, needed[variant])) for variant in chain]

    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(pair for pairs in pool.map(of_chain, chains) for pair in pairs)


def tests_of(variant):
    """What CTest knows of a build that is configured."""
    listed = subprocess.run([CTEST, "--test-dir", BUILD / variant, "--show-only=json-v1"],
                            capture_output=True, text=True, check=True).stdout
    return [selection.test_of(entry, variant) for entry in json.loads(listed)["tests"]]


def configured_tests(variants):
    """(tests, variants that cannot be configured). One after the other: they configure others."""
    failed = [variant for variant in variants
              if not make(variant, ("configured",), f"configure {variant}")]
    return [test for variant in variants if variant not in failed
            for test in tests_of(variant)], failed


def run_tests(tests, stop):
    """Has CTest run them, whatever their build; returns the cases of its report. With `stop` none
    begins behind one that fails."""
    variants = sorted({test.variant for test in tests})
    (BUILD / "CTestTestfile.cmake").write_text("".join(f'subdirs("{v}")\n' for v in variants))
    for folder in (path for v in variants for path in (BUILD / v / "scratch").glob("*")):
        shutil.rmtree(folder)  # Each test begins in an empty folder.
        folder.mkdir()
    xml_file, chosen = BUILD / "log" / "tests.xml", BUILD / "log" / "chosen.txt"
    xml_file.unlink(missing_ok=True)
    chosen.write_text("".join(test.name + "\n" for test in tests))
    words = [CTEST, "--test-dir", BUILD, "-j", str(os.cpu_count() or 1), "--no-label-summary",
             "--tests-from-file", chosen, *(["--stop-on-failure"] if stop else []),
             "--output-on-failure", "--test-output-size-passed", "20000",
             "--test-output-size-failed", "20000", "--test-output-truncation", "head",
             "--output-junit", xml_file]
    subprocess.run(words, cwd=BUILD, check=False)
    if not xml_file.exists():
        return []
    return list(xml.etree.ElementTree.parse(xml_file).getroot())


def targets_of(tests):
    needed = {}
    for test in tests:
        needed.setdefault(test.variant, set()).update(test.targets or ("configured",))
    return needed


# ---- make test -----------------------------------------------------------------------------------


def mpi_of_the_day():
    """What MPIs share is tried with one of them, in turns."""
    return MPIS[datetime.date.today().toordinal() % len(MPIS)]


def choose(tests, engine, options):
    """(those to run, reason -> those that are selected away)."""
    chosen, away = [], {}
    for test in tests:
        if options.only not in test.name or not test.tiers or (options.lint and test.targets):
            continue
        reason = "" if options.all else selection.not_needed(test)
        if "engine" in test.tiers and test.variant != engine:
            reason = f"runs with {engine} today, and the code below src/mpi is the same"
        if reason:
            away.setdefault(reason, []).append(test)
        else:
            chosen.append(test)
    return chosen, away


def record(path, counts, seconds):
    """A line for the table in docs/tests.md: where the time of a run went."""
    entries = report.entries_of(TIMES)
    line = {"command": "make test", "commit": selection.git("rev-parse", "HEAD")[0],
            "date": datetime.date.today().isoformat(), "machine": machine(),
            "passed": counts.passed, "failed": len(counts.failed), "seconds": round(seconds),
            "by_kind": report.sums_by_kind(entries), "slowest": entries[:20]}
    append(path, line)


def run_short(options):
    begin = time.monotonic()
    engine = options.mpi or mpi_of_the_day()
    print(f"the MPI of the day is {engine}", flush=True)
    variants = ("no-mpi", "mpich") if options.lint else [v for chain in CHAINS for v in chain]
    tests, not_configured = configured_tests(variants)
    chosen, away = choose(tests, engine, options)
    builds = build_all(targets_of(chosen))
    builds |= dict.fromkeys(not_configured, False)
    can_run = [test for test in chosen if builds[test.variant]]
    cases = run_tests(can_run, options.stop) if can_run else []
    counts = report.count(cases, builds, [test.name for test in can_run])
    report.show_times(TIMES)
    report.keep_seeds(counts, SEEDS)
    if options.record:
        record(options.record, counts, time.monotonic() - begin)
    report.show(counts, away)
    return counts


# ---- make test-all -------------------------------------------------------------------------------


def part_names(prefixes):
    """The parts of these names, of groups, or whose names begin so; those to be done where none is
    asked for."""
    if not prefixes:
        return [name for name in PARTS if not is_done(name)]
    names = []
    for asked in prefixes:
        found = [asked] if asked in PARTS else GROUPS.get(asked) or [
            name for name in PARTS if name.startswith(asked + "-")]
        if not found:
            sys.exit(f"no such part: {asked}; there are {' '.join([*PARTS, *GROUPS])}")
        names += [name for name in found if name not in names]
    return names


# A part stays done where only these have changed.
TELLS_ONLY = ("results/", "docs/", "study/results/", "study/docs/", "study/README.md", "README.md",
              "CHANGELOG.md", "CONTRIBUTING.md")


def is_done(name):
    commit = selection.last_passes().get(name)
    changed = selection.changed_since(commit) if commit else None
    return changed is not None and all(file.startswith(TELLS_ONLY) for file in changed)


def set_up(part):
    words = [ROOT / "setup" / "environment", *(["--install"] if part.installs else []), *part.setup]
    return subprocess.run(words, check=False).returncode == 0


def run_part(name, stop):
    """Runs a part, and notes how it ended."""
    begin = time.monotonic()
    part = PARTS[name]
    print(f"---- {name}", flush=True)
    builds = {variant: set_up(part) and build(variant, targets)
              for variant, targets in part.builds.items()}
    tests = [test for variant in builds if builds[variant] for test in tests_of(variant)
             if test.part == name]
    counts = report.count(run_tests(tests, stop), builds, [test.name for test in tests])
    if not tests:
        counts.failed.append("no test of the part was found")
    report.show_times(TIMES, 10)
    report.keep_seeds(counts, SEEDS)
    report.show(counts, {})
    if counts.failed:
        print(f"again, alone: make test-all PART={name}", flush=True)
    note(name, counts, time.monotonic() - begin)
    return counts


def note(name, counts, seconds):
    """A line of results/tests.jsonl, if the commit says what was tested."""
    changed = selection.changed_files("HEAD")
    if changed is None or not all(file.startswith(TELLS_ONLY) for file in changed):
        print("not noted in results/tests.jsonl: there are changes that are not committed")
        return
    line = {"part": name, "commit": selection.git("rev-parse", "HEAD")[0],
            "date": datetime.date.today().isoformat(), "machine": machine(),
            "passed": counts.passed, "failed": len(counts.failed), "skipped": len(counts.skipped),
            "seconds": round(seconds), **({"failures": counts.failed} if counts.failed else {}),
            "command": f"make test-all PART={name}"}
    append(selection.RECORD, line)
    subprocess.run([sys.executable, "-B", ROOT / "results" / "table"], check=False,
                   stdout=subprocess.DEVNULL)


def run_parts(options):
    names = part_names(options.parts)
    print(f"{len(names)} parts of {len(PARTS)}: {' '.join(names) or 'all have passed'}")
    total = report.Counts()
    for name in names:
        TIMES.unlink(missing_ok=True)
        total.add(run_part(name, options.stop))
        if options.stop and total.failed:
            break
    report.show(total, {})
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="also what no change can have broken")
    parser.add_argument("--only", default="", help="only the tests with this in their name")
    parser.add_argument("--lint", action="store_true", help="only what needs nothing to be built")
    parser.add_argument("--mpi", default="", help="in place of the MPI of the day")
    parser.add_argument("--record", metavar="FILE", help="append where the time went")
    parser.add_argument("--stop", action="store_true", help="at the first failure")
    parser.add_argument("--parts", nargs="*", metavar="NAME", help="parts of make test-all")
    options = parser.parse_args()
    TIMES.parent.mkdir(parents=True, exist_ok=True)
    TIMES.unlink(missing_ok=True)
    counts = run_short(options) if options.parts is None else run_parts(options)
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
