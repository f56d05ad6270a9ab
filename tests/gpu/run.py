#!/usr/bin/env python3
"""Runs programs whose buffers lie on devices, under Sluice, with a pretended driver of CUDA or,
with `--driver card`, that of a card.

driver_test tests the driver itself; files has all ways of access and kinds of memory, errors what
comes of failures, collectives those between memories; the programs of tests/mpi run with their
buffers brought to devices. One line for each run, with what was called of the driver. Exit code 1
if one failed.
"""
import collections
import re
import shutil
import signal
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import run as runner
import shares
from devices import (DRIVERS, FAR_PROGRAMS, bringer, driver_settings, driver_test, far_preload,
                     program)
from levels import LEVELS, Run, behind_settings
from lot import Lot
from mpis import BUILD, MPIS

# What MPIs get wrong by themselves, and what near_buffers.c leaves: MPI_BOTTOM.
PLAIN_SKIP = ("bottom", "external32/i", "past_end")
# Calls that show which way the bytes took.
SHOWN_CALLS = ("cuLaunchKernel", "cuMemcpy2DAsync_v2", "cuMemcpyAsync", "cuMemcpyDtoHAsync_v2",
               "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2",
               "cuMemHostRegister_v2")


@dataclass
class Job:
    """One start of mpiexec. `run` has the library's settings; `orders` are the driver's."""
    run: Run
    orders: str = "devices=2"
    far: bool = False
    words: list = field(default_factory=list)

    def title(self):
        kind = "far buffers: " if self.far else ""
        return f"{kind}{self.run.title()} {' '.join(self.words)} gpu {self.orders}"


# ---- What is run --------------------------------------------------------------------------------

def words_of(mpi, job, args, folder):
    """The command line."""
    run = job.run
    words = [str(MPIS[mpi].mpiexec), "-n", str(run.ranks)]
    if job.far:
        words += [*far_preload(mpi),
                  str(BUILD / MPIS[mpi].build / "tests" / "mpi" / run.program),
                  "--dir", str(folder), *runner.options_of(run, args)]
        return words
    if args.plain:
        words += ["env", f"LD_PRELOAD={bringer(mpi, False)}"]
    else:
        words += runner.preload(mpi, run.keeper)
    words += [str(program(mpi, run.program)), "--folder", str(folder), *run.options, *job.words]
    skipped = PLAIN_SKIP if args.plain else ()
    return words + [word for name in skipped for word in ("--skip", name)]


def environment_of(mpi, job, args, mark, folder):
    env = {name: value.replace("{work}", str(folder))
           for name, value in runner.environment(job.run, mark, args.plain).items()}
    return {**env, **driver_settings(mpi, args.driver, f"{job.orders},log={folder / 'calls'}")}


def calls_in(path):
    """How often the driver's functions were called, of those that are shown."""
    if not path.exists():
        return {}
    counts = collections.Counter(line.split(" ")[1] for line in path.read_text().splitlines()
                                 if line.count(" ") == 2)
    return {name: counts[name] for name in SHOWN_CALLS if counts[name]}


def misses_kernel(job, calls):
    """Whether the library's kernel should have copied rows, and has not: the test's own are few."""
    may_copy = not re.search("kernels=0|registers=0|mapped=apart", job.orders)
    is_sampled = job.run.program == "files" and not job.words
    return is_sampled and may_copy and calls.get("cuLaunchKernel", 0) < 20


def report(title, reasons, output, began, calls):
    shown = ", ".join(f"{name} {count}" for name, count in calls.items())
    print(f"{'FAILED' if reasons else 'ok    '} {time.monotonic() - began:6.1f} s  {title}"
          + (f"  ({'; '.join(reasons)})" if reasons else "") + (f"  [{shown}]" if shown else ""))
    if reasons:
        lines = output.splitlines()
        wrong = [line for line in lines if line.startswith("wrong ")]
        print("\n".join(f"  | {line}" for line in wrong[:30] + ["..."] + lines[-12:]))
    sys.stdout.flush()
    return not reasons


