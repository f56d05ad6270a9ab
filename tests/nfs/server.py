"""An NFS server (nfs-ganesha, version 3) on loopback, whose folder is mounted by FUSE (client.c):
machines for tests often have no NFS in their kernel.

All of it runs inside the namespaces of the runner (`enter` of tests/nodes/hosts.py), and writes
below one folder; the kernel ends every daemon with the runner.
"""
import platform
import shutil
import subprocess
import time
from pathlib import Path

from hosts import missing as missing_hosts, run
from small_programs import compiled

HERE = Path(__file__).resolve().parent
TOOLS = {"ganesha.nfsd": "nfs-ganesha", "rpcbind": "rpcbind", "ss": "iproute2",
         "pkg-config": "pkg-config", "cc": "gcc"}
LIBRARIES = {"libnfs": "libnfs-dev", "fuse3": "libfuse3-dev"}
SECONDS = 30
PORT, MOUNT_PORT = 2049, 20048
PLUGINS = Path("/usr/lib") / f"{platform.machine()}-linux-gnu" / "ganesha"  # Of Debian.
CONFIGURATION = """
NFS_CORE_PARAM {{
    Protocols = 3;
    NFS_Port = {port};
    MNT_Port = {mount_port};
    Enable_NLM = false;
    Enable_RQUOTA = false;
    Enable_UDP = false;
    Plugins_Dir = "{plugins}";
}}
"""
EXPORT = """
EXPORT {{
    Export_Id = {number};
    Path = {folder};
    Pseudo = /export{number};
    Protocols = 3;
    Transports = TCP;
    Access_Type = RW;
    Squash = No_Root_Squash;
    SecType = sys;
    FSAL {{ Name = VFS; }}
}}
"""


def library_is_there(name):
    return subprocess.run(["pkg-config", "--exists", name], check=False).returncode == 0


def missing():
    """What keeps the server or its client from being made here, in words; empty if nothing does."""
    absent = {tool: package for tool, package in TOOLS.items() if not shutil.which(tool)}
    if not absent:
        absent = {name: package for name, package in LIBRARIES.items()
                  if not library_is_there(name)}
    if not (PLUGINS / "libfsalvfs.so").exists():
        absent["libfsalvfs.so"] = "nfs-ganesha-vfs"
    if absent:
        return (f"no {', '.join(absent)} (Debian: {' '.join(sorted(set(absent.values())))}; "
                "`setup/environment --install nfs` installs an NFS server)")
    return missing_hosts()


def client():
    """The program that mounts, built where it is not."""
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *LIBRARIES], check=True, text=True,
                           capture_output=True).stdout.split()
    return compiled("no-mpi", HERE / "client.c", options=("-Wl,--no-as-needed", *flags),
                    compiler="cc")


class Server:
    """Up when it is made. It exports these folders, and writes below `folder`."""

    def __init__(self, folder, exports):
        self.folder = Path(folder)
        run("ip", "link", "set", "lo", "up")
        # Where the daemons write, and where they would meet those of the system.
        for place in ("/run", "/var/lib/nfs"):
            Path(place).mkdir(parents=True, exist_ok=True)
            run("mount", "-t", "tmpfs", "none", place)
        for name in ("ganesha", "rpcbind"):
            (Path("/run") / name).mkdir()
        (Path("/var/lib/nfs") / "ganesha").mkdir()
        conf = self.folder / "ganesha.conf"
        conf.write_text(
            CONFIGURATION.format(port=PORT, mount_port=MOUNT_PORT, plugins=PLUGINS)
            + "".join(EXPORT.format(number=number, folder=one)
                      for number, one in enumerate(exports, 1)))
        self.daemon("rpcbind", "-f")
        self.wait_for_port(111)
        self.daemon("ganesha.nfsd", "-F", "-f", conf, "-L", self.folder / "ganesha.log", "-p",
                    self.folder / "ganesha.pid")
        self.wait_for_port(PORT)
        self.wait_for_port(MOUNT_PORT)

    def daemon(self, *words):
        words = [str(word) for word in words]
        with open(self.folder / "daemons.log", "ab") as log:
            subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_for(self, what, holds):
        until = time.monotonic() + SECONDS
        while not holds():
            if time.monotonic() > until:
                said = "".join(log.read_text(errors="replace")[-2000:]
                               for log in self.folder.glob("*.log"))
                raise RuntimeError(f"{what}:\n{said}")
            time.sleep(0.05)

    def wait_for_port(self, port):
        self.wait_for(f"nobody listens on port {port}",
                      lambda: f":{port} " in run("ss", "-ltnH"))

    def mount(self, export, place):
        """An exported folder over this one, by a process of its own."""
        place.mkdir(exist_ok=True)
        url = f"nfs://127.0.0.1{export}?version=3&nfsport={PORT}&mountport={MOUNT_PORT}"
        self.daemon(client(), url, place)
        self.wait_for(f"{url} cannot be mounted", place.is_mount)
        return place
