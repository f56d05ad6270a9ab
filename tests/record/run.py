#!/usr/bin/env python3
"""Records jobs with and without Sluice, reads the logs and plays them again: the same calls, and
files with bytes at the same places. Logs that are cut off, ranks that are killed, and places that
cannot be written end no job. Exit code 1 if a case failed.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "mpi"), str(HERE.parent), str(HERE.parents[1] / "python")]
import run as runner  # noqa: E402
from lot import fresh_seed  # noqa: E402
from sluice import record  # noqa: E402

SECONDS = 60
RANKS = 2


class Place:
    """A folder, a compiled program, and the ways to run things."""

    def __init__(self, mpi, folder, seed):
        self.mpi, self.folder, self.seed = mpi, folder, seed
        self.build = runner.BUILD / runner.MPIS[mpi].build
        self.bin = Path(runner.MPIS[mpi].mpiexec).parent
        self.sluice = self.build / "bin" / "sluice"
        self.calls = folder / "calls"
        subprocess.run([self.bin / "mpicc", "-O1", "-o", self.calls, HERE / "calls.c"], check=True)

    def start(self, *words, ranks=RANKS, **settings):
        """Returns exit code and output."""
        mark = uuid.uuid4().hex
        run = runner.Run(self.mpi, "record", ranks, settings=settings)
        words = [runner.MPIS[self.mpi].mpiexec, "-n", ranks, *words]
        code, output = runner.execute([str(word) for word in words],
                                      runner.environment(run, mark, False), SECONDS, mark)
        runner.end_processes(mark)
        return code, output

    def record(self, log, *program, sluice="on"):
        return self.start(self.sluice, "record", "--out", log, *program, SLUICE=sluice)

    def programs(self, file):
        return {"calls": [self.calls, file], "steps": [self.bin / "python3", HERE / "steps.py",
                                                       file]}


def expect(condition, what, more=""):
    if not condition:
        raise AssertionError(f"{what}\n{more}")


def places_written(path):
    """Which bytes are not zero."""
    return bytes(map(bool, path.read_bytes()))


def without_times(rank):
    """What a rank called, but for what depends on who serves it."""
    return [(call.name, call.file, {key: value for key, value in call.fields.items()
                                    if key not in ("tests", "name")}) for call in rank.calls]


def same_calls(place):
    """With Sluice and without it the log is the same, and a replay writes the same bytes."""
    for name in ("calls", "steps"):
        logs = {}
        for sluice in ("on", "off"):
            file = place.folder / f"{name}-{sluice}.bin"
            path = place.folder / f"{name}-{sluice}.record"
            code, output = place.record(path, *place.programs(file)[name], sluice=sluice)
            expect(code == 0 and "sluice:" not in output, f"{name} {sluice}: {code}", output)
            expect(not Path(f"{path}.parts").exists(), "parts are left")
            logs[sluice] = record.read(path)
            expect(logs[sluice].missing() == "", logs[sluice].missing())
            expect(logs[sluice].expected == RANKS, "ranks")
            replayed(place, path, file)
        for with_it, without in zip(logs["on"].ranks, logs["off"].ranks, strict=True):
            expect(without_times(with_it) == without_times(without), f"{name}: logs differ")
            expect(with_it.types == without.types, f"{name}: types differ")
            expect(without.head["sluice"] == "off" != with_it.head["sluice"], "heads")
            expect(with_it.head["cores"] == without.head["cores"], "cores of a rank")
            expect(1 <= int(with_it.head["cores"]) <= os.cpu_count(), with_it.head["cores"])


def replayed(place, log, file):
    for sluice in ("on", "off"):
        code, output = place.start(place.sluice, "replay", log, "--dir", place.folder, "--check",
                                   "--keep", "--compute", "none", SLUICE=sluice)
        expect(code == 0, f"replay of {log.name}, SLUICE={sluice}", output)
        found = re.search(r"(\d+) bytes compared, 0 wrong", output)
        expect(found and int(found.group(1)) > 10000, "bytes are compared", output)
        made = list(place.folder.glob(f"replay-*-{file.name}"))
        expect(len(made) == 1, f"one file is made: {made}")
        expect(places_written(made[0]) == places_written(file), f"{log.name}: other bytes")
        for path in place.folder.glob("replay-*"):
            path.unlink()


def read_by_others(place):
    """A rank's file is there for a rank that reads it, also where nothing holds that one up."""
    path = place.folder / "own.record"
    place.record(path, place.calls, place.folder / "own.bin", "own")
    code, output = place.start(place.sluice, "replay", path, "--dir", place.folder, "--check",
                               "--compute", "none", "--files", 30)
    expect(code == 0 and " 0 wrong" in output, "replay", output)


