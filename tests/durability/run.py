#!/usr/bin/env python3
"""Ends one rank by SIGKILL at each storage action in turn, and checks what the file holds.

What must hold, whenever the rank dies: bytes of a write that completed on any rank are there, of a
delayed one and of one without an exchange those of the rank on which it returned; bytes of one that
had begun are old or new; all others are as they were. When a sync, or a close with
sluice_durable=close, returned on any rank, each rank had flushed what it wrote. No process and no
file is left. With journals in a folder this holds after `sluice recover`, which is ended in its
midst as well, and run once more. Exit code 1 if anything failed.
"""
import collections
import itertools
import os
import re
import shutil
import signal
import sys
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import jobs
import run as runner
from jobs import FILL, PREFIX, SIZE, cells
from recovery import MOMENTS, Kill, recovery_faults

SECONDS = 30

# Regions: begin, bytes of a piece, pieces of a rank, gap behind the pieces of all ranks, and whose
# place a rank takes: the one so many ranks behind it.
MANY = "0,30000,12,0"  # Interleaved: two-phase.
MORE = "2000000,20000,6,4096"
LONG = "6000000,600000,1,0"  # Contiguous: straight to the file, by the helper's threads or beside.
SHORT = "9000000,5000,1,0"  # Contiguous and short: straight to the file, at once.
LARGE = "100000,300000,10,0"  # Interleaved, many rounds.
BEHIND = "9500000,4096,6,512"  # Behind the end of the file, as it is at the start.

STEPS = [f"write:{MANY}", "sync", f"iwrite:{MORE}", f"iwrite:{LONG}", "wait", f"read:{MANY}",
         f"split:{MORE}", "sync", f"iwrite:{MANY}", f"iwrite:{BEHIND}", "wait", f"write:{SHORT}",
         "sync",
         f"write:{LONG}", f"write:{MORE}", "close"]
# Each byte by one rank after the other, as fill values and data are.
OVER = [f"write:{LARGE},0", f"write:{LARGE},1", f"split:{LARGE},2", f"write:{LARGE},1",
        f"write:{BEHIND},1", f"write:{BEHIND},2", "close"]
WRITES = ("write", "split", "iwrite")


@dataclass(frozen=True)
class Scenario:
    name: str
    ranks: int
    steps: tuple
    settings: tuple = ()
    durable_close: bool = False
    delayed: bool = False  # A write that returned says something of its own rank only.
    independent: bool = False
    journals: str = ""  # In a folder: "kept" by keepers, or "alone".

    @property
    def has_keepers(self):
        return self.journals != "alone"


FOLDER_SETTINGS = (("SLUICE_WRITE_BEHIND", "64M,{journals}"),)
BEHIND_SETTINGS = (("SLUICE_WRITE_BEHIND", "64M"), ("SLUICE_TEST", "behind=always"))

SCENARIOS = [
    Scenario("one node", 3, ("hint:cb_buffer_size=262144", *STEPS)),
    Scenario("independent", 2, ("hint:romio_cb_write=disable", *STEPS), independent=True),
    Scenario("nodes", 4, tuple(STEPS), (("SLUICE_TEST", "ranks_per_node=2"),)),
    Scenario("behind", 3, tuple(STEPS), BEHIND_SETTINGS, delayed=True),
    Scenario("behind, one over the other", 3, tuple(OVER), BEHIND_SETTINGS, delayed=True),
    Scenario("behind, nodes", 4, tuple(STEPS),
             (("SLUICE_WRITE_BEHIND", "2M"), ("SLUICE_TEST", "behind=always;ranks_per_node=2")),
             delayed=True),
    Scenario("behind, folder", 3, tuple(STEPS), FOLDER_SETTINGS, delayed=True, journals="kept"),
    Scenario("behind, folder, no keeper", 3, tuple(STEPS),
             (*FOLDER_SETTINGS, ("SLUICE_TEST_NO_KEEPER", "1")), delayed=True, journals="alone"),
    Scenario("behind, small folder, nodes", 4, tuple(STEPS),
             (("SLUICE_WRITE_BEHIND", "2M,{journals}"), ("SLUICE_TEST_NO_KEEPER", "1"),
              ("SLUICE_TEST", "ranks_per_node=2")), delayed=True, journals="alone"),
    Scenario("durable close", 2, ("hint:sluice_durable=close", *STEPS), durable_close=True),
]


# ---- The model ---------------------------------------------------------------------------------


