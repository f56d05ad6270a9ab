"""File systems of the kernel, in images on loop devices, for one run: they are mounted in the
namespaces of the runner (nodes/hosts.py) and end with it."""
import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "nodes"))
import hosts

MIB = 1 << 20
ROOM = 4 * MIB  # That a full one has left.
COMMANDS = {"mkfs.xfs": "xfsprogs", "mkfs.btrfs": "btrfs-progs", "btrfs": "btrfs-progs",
            "mkfs.ext4": "e2fsprogs"}
NEEDED = ("xfs", "btrfs", "overlay", "ext4")


@dataclasses.dataclass
class FileSystem:
    name: str
    folder: Path | None  # With room; None: only what has none is tried.
    full: Path | None = None  # With so little that the tests of a full disk meet its end.
    quota: Path | None = None  # The same, as a quota, whose error is another.


def missing():
    """Why they cannot be made here, in words; empty if nothing keeps them from being made."""
    if absent := [name for name in COMMANDS if not shutil.which(name)]:
        packages = sorted({COMMANDS[name] for name in absent})
        return f"no command {', '.join(absent)} (Debian: {' '.join(packages)})"
    if shutil.which("modprobe"):
        for name in NEEDED:
            subprocess.run(["modprobe", "-q", name], check=False)
    known = Path("/proc/filesystems").read_text().split()
    if unknown := [name for name in NEEDED if name not in known]:
        return f"the kernel has no {', '.join(unknown)}"
    if not os.access("/dev/loop-control", os.W_OK):
        return "there are no loop devices"
    return hosts.missing()


class Mounts:
    """Makes them below a folder, which has to lie on a disk: images are as large as is used."""

    def __init__(self, folder):
        self.folder = folder

    def all(self):
        """One after the other, so that whoever looks at one can be done with it."""
        yield FileSystem("xfs", self.image("xfs", 700, "mkfs.xfs"),
                         full=self.filled(self.image("xfs-full", 320, "mkfs.xfs")))
        yield FileSystem("xfs, blocks of 1 KiB",
                         self.image("xfs-1k", 700, "mkfs.xfs", "-b", "size=1024"))
        yield FileSystem("btrfs", self.image("btrfs", 700, "mkfs.btrfs"),
                         full=self.filled(self.image("btrfs-full", 256, "mkfs.btrfs")),
                         quota=self.subvolume())
        yield FileSystem("ext4", None, full=self.filled(self.image("ext4", 64, "mkfs.ext4")))
        yield FileSystem("overlay", self.overlay())

    def image(self, name, mib, *make):
        image, place = self.folder / f"{name}.image", self.folder / name
        with image.open("wb") as file:
            file.truncate(mib * MIB)
        hosts.run(*make, "-q", image)
        place.mkdir()
        hosts.run("mount", "-o", "loop", image, place)
        place.chmod(0o1777)
        return place

    def filled(self, place):
        """All but a little of it belongs to one file."""
        about = os.statvfs(place)
        with (place / "filling").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, about.f_bavail * about.f_frsize - ROOM)
        return place

    def subvolume(self):
        mounted = self.image("btrfs-quota", 256, "mkfs.btrfs")
        limited = mounted / "limited"
        hosts.run("btrfs", "quota", "enable", mounted)
        hosts.run("btrfs", "subvolume", "create", limited)
        hosts.run("btrfs", "qgroup", "limit", ROOM, limited)
        return limited

    def overlay(self):
        """As a container's files have it: its upper folder is on this system's disk."""
        places = {name: self.folder / f"overlay-{name}" for name in ("lower", "upper", "work",
                                                                     "merged")}
        for place in places.values():
            place.mkdir()
        below = ",".join(f"{name}dir={places[name]}" for name in ("lower", "upper", "work"))
        result = subprocess.run(["mount", "-t", "overlay", "-o", below, "overlay",
                                 places["merged"]], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"overlay: {result.stderr.strip()}")
        return places["merged"]
