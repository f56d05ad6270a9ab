#!/usr/bin/env python3
"""Ends a whole job by SIGKILL, with its launcher and its keepers, and checks what the file holds.

Slurm's proctrack/cgroup, PBS and containers do so: all processes are in one control group. Here
the system kills it at a drawn moment, all processes at once, or one after the other as Slurm does.
With journals in a folder every write that had returned is in the file after `sluice recover`, and
no older one over a newer one. Without a folder delayed writes may be lost, all others not, and
`sluice run` has said so once. Ends with 77 where no control group can be made. Exit code 1 if
anything failed.
"""
import collections
import contextlib
import dataclasses
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import jobs
import lot
import run as runner
from control_group import Group, parent_of_groups
from model import OVER, STEPS, Scenario, faults
from recovery import Kill, recovery_faults

SECONDS = 30
SKIPPED = 77
KILLS = {"quick": 3, "long": 40}  # Of each scenario.
ENOUGH = 30  # Kills with a folder; one at least has to come before all writes are in the file.
NEVER = str(10**9)  # What keepers do is slow as well, and none ends itself.
SLOW = {"SLUICE_TEST_SLOW": "20000", "SLUICE_TEST_KEEPER_ACTION": NEVER}
SAID = r"(?m)^.*sluice run: Slurm may end the processes that keep delayed writes"

FOLDER = (("SLUICE_WRITE_BEHIND", "64M,{journals}"),)
SMALL = (("SLUICE_WRITE_BEHIND", "2M,{journals}"), ("SLUICE_TEST", "ranks_per_node=2"))
MEMORY = (("SLUICE_WRITE_BEHIND", "64M"), ("SLUICE_TEST", "behind=always"))
SCENARIOS = [
    Scenario("folder", 3, tuple(STEPS), FOLDER, delayed=True, journals="kept"),
    Scenario("folder, one over the other", 3, tuple(OVER), FOLDER, delayed=True, journals="kept"),
    Scenario("folder, small, nodes", 4, tuple(STEPS), SMALL, delayed=True, journals="kept"),
    Scenario("memory", 3, tuple(STEPS), MEMORY, delayed=True, forgets=True),
    Scenario("memory, one over the other", 3, tuple(OVER), MEMORY, delayed=True, forgets=True),
]


@dataclasses.dataclass(frozen=True)
class Moment:
    """When ranks have begun or ended so many steps, and a little later."""
    steps: int
    seconds: float
    at_once: bool

    @classmethod
    def drawn(cls, random, scenario):
        return cls(random.randrange(1, 2 * scenario.ranks * len(scenario.steps)),
                   random.choice((0, random.uniform(0, 0.03))), random.random() < 0.5)

    def has_come(self, folder):
        notes = (folder / "notes").read_text()
        return len(re.findall(r"(?m)^\d+ (?:begin|done) ", notes)) >= self.steps


class Job:
    """One start of mpiexec in a group; `code` is None if it does not end in time."""

    def __init__(self, mpi, scenario, folder, group):
        self.scenario, self.folder, self.group = scenario, folder, group
        self.mark = uuid.uuid4().hex
        self.words = group.starting(jobs.command(mpi, scenario, folder, "kill_at.c"))
        self.settings = {**jobs.environment(mpi, scenario, folder, self.mark), **SLOW}
        self.code = None
        self.is_killed = False

    def run(self, moment, seconds):
        with (self.folder / "output").open("w") as output:
            child = subprocess.Popen(self.words, env=self.settings, stdin=subprocess.DEVNULL,
                                     stdout=output, stderr=subprocess.STDOUT,
                                     start_new_session=True)
        until = time.monotonic() + seconds
        try:
            while child.poll() is None and not self.is_killed and time.monotonic() < until:
                if moment.has_come(self.folder) and self.said == self.scenario.forgets:
                    time.sleep(moment.seconds)
                    self.is_killed = child.poll() is None
                    self.group.kill(moment.at_once)
                time.sleep(0.001)
            if child.poll() is None and not self.is_killed:
                runner.show_places(self.mark)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.code = child.wait(seconds / 10)
        finally:
            self.group.kill(True)
            child.wait()

    @property
    def output(self):
        return (self.folder / "output").read_text(errors="replace")

    @property
    def said(self):
        """How often `sluice run` has told of the manager."""
        return len(re.findall(SAID, self.output))

    def faults(self):
        notes = (self.folder / "notes").read_text()
        ended = len(re.findall(rf"(?m)^\d+ done {len(self.scenario.steps) - 1}$", notes))
        if self.code is None:
            yield "out of time"
        elif self.code != 0 and not self.is_killed:
            yield f"exit code {self.code} though nobody was ended"
        elif self.code == 0 and ended < self.scenario.ranks:
            yield "the launcher says that all is well"
        if self.said != self.scenario.forgets:
            yield f"what a manager may end is said {self.said} times"
        if left := runner.leftover_processes(self.mark):
            yield f"processes left: {left}"
            runner.end_processes(self.mark)


