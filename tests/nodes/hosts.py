"""Hosts in network namespaces: each has its own address, host name, processes, /dev/shm and IPC;
the links to the bridge between them are shaped in both directions.

All of it lives inside one set of namespaces whose first process is the runner itself (`enter`):
when that ends, however it ends, the kernel ends every process in it and removes links and mounts
with it. So nothing has a name that another run could meet, and nothing is left to clean up.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from with_parent import end_with_parent  # noqa: E402
INSIDE = "SLUICE_NODES_INSIDE"
NETWORK = "10.77.0"
TOOLS = ("ip", "tc", "unshare", "nsenter", "mount")
SKIPPED = 77
STORAGE_PORT = 7788
STOPPING = (signal.SIGINT, signal.SIGTERM)


def missing():
    """What keeps hosts from being made here, in words; empty if nothing does."""
    if absent := [tool for tool in TOOLS if not shutil.which(tool)]:
        return f"no command {', '.join(absent)} (Debian: iproute2, util-linux, mount)"
    tried = subprocess.run(
        ["unshare", "--net", "--mount", "--ipc", "--uts", "--pid", "--fork", "--mount-proc", "sh",
         "-ec", "ip link add link0 type veth peer name link1; ip link add bridge0 type bridge; "
                "mount -t tmpfs none /dev/shm; mount -t sysfs none /sys; "
                "tc qdisc add dev link0 root tbf rate 1gbit burst 128kb latency 20ms"],
        capture_output=True, text=True, timeout=30, check=False)
    if tried.returncode == 0:
        return ""
    lines = tried.stderr.strip().splitlines() or [f"exit code {tried.returncode}"]
    return f"namespaces, veth, bridge or tc tbf are not allowed here: {lines[0]}"


def enter(why_not=missing):
    """Starts this program again as the first process of new namespaces and ends with its exit
    code; returns there. Skips where `why_not` has words for what is missing."""
    if os.environ.get(INSIDE) == str(os.getpid()) == "1":
        for name in STOPPING:
            signal.signal(name, stop)
        return
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if why := why_not():
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    outer = os.getpid()
    child = subprocess.Popen(
        ["unshare", "--net", "--mount", "--pid", "--ipc", "--uts", "--fork",
         "--kill-child=SIGKILL", "--mount-proc", sys.executable, *sys.argv],
        env={**os.environ, INSIDE: "1"}, preexec_fn=lambda: end_with_parent(outer))
    for name in STOPPING:
        signal.signal(name, lambda *_: stop_inner(child))
    code = child.wait()
    sys.exit(128 - code if code < 0 else code)


def stop(number, _):
    """Ends this program once: a terminal's ctrl-C comes from there and from the outer one."""
    for name in STOPPING:
        signal.signal(name, signal.SIG_IGN)
    sys.exit(128 + number)


def stop_inner(child):
    """unshare waits for the inner one and does not hand signals on."""
    with contextlib.suppress(OSError):
        for entry in children(child.pid):
            os.kill(entry, signal.SIGTERM)


