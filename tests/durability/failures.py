#!/usr/bin/env python3
"""Lets each storage call of a rank fail in turn, once or for ever, in programs that write behind
and read ahead, and checks what they are told, what is logged, and what the file holds.

No rank waits for ever. An error comes through the file's error handler, once, to all ranks where
the operation is collective, and at the latest from the next MPI_File_sync or MPI_File_close. The
rank that met it logs it. Bytes whose write did not fail are in the file, and another file is as
before. With a journal in a folder, `sluice recover` completes the file after a failed flush. Exit
code 1 if anything failed.
"""
import errno
import itertools
import os
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
from recovery import recover
from mpis import MPIS
from story import Story

SECONDS = 40
FOR_EVER = 1 << 30
ERRORS = ("EIO", "ENOSPC")
CALLS = ("write", "flush", "journal", "read", "fsync", "allocate", "resize")

# Regions: begin, bytes of a piece, pieces of a rank, gap behind the pieces of all ranks.
MANY = "0,4096,8,0"  # Interleaved: two-phase, in several rounds.
ALONE = "1000000,2048,3,3000"
SPLIT = "1200000,5000,4,0"
MORE = "1500000,3000,6,1000"
LATE = "1800000,20000,1,0"  # Contiguous: straight to the file.
BEHIND = f"{jobs.SIZE},4096,4,512"  # Behind the end of the file, as it is at the start.
SERIES = [f"read:{2000000 + 40000 * n},4000,2,0=-1" for n in range(5)]

WRITES = [f"write:{MANY}", f"alone:{ALONE}", f"split:{SPLIT}"]
STEPS = ("hint:cb_buffer_size=32768", "errors", *WRITES, *SERIES[:2], f"write:{MORE}",
         *SERIES[2:4], "sync", f"read:{MANY}=0", f"write:{MANY}", f"alone:{ALONE}", f"write:{LATE}",
         SERIES[4], f"room:{jobs.SIZE + 50000}", "sync", f"split:{BEHIND}", f"write:{SPLIT}",
         f"size:{jobs.SIZE + 100000}", f"write:{LATE}", "close", "other")
# No access comes that could tell before the sync does; later ones have nothing to tell.
SYNCED = ("errors", f"write:{MANY}", "sync", f"write:{MORE}", "sync", "close", "other")
# Nobody calls while it is met.
PAUSED = ("errors", f"write:{MANY}", f"alone:{ALONE}", "pause", "close", "other")
# One rank hears of it before the others do.
APART = ("errors", f"write:{MANY}", "pause", "ask", "close", "other")
# Each sync and the close tell that the journals have to keep bytes.
ONCE = ("errors", *WRITES, "sync", f"write:{MORE}", "sync", f"write:{LATE}", "close", "other")
# Each rank writes over what the next one has in its journal.
OTHERS = ("errors", "write:0,40000,1,0", "write:40000,40000,1,0", "close", "other")
# Nobody looks before the end.
BLIND = ("errors", *WRITES, f"write:{MORE}", f"write:{LATE}", "close", "other")


@dataclass(frozen=True)
class Scenario:
    name: str
    ranks: int
    behind: str  # SLUICE_WRITE_BEHIND
    has_keepers: bool = True
    steps: tuple = STEPS
    test: str = "behind=always"  # SLUICE_TEST
    quick: bool = True
    calls: tuple = CALLS

    @property
    def settings(self):
        alone = () if self.has_keepers else (("SLUICE_TEST_NO_KEEPER", "1"),)
        return (("SLUICE_WRITE_BEHIND", self.behind), ("SLUICE_HINTS", "sluice_read_ahead=1M"),
                ("SLUICE_TEST", self.test), *alone)

    @property
    def has_journals(self):
        return "{journals}" in self.behind


