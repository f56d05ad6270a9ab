"""Where the textures are written: a slow device made for the demo, or a directory."""

import os
import subprocess
from contextlib import contextmanager

import processes

MOUNT_SECONDS = 10


@contextmanager
def slow_device(tool, device, folder):
    """Mount a memory file system of this bandwidth ("40M") or profile ("ssd"); yields (directory,
    what it is).

    A local disk is no measure: its page cache takes the textures at once, so
    that there is nothing to hide.  Without the device the demo still shows
    that all bytes are the same.
    """
    mounted = start_device(tool, device, folder / "device") if tool.exists() else None
    if not mounted:
        reason = "could not be mounted" if tool.exists() else "is not built"
        print(f"{tool.name} {reason}: writing to the local disk, which has little to hide")
        yield local_directory(folder / "out"), "local disk (page cache)"
        return
    try:
        yield folder / "device", f"emulated device, {readable(device)}"
    finally:
        processes.stop(mounted)
        unmount(folder / "device")


def is_profile(device):
    return not device[0].isdigit()


def readable(bandwidth):
    """'100M' as '100 MiB/s'; a profile is its name."""
    if is_profile(bandwidth):
        return bandwidth
    unit = bandwidth.lstrip("0123456789")
    return f"{bandwidth[:len(bandwidth) - len(unit)]} {unit + 'iB' if unit else 'bytes'}/s"


def local_directory(path):
    path.mkdir(parents=True, exist_ok=True)
    return path


def start_device(tool, device, point):
    """The running device, or None if it did not come up."""
    if os.path.ismount(point):
        unmount(point)  # left by a demo that was killed
    local_directory(point)
    words = ["--profile" if is_profile(device) else "--bandwidth", device]
    server = processes.start([tool, *words, point])
    if processes.wait_until(lambda: os.path.ismount(point), server, MOUNT_SECONDS):
        return server
    processes.stop(server)
    return None


def unmount(point):
    """The device unmounts itself when it is told to end; this is for when it could not."""
    if os.path.ismount(point):
        subprocess.run(["fusermount3", "-u", "-z", point], check=False, timeout=10)
