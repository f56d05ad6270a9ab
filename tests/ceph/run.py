#!/usr/bin/env python3
"""Runs the tests of storage, programs with MPI, random ones, and ranks and storage calls that fail
on CephFS (cluster.py).

    run.py [--mpi mpich] [--only WORDS] [--patience FACTOR]
    run.py -- PROGRAM WORDS...      one program; {files} in a word is the mounted folder

Ends with 77 where there can be no cluster.
"""
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", "nodes", ".")]
import hosts
from cluster import Cluster, missing
from folder_tests import FolderTests, mounting_folder, parse_arguments, run_program

NOT_DIRECT = "-*direct*"  # Ceph's own fault: see direct.py.
# Each write is a message to the storage daemon, of however few bytes.
FEWER = ["--only", "/all,/iat_all", "--large-mib", "1"]


def main():
    args = parse_arguments(__doc__.splitlines()[0], takes_program=True)
    hosts.enter(missing)
    begin = time.monotonic()
    with mounting_folder("ceph_") as folder:
        cluster = Cluster(folder)
        print(f"{cluster.version()}: objects in memory, mounted by FUSE at {cluster.mount} after "
              f"{time.monotonic() - begin:.1f} s", flush=True)
        tests = FolderTests(args)
        if args.program:
            return run_program(cluster.mount, args.program)
        tests.units("cephfs", cluster.mount, NOT_DIRECT)
        for mpi in args.mpi.split(","):
            tests.with_mpi("cephfs", cluster.mount, mpi, FEWER)
        return tests.summary("tests on CephFS")


if __name__ == "__main__":
    sys.exit(main())