def run_job(mpi, job, args, folder):
    began, mark = time.monotonic(), uuid.uuid4().hex
    memory = runner.shared_memory()
    code, output = runner.execute(words_of(mpi, job, args, folder),
                                  environment_of(mpi, job, args, mark, folder), job.run.seconds,
                                  mark)
    reasons = [] if code == 0 else ["out of time" if code is None else f"exit code {code}"]
    if left := runner.leftover_processes(mark):
        reasons.append(f"processes left: {left}")
        runner.end_processes(mark)
    if new := runner.shared_memory() - memory:
        reasons.append(f"left in /dev/shm: {sorted(new)}")
    if not re.search(r"^\d+ cases|sub-tests", output, re.MULTILINE):
        reasons.append("it did not come to its end")
    calls = calls_in(folder / "calls")
    if not args.plain and args.driver == "pretended" and misses_kernel(job, calls):
        reasons.append("no rows were copied by the kernel")
    return report(job.title(), reasons, output, began, calls)


def run_driver_test(mpi, _, args, folder):
    began, mark = time.monotonic(), uuid.uuid4().hex
    run = Run(mpi, "driver_test", 1)
    env = {**runner.environment(run, mark, True), **driver_settings(mpi, "pretended")}
    code, output = runner.execute([str(driver_test(mpi))], env, 120, mark)
    reasons = [] if code == 0 else ["out of time" if code is None else f"exit code {code}"]
    return report(f"{mpi} driver_test", reasons, output, began, {})


# ---- The matrix ---------------------------------------------------------------------------------

NO_KERNELS = "devices=2,kernels=0"
NOT_REGISTERED = "devices=2,registers=0"


def file_jobs(mpi, sample):
    """(ranks, ranks of a node, settings, orders) of files."""
    some = ["--sample", str(sample)]
    alone = {"SLUICE_TEST": "helper=off"}
    return [Job(Run(mpi, "files", ranks, node, some, 300, settings), orders)
            for ranks, node, settings, orders in (
                (1, 0, {}, "devices=1"), (2, 0, {}, "devices=2"), (4, 0, {}, "devices=3"),
                (2, 0, {}, "devices=2,delay=200"), (4, 0, {}, "devices=2,delay=200"),
                (2, 0, {}, NOT_REGISTERED),
                (2, 0, {}, f"{NOT_REGISTERED},pageable=async,delay=200"),
                (2, 0, {}, "devices=2,mapped=apart"), (2, 0, {}, NO_KERNELS),
                (3, 1, {}, "devices=2"), (3, 1, {}, "devices=2,delay=200"),
                (3, 1, {}, NOT_REGISTERED), (4, 2, {}, "devices=2"),
                (3, 1, {}, NO_KERNELS), (2, 0, alone, "devices=2,delay=200"),
                (2, 0, {"SLUICE_TEST": "shared_memory=off"}, "devices=2"),
                (2, 0, behind_settings("64M"), "devices=2"),
                (2, 0, behind_settings("1M,{work}"), "devices=2,delay=200"),
                (4, 2, behind_settings("64K"), "devices=2"))]


def error_jobs(mpi, sample):
    some = ["--sample", str(sample)]
    return [Job(Run(mpi, "errors", ranks, node, some, 300, settings), orders)
            for ranks, node, settings, orders in (
                (1, 0, {}, "devices=2"), (2, 0, {}, "devices=2"), (2, 0, {}, "devices=2,delay=200"),
                (3, 1, {}, "devices=2"), (2, 0, {}, NOT_REGISTERED),
                (2, 0, behind_settings("64M"), "devices=2"))]


