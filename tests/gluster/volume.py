"""GlusterFS on loopback: a volume that cuts files into shards and one that does not, each on two
bricks and mounted by FUSE.

All of it runs inside the namespaces of the runner (`enter` of tests/nodes/hosts.py): a network with
nothing but loopback, so ports are never in use; a host name of its own; and folders over those that
glusterd writes to, so nothing of the system's is touched. When the runner ends, however it ends,
the kernel ends every server and removes the mounts.
"""
import contextlib
import shutil
import subprocess
import time
from pathlib import Path

from hosts import ROOT, run

NAME = "gluster1"
SHARD = "4MB"
TOOLS = {"glusterd": "glusterfs-server", "gluster": "glusterfs-client",
         "glusterfs": "glusterfs-client", "mount.glusterfs": "glusterfs-client",
         "unshare": "util-linux", "ip": "iproute2"}
# Where Debian's packages write, and where glusterd listens; covered by folders of the run.
SYSTEM_FOLDERS = ("/var/lib/glusterd", "/var/log/glusterfs", "/run")


def missing():
    """What keeps the volume from being made here, in words; empty if nothing does."""
    if absent := [tool for tool in TOOLS if not shutil.which(tool)]:
        packages = sorted({TOOLS[tool] for tool in absent})
        return (f"no command {', '.join(absent)} (Debian: {' '.join(packages)}; "
                "`setup/environment --install gluster` installs GlusterFS)")
    tried = subprocess.run(
        ["unshare", "--net", "--mount", "--ipc", "--uts", "--pid", "--fork", "--mount-proc", "sh",
         "-ec", f"hostname {NAME}; ip link set lo up; mount -t tmpfs none /mnt; "
                "exec 3<> /dev/fuse"], capture_output=True, text=True, timeout=30, check=False)
    if tried.returncode == 0:
        return ""
    lines = tried.stderr.strip().splitlines() or [f"exit code {tried.returncode}"]
    return f"namespaces, mounts or FUSE are not allowed here (root is needed): {lines[0]}"


class Volumes:
    """Servers in memory, started at once; `close` stops them again. `sharded` and `whole` are where
    the volumes are mounted."""

    def __init__(self):
        self.folder = ROOT / "build" / "tmp" / "gluster"
        self.folder.mkdir(parents=True, exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", "mode=0755", "none", self.folder)
        self.sharded, self.whole = self.folder / "sharded", self.folder / "whole"
        self.daemon = None
        self.cover_system_folders()
        run("hostname", NAME)
        run("ip", "link", "set", "lo", "up")
        self.start()

    def cover_system_folders(self):
        for path in SYSTEM_FOLDERS:
            own = self.folder / Path(path).name
            own.mkdir()
            if path == "/run":
                (own / "gluster").mkdir()
            Path(path).mkdir(parents=True, exist_ok=True)
            run("mount", "--bind", own, path)
        hosts = self.folder / "hosts"
        hosts.write_text(f"127.0.0.1 localhost {NAME}\n")
        run("mount", "--bind", hosts, "/etc/hosts")

    def start(self):
        with open(self.folder / "glusterd.log", "wb") as log:
            self.daemon = subprocess.Popen(
                ["glusterd", "--no-daemon", "--log-level=WARNING", "--log-file=-"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait_for_daemon()
        # Writes under way together leave a sharded file with a wrong size: docs/gluster.md.
        self.make(self.sharded, {"features.shard": "on", "features.shard-block-size": SHARD,
                                 "performance.write-behind": "off"})
        self.make(self.whole, {"performance.write-behind": "off"})

    def make(self, mount, options):
        bricks = [self.folder / f"{mount.name}-brick{number}" for number in (1, 2)]
        # `force`: on a file system of the machine's own, where no brick should be.
        self.ask("volume", "create", mount.name, *(f"{NAME}:{brick}" for brick in bricks), "force")
        for option, value in options.items():
            self.ask("volume", "set", mount.name, option, value)
        self.ask("volume", "start", mount.name)
        mount.mkdir()
        run("mount", "-t", "glusterfs", f"{NAME}:/{mount.name}", mount)

    def wait_for_daemon(self):
        until = time.monotonic() + 30
        while True:
            asked = subprocess.run(["gluster", "pool", "list"], capture_output=True, check=False)
            if asked.returncode == 0:
                return
            if self.daemon.poll() is not None or time.monotonic() > until:
                log = (self.folder / "glusterd.log").read_text(errors="replace")
                raise RuntimeError(f"glusterd does not answer:\n{log[-2000:]}")
            time.sleep(0.1)

    @staticmethod
    def ask(*words):
        return run("gluster", "--mode=script", *words)

    @staticmethod
    def version():
        return run("gluster", "--version").splitlines()[0]

    def close(self):
        """Also of a volume that half exists; what a server does not do the kernel does."""
        for mount in (self.sharded, self.whole):
            with contextlib.suppress(RuntimeError):
                run("umount", "-l", mount)
                self.ask("volume", "stop", mount.name, "force")
        if not self.daemon:
            return
        self.daemon.terminate()
        try:
            self.daemon.wait(10)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
