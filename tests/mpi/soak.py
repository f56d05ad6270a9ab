#!/usr/bin/env python3
"""One job of random programs for a long time: memory, descriptors, threads and mappings of its
ranks must not grow, and when nothing is under way no thread of the library may be awake.

    soak.py --mpi mpich --seconds 3600

Figures are taken every few seconds. Those of the last fifth of the time are compared with those
between a tenth and a third of it, when all that is made once has been made.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import run as runner  # It puts tests in the modules' path.
import json_lines
import lot
import machine

# What may be more at the end: a share, and an amount that does not grow with the time. Collective
# buffers are made when they are needed at once, up to a number, which drawn programs reach slowly.
ALLOWED = {"resident_kib": (0.1, 16384), "shared_kib": (0.5, 8192), "descriptors": (0, 6),
           "threads": (0, 1), "mappings": (0.3, 40)}


def figures_of(pid):
    base = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (base / "status").read_text().splitlines())
    return {"resident_kib": int(status["VmRSS"].split()[0]),
            "shared_kib": int(status["RssShmem"].split()[0]),
            "descriptors": len(list((base / "fd").iterdir())),
            "threads": int(status["Threads"]),
            "mappings": (base / "maps").read_text().count("\n")}


def ranks_of(mark):
    return [pid for pid in runner.processes_of(mark)
            if Path(f"/proc/{pid}/comm").read_text().strip() == "random_test"]


def sample(mark):
    """Of each figure the largest of the ranks; nothing while they begin or end."""
    try:
        all_ranks = [figures_of(pid) for pid in ranks_of(mark)]
    except (OSError, KeyError):
        return None
    return {name: max(one[name] for one in all_ranks) for name in ALLOWED} if all_ranks else None


def growth(samples):
    """By figure: the median early and late, and whether that is too much."""
    end = samples[-1][0]
    early = [one for at, one in samples if end / 10 <= at <= end / 3]
    late = [one for at, one in samples if at >= end * 4 / 5]
    result = {}
    for name, (share, amount) in ALLOWED.items():
        before, after = (statistics.median(one[name] for one in part) for part in (early, late))
        result[name] = [before, after, after > before * (1 + share) + amount]
    return result


def fifths(samples, name):
    """The medians of the figure in each fifth of the time, for people."""
    end = samples[-1][0]
    parts = [[one[name] for at, one in samples if end * n / 5 <= at <= end * (n + 1) / 5]
             for n in range(5)]
    return ", ".join(f"{statistics.median(part):g}" for part in parts if part)


def watch(job, mark, seconds):
    begin, samples = time.monotonic(), []
    every = max(1.0, seconds / 300)
    while job.poll() is None and time.monotonic() < begin + 1.2 * seconds + 120:
        time.sleep(every)
        if one := sample(mark):
            samples.append((time.monotonic() - begin, one))
    return samples


def run_job(args, seed):
    """The lines that the job printed, and samples of its ranks' figures."""
    mark = uuid.uuid4().hex
    env = runner.with_test_words({**os.environ, **runner.MPIS[args.mpi].settings,
                                  runner.MARK: mark, "SLUICE_WRITE_BEHIND": "4M",
                                  "SLUICE_HINTS": "sluice_read_ahead=256K"}, "stall=60",
                                 # The cache of layouts of datatypes is at its bound soon.
                                 "cache=1M")
    program = runner.BUILD / runner.MPIS[args.mpi].build / "tests/mpi/random_test"
    with tempfile.TemporaryDirectory(prefix="soak_") as folder:
        words = [runner.MPIS[args.mpi].mpiexec, "-n", args.ranks, *runner.preload(args.mpi),
                 program, "--seed", seed, "--for", args.seconds, "--dir", folder,
                 "--thread-level", 3]
        with open(Path(folder) / "output", "w+", encoding="utf-8") as output:
            with subprocess.Popen([str(word) for word in words], env=env, stdout=output,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) as job:
                samples = watch(job, mark, args.seconds)
                if job.poll() is None:
                    runner.show_places(mark)
                    runner.end_processes(mark)
            output.seek(0)
            lines = output.read().splitlines()
    if job.returncode != 0 or len(samples) < 20:
        print("\n".join(lines[-8:]))
        sys.exit(f"soak: the job ended with {job.returncode}, {len(samples)} samples")
    return lines, samples


def note(args, seed, lines, grown):
    programs = int(next(line for line in lines if " programs on " in line).split()[0])
    json_lines.append(args.json, {
        "mpi": args.mpi, "ranks": args.ranks, "seconds": args.seconds, "programs": programs,
        "seed": seed, "growth": {name: figures[:2] for name, figures in grown.items()},
        "failed": [name for name, (*_, too_much) in grown.items() if too_much],
        "date": time.strftime("%Y-%m-%d"), "machine": machine.machine(),
        "command": f"tests/mpi/soak.py --mpi {args.mpi} --seconds {args.seconds}"})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0, help="0: a new one")
    parser.add_argument("--json", type=Path, help="append one line to this file")
    args = parser.parse_args()
    seed = args.seed or lot.fresh_seed()
    print(f"seed {seed}", flush=True)
    lines, samples = run_job(args, seed)
    print("\n".join(lines[-8:]))
    grown = growth(samples)
    for name, (before, after, too_much) in grown.items():
        print(f"{name}: {before:g}, at the end {after:g} ({fifths(samples, name)})"
              f"{': GROWS' if too_much else ''}")
    if args.json:
        note(args, seed, lines, grown)
    sys.exit(1 if any(too_much for *_, too_much in grown.values()) else 0)


if __name__ == "__main__":
    main()
