#!/usr/bin/env python3
"""Compiles the Fortran tests and runs them without and with Sluice: bindings x MPIs x ranks.

Of the MPIs of the other tests, those that have a Fortran library. Without Sluice the cases are left
out that the MPI gets wrong by itself. Exit code 1 if anything failed, 77 if there was nothing to
run.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path[:0] = [str(FOLDER.parent / "mpi"), str(FOLDER.parent / "suites")]
from mpis import BUILD, ENV, MPIS  # noqa: E402
from common import behind_options, behind_settings  # noqa: E402  tests/suites/common.py
from run import Run, do_run  # noqa: E402  tests/mpi/run.py

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]
BINDINGS = ("mpif", "mpi", "mpi_f08")
PROGRAMS = {"test": [], "collectives_test": ["-DCOLLECTIVES"]}

# What fails without Sluice; found with MPICH 4.0.2, Intel MPI 2021.18 and Open MPI 4.1.4. A failing
# nonblocking call may say so at its start, but the tests expect it at completion ("errors").
PLAIN_SKIP = {
    # MPICH and Intel MPI corrupt data of several nonblocking operations, lose them, or hang when
    # other blocking calls come between; with mpi_f08, MPICH counts indices from 0, never completes
    # request_get_status, and crashes at sections.
    "debian-mpich": "nonblocking,any,some,single,freed,between,errors,optional,sections",
    "intel": "nonblocking,any,some,single,freed,between,errors",
    # Freed operations are not finished when the file is closed.
    "debian-openmpi": "freed,errors",
}
# Nonblocking collectives by the MPI: what several edges between two ranks bring comes in the wrong
# order, as from C.
MPIS_OWN_SKIP = {"debian-mpich": "neighbours"}


@dataclass
class Compilers:
    """The MPI's own compilers, with gfortran behind the Fortran one."""
    c: str | Path
    fortran: str | Path
    options: tuple = ()
    bindings: tuple = BINDINGS


def intel_modules():
    """Where Intel MPI has modules for this gfortran, which its own compiler misses; not mpi_f08."""
    version = subprocess.run(["gfortran", "-dumpversion"], capture_output=True, text=True,
                             check=True).stdout.split(".")[0]
    return [f"-I{folder}" for folder in
            (ENV / "intel/include/mpi/gfortran").glob(f"{version.strip()}.*")]


def compilers(mpi):
    """None where there are none."""
    intel = ENV / "intel/bin"
    known = {
        "debian-mpich": Compilers("mpicc.mpich", "mpifort.mpich"),
        "debian-openmpi": Compilers("mpicc.openmpi", "mpifort.openmpi"),
        "intel": Compilers(intel / "mpigcc", intel / "mpifc", ("-fc=gfortran",), ("mpif", "mpi")),
    }[mpi]
    there = all(map(shutil.which, (known.c, known.fortran, "gfortran")))
    return known if there else None


def compile_programs(mpi, using):
    """Returns the folder of the programs."""
    target = BUILD / MPIS[mpi].build / "tests" / "fortran"
    target.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **MPIS[mpi].settings, "I_MPI_ROOT": str(ENV / "intel")}
    side = target / "c_side.o"
    options = [*using.options, *(intel_modules() if mpi == "intel" else [])]
    # mpif.h says nothing of arguments, so the compiler compares the calls with each other.
    allowed = {"mpif": ["-fallow-argument-mismatch"], "mpi": [], "mpi_f08": ["-std=f2008"]}

    def compile_one(compiler, *words):
        done = subprocess.run([str(word) for word in (compiler, *words)], capture_output=True,
                              text=True, check=False, env=environment)
        if done.returncode:
            sys.exit(f"{compiler} failed:\n{done.stderr}")

    compile_one(using.c, "-std=c11", "-D_GNU_SOURCE", *WARNINGS, "-I", ROOT / "include", "-c",
                FOLDER / "c_side.c", "-o", side)
    for binding in using.bindings:
        for name, defined in PROGRAMS.items():
            compile_one(using.fortran, *options, "-g", "-O2", *allowed[binding], *defined, "-J",
                        target, "-I", FOLDER, FOLDER / f"{binding}_test.F90", side, "-ldl", "-o",
                        target / f"{binding}_{name}")
    return target


class PlainRun(Run):
    """One start without Sluice."""
    def title(self):
        return super().title() + ", without Sluice"


def runs_of(mpi, using, ranks):
    for binding in using.bindings:
        for count in ranks:
            skipped = ["--skip", PLAIN_SKIP[mpi]]
            yield PlainRun(mpi, f"{binding}_test", count, options=skipped, seconds=100)
            yield Run(mpi, f"{binding}_test", count, seconds=100)
        yield from runs_of_collectives(mpi, f"{binding}_collectives_test", ranks)


def runs_of_collectives(mpi, program, ranks):
    served = {"SLUICE": "all"}
    for count in ranks:
        yield Run(mpi, program, count, seconds=100, settings=served)
    # The MPI serves them, the calls go through Sluice all the same.
    wrong = MPIS_OWN_SKIP.get(mpi)
    yield Run(mpi, program, 2, options=["--skip", wrong] if wrong else [], seconds=100)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default=",".join(PLAIN_SKIP), help="only these")
    parser.add_argument("--ranks", default="1,2,3")
    parser.add_argument("--dir", default=str(BUILD / "tmp"), help="where test files go")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on all time limits")
    parser.add_argument("--lines", type=int, default=40, help="shown of a failed run's output")
    parser.add_argument("-v", "--verbose", action="store_true")
    behind_options(parser)
    args = parser.parse_args()
    args.program_options = []
    return args


def main():
    args = parse_arguments()
    started = time.monotonic()
    failed = []
    done = 0
    for mpi in args.mpi.split(","):
        using = compilers(mpi)
        if not using or not (BUILD / MPIS[mpi].build / "lib" / "libsluice.so").exists():
            print(f"skipped: {mpi}: no Fortran compiler, or no build of Sluice")
            continue
        args.programs = compile_programs(mpi, using)
        for run in runs_of(mpi, using, [int(count) for count in args.ranks.split(",")]):
            args.plain = isinstance(run, PlainRun)
            run.settings.update(behind_settings(args))
            done += 1
            if do_run(run, args, None):
                failed.append(run.title())
    for title in failed:
        print(f"failed: {title}")
    print(f"fortran tests: {done - len(failed)} passed, {len(failed)} failed, "
          f"{time.monotonic() - started:.0f} s")
    if not done:
        return 77  # Skipped.
    return 1 if failed else 0


if __name__ == "__main__":
    # A stopped job ends the running processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
