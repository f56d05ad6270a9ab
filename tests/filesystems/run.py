#!/usr/bin/env python3
"""Runs the tests of storage, programs with MPI, random ones, and ranks and storage calls that fail
on file systems of the kernel (mounts.py), with room, without, and over quota.

    run.py [--mpi mpich] [--only WORDS] [--patience FACTOR]

Ends with 77 where they cannot be mounted.
"""
import itertools
import shutil
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", "nodes", ".")]
import hosts
import run as runner
from folder_tests import FolderTests, parse_arguments
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
    base = runner.BUILD / "tmp"
    base.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="filesystems_", dir=base))
    tests = Tests(args)
    try:
        for system, mpi in zip(Mounts(folder).all(), itertools.cycle(args.mpi.split(","))):
            tests.of(system, mpi)
        return tests.summary("tests on file systems")
    finally:
        # The mounts end with the namespaces, the images are deleted under them.
        for image in folder.glob("*.image"):
            image.unlink()
        for place in sorted(folder.iterdir()):
            hosts.subprocess.run(["umount", "-l", place], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