class Tests:
    """Runs, counts and reports."""

    def __init__(self, args, parent):
        self.args, self.parent = args, parent
        self.random = lot.Lot(args).random
        self.runs = 0
        self.kills = collections.Counter()
        self.failures = []

    def run(self, mpi, scenario, moment):
        folder = Path(tempfile.mkdtemp(prefix=jobs.PREFIX, dir=self.args.dir))
        group = Group(self.parent)
        try:
            jobs.prepare(folder)
            names = jobs.names_left(folder)
            job = Job(mpi, scenario, folder, group)
            job.run(moment, SECONDS * self.args.patience)
            reasons = list(job.faults())
            self.count(job, moment)
            if scenario.journals:
                kill = Kill(-1, 0, "", keeper_action=1) if job.is_killed else None
                reasons += recovery_faults(mpi, scenario, folder, kill, self.runs)
            reasons += faults(scenario, folder)
            reasons += [f"left: {name}" for name in sorted(jobs.names_left(folder) - names)]
            output = job.output
        finally:
            group.remove()
            shutil.rmtree(folder, ignore_errors=True)
        self.runs += 1
        if reasons:
            self.failed(f"{mpi}, {scenario.name}, {moment}", reasons, output)

    def count(self, job, moment):
        """Also whether a write that had returned was in no file when all were dead."""
        if not job.is_killed:
            return
        self.kills["at once" if moment.at_once else "one by one"] += 1
        kind = "lost" if job.scenario.forgets else "in journals"
        self.kills[kind] += any(faults(dataclasses.replace(job.scenario, forgets=False),
                                       job.folder))
        self.kills["with a folder"] += not job.scenario.forgets

    def failed(self, title, reasons, output):
        self.failures.append(title)
        print(f"FAILED {title}")
        print("\n".join([f"  {reason}" for reason in reasons]
                        + [f"  | {line}" for line in output.splitlines()[-15:]]), flush=True)

    def run_scenario(self, mpi, scenario, _):
        before = self.runs, len(self.failures)
        for _ in range(KILLS[self.args.level]):
            self.run(mpi, scenario, Moment.drawn(self.random, scenario))
        print(f"{mpi}, {scenario.name}: {self.runs - before[0]} runs, "
              f"{len(self.failures) - before[1]} failed", flush=True)

    def summary(self, seconds):
        for title in self.failures:
            print(f"failed: {title}")
        of = self.kills
        print(f"control groups: {self.runs} jobs, {of['at once']} killed at once, "
              f"{of['one by one']} one by one; writes that had returned were in journals only in "
              f"{of['in journals']} of {of['with a folder']}, and lost in {of['lost']} of the "
              f"others; {len(self.failures)} failed, {seconds:.0f} s")
        if of["with a folder"] >= ENOUGH and not of["in journals"]:
            print("no kill came before all writes were in the file: nothing is tested")
            return False
        return not self.failures and of["at once"] + of["one by one"] > 0


def main():
    args = jobs.parse_arguments(__doc__.splitlines()[0])
    parent, why = parent_of_groups()
    if not parent:
        print(why)
        return SKIPPED
    jobs.use_own_places(args)
    args.dir.mkdir(parents=True, exist_ok=True)
    tests = Tests(args, parent)
    return 0 if tests.summary(jobs.run_scenarios(tests, args, SCENARIOS)) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
