#!/usr/bin/env python3
"""Runs the tests and ends with the line "N passed, N failed"; exit code 1 if one failed.

A step is one command: a build, a check, or a test program (for MPI programs: all runs of it with
one MPI; tests/mpi/run.py lists them). Each has its own log in build/log, its own empty working
directory in build/scratch, and a time limit after which all its processes are stopped. Exit code
77: skipped.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
TOOLS = BUILD / "env" / "tools" / "bin"
CORES = os.cpu_count() or 1
MPIS = ("mpich", "openmpi")
# Those that `make test` leaves out -> the variant of the build. abi: the standard ABI.
MORE_MPIS = {"intel": "intel", "debian-mpich": "debian-mpich", "debian-openmpi": "debian-openmpi",
             "abi": "mpich", "abi-intel": "intel"}
SANITIZED = ("collectives_test", "patterns_test", "outstanding_test", "errors_test", "legal_test",
             "requests_test")

ENVIRONMENT = {
    "SLUICE_SOURCE_DIR": str(ROOT),
    "ASAN_OPTIONS": "detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


@dataclasses.dataclass
class Step:
    name: str
    command: list
    limit: float = 120  # seconds
    needs: str = ""  # the variant that must have been built
    targets: tuple = ()  # what of it; nothing: all
    alone: bool = True  # False: may run beside its neighbours
    shows: str = ""  # lines of its output with this pattern are printed
    environment: dict = dataclasses.field(default_factory=dict)


# ---- What there is to run ----------------------------------------------------------------------


def build(variant, targets=()):
    return Step(f"build {variant}", ["make", "-C", ROOT, "build", f"MPI={variant}",
                                     f"TARGETS={' '.join(targets)}"], limit=1500)


def sources(*patterns):
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def build_steps(_):
    return [build(mpi) for mpi in MPIS]


def lint_steps(_):
    code = sources(*(f"{folder}/**/*.{end}" for folder in ("src", "include", "tests", "examples")
                     for end in ("cpp", "hpp", "c", "h")))
    yield Step("layers, sizes and words", [sys.executable, ROOT / "tests" / "tidy.py"])
    yield Step("links in documents", [sys.executable, ROOT / "tests" / "documents.py"])
    yield Step("tables of results", [sys.executable, ROOT / "results" / "table", "--check"])
    if code:
        yield Step("format", [TOOLS / "clang-format", "--dry-run", "-Werror", *code])
    yield Step("spelling", [TOOLS / "codespell", "--config", ROOT / ".codespellrc", ROOT])
    # It reads how each file is compiled from a build directory.
    yield Step("clang-tidy", [sys.executable, ROOT / "tests" / "clang_tidy.py"], limit=900,
               needs="mpich")


def unit_steps(long):
    tests = sources("tests/unit/*_test.cpp")
    # The thread sanitizer has nothing to say where there is one thread.
    for variant, chosen in (("asan", tests),
                            ("tsan", tests if long else list(filter(has_threads, tests)))):
        for source in chosen:
            program = BUILD / variant / "tests" / "unit" / source.stem
            yield Step(f"{source.stem} {variant}",
                       [*fixed_addresses(variant), program, "--gtest_brief=1", "--gtest_shuffle"],
                       limit=300, needs=variant, alone=False,
                       targets=() if chosen is tests else tuple(test.stem for test in chosen))
    for source in sources("tests/command/*_test.py"):
        yield Step(source.stem, [sys.executable, source], needs="asan", alone=False,
                   environment={"SLUICE": BUILD / "asan" / "bin" / "sluice"})


def has_threads(source):
    """Whether a test starts threads, itself or by its headers: of the layers only ports do."""
    text = source.read_text(encoding="utf-8")
    own = [source.parent / name for name in re.findall(r'#include "(\w+\.hpp)"', text)]
    return bool(re.search(r'std::j?thread|#include "ports/', text)) or any(map(has_threads, own))


def fixed_addresses(variant):
    """g++ 12's thread sanitizer cannot start where the kernel spreads addresses widely."""
    bits = pathlib.Path("/proc/sys/vm/mmap_rnd_bits")
    wide = bits.exists() and int(bits.read_text()) > 28
    return ["setarch", "-R"] if variant.endswith("tsan") and wide else []


def mpi_program(program, mpi, variant, level="quick"):
    return Step(f"{program} {mpi}",
                [*fixed_addresses(variant), sys.executable, ROOT / "tests" / "mpi" / "run.py",
                 "--mpi", mpi, "--program", program, "--level", level],
                limit=900, needs=variant)


def level_of(long):
    return "long" if long else "quick"


def mpi_program_names():
    names = [source.stem for source in sources("tests/mpi/*_test.c", "tests/mpi/*_test.cpp")]
    return [name for name in names if name != "random_test"]


def mpi_runner(name, runner, mpi, *options, limit=300):
    """A test with a runner of its own."""
    return Step(f"{name} {mpi}",
                [sys.executable, ROOT / "tests" / runner, "--mpi", mpi, *options], limit=limit,
                needs=mpi)


def random_programs(mpi, progress, programs):
    return mpi_runner(f"random programs, {progress},", "mpi/random_programs.py", mpi, "--progress",
                      progress, "--programs", str(programs), "--no-shrink", limit=programs)


