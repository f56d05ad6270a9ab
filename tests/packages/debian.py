"""New installations of Debian to install into: folders that chroot enters, as root, with namespaces
of their own.

What debootstrap made, and what was added to it before anything of Sluice was there, is kept in
build/env/debian, as an image of a container is; each test gets a copy.
"""
import os
import shutil
import subprocess
from pathlib import Path

from common import APP, BUILD, PROGRAMS, Skipped, call, expect_overlap, need

MIRROR = "http://deb.debian.org/debian"
IMAGES = BUILD / "env" / "debian"
COMPILERS = ("g++", "gfortran", "cmake", "make", "ninja-build", "pkg-config")
LIBRARIES = ("libcli11-dev", "libfuse3-dev", "fuse3", "libfabric-dev")
PYTHON = ("python3-mpi4py", "python3-numpy")  # Debian's are for Open MPI.
MPIS = {"mpich": ("mpich", "libmpich-dev"), "openmpi": ("openmpi-bin", "libopenmpi-dev")}
RANKS = {"mpich": "mpiexec.mpich -n 2", "openmpi": "mpiexec.openmpi --oversubscribe -n 2"}
# Processes of a call end with it, and so do its mounts.
ENTER = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "chroot")
PREPARED = ("sh", "-c", "mount -t proc proc /proc && mount -t tmpfs tmpfs /dev/shm && "
            '[ -e /dev/fuse ] || mknod /dev/fuse c 10 229; exec "$@"', "sh")
PROJECT = "/programs"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PROXIES = ("http_proxy", "https_proxy", "no_proxy")  # All that comes along from outside.


class System:
    """A Debian in a folder."""
    def __init__(self, folder):
        self.folder = Path(folder)
        proxies = {name: os.environ[name] for name in PROXIES if name in os.environ}
        self.environment = {**proxies, "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root",
                            "LC_ALL": "C.UTF-8", "PATH": PATH}

    def run(self, *words, folder="/", **settings):
        """The output of a command; a single text is one of the shell."""
        if len(words) == 1:
            words = ("sh", "-c", words[0])
        around = [f"{name}={value}" for name, value in (self.environment | settings).items()]
        return call(*ENTER, self.folder, *PREPARED, "env", "-i", "-C", folder, *around, *words)

    def install(self, *packages):
        self.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *packages)

    def files(self):
        """What lies where software is installed."""
        return {path for name in ("usr", "etc", "opt", "var/lib")
                for path in (self.folder / name).rglob("*")}

    def expect_as_before(self, before):
        """Where nothing else was installed: no file, and no folder of Sluice's own, is new."""
        left = [path for path in self.files() - before if path.is_symlink() or path.is_file()]
        assert not left, f"left behind: {left}"
        self.expect_nothing_left(before)

    def expect_nothing_left(self, before):
        """Packages that came along may stay; nothing may that is named after Sluice."""
        left = [path for path in self.files() - before if "sluice" in path.name.lower()]
        assert not left, f"left behind: {left}"


def image(name):
    """The folder that new systems are copies of."""
    need("debootstrap", "unshare")
    if os.geteuid() != 0:
        raise Skipped("debootstrap needs root")
    folder = IMAGES / name
    if folder.exists():
        return folder
    unfinished = IMAGES / f"{name}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    if name == "bookworm":
        call("debootstrap", "--variant=minbase", name, unfinished, MIRROR)
        System(unfinished).run("apt-get", "update", "-q")
    else:  # What a machine has on which programs are built.
        copy(image("bookworm"), unfinished)
        System(unfinished).install(*COMPILERS, *LIBRARIES, *PYTHON,
                                   *(package for both in MPIS.values() for package in both))
    return unfinished.rename(folder)


def copy(source, target):
    subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)


def new_system(folder, name="bookworm"):
    copy(image(name), folder / name)
    return System(folder / name)


def run_programs(system, mpi, **places):
    """A program in each language is built in the system, against what is installed there, and is
    served. Debian's mpi4py is linked to Open MPI."""
    if not (system.folder / PROJECT.strip("/")).exists():
        shutil.copytree(PROGRAMS, system.folder / PROJECT.strip("/"),
                        ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        shutil.copy(APP, system.folder / PROJECT.strip("/"))
    build = f"/built-{mpi}"
    around = {"SLUICE_TEST_FORTRAN": f"mpifort.{mpi}", **places}
    system.run("cmake", "-S", PROJECT, "-B", build, "-D", f"MPI_C_COMPILER=mpicc.{mpi}", "-D",
               f"SLUICE_TEST_MPI={mpi}", **around)
    system.run("cmake", "--build", build, **around)
    commands = [f"{build}/in_cpp", f"sluice run {build}/in_c", f"sluice run {build}/in_fortran"]
    if mpi == "openmpi":
        commands.append(f"sluice run python3 {PROJECT}/app.py")
    for command in commands:
        expect_overlap(system.run(f"{RANKS[mpi]} {command} /tmp/file-{mpi}", SLUICE_LOG="2",
                                  OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                  **places))
