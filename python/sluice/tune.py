"""`sluice tune LOG`: which hints would be better for a recorded job, by model, then by replay.

Candidates are values of the hints that change how bytes reach the file. Where the machine has a
profile, the cost model leaves out those that it expects to be far from the best. The rest are
played again on the folder that is given, in turn with the default. First there are single hints
of the exchange between ranks, and of the storage; the best of both are then put together. The worse
half leaves after each turn (successive halving), until the time is over.
"""
from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import pathlib
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from sluice import record
from sluice.arguments import Parser

BAD_USAGE = 2
DEFAULT = ""
# A candidate is worth a trial up to so many times the model's best, and is better from here on.
MODEL_REACH, BETTER, HARMLESS = 1.5, 0.97, 1.02
TURNS_LEAST, WON_LEAST = 3, 0.7  # turns before one is said to be better, and those it won
SIZES = ("256K", "1M", "4M")  # of a window, of which 4M is the most


@dataclass
class Candidate:
    """Hints, as SLUICE_HINTS has them, and what was found of them."""
    hints: str
    estimate: float | None = None  # seconds of all collective accesses, by the cost model
    seconds: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)  # to the default of the same turn

    @property
    def ratio(self) -> float:
        """The middle one; of the default 1."""
        return statistics.median(self.ratios) if self.ratios else 1.0

    def is_better(self) -> bool:
        """Than the default, and not by chance: in the middle, and in most turns."""
        turns = len(self.ratios)
        won = sum(ratio < 1 for ratio in self.ratios)
        return turns >= TURNS_LEAST and self.ratio < BETTER and won >= WON_LEAST * turns

    @property
    def words(self) -> str:
        """For people."""
        return self.hints or "the default"


class Failed(Exception):
    """Nothing can be tuned, and why."""


def _counts(ranks: int) -> list[int]:
    """Aggregators: some powers of two, and all ranks."""
    powers = [2 ** k for k in range(ranks.bit_length()) if 2 ** k <= ranks]
    return sorted({*powers[:1], *powers[-2:], ranks})


def exchanges(ranks: int, collective: bool) -> list[str]:
    """How ranks put their bytes together."""
    if not collective:
        return []
    return [f"cb_nodes={nodes};cb_buffer_size={size}"
            for nodes, size in itertools.product(_counts(ranks), SIZES)] + [
                "romio_cb_write=disable;romio_cb_read=disable"]


def storages() -> list[str]:
    """How bytes reach the file."""
    return ["sluice_page_cache=direct"]


def candidates(ranks: int, collective: bool, behind: bool) -> list[Candidate]:
    """The default first, and no two that are put together."""
    found = [DEFAULT, *exchanges(ranks, collective), *storages()]
    if behind:
        found += ["sluice_write_behind=256M", "sluice_write_behind=256M;sluice_read_ahead=256M"]
    return [Candidate(hints) for hints in found]


def grid(ranks: int, collective: bool) -> list[Candidate]:
    """All that can be put together of those: what results/tuned plays to know the best."""
    return [Candidate(";".join(filter(None, both)))
            for both in itertools.product([DEFAULT, *exchanges(ranks, collective)],
                                          [DEFAULT, *storages()])]


def is_modelled(candidate: Candidate) -> bool:
    """Whether the cost model tells it from the default."""
    return "sluice_" not in candidate.hints


def _is_single(candidate: Candidate) -> bool:
    return bool(candidate.hints) and (is_modelled(candidate) or
                                      candidate.hints.startswith("sluice_"))


def together(played: list[Candidate]) -> list[Candidate]:
    """The best two of the exchange with the best two of the storage, where each alone does no
    harm: their gains need not add up, and what is quick with one may be slow with the other."""
    single = sorted((one for one in played if _is_single(one) and one.ratios
                     and one.ratio < HARMLESS), key=lambda one: one.ratio)
    ways = [[one.hints for one in single if is_modelled(one) == modelled][:2]
            for modelled in (True, False)]
    return [Candidate(f"{exchange};{storage}") for exchange, storage in itertools.product(*ways)]


