"""What is packed of this checkout, with its builds, into one file for a machine without a network.
Unpacked, it is laid out as a checkout is."""
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mpi"))
from mpis import BUILD, MPIS, ROOT

OF_MPI = ("bin/mpiexec*", "bin/mpirun", "bin/hydra*", "bin/prte*", "bin/ompi*", "lib/libmpi.so*",
          "lib/libopen-pal.so*", "lib/mpich", "lib/openmpi", "etc", "share/openmpi", "share/pmix",
          "share/prte", "include")
COMMIT = "build/commit"  # The file that says which one was packed.
LIBRARIES = "build/env/libraries"  # Of this system, that another may lack.
OF_EVERY_SYSTEM = re.compile(r"/lib(c|dl|gcc_s|m|pthread|rt|stdc\+\+)\.so|/ld-linux")


@dataclass
class Content:
    """Of each MPI's build, beside the MPI."""
    checkout: tuple  # Patterns of files, as git knows them.
    targets: tuple   # Of make build.
    build: tuple     # Patterns of files of the build.
    prepare: object = None  # Called with the name of each MPI when it is built.


def build(content, mpis):
    for mpi in mpis:
        subprocess.run(["make", "build", f"MPI={mpi}", f"TARGETS={' '.join(content.targets)}"],
                       cwd=ROOT, check=True)
        if content.prepare:
            content.prepare(mpi)


def files_of(folder, patterns):
    """All files, each once; what a link leads to stands for the link."""
    found = {path for pattern in patterns for path in folder.glob(pattern)}
    inner = {path for one in found if one.is_dir() for path in one.rglob("*")}
    return sorted(path for path in found | inner if path.is_file())


def packed_files(content, mpis):
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
             *content.checkout]
    names = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [ROOT / name for name in names.split("\0") if name]
    for mpi in mpis:
        files += files_of(BUILD / MPIS[mpi].build, content.build)
        files += files_of(BUILD / "env" / mpi, OF_MPI)
    return files


def is_binary(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def put(path, folder):
    """A copy without what only debuggers read, with the time of the original: what is older than
    its source would be compiled again."""
    target = folder / path.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target)
    if is_binary(target):
        subprocess.run(["strip", "--strip-unneeded", target], check=True, stderr=subprocess.DEVNULL)
        shutil.copystat(path, target)


def put_mpi4py(mpis, version, folder):
    """For a version of Python: from build/env, or else from the package index."""
    asked = (ROOT / f"setup/requirements-{mpis[0]}.txt").read_text()
    package = next(line for line in asked.splitlines() if line.startswith("mpi4py=="))
    site = Path("lib") / f"python{version}" / "site-packages" / "mpi4py"
    own = BUILD / "env" / mpis[0] / site
    with tempfile.TemporaryDirectory() as fetched:
        if not own.is_dir():
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                            "--only-binary=:all:", "--python-version", version, "--platform",
                            "manylinux1_x86_64", "-d", fetched, package], check=True)
            wheel, = Path(fetched).glob("*.whl")
            shutil.unpack_archive(wheel, fetched, "zip")
            own = Path(fetched) / "mpi4py"
        for mpi in mpis:  # It has a module for each.
            others = (f"MPI.{other}.*" for other in MPIS if other != mpi)
            shutil.copytree(own, folder / "build/env" / mpi / site,
                            ignore=shutil.ignore_patterns("__pycache__", "*.p*d", "*.pyi", "*.h",
                                                          "include", *others))


def put_libraries(paths, folder):
    """What binaries of the packed files need and not every system has."""
    binaries = [path for path in paths if is_binary(path) and BUILD / "env" not in path.parents]
    told = subprocess.run(["ldd", *binaries], capture_output=True, text=True, check=False).stdout
    for library in sorted(set(re.findall(r"=> (/(?:usr/)?lib\S+)", told))):
        if not OF_EVERY_SYSTEM.search(library):
            target = folder / LIBRARIES
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(library, target)


def commit():
    if (ROOT / COMMIT).exists():
        return (ROOT / COMMIT).read_text().strip()
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True,
                          check=False).stdout.strip()


def pack(archive, content, mpis, versions=()):
    """Builds and packs; mpi4py for these versions of Python. The size of the file, in bytes."""
    build(content, mpis)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        paths = packed_files(content, mpis)
        for path in paths:
            put(path, Path(folder))
        put_libraries(paths, Path(folder))
        for version in versions:
            put_mpi4py(mpis, version, Path(folder))
        (Path(folder) / COMMIT).write_text(commit())
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive, "w:gz", format=tarfile.PAX_FORMAT) as file:
            file.add(folder, arcname=".")
    return os.path.getsize(archive)