def collective_jobs(mpi):
    """Of MPI's own nonblocking ones, too: all are served."""
    every = {"SLUICE": "all"}
    return [Job(Run(mpi, "collectives", ranks, node, [], 300, {**every, **settings}), orders)
            for ranks, node, settings, orders in (
                (1, 0, {}, "devices=2"), (3, 0, {}, "devices=2"), (4, 2, {}, "devices=2,delay=200"),
                (3, 1, {"SLUICE_NETWORK": "mpi"}, NOT_REGISTERED))]


def far_jobs(mpi, level):
    """Those of tests/mpi, with the options that they have there."""
    slow = ("datatypes_test",)  # It has a million pieces, each of them a copy of the driver's.
    return [Job(replace(run, seconds=400) if run.program in slow else run,
                f"devices=2,delay={5 if run.program in slow else 50}", True)
            for run in LEVELS[level](mpi) if run.program in FAR_PROGRAMS and run.keeper]


def own_error_jobs(mpi):
    """Those of errors_own.c. With a card nothing is sure behind one of them: each has a start."""
    kinds = ("full", "lost", "freed_meanwhile", "ended_meanwhile")
    return [Job(Run(mpi, "errors", 2), words=["--case", f"{kind}{size}/{way}/iat_all/last"])
            for kind in kinds for size in ("", "_large") for way in ("write", "read")]


def any_driver_jobs(mpi, args):
    """Those of which a driver needs no orders, so that they differ in more than these. Each case
    of files once, and some of them with each of the settings."""
    jobs = [Job(Run(mpi, "files", 4, seconds=300)), *file_jobs(mpi, 5), *far_jobs(mpi, "short"),
            *collective_jobs(mpi), *own_error_jobs(mpi)]
    if args.driver == "card":
        jobs += busy_jobs(mpi)
    chosen = {}
    for job in jobs:
        job.orders = "card" if args.driver == "card" else Job.orders
        chosen.setdefault(job.title(), job)
    return list(chosen.values())


def busy_jobs(mpi):
    """Only with time on its own is it known that a write waits for no kernel."""
    return [Job(Run(mpi, "files", 2, node), words=["--case", "busy"]) for node in (0, 1)]


def jobs_of(mpi, args):
    if args.level == "card":
        return any_driver_jobs(mpi, args)
    jobs = file_jobs(mpi, 1 if args.level == "long" else 5)
    if args.plain:
        return [job for job in jobs if not job.run.settings and not job.run.ranks_per_node]
    if args.level == "long":
        jobs += busy_jobs(mpi)
    jobs += error_jobs(mpi, 1 if args.level == "long" else 5) + collective_jobs(mpi)
    return jobs + far_jobs(mpi, "quick" if args.level == "long" else "short")


def tests_of(mpi, args, random):
    """(title, function, job) of each."""
    tests = [(f"{mpi} driver_test", run_driver_test, None)] if args.level != "card" else []
    for job in jobs_of(mpi, args):
        if not job.far:
            job.run.options = [*job.run.options, "--seed", str(random.randrange(1, 2**31))]
        tests.append((job.title(), run_job, job))
    return shares.share_of([test for test in tests if args.only in test[0]], args)


def add_arguments(parser):
    parser.add_argument("--level", choices=("short", "long", "card"), default="short",
                        help="card: what can be tried with any driver")
    parser.add_argument("--driver", choices=DRIVERS, default=DRIVERS[0])
    shares.add_argument(parser)
    parser.add_argument("--plain", action="store_true",
                        help="without Sluice, buffers brought to the host: tries the programs")


def main():
    args = runner.parse_for_cases(__doc__, add_arguments)
    results = []
    drawn = Lot(args)
    for mpi in args.mpi.split(","):
        for _, test, job in drawn.cases(tests_of(mpi, args, drawn.random)):
            folder = Path(tempfile.mkdtemp(prefix="gpu_", dir=args.dir))
            try:
                results.append(test(mpi, job, args, folder))
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    return runner.exit_code_of("gpu", results)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
