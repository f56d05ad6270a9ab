#!/usr/bin/env python3
"""Runs the tests of storage and the MPI test programs on GlusterFS: `make test-gluster`.

    run.py                              all tests, MPICH and Open MPI
    run.py --only outstanding --mpi mpich
    run.py -- PROGRAM WORDS...          one program; {files} in a word is the mounted volume

The volume is made for the run (volume.py) and gone after it. It needs root, FUSE, namespaces and
Debian's packages of GlusterFS; where they are missing it says which and ends with exit code 77.
"""
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", "nodes", ".")]
import hosts
import run as runner
import volume
from folder_tests import FolderTests, parse_arguments, run_program
from mpis import BUILD, MPIS

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


class Tests(FolderTests):
    """On both volumes."""

    def units_of_both(self, volumes):
        self.units("whole", volumes.whole)
        self.units("sharded", volumes.sharded, NOT_SHARDED)

    def programs(self, folder, mpi):
        for run in mpi_runs(mpi):
            self.program("sharded", folder, run)
        self.random_programs("sharded", folder, mpi, 20)

    def bench(self, folder, mpi):
        """For information: nothing is asked of the times. Open MPI writes each piece by itself."""
        words = [MPIS[mpi].mpiexec, "-n", 2, BUILD / mpi / "bin" / "sluice", "bench", "--mode",
                 "blocking", "--bytes", "1M", "--piece", "4K", "--repeat", 3, "--warmup", 0,
                 "--pattern", "contiguous,strided,block3d", "--dir", folder]
        self.command(f"bench, blocking, {mpi}", words, 300, MPIS[mpi].settings, show=True)


def run_tests(volumes, args):
    tests = Tests(args)
    tests.units_of_both(volumes)
    for mpi in args.mpi.split(","):
        tests.programs(volumes.sharded, mpi)
    for mpi in args.mpi.split(","):
        tests.bench(volumes.sharded, mpi)
    return tests


def main():
    args = parse_arguments(__doc__.splitlines()[0], takes_program=True)
    hosts.enter(volume.missing)
    begin = time.monotonic()
    gluster = volume.Volumes()
    try:
        print(f"{gluster.version()}: 2 bricks in memory, shards of {volume.SHARD}, mounted by FUSE "
              f"at {gluster.sharded} after {time.monotonic() - begin:.1f} s", flush=True)
        if args.program:
            return run_program(gluster.sharded, args.program)
        return run_tests(gluster, args).summary("tests on GlusterFS")
    finally:
        gluster.close()


if __name__ == "__main__":
    sys.exit(main())
