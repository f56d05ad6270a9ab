#!/usr/bin/env python3
"""Runs the tests of storage, programs with MPI, random ones, and ranks and storage calls that fail
in a folder of an NFS server (server.py), whose client keeps what is written as kernels do; and
what a full server refuses.

    run.py [--mpi mpich] [--only WORDS] [--patience FACTOR]
    run.py -- PROGRAM WORDS...      one program; {files} in a word is the mounted folder

Ends with 77 where there can be no server.
"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", "nodes", ".")]
import hosts
import run as runner
from folder_tests import FEW, FolderTests, mounting_folder, parse_arguments, run_program
from mpis import MPIS
from server import Server, missing
from small_programs import ROOT, compiled

LITTLE = "64k"  # Less than the program writes.


def mounted_folders(folder):
    """A folder with room, and one with little: the client keeps what is written."""
    exports = [folder / name for name in ("export", "little")]
    for export in exports:
        export.mkdir()
    hosts.run("mount", "-t", "tmpfs", "-o", f"size={LITTLE}", "none", exports[1])
    server = Server(folder, exports)
    return [server.mount(export, folder / f"{export.name}.mounted") for export in exports]


def full_server(tests, mpi, folder):
    """The close tells all ranks what the server has refused since."""
    program = compiled(mpi, ROOT / "tests" / "coexistence" / "late_errors.c",
                       options=("-rdynamic",))
    tests.command(f"a full server, {mpi}, NFS",
                  [MPIS[mpi].mpiexec, "-n", 3, *runner.preload(mpi), program, folder / "file"], 60,
                  MPIS[mpi].settings, said="MPI_File_close told 3 of 3 ranks")
    (folder / "file").unlink(missing_ok=True)


def main():
    args = parse_arguments(__doc__.splitlines()[0], takes_program=True)
    hosts.enter(missing)
    with mounting_folder("nfs_") as folder:
        mounted, little = mounted_folders(folder)
        tests = FolderTests(args)
        if args.program:
            return run_program(mounted, args.program)
        tests.units("NFS", mounted)
        for mpi in args.mpi.split(","):
            tests.with_mpi("NFS", mounted, mpi, FEW)
            full_server(tests, mpi, little)
        return tests.summary("tests on NFS")


if __name__ == "__main__":
    sys.exit(main())