class Notes:
    """What ranks noted: what they began, what had returned, what they did to the file."""

    def __init__(self, text):
        self.lines = [line.split() for line in text.splitlines()]
        self.begun = {int(what) for _, event, what in self.lines if event == "begin"}
        self.done = {int(what) for _, event, what in self.lines if event == "done"}
        self.done_by = {(int(what), int(rank)) for rank, event, what in self.lines
                        if event == "done"}
        self.kills = [what for _, event, what in self.lines if event == "kill"]
        self.actions = collections.defaultdict(list)  # Their names, of each rank, in order.
        for rank, event, what in self.lines:
            if event == "action":
                self.actions[rank].append(what)

    def unflushed(self, flushing):
        """For each step that flushes, the ranks that had not: of all when it first returned
        anywhere, or those on which it returned, as `flushing` says."""
        dirty, seen = set(), set()
        for rank, event, what in self.lines:
            if (event, what) == ("action", "write"):
                dirty.add(rank)
            elif (event, what) == ("action", "flush"):
                dirty.discard(rank)
            elif event == "done" and int(what) in flushing and int(what) not in seen:
                of_all = flushing[int(what)]
                if of_all:
                    seen.add(int(what))
                if found := dirty if of_all else dirty & {rank}:
                    yield int(what), sorted(found)


def flushing_steps(scenario, steps):
    """{step: whether it waits for all ranks}. On one node MPI_File_sync does not: decision 0056."""
    nodes = any("ranks_per_node" in value for _, value in scenario.settings)
    return {number: nodes or step == "close" for number, step in enumerate(steps)
            if step == "sync" or (step == "close" and scenario.durable_close)}


def goes_straight(scenario, step):
    """Whether a blocking write takes its bytes to the file without an exchange: it returns when
    those of its own rank are there (decision 0035)."""
    pieces = int(step.split(":")[1].split(",")[2])
    return step.startswith("write") and (scenario.independent or pieces == 1)


def completed(scenario, steps, notes):
    """The writes, by step and rank, whose bytes must be there: what completes them returned on some
    rank. The return of a write that is delayed or goes straight completes what its own rank
    brought."""
    for number, step in enumerate(steps):
        if not step.startswith(WRITES):
            continue
        after = range(number, len(steps))
        own = scenario.delayed or goes_straight(scenario, step)
        enders = [n for n in after if steps[n] in ("wait", "sync", "close")
                  or not (step.startswith("iwrite") or own)]
        everywhere = any(n in notes.done for n in enders)
        for rank in range(scenario.ranks):
            here = own and not step.startswith("iwrite")
            if everywhere or (here and (number, rank) in notes.done_by):
                yield number, rank


def allowed_bytes(scenario, steps, notes):
    """{offset: (bytes, the values that each of them may have)} of all that was asked for."""
    must = set(completed(scenario, steps, notes))
    result = {}
    for number, step in enumerate(steps):
        if number not in notes.begun or not step.startswith(WRITES):
            continue
        for offset, size, value, rank in cells(scenario.ranks, step, number):
            before = result.get(offset, (size, {FILL if offset < SIZE else 0}))[1]
            result[offset] = (size, {value} if (number, rank) in must else before | {value})
    return result


def faults(scenario, folder):
    """Compares file, notes and folder with what the notes promise."""
    steps = [step for step in scenario.steps if not step.startswith("hint:")]
    notes = Notes((folder / "notes").read_text())
    data = (folder / "data" / "file").read_bytes()
    allowed = allowed_bytes(scenario, steps, notes)
    end = max([SIZE, *(offset + size for offset, (size, _) in allowed.items())])
    if not SIZE <= len(data) <= end:
        yield f"the file has {len(data)} bytes"
    yield from itertools.islice(jobs.wrong_bytes(data, allowed), 5)
    for number, ranks in notes.unflushed(flushing_steps(scenario, steps)):
        yield f"step {number} ({steps[number]}) returned, but ranks {ranks} had not flushed"
    if extra := set(os.listdir(folder / "data")) - {"file"}:
        yield f"left beside the file: {sorted(extra)}"


# ---- Running -----------------------------------------------------------------------------------


def environment(mpi, scenario, folder, kill, mark):
    env = jobs.environment(mpi, scenario, folder, mark)
    if kill:
        env.update(SLUICE_TEST_KILL_RANK=str(kill.rank), SLUICE_TEST_KILL_ACTION=str(kill.action),
                   SLUICE_TEST_KILL_MOMENT=kill.moment)
        if kill.keeper_action:
            env["SLUICE_TEST_KEEPER_ACTION"] = str(kill.keeper_action)
    return env


