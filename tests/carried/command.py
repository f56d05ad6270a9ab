"""The command line of a script that packs what it needs, and runs on another machine."""
import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from mpis import ROOT
from packing import pack
from session import scratch

MIB = 1 << 20
MPIS = ("mpich", "openmpi")


def parser_of(description, name, seconds):
    """Of what all such scripts have; `seconds` are those of all steps."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("command", choices=("pack", "run", "rehearse"))
    parser.add_argument("file", type=Path, nargs="?", help=f"what pack makes: {name}.tgz")
    parser.add_argument("--mpi", type=lambda text: text.split(","), default=list(MPIS))
    parser.add_argument("--seconds", type=float, default=seconds, help="for all steps")
    parser.add_argument("--only", default="", help="only steps with this in their name")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / name)
    return parser


def parsed(parser):
    args = parser.parse_args()
    if (args.command == "pack") != bool(args.file):
        parser.error("pack, and nothing else, has a file")
    if unknown := set(args.mpi) - set(MPIS):
        parser.error(f"no such MPI: {', '.join(unknown)}; there are {' and '.join(MPIS)}")
    return args


def rehearse(script, content, args, words, versions):
    """Only what was packed is used: the copy lies elsewhere, and has its own programs."""
    with tempfile.TemporaryDirectory(prefix="carried_", dir=scratch()) as folder:
        archive, unpacked = Path(folder) / "packed.tgz", Path(folder) / "checkout"
        print(f"packed: {pack(archive, content, args.mpi, versions) // MIB} MiB", flush=True)
        shutil.unpack_archive(archive, unpacked)
        words = [sys.executable, "-B", unpacked / Path(script).resolve().relative_to(ROOT), "run",
                 "--mpi", ",".join(args.mpi), "--seconds", str(args.seconds), "--only", args.only,
                 "--out", args.out, *words]
        with subprocess.Popen(words) as child:
            signal.signal(signal.SIGTERM, lambda *_: child.terminate())
            return child.wait()


def carry_out(script, content, args, run, rehearsed=(), versions=()):
    """The exit code. `run(args)` carries out the steps; `rehearsed` are further words of a
    rehearsal, `versions` those of Python for which mpi4py is packed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if args.command == "run":
            return run(args)
        if args.command == "rehearse":
            return rehearse(script, content, args, rehearsed, versions)
        print(f"{args.file}: {pack(args.file, content, args.mpi, versions) / MIB:.1f} MiB")
        return 0
    except subprocess.CalledProcessError as error:  # It has said itself what is wrong.
        return f"{Path(script).name}: nothing is packed: {error}"