def mpi_steps(long):
    for mpi in MPIS:
        for program in mpi_program_names():
            yield mpi_program(program, mpi, mpi, level_of(long))
        for progress in ("thread", "calls"):
            yield random_programs(mpi, progress, 2000 if long else 150)
        yield mpi_runner("durability", "durability/run.py", mpi, "--level",
                         level_of(long))
        yield mpi_runner("functions", "functions/run.py", mpi)
        yield mpi_runner("coexistence", "coexistence/run.py", mpi)
        yield mpi_runner("calibrate", "calibrate/run.py", mpi)
        yield mpi_runner("bench", "bench/run.py", mpi, limit=120)
        yield mpi_runner("bench of collectives", "bench/collectives.py", mpi)
        yield mpi_runner("old systems", "old/run.py", mpi, *([] if long else ["--short"]))
        if long:
            yield Step(f"50 times outstanding {mpi}",
                       [sys.executable, ROOT / "tests" / "mpi" / "repeat.py", "--mpi", mpi],
                       limit=600, needs=mpi, shows=r"\d+ of \d+ right")
    # Of both builds, in one prefix.
    yield Step("install", [sys.executable, ROOT / "tests" / "install" / "run.py"], limit=240,
               needs=MPIS[-1])
    yield mpi_program("abi_test", "abi", "mpich")
    yield mpi_program("large_count_test", "abi", "mpich")


def mpis_steps(long):
    for mpi, variant in MORE_MPIS.items():
        for program in mpi_program_names():
            yield mpi_program(program, mpi, variant, level_of(long))
    for mpi in ("debian-mpich", "debian-openmpi", "intel"):
        yield mpi_runner("fortran", "fortran/run.py", mpi, limit=900)


def sanitized_steps(_):
    """The library and the programs with the sanitizers; the MPIs are as they are."""
    for mpi in MPIS:
        for variant in (f"{mpi}-asan", f"{mpi}-tsan"):
            for program in SANITIZED:
                yield mpi_program(program, variant, variant, "sanitized")


PARTS = {"build": build_steps, "lint": lint_steps, "unit": unit_steps, "mpi": mpi_steps,
         "mpis": mpis_steps, "sanitized": sanitized_steps}

# ---- Running it --------------------------------------------------------------------------------

running = {}  # process -> the mark in its environment
not_built = set()  # variants whose build failed
printing = threading.Lock()


def stop(process, mark):
    """Stops a step: politely, so that mpiexec can tell its ranks; then for good.

    Open MPI's ranks are in process groups of their own and may outlive mpiexec, so what carries
    the step's mark in its environment is stopped too.
    """
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(3)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    for environment in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in environment.read_bytes().split(b"\0"):
                os.kill(int(environment.parent.name), signal.SIGKILL)
        except OSError:
            pass  # it has ended, or it is somebody else's
    process.wait()


def execute(step, limit):
    """Runs one step and prints its line; True: passed, False: failed, None: skipped."""
    if step.needs in not_built:
        report(step, f"FAILED: no build of {step.needs}", time.monotonic())
        return False
    file_name = re.sub(r"\W+", "-", step.name)
    log = BUILD / "log" / f"{file_name}.log"
    scratch = BUILD / "scratch" / file_name
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    mark = f"SLUICE_TEST_STEP={os.getpid()}-{file_name}"
    environment = {**os.environ, **ENVIRONMENT, **step.environment}
    environment.update([mark.split("=")])
    for inherited in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        environment.pop(inherited, None)
    begin = time.monotonic()
    with open(log, "wb") as output:
        try:
            process = subprocess.Popen(
                [str(word) for word in step.command], cwd=scratch, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                env={name: str(value) for name, value in environment.items()})
        except OSError as error:
            report(step, f"FAILED: {error}", begin)
            return False
        running[process] = mark
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        stop(process, mark)  # also what a finished command left behind
        del running[process]
    if code in (0, 77):
        shutil.rmtree(scratch, ignore_errors=True)
        report(step, "ok" if code == 0 else "skipped", begin)
        show(step, log)
        return True if code == 0 else None
    if step.name.startswith("build "):
        not_built.add(step.name.split()[1])
    why = f"still running after {limit:.0f} s" if code is None else f"exit code {code}"
    report(step, f"FAILED: {why}; {log.relative_to(ROOT)} ends with", begin, log)
    return False


def report(step, result, begin, log=None):
    with printing:
        print(f"{step.name:<40} {time.monotonic() - begin:6.1f} s  {result}", flush=True)
        if log:
            tail = log.read_text(errors="replace").splitlines()[-40:]
            print("\n".join("    | " + line for line in tail), flush=True)


def show(step, log):
    for line in log.read_text(errors="replace").splitlines() if step.shows else []:
        if re.search(step.shows, line):
            print("    " + line, flush=True)


def with_builds(steps):
    """Puts before each step the build that it needs, once."""
    done = set()
    for step in steps:
        for wanted in ([build(step.needs, step.targets)] if step.needs else []) + [step]:
            if wanted.name not in done:
                done.add(wanted.name)
                yield wanted


def batches(steps):
    """Groups neighbours that may run at the same time."""
    batch = []
    for step in steps:
        if batch and (step.alone or batch[-1].alone):
            yield batch
            batch = []
        batch.append(step)
    if batch:
        yield batch


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="|".join(PARTS))
    parser.add_argument("--long", action="store_true", help="more ranks and repetitions")
    parser.add_argument("--only", default="", help="run only the steps with this in their name")
    options = parser.parse_args()
    parts = options.parts or ["build", "lint", "unit", "mpi"]
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(unknown)}")
    if options.long:
        ENVIRONMENT["SLUICE_TEST_LONG"] = "1"
    (BUILD / "log").mkdir(parents=True, exist_ok=True)

    steps = [step for part in parts for step in PARTS[part](options.long)
             if options.only in step.name]
    results = []
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        try:
            for batch in batches(with_builds(steps)):
                limits = [step.limit * (10 if options.long else 1) for step in batch]
                results += pool.map(execute, batch, limits)
        except KeyboardInterrupt:
            for process, mark in list(running.items()):
                stop(process, mark)
            raise
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 1 if False in results else 0


if __name__ == "__main__":
    sys.exit(main())
