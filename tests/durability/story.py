"""What happened in a job whose storage calls failed, as its ranks noted it, and what the library
promised for that: which errors the program must have seen, which lines must have been logged, and
which bytes the file may hold (docs/behind.md, "Errors" and "If something fails")."""
import bisect
import collections
import itertools
import re
from dataclasses import dataclass

from jobs import FILL, SIZE, cells, wrong_bytes

CLASSES = {"EIO": "io", "ENOSPC": "no_space"}
WRITES = ("write", "split", "alone")
CHECKPOINT = "a checkpoint of the delayed writes"  # Of a journal in a folder; the log tells it.
ENDS = ("sync", "close")  # No error of an earlier write comes after the next of these.
LOGGED = re.compile(r"sluice: rank (\d+) on \S+: (.*)")
# Made by functions of the MPIs: MPICH's return no error that the program's handler was given, and
# Open MPI's have one class for all.
BY_MPI = ("fsync", "resize")
# Not an error that the rank met.
HEARD_OF = "another rank met an error"


@dataclass(frozen=True)
class Failure:
    """A call that failed, and the step that it was made for; flushes: that its rank was in."""
    rank: int
    call: str
    offset: int
    bytes: int
    step: int


def region_holds(ranks, step, offset):
    begin, size, pieces, gap = map(int, step.split(":")[1].split("=")[0].split(","))
    return begin <= offset < begin + pieces * (ranks * size + gap)


