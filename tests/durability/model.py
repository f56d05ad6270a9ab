"""What the jobs of these tests write, what their ranks noted, and what the file may hold then."""
import collections
import itertools
import os
from dataclasses import dataclass

import jobs
from jobs import FILL, SIZE, cells

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
# Each byte by the same rank again and again, before the first of these writes is in the file.
AGAIN = [f"alone:{SHORT}", f"alone:{MANY}", f"alone:{SHORT}", f"alone:{MANY}", f"alone:{LONG}",
         f"alone:{SHORT}", f"alone:{LONG}", f"alone:{MANY}", f"read:{SHORT}", f"alone:{SHORT}",
         f"write:{SHORT}", f"alone:{SHORT}", "close"]
WRITES = ("write", "split", "iwrite", "alone")


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
    forgets: bool = False  # What is delayed ends with the job, keepers and all.

    @property
    def has_keepers(self):
        return self.journals != "alone"


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
    straight = scenario.independent or pieces == 1
    return step.startswith("alone") or (step.startswith("write") and straight)


def completed(scenario, steps, notes):
    """The writes, by step and rank, whose bytes must be there: what completes them returned on some
    rank. The return of a write that is delayed or goes straight completes what its own rank
    brought; where delayed writes are forgotten, only a sync or the close does."""
    for number, step in enumerate(steps):
        if not step.startswith(WRITES):
            continue
        after = range(number, len(steps))
        own = scenario.delayed or goes_straight(scenario, step)
        is_lost = scenario.forgets and not step.startswith("iwrite")
        waits = ("sync", "close") if is_lost else ("wait", "sync", "close")
        enders = [n for n in after if steps[n] in waits or not (step.startswith("iwrite") or own)]
        everywhere = any(n in notes.done for n in enders)
        for rank in range(scenario.ranks):
            here = own and not (step.startswith("iwrite") or is_lost)
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
