"""`sluice check`: whether Sluice works on this system, for this user, with this MPI and launcher.

Two ranks of libexec/sluice-check write a file: without Sluice, with it, and with delayed writes
while ranks and their keepers are killed. What is in the file is compared with what had returned.
All that is made is removed again.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from sluice.arguments import Parser
from sluice.installed import Mpi, Obstacle, chosen_mpi, installed_mpis, own_command

STEPS, PIECES, BLOCK = 8, 16, 4096  # As libexec/sluice-check has them.
SECONDS = 30  # Of one job; it takes about one.
MOST_LINES = 12  # Of what a job has said.
MARK = "CHECK_OF_SLUICE"
SHARED = Path("/dev/shm")
LEAST_SHARED = 64 << 20
BEHIND = "16M"


class Failed(Exception):
    """What is wrong, and what can be done about it."""


@dataclasses.dataclass
class Outcome:
    name: str
    seconds: float
    passed: bool | None  # None: it was not tried.
    said: str


@dataclasses.dataclass
class Job:
    """The files of one start, and how it ended."""
    folder: Path
    code: int | None = None
    output: str = ""

    @property
    def file(self) -> Path:
        return self.folder / "file"

    @property
    def notes(self) -> Path:
        """Each rank has a file of its own with this name and its number."""
        return self.folder / "notes"

    @property
    def journals(self) -> Path:
        return self.folder / "journals"

    def returned(self) -> list[tuple[int, int]]:
        """(rank, step) of the writes that have returned."""
        found = []
        for notes in self.folder.glob(f"{self.notes.name}.*"):
            *whole, _ = notes.read_text().split("\n")  # The last line may not be written yet.
            found += [(int(notes.suffix[1:]), int(step)) for step in whole]
        return found

    def missing(self, ranks: int) -> list[tuple[int, int]]:
        """Those of them whose bytes are not in the file."""
        data = self.file.read_bytes() if self.file.exists() else b""
        return [(rank, step) for rank, step in self.returned()
                if not all(data[at:at + BLOCK] == bytes([value]) * BLOCK
                           for at, value in blocks(ranks, rank, step))]

    def said(self) -> str:
        """What Sluice said, or else what was said at all, without lines that only divide."""
        lines = [line.strip() for line in self.output.splitlines() if re.search(r"\w", line)]
        own = [line for line in lines if line.startswith("sluice")]
        return "\n".join(list(dict.fromkeys(own or lines))[:MOST_LINES]) or "nothing was said"


def blocks(ranks: int, rank: int, step: int) -> Iterator[tuple[int, int]]:
    """Where in the file, and which byte."""
    for piece in range(PIECES):
        place = (step * PIECES + piece) * ranks + rank
        yield place * BLOCK, 1 + (step * 31 + rank * 7 + piece) % 250


class Checks:
    """The jobs, one after the other. The first tells how many ranks there are."""

    def __init__(self, command: str, mpi: Mpi, launch: list[str], folder: Path):
        self.command, self.mpi, self.folder = command, mpi, folder
        self.is_local = not launch
        self.launch = launch or [str(mpi.mpiexec), "-n", "2"]
        self.mark = uuid.uuid4().hex
        self.ranks = 0
        self.shared: dict[Path, int] = {}  # What the MPI's ranks have in /dev/shm.

    def job(self, name: str) -> Job:
        job = Job(self.folder / name)
        job.journals.mkdir(parents=True)
        return job

    def environment(self, **settings: str) -> dict[str, str]:
        plain = {name: value for name, value in self.mpi.environment().items()
                 if not name.startswith("SLUICE_") or name == "SLUICE_MPI"}
        return {**plain, MARK: self.mark, **settings}

    def begin(self, job: Job, under: list[str], then: str = "",
              **settings: str) -> subprocess.Popen[str]:
        words = [*self.launch, *under, self.mpi.program, job.file, job.notes, STEPS,
                 *([then] if then else [])]
        with (job.folder / "output").open("w") as output:
            return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                                    stdout=output, stderr=subprocess.STDOUT, text=True,
                                    env=self.environment(**settings))

    def remove_shared_memory(self) -> None:
        """An MPI whose ranks are killed leaves it. They may still be ending."""
        until = time.monotonic() + 1
        while processes_of(self.mark) and time.monotonic() < until:
            time.sleep(0.01)
        for path, inode in self.shared.items():
            with contextlib.suppress(OSError):
                if path.stat().st_ino == inode:
                    path.unlink()

    def wait_for(self, process: subprocess.Popen[str]) -> int:
        """TimeoutExpired after SECONDS."""
        until = time.monotonic() + SECONDS
        while True:
            self.shared |= shared_memory_of(self.mark)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(0.02)
            if time.monotonic() >= until:
                raise subprocess.TimeoutExpired(process.args, SECONDS)

    def finish(self, job: Job, process: subprocess.Popen[str]) -> None:
        try:
            job.code = self.wait_for(process)
        except subprocess.TimeoutExpired as error:
            process.terminate()  # It ends ranks on other nodes.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS / 3)
            end_all(self.mark)
            process.wait()
            raise Failed(f"the job did not end in {SECONDS} s: "
                         f"{shlex.join(map(str, self.launch))}") from error
        finally:
            job.output = (job.folder / "output").read_text(errors="replace")

    def run(self, job: Job, under: list[str], then: str = "", **settings: str) -> None:
        self.finish(job, self.begin(job, under, then, **settings))

    def under_sluice(self, job: Job | None = None) -> list[str]:
        behind = [f"--behind={BEHIND},{job.journals}"] if job else []
        return [self.command, "run", *behind]

    def require_all(self, job: Job) -> None:
        if missing := job.missing(self.ranks):
            raise Failed(f"{len(missing)} of {len(job.returned())} writes that had returned are "
                         f"not in the file:\n{job.said()}")

    def ranks_meet(self) -> str:
        """Without Sluice."""
        job = self.job("alone")
        self.run(job, [], SLUICE="off")
        worlds = [int(count) for count in re.findall(r"(?m)^(\d+) ranks have written$", job.output)]
        if job.code != 0 or not worlds:
            raise Failed("ranks cannot be started, and Sluice is not in them yet:\n"
                         f"{job.said()}")
        if len(worlds) > 1 or worlds[0] < 2:
            raise Failed(f"{shlex.join(self.launch)} made {len(worlds)} jobs of {worlds[0]} ranks, "
                         "not one of two or more")
        self.ranks = worlds[0]
        return f"{self.ranks} ranks, without Sluice"

    def write(self) -> str:
        """Served by the library, and right."""
        job = self.job("served")
        self.run(job, self.under_sluice(), SLUICE_LOG="2")
        if job.code != 0:
            raise Failed(job.said())
        self.require_all(job)
        if f"({STEPS} writes, 0 reads)" not in job.output:
            raise Failed("the bytes are right, but the MPI wrote them, not Sluice:\n"
                         f"{job.said()}")
        return "served by Sluice, all bytes right"

    def recover(self, job: Job) -> int:
        """How many writes `sluice recover` has written, when keepers have ended."""
        words = [*([] if self.is_local else self.launch), self.command, "recover", "--wait",
                 str(job.journals)]
        done = subprocess.run(words, env=self.environment(), capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        job.output += done.stdout + done.stderr
        self.require_all(job)
        if left := sorted(path.name for path in job.journals.iterdir()):
            raise Failed(f"sluice recover left {', '.join(left)}:\n{done.stdout}{done.stderr}")
        return sum(map(int, re.findall(r"(?m)^(\d+) writes, .* in their files$", done.stdout)))

    def ranks_are_killed(self) -> str:
        """Keepers write what is left, or the user has to."""
        job = self.job("killed")
        self.run(job, self.under_sluice(job), "killed")
        if not job.returned():
            raise Failed(job.said())
        if recovered := self.recover(job):
            return (f"their keepers ended with them, as a batch system does; sluice recover wrote "
                    f"the last {recovered} writes, so let it follow each job")
        return f"all {len(job.returned())} writes that had returned are in the file"

    def keepers_are_killed(self) -> str:
        """All processes of the job, at once."""
        job = self.job("nobody")
        process = self.begin(job, self.under_sluice(job), "waits")
        until = time.monotonic() + SECONDS
        while len(job.returned()) < STEPS * self.ranks and time.monotonic() < until:
            if process.poll() is not None:
                break
            time.sleep(0.001)
        self.shared |= shared_memory_of(self.mark)
        end_all(self.mark)
        self.finish(job, process)
        if len(job.returned()) < STEPS * self.ranks:
            raise Failed(job.said())
        if recovered := self.recover(job):
            return f"all bytes are in the file, {recovered} writes of them by sluice recover"
        return "all bytes are in the file; nothing was left for sluice recover"

    def all(self) -> list[tuple[str, Callable[[], str]]]:
        return [("ranks meet", self.ranks_meet), ("a collective write", self.write),
                ("ranks are killed", self.ranks_are_killed),
                ("their keepers as well", self.keepers_are_killed)]

    def outcomes(self) -> Iterator[Outcome]:
        """One after the other, until one says that the others have no sense."""
        for name, check in self.all():
            if check == self.keepers_are_killed and not self.is_local:
                yield Outcome(name, 0, None, "not tried: ranks may be on other nodes")
                continue
            began = time.monotonic()
            try:
                said, passed = check(), True
            except (Failed, OSError, subprocess.TimeoutExpired) as error:
                said, passed = in_words(error), False
            finally:
                end_all(self.mark)
            yield Outcome(name, time.monotonic() - began, passed, said)
            if not passed and check == self.ranks_meet:
                return


def in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'a file'}: {error.strerror}"
    return str(error)


def processes_of(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and f"{MARK}={mark}".encode() in (
                    entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def end_all(mark: str) -> None:
    """At once: none may see that others have ended."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in processes_of(mark):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def shared_memory_of(mark: str) -> dict[Path, int]:
    """Files in /dev/shm that processes of the check have mapped by name, and their inodes; not what
    Sluice keeps there for all jobs of the user."""
    found: dict[Path, int] = {}
    for pid in processes_of(mark):
        with contextlib.suppress(OSError):
            maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
            for inode, name in re.findall(rf"(?m) (\d+) +({SHARED}/(?!sluice)\S+)$", maps):
                found[Path(name)] = int(inode)
    return found