class Story:
    """The notes of a job, in their order."""

    def __init__(self, ranks, steps, notes, output, between_nodes=False):
        self.between_nodes = between_nodes
        self.ranks, self.steps = ranks, [s for s in steps if not s.startswith(("hint:", "errors"))]
        self.at = {}  # The step that each rank is in.
        self.failures, self.calls = [], collections.defaultdict(list)
        self.errors = {rank: [] for rank in range(ranks)}  # (step, class), in order.
        self.handled = {rank: [] for rank in range(ranks)}
        self.wrong, self.finished = set(), set()
        self.log = collections.defaultdict(list)  # Of each rank, what it logged.
        self.events = [line.split() for line in notes.splitlines()]
        for rank, what, *words in self.events:
            if rank.isdigit():
                self.take(int(rank), what, words)
        for rank, text in LOGGED.findall(output):
            self.log[int(rank)].append(text)
        self.output = output

    def take(self, rank, what, words):
        if what == "begin":
            self.at[rank] = int(words[0])
        elif what == "done" and int(words[0]) == len(self.steps) - 1:
            self.finished.add(rank)
        elif what == "error":
            self.errors[rank].append((int(words[0]), words[1]))
        elif what == "handler":
            self.handled[rank].append((int(words[0]), words[1]))
        elif what == "wrong":
            self.wrong.add((rank, int(words[0])))
        elif what in ("ended", "failed"):
            self.calls[rank].append(words[0])
            if what == "failed":
                offset, size = int(words[1]), int(words[2])
                self.failures.append(Failure(rank, words[0], offset, size,
                                             self.step_of(rank, words[0], offset, size)))

    def step_of(self, rank, call, offset, size):
        """Steps with common bytes have a sync between them. A read may be made ahead. Where there
        is no fallocate, MPI_File_preallocate writes single bytes."""
        now = self.at.get(rank, 0)
        if call not in ("read", "write") or (size == 1 and self.step(now) == "room"):
            return now
        kinds = WRITES if call == "write" else ("read",)
        found = [number for number, step in enumerate(self.steps)
                 if step.startswith(kinds) and region_holds(self.ranks, step, offset)]
        begun = [number for number in found if number <= max(self.at.values(), default=0)]
        return max(begun) if begun else min(found, default=0)

    def step(self, number):
        return self.steps[number].split(":")[0]

    def window(self, step):
        """Where an error of that step may come."""
        return range(step, 1 + min(number for number in range(step, len(self.steps))
                                   if self.step(number) in ENDS))

    def failed_steps(self):
        return {failure.step for failure in self.failures}

    # ---- What must hold ------------------------------------------------------------------------

    def faults(self, call, error):
        """Of the job itself; the bytes are looked at apart."""
        if lagging := set(range(self.ranks)) - self.finished:
            yield f"ranks {sorted(lagging)} did not come to the end"
        for rank in range(self.ranks):
            if call in BY_MPI:
                continue
            if self.errors[rank] != self.handled[rank]:
                yield f"rank {rank}: {self.errors[rank]} returned, {self.handled[rank]} handled"
            if wrong := {name for _, name in self.handled[rank]} - {CLASSES[error]}:
                yield f"rank {rank}: errors of class {sorted(wrong)}"
        judge = {"write": self.write_faults, "read": self.read_faults, "flush": self.flush_faults,
                 "journal": self.journal_faults}.get(call, self.local_faults)
        yield from judge(error)
        yield from self.read_bytes_faults()

    def steps_told(self, rank):
        return [step for step, _ in self.handled[rank]]

    def lines_of(self, rank, error):
        return [line for line in self.log[rank] if f"({error})" in line]

    def log_faults(self, error, wanted):
        """`wanted`: how many lines each rank must have logged of errors that it met."""
        for rank in range(self.ranks):
            found = self.lines_of(rank, error)
            if len(found) != wanted.get(rank, 0):
                yield f"rank {rank} logged {len(found)} lines, not {wanted.get(rank, 0)}: {found}"
            foreign = [line for line in self.log[rank] if line not in found
                       and HEARD_OF not in line]
            if foreign:
                yield f"rank {rank} logged {foreign}"

    def write_faults(self, error):
        wanted = collections.Counter(rank for rank, _ in
                                     {(one.rank, one.step) for one in self.failures})
        yield from self.log_faults(error, wanted)
        for (rank, step), group in itertools.groupby(
                sorted(self.failures, key=lambda one: (one.rank, one.step)),
                lambda one: (one.rank, one.step)):
            places = {one.offset for one in group}
            if self.step(step) == "room":
                continue  # The line says that the file was to be made longer.
            if not any(f"write of {b} bytes at offset {o}:" in line.replace("pwritev", "pwrite")
                       for line in self.lines_of(rank, error)
                       for b, o in self.places(rank, step, places)):
                yield f"rank {rank} did not log step {step} with one of the offsets {places}"
        for rank in range(self.ranks):
            yield from self.told_faults(rank)
            yield from self.late_lines(rank, error)

    def late_lines(self, rank, error):
        """An error is logged when it is met, not when the program calls again."""
        before, paused, after = self.output.partition(f"rank {rank} has paused")
        own = re.compile(rf"sluice: rank {rank} on .*\({error}\)")
        if paused and own.search(after) and not own.search(before):
            yield f"rank {rank} logged nothing before its next call"

    def places(self, rank, step, places):
        return [(one.bytes, one.offset) for one in self.failures
                if (one.rank, one.step) == (rank, step) and one.offset in places]

    def concerned(self, rank):
        """The failed steps that a rank must be told of: its own, and collective ones."""
        return {one.step for one in self.failures
                if one.rank == rank or self.step(one.step) != "alone"}

    def told_faults(self, rank):
        """Once an operation, not later than by the next sync or close; errors that meet there come
        as one. There others may hear of what a rank wrote alone."""
        told, concerned = self.steps_told(rank), self.concerned(rank)
        for step in concerned:
            if not set(told) & set(self.window(step)):
                yield f"rank {rank} was not told of step {step} ({self.steps[step]}): {told}"
        elsewhere = [step for step in told if not any(step in self.window(s) for s in concerned)
                     and not (self.step(step) in ENDS and any(
                         step in self.window(s) for s in self.failed_steps()))]
        if elsewhere:
            yield f"rank {rank} was told in steps {elsewhere}"
        foreign = {self.window(step)[-1] for step in self.failed_steps() - concerned}
        if len(told) > len(concerned) + len(foreign & set(told)):
            yield f"rank {rank} was told {len(told)} times of {len(concerned)} errors: {told}"

    def read_faults(self, error):
        """A read that was made ahead and failed is made again, so that not each failure is told."""
        for rank in range(self.ranks):
            told = self.steps_told(rank)
            if told != self.steps_told(0):
                yield f"ranks 0 and {rank} were told in steps {self.steps_told(0)} and {told}"
            if strange := [step for step in told if self.step(step) != "read"]:
                yield f"rank {rank} was told in steps {strange}"
            met = sum(one.rank == rank for one in self.failures)
            lines = len(self.lines_of(rank, error))
            if not min(met, 1) <= lines <= met:
                yield f"rank {rank} met {met} errors and logged {lines} lines"
        if len(self.steps_told(0)) > len(self.failures):
            yield f"told {len(self.steps_told(0))} times of {len(self.failures)} errors"

    @property
    def writes_again(self):
        """Where newer bytes are written, no journal has to keep what was there before."""
        begins = [step.split(":")[1].split(",")[0] for step in self.steps
                  if step.startswith(WRITES)]
        return len(set(begins)) < len(begins)

    @property
    def gave_up(self):
        """Whether a checkpoint failed to make the file durable."""
        return CHECKPOINT in self.output

    def flush_faults(self, error):
        """A sync that fails is told by itself; where a checkpoint failed, all later ones tell."""
        met = {one.rank for one in self.failures}
        for rank in range(self.ranks):
            told, wanted = self.steps_told(rank), self.steps_of_flush(rank)
            if (len(self.lines_of(rank, error)) > 0) != (rank in met):
                yield f"rank {rank} logged {self.log[rank]}"
            less_is_right = self.gave_up and self.writes_again and (told or rank not in met)
            if told != wanted and not (less_is_right and told == wanted[:len(told)]):
                yield f"rank {rank} was told in steps {told}, not {wanted}"

    def steps_of_flush(self, rank):
        """Where a rank is told of flushes that failed: of all ranks' in a close, and in a sync
        between nodes; in a sync of one node of its own (decision 0056)."""
        steps = self.steps_that_tell(self.failures, self.gave_up)
        if self.between_nodes:
            return steps
        gave_up = any(CHECKPOINT in line for line in self.log[rank])
        own = self.steps_that_tell([one for one in self.failures if one.rank == rank], gave_up)
        return [n for n in steps if self.step(n) == "close" or n in own]

    def steps_that_tell(self, failures, gave_up):
        """A journal that gave up tells each time, any other flush once."""
        if not gave_up or not failures:
            return sorted({one.step for one in failures})
        first = self.window(failures[0].step)[-1]
        return [n for n in range(first, len(self.steps)) if self.step(n) in ENDS]

    def journal_faults(self, error):
        """The program gets all that it asked for."""
        for rank in range(self.ranks):
            if self.handled[rank]:
                yield f"rank {rank} was told of {self.handled[rank]}"
            met = any(one.rank == rank for one in self.failures)
            if bool(self.lines_of(rank, error)) != met:
                yield f"rank {rank} logged {self.log[rank]}"

    def local_faults(self, _):
        """Calls of a function that the program waits for."""
        for failure in self.failures:
            if failure.step not in self.steps_told(failure.rank):
                yield f"rank {failure.rank} was not told of {failure}"
        for rank in range(self.ranks):
            told = self.steps_told(rank)
            if set(told) - self.failed_steps() or len(told) > len(self.failures):
                yield f"rank {rank} was told in steps {told}"

    def read_bytes_faults(self):
        """A read without an error brings the right bytes, unless their write failed."""
        failed = self.failed_steps()
        for rank, step in sorted(self.wrong):
            source = int(self.steps[step].split("=")[1])
            if source not in failed and step not in self.steps_told(rank):
                yield f"rank {rank} read other bytes in step {step} ({self.steps[step]})"

    # ---- Bytes ---------------------------------------------------------------------------------

    def file_faults(self, data):
        """Of writes that did not fail all bytes are there, of others each is old or new."""
        failed = {one.step for one in self.failures if one.call == "write"}
        writes = [(number, cell) for number, step in enumerate(self.steps)
                  if step.startswith(WRITES) for cell in cells(self.ranks, step, number)]
        cuts = sorted({edge for _, (offset, size, *_) in writes
                       for edge in (offset, offset + size)})
        allowed = {}
        for number, (offset, size, value, _) in writes:
            places = cuts[bisect.bisect(cuts, offset) - 1:bisect.bisect_left(cuts, offset + size)]
            for begin, end in zip(places, [*places[1:], offset + size], strict=True):
                old = allowed.get(begin, (0, {FILL if begin < SIZE else 0}))[1]
                allowed[begin] = (end - begin, old | {value} if number in failed else {value})
        yield from itertools.islice(wrong_bytes(data, allowed), 5)

    def dropped(self):
        """Ranges that the system may have dropped when the first flush failed: all that was
        written since the last one that did not, and not again afterwards."""
        written, again, flushing, has_failed = [], [], {}, False
        for number, (rank, what, *words) in enumerate(self.events):
            if (what, words[0]) == ("starts", "flush"):
                flushing[rank] = list(written)
            elif (what, words[0]) == ("ended", "flush"):
                written = [one for one in written if one not in flushing.get(rank, [])]
            elif (what, words[0]) == ("failed", "flush"):
                has_failed = True
            elif (what, words[0]) == ("ended", "write"):
                begin = int(words[1])
                place = (begin, begin + int(words[2]), number)
                (again if has_failed else written).append(place)
        for begin, end, _ in written:
            if not any(first < end and begin < last for first, last, _ in again):
                yield begin, end