def children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def run(*words):
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Host:
    """One host: its first process, which keeps its namespaces, and its address."""

    def __init__(self, number, rate, agent_folder):
        self.number = number
        self.address = f"{NETWORK}.{number}"
        self.link = f"port{number}"  # the bridge's end
        self.programs = []
        self.keeper = subprocess.Popen(
            ["unshare", "--net", "--mount", "--ipc", "--uts", "--pid", "--fork",
             "--kill-child=SIGKILL", "--mount-proc", "sh", "-ec",
             f"hostname node{number}; mount -t tmpfs -o mode=1777 none /dev/shm; "
             "mount -t sysfs none /sys; ip link set lo up; echo ready; exec sleep infinity"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if self.keeper.stdout.readline() != b"ready\n":
            raise RuntimeError(f"host {number} did not start")
        self.first = children(self.keeper.pid)[0]
        (agent_folder / self.address).write_text(f"{self.first}\n")
        (agent_folder / f"tmp.{self.address}").mkdir()
        self.connect(rate)

    def connect(self, rate):
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns",
            self.first)
        run("ip", "link", "set", self.link, "master", "bridge0", "up")
        self.do("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.do("ip", "link", "set", "eth0", "up")
        self.do("ip", "route", "add", "224.0.0.0/4", "dev", "eth0")  # Multicast groups.
        if rate:
            shape = ("root", "tbf", "rate", rate, "burst", "256kb", "latency", "20ms")
            run("tc", "qdisc", "add", "dev", self.link, *shape)
            self.do("tc", "qdisc", "add", "dev", "eth0", *shape)

    def do(self, *words):
        return run("nsenter", "-t", self.first, "-a", "--", *words)

    def begin(self, ready, *words):
        """Starts a program that goes on, once it has said a line with this word first."""
        program = subprocess.Popen(
            ["nsenter", "-t", str(self.first), "-a", "--", *(str(word) for word in words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        line = program.stdout.readline().decode().strip()
        if not line.startswith(ready):
            raise RuntimeError(f"{words[0]} on {self.address}: {line or 'see above'}")
        self.programs.append(program)

    def bytes_on_wire(self):
        """(sent, received) by the host, from the counters of the bridge's end of its link."""
        counters = Path(f"/sys/class/net/{self.link}/statistics")
        return tuple(int((counters / f"{way}_bytes").read_text()) for way in ("rx", "tx"))


def device_command():
    """A build's `sluice` that can serve a device; it needs no MPI."""
    for tool in sorted((ROOT / "build").glob("*/libexec/sluice-device")):
        return tool.parents[1] / "bin" / "sluice"
    raise RuntimeError("no build has libexec/sluice-device: see docs/device.md")


class Hosts:
    """A bridge with so many hosts, and files that all of them see: in memory, or on a device of
    this profile that one host more serves over its link."""

    def __init__(self, count, rate, storage=""):
        run("mount", "-t", "sysfs", "none", "/sys")
        # One folder for all runs: what each mounts there is seen by its own hosts only.
        self.folder = ROOT / "build" / "tmp" / "nodes"
        self.folder.mkdir(parents=True, exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", "mode=1777", "none", self.folder)
        self.files = self.folder / "files"
        self.files.mkdir()
        self.agent = self.write_agent()
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge0", "type", "bridge")
        run("ip", "address", "add", f"{NETWORK}.254/24", "dev", "bridge0")
        run("ip", "link", "set", "bridge0", "up")
        self.hosts = [Host(number, rate, self.folder) for number in range(1, count + 1)]
        self.addresses = [host.address for host in self.hosts]
        self.storage = None
        if storage:
            self.storage = Host(count + 1, rate, self.folder)
            self.serve(device_command(), storage)

    def serve(self, sluice, profile):
        """The storage host serves, the others mount over the folder of files, which each has in
        mounts of its own. All of it ends with the hosts."""
        place = f"{self.storage.address}:{STORAGE_PORT}"
        if Path(profile).exists():
            profile = Path(profile).resolve()
        secret = ("--secret-file", self.folder / "secret")  # made by the one that serves
        self.storage.begin("serving", sluice, "device", "--profile", profile, "--serve", place,
                           *secret)
        for host in self.hosts:
            host.begin("mounted", sluice, "device", "--connect", place, "--mount", self.files,
                       *secret)

    def write_agent(self):
        """What a launcher calls in place of rsh: AGENT HOST WORDS... Temporary files that are named
        after a process need a folder a host, as process numbers are the host's own."""
        agent = self.folder / "agent"
        agent.write_text("#!/bin/sh\n"
                         f'first=$(cat "{self.folder}/$1") || exit 1\n'
                         f'export TMPDIR="{self.folder}/tmp.$1"\n'
                         'shift\n'
                         'exec nsenter -t "$first" -a -- sh -c "cd \'$PWD\'; $*"\n')
        agent.chmod(0o755)
        return agent

    def bytes_on_wire(self):
        return [host.bytes_on_wire() for host in self.hosts]

    def close(self):
        every = [*self.hosts, *([self.storage] if self.storage else [])]
        for host in every:
            host.keeper.kill()
            host.keeper.wait()
            for program in host.programs:
                program.wait()
                program.stdout.close()
        for host in every:
            subprocess.run(["ip", "link", "delete", host.link], capture_output=True, check=False)
        run("ip", "link", "delete", "bridge0")
        run("umount", "-l", self.folder)
        run("umount", "-l", "/sys")


def bits_of(rate):
    """Bits a second of a rate as `tc` reads it: 1gbit, 100mbit."""
    found = re.fullmatch(r"([\d.]+)([kmg]?)bit", rate)
    return float(found[1]) * {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[found[2]] if found else 0.0