def lacks(facts: dict[str, dict[str, str]]) -> dict[str, str]:
    """What this node has not, and what that means."""
    found = {name: value[4:] for part in ("system", "folder")
             for name, value in facts.get(part, {}).items() if value.startswith("no: ")}
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        found["/dev/fuse"] = "it is not open to you: sluice device and sluice try need it"
    try:
        about = os.statvfs(SHARED)
        if about.f_bavail * about.f_frsize < LEAST_SHARED:
            found["/dev/shm"] = (f"{about.f_bavail * about.f_frsize >> 20} MiB are free: MPIs and "
                                 "Sluice want more (of a container: --shm-size)")
    except OSError as error:
        found["/dev/shm"] = f"{error.strerror}: ranks of a node cannot share memory by name"
    if facts.get("features", {}).get("between nodes", "").startswith("messages"):
        found["libfabric"] = "between nodes messages of the MPI are used, which need its progress"
    return found


def parse(words: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="sluice check",
        description="Starts a few small jobs of two ranks, and says whether Sluice works here: a "
                    "write, killed ranks, a recovery. Takes about ten seconds. The exit code is 0 "
                    "if all checks have passed.")
    parser.add_argument("--mpi", metavar="NAME", help="of those that sluice info lists")
    parser.add_argument("--dir", type=Path, default=Path(), metavar="DIR",
                        help="where the files are written (the current folder)")
    parser.add_argument("--launch", default="", metavar="WORDS",
                        help="what starts the ranks in place of the MPI's mpiexec, such as "
                             "'srun -n2 --mpi=pmi2'")
    parser.add_argument("--json", action="store_true", help="prints one object of JSON")
    return parser.parse_args(words)


