"""CephFS on loopback: a monitor, a manager, a metadata server and a storage daemon that keeps its
objects in memory; mounted by FUSE.

All of it runs inside the namespaces of the runner (`enter` of tests/nodes/hosts.py), and writes
below one folder; the kernel ends every daemon with the runner.
"""
import shutil
import subprocess
import time
import uuid
from pathlib import Path

from hosts import missing as missing_hosts, run

TOOLS = {"ceph-mon": "ceph-mon", "ceph-mgr": "ceph-mgr", "ceph-osd": "ceph-osd",
         "ceph-mds": "ceph-mds", "ceph-fuse": "ceph-fuse", "ceph": "ceph-common",
         "monmaptool": "ceph-common"}
SECONDS = 60
ADDRESS = "[v2:127.0.0.1:3300,v1:127.0.0.1:6789]"
# One copy of each object, and nobody to prove who he is: the cluster is of this network namespace.
CONFIGURATION = """
[global]
fsid = {cluster}
mon host = {address}
public addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
mon allow pool size one = true
mon data avail warn = 1
mon data avail crit = 1
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
mon data = {folder}/mon
mgr data = {folder}/mgr
mds data = {folder}/mds
osd data = {folder}/osd
run dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
"""


def missing():
    """What keeps the cluster from being made here, in words; empty if nothing does."""
    if absent := [tool for tool in TOOLS if not shutil.which(tool)]:
        packages = sorted({TOOLS[tool] for tool in absent})
        return (f"no command {', '.join(absent)} (Debian: {' '.join(packages)}; "
                "`setup/environment --install ceph` installs Ceph)")
    return missing_hosts()


class Cluster:
    """Up when it is made; `mount` is the folder."""

    def __init__(self, folder):
        self.folder, self.mount = Path(folder), Path(folder) / "mount"
        self.conf = self.folder / "ceph.conf"
        for name in ("mon", "mgr", "mds", "osd", "mount"):
            (self.folder / name).mkdir()
        cluster = str(uuid.uuid4())
        self.conf.write_text(CONFIGURATION.format(cluster=cluster, address=ADDRESS,
                                                  folder=self.folder))
        run("ip", "link", "set", "lo", "up")
        self.start(cluster)
        run("ceph-fuse", "-c", self.conf, self.mount)

    def start(self, cluster):
        first = self.folder / "monmap"
        run("monmaptool", "--create", "--fsid", cluster, "--addv", "a", ADDRESS, first)
        self.call("ceph-mon", "-i", "a", "--mkfs", "--monmap", first)
        self.daemon("ceph-mon", "a")
        self.daemon("ceph-mgr", "x")
        disk = str(uuid.uuid4())
        self.ask("osd", "new", disk)
        self.call("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk)
        self.daemon("ceph-osd", "0")
        self.daemon("ceph-mds", "m")
        for pool in ("names", "contents"):
            self.ask("osd", "pool", "create", pool, "8")
        self.ask("fs", "new", "files", "names", "contents")
        self.wait_for("mds", "stat", word="active")
        # The manager knows of pools late, and by them of room.
        self.wait_for("df", word="contents")

    def call(self, name, *words):
        return run(name, "-c", self.conf, *words)

    def ask(self, *words):
        return run("ceph", "-c", self.conf, "--connect-timeout", str(SECONDS), *words)

    def daemon(self, name, number):
        with open(self.folder / f"{name}.out", "wb") as log:
            subprocess.Popen([name, "-c", str(self.conf), "-i", number, "-f"],
                             stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_for(self, *words, word):
        until = time.monotonic() + SECONDS
        while word not in (said := self.ask(*words)):
            if time.monotonic() > until:
                raise RuntimeError(f"ceph {' '.join(words)}: no '{word}' in {said}")
            time.sleep(0.2)

    def version(self):
        return self.ask("--version").strip()

