"""Emulations of one kind of memory that stores files: which folder a program writes to. `sluice
device` (tools.mounted) keeps a profile's bandwidth and latency; these two are as fast as the memory
of the machine, as the paper's NVM is."""
import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import tools

LOOP, TMPFS = "nvm-loop", "nvm-tmpfs"
ALL = ("nvm", LOOP, TMPFS)
TEXTS = {"nvm": "FUSE (`sluice device`)", LOOP: "ext4 on a loop device on memory", TMPFS: "tmpfs"}


def done(*words):
    """The output of a command; Missing, with what it said, if it cannot be done here."""
    try:
        run = subprocess.run([str(word) for word in words], text=True, capture_output=True,
                             timeout=60, check=False)
    except OSError as why:
        raise tools.Missing(f"{words[0]}: {why.strerror}") from why
    tools.need(run.returncode == 0, f"{' '.join(map(str, words))}: {run.stderr.strip()}")
    return run.stdout.strip()


@contextlib.contextmanager
def tmpfs(size):
    """A mounted one, of so many bytes."""
    tools.need(os.geteuid() == 0, "root, to mount a tmpfs")
    folder = Path(tempfile.mkdtemp(prefix="emulated-"))
    try:
        done("mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "emulated", folder)
        try:
            yield folder
        finally:
            done("umount", folder)
    finally:
        folder.rmdir()


@contextlib.contextmanager
def loop(size):
    """ext4 on a loop device on a file in a tmpfs. All its memory is taken now, so that it belongs
    to no cgroup that is limited later. The kernel detaches the device when it is unmounted, even
    if this program was ended before it could do so."""
    for program in ("losetup", "mkfs.ext4", "mount"):
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        tools.need(shutil.which(program, path=path), f"{program} (Debian: mount, e2fsprogs)")
    with tmpfs(size + (64 << 20)) as memory, contextlib.ExitStack() as stack:
        image = memory / "device"
        with open(image, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
        device = done("losetup", "--find", "--show", image)
        stack.callback(subprocess.run, ["losetup", "--detach", device], capture_output=True,
                       check=False)
        done("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
        folder = memory / "files"
        folder.mkdir()
        done("mount", device, folder)
        stack.callback(done, "umount", folder)
        yield folder


def mounted(name, size, *options):
    """The folder of an emulated device, by name; `options` are for `sluice device`."""
    return {LOOP: loop, TMPFS: tmpfs}[name](size) if name in (LOOP, TMPFS) else \
        tools.mounted(name, *options)
