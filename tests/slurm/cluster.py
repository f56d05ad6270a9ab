"""A cluster of Slurm for one run: munged and slurmctld, and a slurmd on each of two hosts in
network namespaces (nodes/hosts.py), with all of which it ends.

Its nodes track the processes of a step by control groups, as clusters do: what a step leaves is
ended with it.
"""
import contextlib
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "nodes"))
import hosts

COMMANDS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "salloc", "scancel", "squeue")
PMIX = Path("/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so")  # Where Slurm looks for it.
FREEZER = Path("/sys/fs/cgroup/freezer")
KILL_WAIT = 8  # Seconds from SIGTERM to SIGKILL, here; Slurm's default is 30.
SECONDS = 30

CONFIGURATION = """
ClusterName=sluice
SlurmctldHost=control({network}.254)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
TmpFS={folder}/tmp
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/cgroup
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
KillWait={kill_wait}
SlurmdParameters=config_overrides
NodeName=DEFAULT CPUs=8 RealMemory=4000
NodeName=node1 NodeAddr={network}.1
NodeName=node2 NodeAddr={network}.2
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why there can be no cluster here, in words; empty if nothing keeps it from being made."""
    if absent := [name for name in COMMANDS if not shutil.which(name)]:
        return f"no command {', '.join(absent)} (Debian: slurmctld, slurmd, slurm-client, munge)"
    if not PMIX.exists():
        return f"no {PMIX} (Debian: libpmix-dev)"
    if not os.access(FREEZER, os.W_OK):
        return f"control groups cannot be made in {FREEZER}"
    return hosts.missing()


class Cluster:
    """As a context: up until it is left. Commands need `settings` in their environment."""

    def __init__(self, folder):
        self.folder = folder
        self.settings = {"SLURM_CONF": str(folder / "slurm.conf")}
        self.group = f"sluice_test_slurm_{uuid.uuid4().hex}"

    def __enter__(self):
        hosts.run("hostname", "control")
        self.write_files()
        hosts.run("mount", "--bind", self.folder / "hosts", "/etc/hosts")
        self.hosts = hosts.Hosts(2, "")
        try:
            self.start_daemons()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_daemons(self):
        self.start("munged", "--force", f"--key-file={self.folder}/munge.key",
                   f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                   f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munge.seed")
        self.start("slurmctld", "-c")
        for host in self.hosts.hosts:
            self.give_places(host)
            self.start("nsenter", "-t", host.first, "-a", "--", "slurmd", "-N",
                       f"node{host.number}")
        self.wait_until_idle()

    def __exit__(self, *_):
        self.ask("scancel", "--user=root", "--signal=KILL")
        self.hosts.close()
        self.remove_groups()

    def give_places(self, host):
        """A folder for temporary files, and control groups: these are seen on the whole machine, so
        the hosts take one of them for the root of theirs."""
        host.do("sh", "-ec", f"mount -t cgroup -o freezer none {self.folder}/groups; "
                             f"mkdir -p {self.folder}/groups/{self.group}; "
                             f"mount -t tmpfs none /sys/fs/cgroup; mkdir {FREEZER}; "
                             f"mount --bind {self.folder}/groups/{self.group} {FREEZER}; "
                             f"mount -t tmpfs none {self.folder}/tmp")

    def remove_groups(self):
        """When the processes in them have ended, which takes the system a moment."""
        hosts.run("mount", "-t", "cgroup", "-o", "freezer", "none", self.folder / "groups")
        top = self.folder / "groups" / self.group
        until = time.monotonic() + SECONDS
        while top.exists() and time.monotonic() < until:
            for inner in sorted((path for path in top.rglob("*") if path.is_dir()), reverse=True):
                with contextlib.suppress(OSError):
                    inner.rmdir()
            with contextlib.suppress(OSError):
                top.rmdir()

    def write_files(self):
        for name in ("state", "tmp", "groups"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, network=hosts.NETWORK, kill_wait=KILL_WAIT))
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        names = {254: "control", 1: "node1", 2: "node2"}
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(
            f"{hosts.NETWORK}.{number} {name}\n" for number, name in names.items()))

    def start(self, *words):
        done = subprocess.run([str(word) for word in words], env={**os.environ, **self.settings},
                              capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{words[0]} does not start: {done.stderr.strip()}")

    def wait_until_idle(self):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            states = self.ask("sinfo", "--noheader", "--Node", "--format=%T").split()
            if states == ["idle", "idle"]:
                return
            time.sleep(0.2)
        raise RuntimeError(f"the nodes are {states}, not idle, after {SECONDS} s")

    def ask(self, *words):
        return subprocess.run(words, env={**os.environ, **self.settings}, capture_output=True,
                              text=True, timeout=SECONDS, check=False).stdout