SCENARIOS = [
    Scenario("keepers", 2, "1M"),
    Scenario("no keeper", 3, "1M", has_keepers=False),
    Scenario("folder", 2, "1M,{journals}"),
    Scenario("folder, no keeper", 3, "4M,{journals}", has_keepers=False),
    Scenario("told at the close", 2, "1M", steps=BLIND),
    Scenario("logged in a pause", 2, "1M", steps=PAUSED, quick=False),
    Scenario("told one by one", 2, "1M", steps=APART, calls=("write",)),
    Scenario("told at a sync", 2, "1M", steps=SYNCED, calls=("write",)),
    Scenario("folder, nothing twice", 2, "1M,{journals}", False, ONCE, calls=("flush", "journal")),
    Scenario("folder, by others", 2, "1M,{journals}", False, OTHERS, quick=False,
             calls=("flush",)),
    Scenario("one rank", 1, "1M", quick=False),
    Scenario("one rank, folder", 1, "1M,{journals}", quick=False),
    Scenario("little memory", 3, "64K", quick=False),
    Scenario("nodes", 2, "1M", test="behind=always;ranks_per_node=1", quick=False),
    Scenario("folder, told at the close", 2, "1M,{journals}", steps=BLIND, quick=False),
]


@dataclass(frozen=True)
class Fault:
    rank: int
    call: str
    number: int  # The first that fails, from 1.
    for_ever: bool
    error: str = "EIO"

    def settings(self, folder, all_ranks):
        """A flush that fails for ever does so for all who have the file's device."""
        last = FOR_EVER if self.for_ever else self.number
        own = {"RANK": self.rank, "CALL": self.call, "FROM": self.number, "TO": last,
               "ERRNO": getattr(errno, self.error)}
        if all_ranks:
            own["ALL"] = folder / "lost"
        env = {f"SLUICE_TEST_FAIL_{name}": str(value) for name, value in own.items()}
        if all_ranks:
            env["SLUICE_TEST_KEEPER_ACTION"] = "1"
        return env


def device_is_lost(scenario, fault):
    return bool(fault and fault.for_ever and fault.call == "flush" and scenario.has_journals)


def is_told_by_mpi(mpi, rank, call):
    """MPI_File_set_size is the MPI's own. Open MPI 5.0.11 tells all ranks of rank 0's error, and
    none of another rank's, also without Sluice."""
    return call != "resize" or rank == 0 or MPIS[mpi].faults != "openmpi"


def drop(file, ranges):
    """As a system does with what it could not write."""
    with file.open("r+b") as opened:
        for begin, end in ranges:
            opened.seek(begin)
            opened.write(bytes([jobs.FILL]) * (end - begin))


def recovery_faults(mpi, scenario, fault, folder, story):
    """After the job: what is left of the journals, and what they still bring."""
    left = os.listdir(folder / "journals")
    stays = story.gave_up and (not scenario.has_keepers or device_is_lost(scenario, fault))
    if left and not stays:
        yield f"left in the folder: {left}"
    # What was written again, past the journals, needs none; what the file holds is checked anyhow.
    if stays and device_is_lost(scenario, fault) and not left and not story.writes_again:
        yield "no journal is left after a failed flush"
    if device_is_lost(scenario, fault) and story.gave_up:
        drop(folder / "data" / "file", story.dropped())
    if left:
        result = recover(mpi, folder)
        if result.returncode != 0:
            yield f"sluice recover: code {result.returncode}: {result.stdout}{result.stderr}"
        if os.listdir(folder / "journals"):
            yield f"left by the recovery: {sorted(os.listdir(folder / 'journals'))}"


