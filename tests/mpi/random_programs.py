#!/usr/bin/env python3
"""Runs random programs (random_test) with the MPIs and, when one fails, shrinks and prints it.

Each batch is one start of mpiexec with a number of ranks and a range of seeds; with --drawn its
settings are drawn as well. The summary is the last line. A failing program is made as small as
possible: fewer ranks, fewer steps (delta debugging), smaller sizes; then it is printed with the
command that repeats it.
"""
import argparse
import contextlib
import copy
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import run as runner  # It puts tests in the modules' path.
import lot
from random_settings import drawn

sys.path.append(str(Path(__file__).resolve().parents[1] / "gpu"))
import devices

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
SHARES = re.compile(r"(\d+) programs on \d+ ranks, .* of 100 programs (.*)")
FAILED = re.compile(r"FAILED: seed (\d+), (\d+) steps")
PLACE = re.compile(r"seed (\d+) step (-?\d+)")
KINDS = {
    r": buffer:": "wrong data read",
    r": file \d+:": "wrong bytes in file",
    r"in the status": "wrong status",
    r"out of time": "never completes",
    r"file pointer": "wrong file pointer",
    r" returned ": "error returned",
    r"signal \d|Assertion|Abort\(": "crash",
}
KNOWN = Path(__file__).resolve().parent / "seeds.txt"
SLOW = Path(__file__).resolve().parent / "slow.toml"
LAST_STEP = 23  # The largest number of a step of any program.


