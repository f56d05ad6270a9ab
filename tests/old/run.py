#!/usr/bin/env python3
"""Runs Sluice where the system refuses what it likes to use, as older kernels and containers do:
`make test-old`.

Each case switches some of it off: system calls by a filter (without.c), /dev/shm by a mount, /proc
by a user namespace for each rank, sizes by limits. Under each, `sluice info` must say what serves
instead, and the MPI programs must pass with 4 ranks. An MPI that cannot run under a case by itself
is told and left out. Exit code 1 if something failed, 77 if nothing could be tried.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import run as runner
from mpis import MPIS
from small_programs import compiled

HERE = Path(__file__).resolve().parent
SKIPPED = 77
# Two processes that may not look into each other: what the MPIs need then.
APART = {"MPIR_CVAR_CH4_CMA_ENABLE": "0", "UCX_TLS": "^cma", "UCX_POSIX_USE_PROC_LINK": "n"}


@dataclass
class Case:
    """`before` goes in front of mpiexec, `each` in front of every rank. Of `info` and `log` each
    must be in what `sluice info`, and Sluice's log of the run, say."""
    name: str
    without: str = ""
    before: tuple = ()
    each: tuple = ()
    info: tuple = ()
    log: tuple = ()
    settings: dict = field(default_factory=dict)
    short: int = 0  # ranks in `make test`, two where MPICH's would spin; 0: not in it


def private_mounts(commands):
    return ("unshare", "--mount", "sh", "-ec", commands + '; exec "$@"', "sh")


def cases():
    no_memfd, no_fallocate = "memory without a file    no: ", "memory reserved          no: "
    in_shm, by_page = "unlinked file in /dev/shm", "touched page by page"
    # The MPIs need some of it themselves.
    small_shm = private_mounts("mount -t tmpfs -o size=12m none /dev/shm")
    read_only = private_mounts("mount -t tmpfs -o ro none /dev/shm")
    messages = ("no shared memory on this node",)
    return [
        Case("no memfd: Linux before 3.17", "memfd_create", info=(no_memfd + in_shm,),
             log=(in_shm,)),
        Case("memfd forbidden, no fallocate", "memfd_create=EPERM fallocate=EOPNOTSUPP",
             info=(no_memfd + in_shm, no_fallocate + by_page), log=(in_shm,)),
        Case("fallocate forbidden", "fallocate=EPERM", info=(no_fallocate + by_page,)),
        Case("no memory for it", "fallocate=ENOSPC", info=(no_fallocate + "independent",)),
        Case("no memfd, small /dev/shm", "memfd_create", small_shm, log=("unlinked file in {tmp}",),
             info=(no_memfd + "unlinked file in {tmp}",), short=2),
        Case("no memfd, read-only /dev/shm", "memfd_create", read_only,
             info=(no_memfd + "unlinked file in {tmp}",), log=("unlinked file in {tmp}",)),
        Case("ranks in user namespaces", each=("unshare", "--user", "--map-root-user"),
             log=("handed over through sockets",), settings=APART, short=2),
        Case("files of 1 GiB at most", each=("prlimit", f"--fsize={1 << 30}"),
             info=("sizes without limit      no: ",), log=("open files of a communicator",)),
        Case("address space of 6 GiB", each=("prlimit", f"--as={6 << 30}"),
             info=("sizes without limit      no: ",)),
        Case("files of 50 MB at most: no shared memory", each=("prlimit", "--fsize=50000000"),
             log=messages, short=4),
        Case("cores refused", "sched_setaffinity=EPERM", settings={"SLUICE_AFFINITY": "0"}),
        Case("cores not told", "sched_getaffinity"),
        Case("locks of a file handle: Linux before 3.15", "ofd_locks=EINVAL",
             info=("locks of a file handle   no: ",)),
        Case("nothing is said of files", "statfs getxattr statx copy_file_range fadvise"),
        Case("Linux 3.10, all of it", "memfd_create ofd_locks=EINVAL copy_file_range statx",
             info=(no_memfd + in_shm,), log=(in_shm,), short=2),
    ]