def details(place):
    """Fields of some calls, as the program made them."""
    path = place.folder / "details.record"
    place.record(path, place.calls, place.folder / "details.bin")
    rank = record.read(path).ranks[1]
    calls = {call.name: call for call in rank.calls}
    expect(calls["write_all"].collective and rank.bytes_of(calls["write_all"]) == 8192, "bytes")
    expect(calls["iwrite_at_all"].number("at") == 1024, "offset")
    expect(len(calls["waitall"].numbers("r")) == 3, "requests")
    opened = next(call for call in rank.calls if call.name == "open")
    expect(opened.hints() == {"cb_buffer_size": "65536"}, "hints")
    expect(opened.fields["mode"] == "create+rdwr" and rank.groups[opened.number("group")] == [0, 1],
           "mode and group")
    half = [call for call in rank.calls if call.name == "open"][2]
    expect(rank.groups[half.number("group")] == [1], "group of a half")
    view = rank.types[calls["set_view"].number("filetype")]
    first = next(call for call in rank.calls if call.name == "set_view")
    view = rank.types[first.number("filetype")]
    expect((view.size, view.extent, view.pieces) == (8192, 16384, 64), f"view {view}")
    order = [call.begin for call in rank.calls]
    expect(order == sorted(order) and rank.end >= rank.calls[-1].end, "times grow")


def explained(place):
    """The log in place of a pattern, also with each rank on a node of its own."""
    path = place.folder / "explained.record"
    place.record(path, *place.programs(place.folder / "explained.bin")["steps"])
    for words in (["explain", path], ["simulate", path], ["simulate", path, "--set",
                                                          "machine.ranks_per_node=1"]):
        done = subprocess.run([place.sluice, *words], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"{words}", done.stderr)
        expect("iwrite_all of 8 KiB by 2 ranks, 5 times" in done.stdout, "list", done.stdout)
    expect("2 nodes of 1 ranks" in done.stdout and "as in the serial model" in done.stdout,
           "simulation", done.stdout)


def tuned(place):
    """Hints are tried within a time, and the result says what was measured."""
    path, found = place.folder / "tuned.record", place.folder / "tuned.jsonl"
    place.record(path, *place.programs(place.folder / "tuned.bin")["steps"])
    words = [place.sluice, "tune", path, "--dir", place.folder, "--time", "4", "--json", found,
             "--mpiexec", runner.MPIS[place.mpi].mpiexec]
    mark = uuid.uuid4().hex
    run = runner.Run(place.mpi, "record", RANKS)
    code, output = runner.execute([str(word) for word in words],
                                  runner.environment(run, mark, False), SECONDS, mark)
    runner.end_processes(mark)
    expect(code == 0 and "the default" in output, "a table", output)
    expect("SLUICE_HINTS='" in output or "leave SLUICE_HINTS unset" in output, "advice", output)
    lines = [json.loads(line) for line in found.read_text().splitlines()]
    default = next(line for line in lines if not line["hints"])
    expect(default["ratio"] == 1 and len(lines) > 1, "what was found of each", output)
    expect(sum(line["best"] for line in lines) == 1, "one is the best")
    best = next(line for line in lines if line["best"])
    expect(best is default or (best["ratio"] < 0.97 and best["turns"] >= 3), f"best {best}")