class Case:
    """One random program, or several with successive seeds, and how they are started."""

    def __init__(self, args, mpi, ranks, seed, programs=1, steps=None, shrink=0, seconds=None):
        self.args, self.mpi, self.ranks, self.seed = args, mpi, ranks, seed
        self.programs, self.steps, self.shrink = programs, steps, shrink
        # A slow device takes a millisecond for each piece, and a program may have 30,000; a driver
        # of CUDA may take a call for each.
        self.seconds = seconds or (100 if args.slow or args.far else 60) * self.slowness()

    def slowness(self):
        """Ranks that share cores wait for each other, most with an MPI that spins."""
        return max(1, -(-self.ranks // (2 * os.cpu_count())))

    def but(self, **changes):
        fields = {"mpi": self.mpi, "ranks": self.ranks, "seed": self.seed, "steps": self.steps,
                  "shrink": self.shrink, "seconds": self.seconds, **changes}
        return Case(self.args, **fields)

    def command(self, directory, trace=False):
        mpi = runner.MPIS[self.mpi]
        words = [mpi.mpiexec, "-n", self.ranks]
        if self.args.far:
            words += devices.far_preload(self.mpi)
        elif not self.args.plain:
            words += runner.preload(self.mpi, self.args.keeper)
        words += [BUILD / mpi.build / "tests" / "mpi" / "random_test", "--seed", self.seed,
                  "--programs", self.programs, "--seconds", self.seconds, "--dir", directory]
        if self.steps is not None:
            words += ["--only-steps", ",".join(map(str, self.steps)) or "none"]
        if self.args.without:
            words += ["--without", self.args.without]
        if self.shrink:
            words += ["--shrink", self.shrink]
        # A piece that goes straight to the file is a transfer of about a millisecond.
        words += ["--pieces", 10_000] if self.args.slow else []
        if self.args.thread_level >= 0:
            words += ["--thread-level", self.args.thread_level]
        words += ["--plain"] if self.args.plain else []
        words += ["--trace"] if trace else []
        return [str(word) for word in words]

    def settings(self):
        args = self.args
        words = list(args.word)
        words += [f"ranks_per_node={args.ranks_per_node}"] if args.ranks_per_node else []
        words += [f"device={SLOW}"] if args.slow else []
        words += ["behind=always"] if args.behind else []
        hints = args.hint + ([f"sluice_read_ahead={args.ahead}"] if args.ahead else [])
        wanted = {"SLUICE_TEST": ";".join(words), "SLUICE_WRITE_BEHIND": args.behind,
                  "SLUICE_HINTS": ";".join(hints), **dict(each.split("=", 1) for each in args.set)}
        if args.far:
            wanted |= devices.driver_settings(self.mpi, args.far, "devices=2")
        return {} if args.plain else {name: value for name, value in wanted.items() if value}

    def execute(self, limit, trace=False):
        """Returns (exit code or None when out of time, output)."""
        mark = f"random-{os.getpid()}-{time.monotonic_ns()}"
        environment = runner.with_test_words({**os.environ, **self.settings()}, "stall=10")
        environment.update({runner.MARK: mark, **runner.MPIS[self.mpi].settings})
        directory = tempfile.mkdtemp(prefix="random_programs_", dir=self.args.dir)
        try:
            return runner.execute(self.command(directory, trace), environment, limit, mark)
        finally:
            if runner.leftover_processes(mark):
                runner.end_processes(mark)
            shutil.rmtree(directory, ignore_errors=True)


# ---- Shrinking -----------------------------------------------------------------------------------


def fails(case, tries=2):
    """True if the program fails in one of a few runs: some faults depend on time."""
    return any(case.execute(case.seconds + 20)[0] != 0 for _ in range(tries))


def smallest(steps, still_fails):
    """Delta debugging: a subset of the steps of which none can be left out."""
    parts = 2
    while len(steps) >= 2:
        size = max(len(steps) // parts, 1)
        chunks = [steps[at:at + size] for at in range(0, len(steps), size)]
        for chunk in chunks:
            rest = [step for step in steps if step not in chunk]
            if still_fails(rest):
                steps, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(steps))
    return [] if steps and still_fails([]) else steps


def shrunk(case):
    """The smallest variant of a failing case that was found, or None if it does not fail again."""
    case = case.but(seconds=6 * case.slowness())
    if not fails(case, 4):
        return None
    for ranks in range(1, case.ranks):
        if fails(case.but(ranks=ranks)):
            case = case.but(ranks=ranks)
            break
    steps = smallest(list(range(LAST_STEP + 1)), lambda rest: fails(case.but(steps=rest)))
    case = case.but(steps=steps)
    while case.shrink < 16 and fails(case.but(shrink=case.shrink + 1)):
        case = case.but(shrink=case.shrink + 1)
    return case


def order_of(line):
    found = re.match(r"\| step +(-?\d+) rank (\d+)", line)
    return (int(found[1]), int(found[2])) if found else (LAST_STEP + 2, 0)


def show(case):
    """Prints the program as text, what failed, and the command that repeats it."""
    for _ in range(4):
        code, output = case.execute(case.seconds + 20, trace=True)
        if code != 0:
            break
    lines = [line for line in output.splitlines() if line.strip()]
    for line in sorted(lines, key=order_of)[:80]:
        print("  " + line[:300])
    settings = "".join(f"{name}={shlex.quote(value)} " for name, value in case.settings().items())
    print("repeat with: " + settings + shlex.join(case.command("/tmp")))


def report(case, output):
    """Finds out which program failed, and makes it small."""
    found = FAILED.search(output) or PLACE.search(output)
    print("\n".join("  | " + line for line in output.splitlines()[-25:]))
    if not found:
        print("no seed in the output")
        return None
    seed = int(found[1])
    if not case.args.shrink:
        return seed
    print(f"shrinking seed {seed} ...", flush=True)
    small = shrunk(case.but(seed=seed))
    if small is None:
        print(f"seed {seed} alone does not fail again; repeat the batch: "
              + shlex.join(case.command("/tmp")))
    else:
        show(small)
    return seed


# ---- Settings by lot -----------------------------------------------------------------------------

def with_words(args, mpi, words):
    """With settings that were drawn."""
    folder = BUILD / runner.MPIS[mpi].build
    args = make_parser().parse_args([word.format(folder=folder) for word in words],
                                    copy.deepcopy(args))
    args.drawn_words = words
    return args


# ---- Running -------------------------------------------------------------------------------------


class Totals:
    def __init__(self):
        self.programs, self.failed, self.shares = 0, [], Counter()

    def add(self, output):
        """Returns how many programs the run had finished."""
        found = SHARES.search(output)
        if not found:
            return 0
        done = int(found[1])
        self.programs += done
        for share in found[2].split(", "):
            name, percent = share.rsplit(" ", 1)
            self.shares[name] += done * int(percent) / 100
        return done

    def percents(self):
        return {name: round(100 * count / max(self.programs, 1))
                for name, count in self.shares.items()}


def known_seeds():
    """(seed, ranks, settings) of programs that once failed, a line of the file each."""
    lines = (line.partition("#")[0].split() for line in KNOWN.read_text().splitlines())
    return [(int(seed), int(ranks), words) for seed, ranks, *words in filter(None, lines)]


def batches(args, mpi):
    """Cases, in turns over the numbers of ranks, or each with settings by lot: first the programs
    that once failed, then so many, or as many as fit into so many seconds."""
    for seed, ranks, words in known_seeds() if args.known else []:
        yield Case(with_words(args, mpi, words), mpi, ranks, seed)
    mix = [int(ranks) for ranks in args.ranks.split(",")]
    until = time.monotonic() + args.seconds
    seed, left, turn = args.seed, args.programs, 0
    while time.monotonic() < until if args.seconds else left > 0:
        programs = args.batch if args.seconds else min(args.batch, left)
        if args.drawn:
            ranks, words = drawn(seed, sanitized="-" in runner.MPIS[mpi].build)
            yield Case(with_words(args, mpi, words), mpi, ranks, seed, programs)
        else:
            yield Case(args, mpi, mix[turn % len(mix)], seed, programs)
        seed, left, turn = seed + programs, left - programs, turn + 1


def run_batch(case, totals, kinds):
    """Runs a batch; behind a program that fails it goes on, if told to keep going."""
    while case.programs > 0:
        patience = case.programs * case.args.patience * case.slowness()
        code, output = case.execute(40 + case.seconds + patience)
        done = totals.add(output)
        if code == 0:
            return True
        print(f"FAILED: {case.mpi}, {case.ranks} ranks, seeds from {case.seed}: "
              + ("out of time" if code is None else f"exit code {code}")
              + "".join(f" {word}" for word in case.args.drawn_words))
        kinds.update(kinds_of(output))
        failed = report(case, output)
        totals.failed.append(failed)
        line = [failed, case.ranks, case.args.drawn_words]
        if failed is not None and tuple(line) not in known_seeds():
            text = " ".join(map(str, [*line[:2], *line[2]]))
            print(f"add the line \"{text}\" to {KNOWN.relative_to(ROOT)}: it runs first from then "
                  "on")
        if failed is None:
            return False
        passed = failed + 1 - case.seed
        totals.programs += 0 if done else passed
        if not case.args.keep_going:
            return False
        case = case.but(seed=failed + 1, programs=case.programs - passed)
    return True


def kinds_of(output):
    """What went wrong, in a few words, once for each program."""
    kinds = set()
    for pattern, kind in KINDS.items():
        if re.search(pattern, output, re.IGNORECASE):
            kinds.add(kind)
    return kinds or {"other"}


def title(args):
    """How the programs are run, in a few words."""
    words = ["plain" if args.plain else "thread"] + (["drawn settings"] if args.drawn else [])
    words += [f"behind {args.behind}"] if args.behind else []
    words += [f"ahead {args.ahead}"] if args.ahead else []
    words += [] if args.keeper else ["no keeper"]
    words += [f"far buffers, {args.far} driver"] if args.far else []
    return ", ".join(words + (["slow"] if args.slow else []))


def run_mpi(args, mpi):
    totals, kinds, start = Totals(), Counter(), time.monotonic()
    for case in batches(args, mpi):
        right = run_batch(case, totals, kinds)
        print(f"{mpi} {title(args)}: {totals.programs} programs, seeds to "
              f"{case.seed + case.programs - 1}, {time.monotonic() - start:.0f} s", flush=True)
        if not right and not args.keep_going:
            break
    result = {"mpi": mpi, "progress": "plain" if args.plain else "thread",
              **{name: value for name, value in (("behind", args.behind), ("ahead", args.ahead),
                                                 ("slow", args.slow), ("far", args.far),
                                                 ("drawn", args.drawn)) if value},
              "programs": totals.programs, "failed": len(totals.failed), "kinds": dict(kinds),
              "failed_seeds": totals.failed, "percent": totals.percents(), "ranks": args.ranks,
              "seconds": round(time.monotonic() - start), "seed": args.seed,
              "host_cores": os.cpu_count(), "date": time.strftime("%Y-%m-%d"),
              "command": " ".join(["tests/mpi/random_programs.py", *sys.argv[1:]])}
    if args.json:
        with open(args.json, "a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
    shares = ", ".join(f"{name} {percent} %" for name, percent in totals.percents().items())
    kinds_text = "".join(f", {kind} {count}" for kind, count in kinds.items())
    print(f"random programs, {mpi} {title(args)}: {totals.programs} run, "
          f"{len(totals.failed)} failed{kinds_text} ({shares}), {result['seconds']} s", flush=True)
    return not totals.failed and totals.programs > 0


def make_parser():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--programs", type=int, default=150, help="for each MPI")
    parser.add_argument("--seconds", type=float, default=0, help="in place of a number")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; 0: a new one")
    parser.add_argument("--known", action=argparse.BooleanOptionalAction, default=False,
                        help="first the programs of seeds.txt, which once failed")
    parser.add_argument("--behind", default="", help="SLUICE_WRITE_BEHIND: 64K, 1M, 256M ...")
    parser.add_argument("--ahead", default="", help="the hint sluice_read_ahead")
    parser.add_argument("--keeper", action=argparse.BooleanOptionalAction, default=True,
                        help="without: preloaded, but not by `sluice run`")
    parser.add_argument("--slow", action="store_true",
                        help="each transfer takes a few milliseconds, see slow.toml")
    parser.add_argument("--far", default="", choices=("", *devices.DRIVERS),
                        help="buffers brought to devices of this driver of CUDA")
    parser.add_argument("--drawn", action="store_true",
                        help="each batch draws its number of ranks and its settings")
    parser.add_argument("--hint", action="append", default=[], help="name=value, in SLUICE_HINTS")
    parser.add_argument("--word", action="append", default=[], help="name=value, in SLUICE_TEST")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE, a variable")
    parser.add_argument("--thread-level", type=int, default=-1, help="0 to 3; -1: by MPI_Init")
    parser.add_argument("--ranks", default="2,2,3,4,2,1,2,8", help="taken in turn by the batches")
    parser.add_argument("--ranks-per-node", type=int, default=0, help="pretended; 0: as they are")
    parser.add_argument("--batch", type=int, default=50, help="programs for each mpiexec")
    parser.add_argument("--without", default="", help="kinds of steps, and nonblocking, split")
    parser.add_argument("--plain", action="store_true", help="without Sluice")
    parser.add_argument("--keep-going", action="store_true", help="behind failing programs")
    parser.add_argument("--shrink", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--patience", type=float, default=0.5, help="seconds for a program")
    parser.add_argument("--dir", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    parser.add_argument("--json", default="", help="append one line for each MPI to this file")
    parser.set_defaults(drawn_words=[])
    return parser


def parse_arguments():
    args = make_parser().parse_args()
    args.seed = args.seed or lot.fresh_seed()
    return args


def main():
    args = parse_arguments()
    print(f"seed {args.seed}", flush=True)
    right = [run_mpi(args, mpi) for mpi in args.mpi.split(",")]
    return 0 if all(right) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
    sys.exit(130)