def show(outcome: Outcome) -> None:
    word = {True: "ok", False: "FAILED", None: "-"}[outcome.passed]
    first, *more = outcome.said.splitlines()
    print(f"  {word:6} {outcome.seconds:5.1f} s  {outcome.name:23}{first}", flush=True)
    print("".join(f"         | {line}\n" for line in more), end="")


def check(options: argparse.Namespace) -> int:
    command = own_command()
    mpi = chosen_mpi(installed_mpis(command, "sluice-check"), options.mpi)
    told = subprocess.run([command, "info", "--json", options.dir], capture_output=True, text=True,
                          check=False)
    if told.returncode != 0:
        raise Obstacle(told.stderr.strip())
    facts = json.loads(told.stdout)
    launch = shlex.split(options.launch)
    if not options.json:
        print(f"{mpi.version}, started by {shlex.join(launch) or mpi.mpiexec}; files in "
              f"{options.dir.resolve()}", flush=True)
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="sluice-check-", dir=options.dir) as scratch:
        checks = Checks(command, mpi, launch, Path(scratch).resolve())
        for outcome in checks.outcomes():
            outcomes.append(outcome)
            if not options.json:
                show(outcome)
        checks.remove_shared_memory()
    passed = all(outcome.passed is not False for outcome in outcomes)
    if options.json:
        print(json.dumps({"mpi": mpi.version, "launch": launch or [str(mpi.mpiexec)],
                          "folder": str(options.dir.resolve()), "passed": passed,
                          "checks": [dataclasses.asdict(one) for one in outcomes],
                          "lacks": lacks(facts)}, indent=1))
        return 0 if passed else 1
    if missing := lacks(facts):
        print("What this node lacks:")
        for name, meaning in missing.items():
            print(f"  {name}: {meaning}")
    failed = sum(outcome.passed is False for outcome in outcomes)
    print("Sluice works here." if passed else
          f"{failed} of {len(outcomes)} checks failed. docs/troubleshooting.md may tell more; "
          "`sluice info` shows what is installed.")
    return 0 if passed else 1


def main(words: list[str]) -> int:
    options = parse(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # What was started is ended first.
    try:
        return check(options)
    except (Obstacle, OSError, ValueError) as obstacle:
        print(f"sluice check: {in_words(obstacle)}", file=sys.stderr)
        return 1