class Tests:
    """Runs, counts and reports."""

    def __init__(self, args):
        self.args = args
        self.runs = 0
        self.kills = collections.Counter()
        self.failures = []

    def run(self, mpi, scenario, kill=None):
        """One start of mpiexec; returns its notes."""
        mark = uuid.uuid4().hex
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.args.dir))
        try:
            jobs.prepare(folder)
            names = jobs.names_left(folder)
            code, output = runner.execute(
                jobs.command(mpi, scenario, folder, "kill_at.c"),
                environment(mpi, scenario, folder, kill, mark),
                SECONDS * self.args.patience, mark)
            left = runner.leftover_processes(mark)
            runner.end_processes(mark)
            notes = Notes((folder / "notes").read_text())
            reasons = list(self.verdict(code, notes, output))
            if scenario.journals:
                reasons += recovery_faults(mpi, scenario, folder, kill, self.runs)
            reasons += faults(scenario, folder)
            reasons += [f"processes left: {left}"] if left else []
            reasons += [f"left: {name}" for name in sorted(jobs.names_left(folder) - names)]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.runs += 1
        self.kills.update(f"{kill.moment} {name}" for name in notes.kills)
        if reasons:
            self.failed(mpi, scenario, kill, reasons, output)
        return notes

    @staticmethod
    def verdict(code, notes, output):
        if code is None:
            yield "out of time"
        elif notes.kills and code == 0:
            yield "the launcher says that all is well"
        elif not notes.kills and code != 0:
            yield f"exit code {code} though nobody was ended"
        # A call of another rank may notice the loss before the launcher acts.
        lost = re.search("of another node is lost|of this node has ended", output)
        if re.search(r"durability_program: .* failed", output) and not lost:
            yield "a call failed"

    def failed(self, mpi, scenario, kill, reasons, output):
        title = f"{mpi}, {scenario.name}, {kill}"
        self.failures.append(title)
        print(f"FAILED {title}")
        print("\n".join([f"  {reason}" for reason in reasons]
                        + [f"  | {line}" for line in output.splitlines()[-15:]]), flush=True)

    def run_scenario(self, mpi, scenario, turn):
        before = self.runs, len(self.failures)
        if self.args.level == "long":
            self.all_kills(mpi, scenario)
        else:
            self.some_kills(mpi, scenario, turn)
        print(f"{mpi}, {scenario.name}: {self.runs - before[0]} runs, "
              f"{len(self.failures) - before[1]} failed", flush=True)

    def all_kills(self, mpi, scenario):
        """Every action of every rank, until a run ends with nobody ended."""
        for rank, moment in itertools.product(range(scenario.ranks), MOMENTS):
            for action in itertools.count(1):
                if not self.run(mpi, scenario, self.kill(scenario, rank, action, moment)).kills:
                    break

    def kill(self, scenario, rank, action, moment):
        """With journals every second rank is ended together with the keepers."""
        ends_keepers = scenario.journals == "kept" and self.runs % 2
        return Kill(rank, action, moment, 1 + self.runs // 2 % 4 if ends_keepers else 0)

    def some_kills(self, mpi, scenario, turn):
        """Each kind of action and moment in a third of the scenarios, as a plain run showed them;
        it must be right as well."""
        kinds = collections.defaultdict(list)
        for rank, names in self.run(mpi, scenario).actions.items():
            for moment in MOMENTS:
                counted = [name for name in names if moment != "middle" or name == "write"]
                for action, name in enumerate(counted, 1):
                    kinds[moment, name].append((int(rank), action, moment))
        for index, kind in enumerate(sorted(kinds)):
            if (index + turn) % 3 == 0:
                kills = kinds[kind]
                chosen = kills[(index + turn) * 7 % len(kills)]
                self.run(mpi, scenario, self.kill(scenario, *chosen))

    def summary(self, seconds):
        for title in self.failures:
            print(f"failed: {title}")
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.kills.items()))
        print(f"durability: {self.runs} runs, {sum(self.kills.values())} ranks killed ({kinds}), "
              f"{len(self.failures)} failed, {seconds:.0f} s")


def main():
    args = jobs.parse_arguments(__doc__.splitlines()[0])
    jobs.use_own_places(args)
    args.dir.mkdir(parents=True, exist_ok=True)
    tests = Tests(args)
    tests.summary(jobs.run_scenarios(tests, args, SCENARIOS))
    return 1 if tests.failures or not tests.kills else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