class Tests:
    """Runs, counts and reports."""

    def __init__(self, args):
        self.args = args
        self.runs = self.failed_calls = 0
        self.failures = []

    def run(self, mpi, scenario, fault=None):
        """One start of mpiexec; returns its story."""
        mark = uuid.uuid4().hex
        folder = Path(tempfile.mkdtemp(prefix=jobs.PREFIX, dir=self.args.dir))
        try:
            jobs.prepare(folder)
            names = jobs.names_left(folder)
            env = jobs.environment(mpi, scenario, folder, mark)
            env["SLUICE_TEST_SLOW"] = "1000"
            if fault:
                env.update(fault.settings(folder, device_is_lost(scenario, fault)))
            code, output = runner.execute(jobs.command(mpi, scenario, folder, "fail_at.c"), env,
                                          SECONDS * self.args.patience, mark)
            left = runner.leftover_processes(mark)
            runner.end_processes(mark)
            story = Story(scenario.ranks, scenario.steps, (folder / "notes").read_text(), output,
                          "ranks_per_node" in scenario.test)
            reasons = ["out of time"] if code is None else [f"exit code {code}"] if code else []
            reasons += [f"processes left: {left}"] if left else []
            reasons += [f"left: {name}" for name in jobs.names_left(folder) - names]
            reasons += story.faults(fault.call if fault else "", fault.error if fault else "EIO")
            reasons += recovery_faults(mpi, scenario, fault, folder, story)
            reasons += story.file_faults((folder / "data" / "file").read_bytes())
            reasons += [f"left: {name}" for name in set(os.listdir(folder / "data")) - {"file"}]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.runs += 1
        self.failed_calls += len(story.failures)
        if reasons:
            self.failed(f"{mpi}, {scenario.name}, {fault}", reasons, story)
        return story

    def failed(self, title, reasons, story):
        self.failures.append(title)
        print(f"FAILED {title}")
        print("\n".join([f"  {reason}" for reason in reasons]
                        + [f"  failed call: {one}" for one in story.failures[:3]]
                        + [f"  told: {story.errors}"]
                        + [f"  | {line}" for line in story.output.splitlines()[-15:]]), flush=True)

    def run_scenario(self, mpi, scenario, turn):
        if not scenario.quick and self.args.level != "long":
            return
        before = self.runs, len(self.failures)
        if self.args.level == "long":
            self.all_faults(mpi, scenario)
        else:
            self.some_faults(mpi, scenario, turn)
        print(f"{mpi}, {scenario.name}: {self.runs - before[0]} runs, "
              f"{len(self.failures) - before[1]} failed", flush=True)

    def all_faults(self, mpi, scenario):
        """Every call of every rank, until a run has none that fails."""
        self.run(mpi, scenario)
        for rank, call, ever in itertools.product(range(scenario.ranks), scenario.calls,
                                                  (False, True)):
            if not is_told_by_mpi(mpi, rank, call):
                continue
            for number in itertools.count(1):
                error = ERRORS[(number + ever) % len(ERRORS)]
                if not self.run(mpi, scenario, Fault(rank, call, number, ever, error)).failures:
                    break

    def some_faults(self, mpi, scenario, turn):
        """Two calls of each kind, as a plain run showed them; that must be right as well."""
        story = self.run(mpi, scenario)
        for index, call in enumerate(scenario.calls):
            made = [(rank, number) for rank, names in sorted(story.calls.items())
                    for number in range(1, 1 + names.count(call))
                    if is_told_by_mpi(mpi, rank, call)]
            for ever in (False, True):
                if made and (call in CALLS[:3] or (index + turn + ever) % 4 == 0):
                    rank, number = made[(index * 3 + turn * 7 + ever * 5) * 13 % len(made)]
                    self.run(mpi, scenario, Fault(rank, call, number, ever, ERRORS[ever]))


def main():
    args = jobs.parse_arguments(__doc__.splitlines()[0])
    jobs.use_own_places(args)
    args.dir.mkdir(parents=True, exist_ok=True)
    tests = Tests(args)
    seconds = jobs.run_scenarios(tests, args, SCENARIOS)
    for title in tests.failures:
        print(f"failed: {title}")
    print(f"failing calls: {tests.runs} runs, {tests.failed_calls} calls failed, "
          f"{len(tests.failures)} failed, {seconds:.0f} s")
    return 1 if tests.failures or not tests.failed_calls else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
