#!/usr/bin/env python3
"""Ends one rank by SIGKILL at each storage action in turn, and checks what the file holds.

What must hold, whenever the rank dies: bytes of a write that completed on any rank are there, of a
delayed one and of one without an exchange those of the rank on which it returned; bytes of one that
had begun are old or new; all others are as they were. When a sync, or a close with
sluice_close=durable, returned on any rank, each rank had flushed what it wrote. No process and no
file is left. With journals in a folder this holds after `sluice recover`, which is ended in its
midst as well, and run once more. Exit code 1 if anything failed.
"""
import collections
import itertools
import re
import shutil
import signal
import sys
import tempfile
import uuid
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import jobs
import run as runner
from jobs import PREFIX
from model import AGAIN, OVER, STEPS, Notes, Scenario, faults
from recovery import MOMENTS, Kill, recovery_faults

SECONDS = 30

FOLDER_SETTINGS = (("SLUICE_WRITE_BEHIND", "64M,{journals}"),)
BEHIND_SETTINGS = (("SLUICE_WRITE_BEHIND", "64M"), ("SLUICE_TEST", "behind=always"))

SCENARIOS = [
    Scenario("one node", 3, ("hint:cb_buffer_size=262144", *STEPS)),
    Scenario("independent", 2, ("hint:romio_cb_write=disable", *STEPS), independent=True),
    Scenario("nodes", 4, tuple(STEPS), (("SLUICE_TEST", "ranks_per_node=2"),)),
    Scenario("behind", 3, tuple(STEPS), BEHIND_SETTINGS, delayed=True),
    Scenario("behind, close behind", 3, ("hint:sluice_close=behind", *STEPS), BEHIND_SETTINGS,
             delayed=True),
    Scenario("behind, one over the other", 3, tuple(OVER), BEHIND_SETTINGS, delayed=True),
    Scenario("behind, again and again", 3, tuple(AGAIN),
             (*BEHIND_SETTINGS, ("SLUICE_TEST_SLOW", "20000")), delayed=True),
    Scenario("behind, nodes", 4, tuple(STEPS),
             (("SLUICE_WRITE_BEHIND", "2M"), ("SLUICE_TEST", "behind=always;ranks_per_node=2")),
             delayed=True),
    Scenario("behind, folder", 3, tuple(STEPS), FOLDER_SETTINGS, delayed=True, journals="kept"),
    Scenario("behind, folder, no keeper", 3, tuple(STEPS),
             (*FOLDER_SETTINGS, ("SLUICE_TEST_NO_KEEPER", "1")), delayed=True, journals="alone"),
    Scenario("behind, small folder, nodes", 4, tuple(STEPS),
             (("SLUICE_WRITE_BEHIND", "2M,{journals}"), ("SLUICE_TEST_NO_KEEPER", "1"),
              ("SLUICE_TEST", "ranks_per_node=2")), delayed=True, journals="alone"),
    Scenario("durable close", 2, ("hint:sluice_close=durable", *STEPS), durable_close=True),
]


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
        elif not notes.kills and not any("write" in names for names in notes.actions.values()):
            yield "no rank was seen to write: none could be ended there"
        # A call of another rank may notice the loss before the launcher acts.
        lost = re.search("of another node is lost|of this node has ended|"
                         "cannot be reached over the fabric", output)
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