class Tester:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, scratch
        self.passed, self.failed, self.left_out = 0, 0, 0

    def environment(self, case, mpi):
        settings = {**MPIS[mpi].settings, **case.settings, "TMPDIR": str(self.scratch),
                    "SLUICE_LOG": "3"}
        return runner.with_test_words({**os.environ, **settings}, "stall=20")

    def run(self, case, mpi, words, each=True, seconds=120):
        """Returns (exit code or None when out of time, output)."""
        filter_program = compiled(mpi, HERE / "without.c")
        around = [filter_program, *case.without.split(), "--"] if case.without else []
        launcher = [MPIS[mpi].mpiexec, "-n", case.short if self.args.short else 4] if each else []
        command = [*case.before, *launcher, *case.each, *around, *words]
        mark = uuid.uuid4().hex
        environment = {**self.environment(case, mpi), runner.MARK: mark}
        found = runner.execute([str(word) for word in command], environment,
                               seconds * self.args.patience, mark)
        runner.end_processes(mark)
        return found

    def program(self, mpi, name, *options):
        return [runner.BUILD / mpi / "tests" / "mpi" / name, "--dir", self.scratch, *options]

    def lacking(self, said, output):
        wanted = (text.replace("{tmp}", str(self.scratch)) for text in said)
        missing = [text for text in wanted if text not in output]
        return f"not said: {missing[0]}" if missing else ""

    def check_info(self, case, mpi):
        code, output = self.run(case, mpi, [self.sluice(mpi), "info", self.scratch], each=False)
        return output, f"exit code {code}" if code else self.lacking(case.info, output)

    @staticmethod
    def sluice(mpi):
        return runner.BUILD / mpi / "bin" / "sluice"

    def check_program(self, case, mpi, program, *options, log=()):
        words = [self.sluice(mpi), "run", *self.program(mpi, program, *options)]
        code, output = self.run(case, mpi, words)
        why = "out of time" if code is None else f"exit code {code}" if code else ""
        return output, why or self.lacking(log, output)

    def tests(self, case, mpi):
        some = ["--only", "/all,/iat_all,/begin,atomic", "--large-mib", "5"]
        order = ["--skip", "/large,/eight"]
        if self.args.short:
            some = ["--only", "contiguous/,strided/,overlap,atomic", "--large-mib", "5"]
            order = ["--only", "/three,/two_files,freed"]
        yield "sluice info", lambda: self.check_info(case, mpi)
        yield "patterns", lambda: self.check_program(case, mpi, "patterns_test", *some,
                                                     log=case.log)
        yield "outstanding", lambda: self.check_program(case, mpi, "outstanding_test", *order)

    def works_plain(self, case, mpi):
        """Whether the MPI itself does, and what it says if not."""
        code, output = self.run(case, mpi, self.program(
            mpi, "patterns_test", "--plain", "--only", "contiguous/all"),
                                seconds=40)
        lines = [line for line in output.splitlines() if line.strip()] or ["nothing is said"]
        ended = "out of time" if code is None else f"exit code {code}"
        return code == 0, f"{ended}, {lines[0][:70]}"

    def do_case(self, case, mpi):
        works, why_not = self.works_plain(case, mpi)
        if not works:
            print(f"left out           {mpi}: {case.name}: the MPI by itself: {why_not}")
            self.left_out += 1
            return
        for name, test in self.tests(case, mpi):
            begin = time.monotonic()
            output, why = test()
            print(f"{'FAILED' if why else 'ok    '} {time.monotonic() - begin:6.1f} s  {mpi}: "
                  f"{case.name}: {name}" + (f"  ({why})" if why else ""), flush=True)
            self.passed, self.failed = self.passed + (not why), self.failed + bool(why)
            if why:
                print("\n".join("  | " + line for line in output.splitlines()[-30:]))


def allowed(case):
    """Namespaces may be forbidden, tools missing."""
    for words in (case.before, case.each):
        if words and not shutil.which(words[0]):
            return False
        if words and subprocess.run([*words, "true"], capture_output=True,
                                    check=False).returncode != 0:
            return False
    return True


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--short", action="store_true", help="few cases, few sub-tests")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on all time limits")
    return parser.parse_args()


def main():
    args = parse_arguments()
    chosen = [case for case in cases()
              if args.only in case.name and (case.short or not args.short)]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="old_") as scratch:
        tester = Tester(args, Path(scratch))
        for mpi in args.mpi.split(","):
            if tester.run(Case("filter", "statx"), mpi, ["true"], each=False)[0] == SKIPPED:
                print("skipped: filters of system calls are not allowed here")
                return SKIPPED
            for case in chosen:
                if allowed(case):
                    tester.do_case(case, mpi)
                else:
                    print(f"left out           {mpi}: {case.name}: not allowed here")
                    tester.left_out += 1
    print(f"old systems: {tester.passed} passed, {tester.failed} failed, {tester.left_out} cases "
          f"left out, {time.monotonic() - begin:.0f} s")
    return 1 if tester.failed else 0 if tester.passed else SKIPPED


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
