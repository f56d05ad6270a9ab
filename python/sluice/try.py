"""`sluice try`: a small program on a slow device, without Sluice and with it, side by side.

The device is `sluice device`, a file system in memory that takes its time; the program is
libexec/sluice-try, which computes and writes in turns and calls no MPI while it computes. All that
is made is removed again.
"""
import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sluice.arguments import Parser
from sluice.installed import Mpi, Obstacle, chosen_mpi, installed_mpis, own_command

RANKS = 2
SECONDS = 60  # Of one run; it takes about 5.
MOUNT_SECONDS = 10


@contextlib.contextmanager
def slow_device(command: str, bandwidth: str, folder: Path) -> Iterator[Path]:
    """A mounted device, until the block ends."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise Obstacle("/dev/fuse is missing or not open to you, so no slow device can be mounted. "
                       "In a container: start it with --device /dev/fuse --cap-add SYS_ADMIN. "
                       "--dir DIR writes to a folder of yours instead")
    folder.mkdir()
    device = subprocess.Popen([command, "device", "--bandwidth", bandwidth, "--mount", folder],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + MOUNT_SECONDS
        while not os.path.ismount(folder):
            if device.poll() is not None or time.monotonic() > end:
                raise Obstacle(f"the device was not mounted: {stop(device) or 'no reason given'}. "
                               "--dir DIR writes to a folder of yours instead")
            time.sleep(0.02)
        yield folder
    finally:
        stop(device)


def stop(device: subprocess.Popen) -> str:
    """Ends the device, which unmounts; returns what it said."""
    device.terminate()
    try:
        return device.communicate(timeout=MOUNT_SECONDS)[1].strip()
    except subprocess.TimeoutExpired:
        device.kill()
        return device.communicate()[1].strip()


def run(mpi: Mpi, command: str, path: Path, with_sluice: bool) -> dict:
    """Seconds blocked and in all, and the digest of what was written."""
    under = [command, "run"] if with_sluice else []
    words = [mpi.mpiexec, "-n", str(RANKS), *under, mpi.program, path]
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              env=mpi.environment(), timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise Obstacle(f"{' '.join(map(str, words))} took more than {SECONDS} s") from error
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"blocked"')]
    if done.returncode or not lines:
        raise Obstacle(f"{' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")
    with open(path, "rb") as written:
        digest = hashlib.file_digest(written, "sha256").hexdigest()
    path.unlink()
    return {**json.loads(lines[0]), "digest": digest}


def report(plain: dict, served: dict) -> None:
    """The two runs beside each other."""
    print(f"{'':17}{'waited in calls of MPI':>22}{'the whole run':>16}")
    for name, figures in (("without Sluice", plain), ("with Sluice", served)):
        print(f"  {name:15}{figures['blocked']:>20.2f} s{figures['seconds']:>14.2f} s")
    print("Both runs wrote the same bytes.")


def parse(words: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="sluice try",
        description="Runs a small program on an emulated slow device, without Sluice and with it, "
                    "and prints the seconds that it waited.")
    parser.add_argument("--mpi", metavar="NAME", help="of those that sluice info lists")
    parser.add_argument("--bandwidth", default="40M", metavar="SIZE",
                        help="bytes that the device takes in a second (40M)")
    parser.add_argument("--dir", type=Path, metavar="DIR",
                        help="write there, and emulate no device")
    return parser.parse_args(words)


def try_it(options: argparse.Namespace) -> int:
    command = own_command()
    mpi = chosen_mpi(installed_mpis(command, "sluice-try"), options.mpi)
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(
            tempfile.TemporaryDirectory(prefix="sluice-try-", dir=options.dir)))
        folder = scratch if options.dir else stack.enter_context(
            slow_device(command, options.bandwidth, scratch / "device"))
        where = str(options.dir) if options.dir else (
            f"a device that takes {options.bandwidth} bytes a second")
        print(f"{RANKS} ranks of {mpi.version} compute, and write 64 MiB in 8 steps to {where} "
              "by MPI_File_iwrite_at_all", flush=True)
        plain = run(mpi, command, folder / "plain", False)
        served = run(mpi, command, folder / "sluice", True)
    if plain["digest"] != served["digest"]:
        print("sluice try: the two runs wrote different bytes", file=sys.stderr)
        return 1
    report(plain, served)
    return 0


def main(words: list[str]) -> int:
    options = parse(words)
    try:
        return try_it(options)
    except Obstacle as obstacle:
        print(f"sluice try: {obstacle}", file=sys.stderr)
        return 1