class Tuner:
    """One log on one folder, until a moment."""

    def __init__(self, options: argparse.Namespace, log: record.Log) -> None:
        self.options = options
        self.ranks = log.expected
        self.command = os.environ.get("SLUICE_COMMAND", "sluice")
        self.began = time.monotonic()
        self.draw = random.Random(options.seed)
        self.runs = 0

    def elapsed(self) -> float:
        """Seconds from the start."""
        return time.monotonic() - self.began

    def left(self) -> float:
        """Seconds that remain."""
        return float(self.options.time) - self.elapsed()

    def say(self, text: str) -> None:
        """Progress, on the other stream than the result."""
        sys.stderr.write(f"[{self.elapsed():4.0f} s of {self.options.time:.0f}] {text}\n")
        sys.stderr.flush()

    def price(self, candidate: Candidate) -> float | None:
        """What the model expects of all collective accesses; None where it cannot tell."""
        words = [self.command, "explain", self.options.log, "--access", "all", "--json",
                 "--machine", self.options.machine]
        for hint in filter(None, candidate.hints.split(";")):
            words += ["--hint", hint]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return float(sum(one["estimated_seconds"] * one["calls"] for one in lines))

    def leave_out(self, all_of_them: list[Candidate]) -> list[Candidate]:
        """Those that the model does not give up."""
        if not self.options.machine:
            self.say("no profile of the machine (--machine FILE, see sluice calibrate): every "
                     "candidate is played")
            return all_of_them
        for one in filter(is_modelled, all_of_them):
            one.estimate = self.price(one)
        known = [one.estimate for one in all_of_them if one.estimate]
        best = min(known, default=0.0)
        kept = [one for one in all_of_them
                if one.hints == DEFAULT or not one.estimate or one.estimate <= MODEL_REACH * best]
        self.say(f"by the cost model {len(all_of_them) - len(kept)} of {len(all_of_them)} "
                 f"candidates are out, the best takes {best:.4g} s")
        return kept

    def play(self, candidate: Candidate) -> float:
        """Seconds of one replay."""
        with tempfile.TemporaryDirectory(prefix="sluice-tune-") as folder:
            lines = pathlib.Path(folder) / "replay.jsonl"
            words = [*shlex.split(self.options.mpiexec), "-n", str(self.ranks), self.command,
                     "replay", self.options.log, "--dir", self.options.dir, "--json", str(lines),
                     "--compute", self.options.compute]
            hints = {"SLUICE_HINTS": candidate.hints or "none"}
            done = subprocess.run(words, env=os.environ | hints, capture_output=True, text=True,
                                  check=False)
            if done.returncode != 0 or not lines.exists():
                raise Failed(f"the replay with {candidate.words} failed:\n"
                             f"{(done.stdout + done.stderr).strip()}")
            self.runs += 1
            return float(json.loads(lines.read_text())["seconds"])

    def turn(self, field_of: list[Candidate]) -> bool:
        """Plays each once, the default first and the others in an order that is drawn; False: the
        time was over before the end, and those that were not played are as before."""
        others = field_of[1:]
        self.draw.shuffle(others)
        default = 0.0
        for one in [field_of[0], *others]:
            if self.runs and self.left() <= 0 and (default > 0 or one.seconds):
                return False
            one.seconds.append(self.play(one))
            default = default or one.seconds[-1]
            one.ratios.append(one.seconds[-1] / default if default > 0 else 1.0)
        return True

    def affordable(self) -> int:
        """How many may be played in the next turn, so that two of the last pair's remain."""
        return math.floor(self.left() / max(self.elapsed() / max(self.runs, 1), 1e-9)) - 4

    def halve(self, field_of: list[Candidate], most: int) -> list[Candidate]:
        """The better half of those that were played, at most so many, and the default."""
        others = sorted((one for one in field_of if one.hints and one.ratios),
                        key=lambda one: one.ratio)
        return [field_of[0], *others[:max(1, min(len(others) // 2, most - 1))]]

    def play_round(self, field_of: list[Candidate], part: float) -> None:
        """Turns until a part of the time is over; at least one."""
        while self.turn(field_of) and self.elapsed() < float(self.options.time) * part:
            pass

    def tune(self, all_of_them: list[Candidate]) -> Candidate:
        """The best that was found: the default unless another one is surely better. What was put
        together is added to the list."""
        field_of = self.leave_out(all_of_them)
        rounds = max(2, math.ceil(math.log2(len(field_of))))
        for number in range(1, rounds + 1):
            self.say(f"round {number} of {rounds}: " + (
                f"{len(field_of)} candidates" if len(field_of) > 2 else
                f"{field_of[-1].words} against the default"))
            self.play_round(field_of, number / rounds)
            if number == rounds or self.left() <= 0:
                break
            both = together(field_of) if number == 1 else []
            all_of_them += both
            field_of = self.halve(field_of, self.affordable() - len(both)) + both
            if number > 1 and self.affordable() <= len(field_of):
                field_of = self.halve(field_of, 2)
        last = min((one for one in field_of if one.ratios), key=lambda one: one.ratio)
        self.say(f"{self.runs} replays")
        return last if last.is_better() else all_of_them[0]


def report(all_of_them: list[Candidate], best: Candidate) -> Iterator[str]:
    """The result, in lines."""
    yield f"{'hints':<52} {'model':>9} {'replay':>9} {'to default':>10} {'turns':>5}"
    for one in sorted((one for one in all_of_them if one.seconds), key=lambda one: one.ratio):
        model = f"{one.estimate:.4f} s" if one.estimate else "-"
        yield (f"{one.words:<52} {model:>9} {statistics.median(one.seconds):>7.4f} s "
               f"{one.ratio:>10.3f} {len(one.ratios):>5}")
    left = sum(not one.seconds for one in all_of_them)
    if left:
        yield f"{left} candidates were not played"
    if best.hints:
        yield (f"\n{100 * (1 - best.ratio):.0f} % faster than the default, median of "
               f"{len(best.ratios)} turns:\n  SLUICE_HINTS='{best.hints}'")
    else:
        yield "\nNo hints were surely better than the default: leave SLUICE_HINTS unset."


def parse(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = Parser(prog="sluice tune", description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", help="what sluice record wrote")
    parser.add_argument("--dir", required=True, help="where the files are made: on the file system "
                                                     "of the job")
    parser.add_argument("--time", type=float, default=60, help="seconds for all of it (60)")
    parser.add_argument("--machine", help="profile of the machine, for the cost model: see sluice "
                                          "calibrate")
    parser.add_argument("--compute", choices=("spin", "sleep", "none"), default="none",
                        help="time between the calls: left out (usual), or as recorded")
    parser.add_argument("--behind", action="store_true", help="try write-behind as well: it "
                        "changes when bytes are safe, see docs/behind.md")
    parser.add_argument("--mpiexec", default="mpiexec", help="how ranks are started")
    parser.add_argument("--json", help="appends what was found of each candidate")
    parser.add_argument("--seed", type=int, default=1, help="of the order of replays")
    return parser.parse_args(words)


def write_json(path: str, tuner: Tuner, all_of_them: list[Candidate], best: Candidate) -> None:
    """A line for each candidate that was played."""
    with open(path, "a", encoding="utf-8") as out:
        for one in all_of_them:
            if one.seconds:
                out.write(json.dumps({
                    "mode": "tune", "log": tuner.options.log, "hints": one.hints,
                    "ranks": tuner.ranks, "estimated_seconds": one.estimate,
                    "seconds": statistics.median(one.seconds), "ratio": one.ratio,
                    "turns": len(one.ratios), "best": one is best,
                    "tuned_seconds": tuner.elapsed(), "replays": tuner.runs}) + "\n")


def main(words: list[str]) -> int:
    """The command."""
    try:
        options = parse(words)
        log = record.read(options.log)
        if missing := log.missing():
            raise Failed(f"{options.log} cannot be played: {missing}")
        collective = any(call.collective and call.moves_bytes
                         for rank in log.ranks for call in rank.calls)
        tuner = Tuner(options, log)
        found = candidates(log.expected, collective, options.behind)
        best = tuner.tune(found)
    except SystemExit as asked:  # Help, or a command line that is not understood.
        return asked.code if isinstance(asked.code, int) else BAD_USAGE
    except (OSError, record.NotALog, Failed) as fault:
        sys.stderr.write(f"sluice tune: {fault}\n")
        return 1
    print("\n".join(report(found, best)))
    if options.json:
        write_json(options.json, tuner, found, best)
    return 0
