#!/usr/bin/env python3
"""Runs the tests of storage, programs with MPI, random ones, and ranks and storage calls that fail
in a folder of an NFS server (server.py), whose client keeps what is written as kernels do; and
what a full server refuses.

    run.py [--mpi mpich] [--only WORDS] [--patience FACTOR]
    run.py -- PROGRAM WORDS...      one program; {files} in a word is the mounted folder

Ends with 77 where there can be no server.
"""
import shutil
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", "nodes", ".")]
import hosts
import run as runner
from folder_tests import FEW, FolderTests, parse_arguments, run_program
from server import Server, missing


def main():
    args = parse_arguments(__doc__.splitlines()[0], takes_program=True)
    hosts.enter(missing)
    base = runner.BUILD / "tmp"
    base.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="nfs_", dir=base))
    mounted = folder / "mount"
    try:
        (folder / "export").mkdir()
        Server(folder, folder / "export").mount(mounted, "late")
        tests = FolderTests(args)
        if args.program:
            return run_program(mounted, args.program)
        tests.units("NFS", mounted)
        for mpi in args.mpi.split(","):
            tests.with_mpi("NFS", mounted, mpi, FEW)
        return tests.summary("tests on NFS")
    finally:
        hosts.subprocess.run(["umount", "-l", mounted], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
