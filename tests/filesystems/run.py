#!/usr/bin/env python3
"""Runs the tests of storage, programs with MPI, random ones, and ranks and storage calls that fail
on file systems of the kernel (mounts.py), with room, without, and over quota.

    run.py [--mpi mpich] [--only WORDS] [--patience FACTOR]

Ends with 77 where they cannot be mounted.
"""
import itertools
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", "nodes", ".")]
import hosts
import run as runner
from folder_tests import FolderTests, mounting_folder, parse_arguments
from mounts import Mounts, missing

FULL = ["--only", "full_disk"]


class Tests(FolderTests):
    """Of one file system after the other; the MPIs take turns."""

    def of(self, system, mpi):
        print(f"-- {system.name}", flush=True)
        if system.folder:
            self.units(system.name, system.folder)
            self.with_mpi(system.name, system.folder, mpi)
        if system.full:
            self.program(f"{system.name}, full", system.full,
                         runner.Run(mpi, "errors_test", 3, 0, FULL), system.full)
        if system.quota:
            options = [*FULL, "--quota", str(system.quota)]
            self.program(f"{system.name}, over quota", system.quota,
                         runner.Run(mpi, "errors_test", 3, 0, options))


def main():
    args = parse_arguments(__doc__.splitlines()[0])
    hosts.enter(missing)
    hosts.run("ip", "link", "set", "lo", "up")
    tests = Tests(args)
    with mounting_folder("filesystems_") as folder:
        for system, mpi in zip(Mounts(folder).all(), itertools.cycle(args.mpi.split(","))):
            tests.of(system, mpi)
        return tests.summary("tests on file systems")


if __name__ == "__main__":
    sys.exit(main())