def cut_off(place):
    path, short = place.folder / "whole.record", place.folder / "short.record"
    place.record(path, place.calls, place.folder / "whole.bin")
    text = path.read_bytes()
    short.write_bytes(text[:len(text) * 3 // 4])
    log = record.read(short)
    expect(sum(rank.end is None for rank in log.ranks) == 1, "one rank is cut off")
    expect(all(rank.calls for rank in log.ranks), "calls before it are there")
    code, output = place.start(place.sluice, "replay", short, "--dir", place.folder)
    expect(code != 0 and "does not go to its end" in output, "replay refuses it", output)
    done = subprocess.run([place.sluice, "explain", short], capture_output=True, text=True,
                          check=False)
    expect(done.returncode == 0 and "The log is not whole" in done.stdout, "explain takes it",
           done.stdout + done.stderr)


def damage(text, lot):
    """A line that is gone, twice there or out of its place, or a number that is another one."""
    lines = text.splitlines(keepends=True)
    at, other = lot.randrange(1, len(lines)), lot.randrange(1, len(lines))
    way = lot.randrange(4)
    if way == 0:
        lines[at:at + lot.randrange(1, 4)] = []
    elif way == 1:
        lines.insert(other, lines[at])
    else:
        numbers = list(re.finditer(r"-?\d+", lines[at]))
        if numbers:
            one = lot.choice(numbers)
            new = str(lot.choice((0, -1, 1, 7, 2**31, 2**62, 2**64)))
            lines[at] = lines[at][:one.start()] + new + lines[at][one.end():]
    return "".join(lines)


def damaged(place):
    """Whatever a log says, the commands end by themselves, and no rank by a signal. Of one rank: of
    several one may wait for a collective call that others no longer make."""
    path, other = place.folder / "good.record", place.folder / "damaged.record"
    record_one = [place.sluice, "record", "--out", path, place.calls, place.folder / "good.bin"]
    code, output = place.start(*record_one, ranks=1)
    expect(code == 0 and len(path.read_text().splitlines()) > 20, "one rank records", output)
    seed = place.seed or fresh_seed()
    lot = random.Random(seed)
    print(f"seed {seed}")
    for _ in range(12):
        text = path.read_text()
        for _ in range(lot.randrange(1, 4)):
            text = damage(text, lot)
        other.write_text(text)
        code, output = place.start(place.sluice, "replay", other, "--compute", "none", "--dir",
                                   place.folder / "again", ranks=1)
        said = f"seed {seed}, exit code {code}"
        by_signal = re.search(r"on signal \d|\(signal \d", output)
        expect(code is not None and code < 128 and not by_signal, said, output)
        for command in ("explain", "report"):
            done = subprocess.run([place.sluice, command, other], capture_output=True, text=True,
                                  timeout=SECONDS, check=False)
            expect(done.returncode in (0, 1, 2) and "Traceback" not in done.stderr,
                   f"{command}: {said}", done.stdout + done.stderr)


def killed(place):
    path = place.folder / "killed.record"
    code, output = place.record(path, place.calls, place.folder / "killed.bin", "kill")
    expect(code != 0, "the job was killed", output)
    log = record.read(path)
    rank = next(one for one in log.ranks if one.rank == 1)
    writes = [call for call in rank.calls if call.name == "write_at"]
    expect(rank.end is None and len(writes) in (100, 101), f"{len(writes)} calls are there")
    code, output = place.record(path, place.calls, place.folder / "after.bin")
    expect(code == 0 and record.read(path).missing() == "", "the next job records", output)


def unwritable(place):
    code, output = place.record("/proc/no/place.record", place.calls, place.folder / "no.bin")
    lines = [line for line in output.splitlines() if "sluice:" in line]
    expect(code == 0 and 1 <= len(lines) <= RANKS and "nothing is recorded" in lines[0],
           "one clear line", output)
    other = place.folder / "thesis.txt"
    other.write_text("not a log\n")
    code, output = place.record(other, place.calls, place.folder / "no.bin")
    expect(code == 0 and other.read_text() == "not a log\n" and "is no log" in output,
           "other files stay", output)
    expect(not Path(f"{other}.parts").exists(), "no parts beside it")


def full(place):
    """A limit of the length of files, in place of a device that is full."""
    path = place.folder / "full.record"
    code, output = place.record(path, place.calls, place.folder / "full.bin", "many")
    said = re.findall(r"rank \d records no more", output)
    expect(code == 0 and len(said) == RANKS, "one line a rank, and the job goes on", output)
    log = record.read(path)
    expect(all(500 < len(rank.calls) < 4000 for rank in log.ranks), "what was there is read")


CASES = (same_calls, read_by_others, details, explained, tuned, cut_off, damaged, killed,
         unwritable, full)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--only", help="a case")
    parser.add_argument("--seed", type=int, help="of what is drawn; a new one each time")
    options = parser.parse_args()
    failed = 0
    for case in CASES:
        if options.only and case.__name__ != options.only:
            continue
        with tempfile.TemporaryDirectory(prefix="sluice-record-") as folder:
            try:
                case(Place(options.mpi, Path(folder), options.seed))
                print(f"passed: {case.__name__}")
            except AssertionError as fault:
                failed += 1
                print(f"FAILED: {case.__name__}: {fault}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
