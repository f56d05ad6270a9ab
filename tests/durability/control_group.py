"""A control group of its own for a job, which ends it as a whole, with its launcher and keepers."""
import contextlib
import os
import re
import signal
import subprocess
import time
import uuid
from pathlib import Path

SECONDS = 20


class Group:
    """Empty at first, and named as Slurm's are. OSError where the system grants none."""

    def __init__(self, parent):
        self.path = parent / f"sluice_test_slurm_{uuid.uuid4().hex}"
        self.path.mkdir()

    @property
    def processes(self):
        return [int(pid) for pid in (self.path / "cgroup.procs").read_text().split()]

    def starting(self, words):
        """A command that does the same within the group."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.path / "cgroup.procs"), *words]

    def kill(self, at_once):
        """Until nobody is left. Those that are killed one by one see others end before."""
        if at_once:
            with contextlib.suppress(OSError):  # Before Linux 5.14 there is no such file.
                (self.path / "cgroup.kill").write_text("1")
        until = time.monotonic() + SECONDS
        while (left := self.processes) and time.monotonic() < until:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)

    def remove(self):
        self.kill(True)
        self.path.rmdir()


def parent_of_groups():
    """(where groups can be made and entered, or None; why not)"""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    roots = [Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"]
    own = re.search(r"(?m)^0::/(.*)$", Path("/proc/self/cgroup").read_text())
    why = "no cgroup2 is mounted"
    for parent in [root / name for root in roots for name in {own.group(1) if own else "", ""}]:
        try:
            group = Group(parent)
        except OSError as error:
            why = f"no control group can be made in {parent}: {error.strerror}"
            continue
        entered = subprocess.run(group.starting(["true"]), capture_output=True, text=True,
                                 check=False)
        group.remove()
        if entered.returncode == 0:
            return parent, ""
        why = f"no control group in {parent} can be entered: {entered.stderr.strip()}"
    return None, why
