"""Figures of the papers' rows (study/results/papers.md) that no other text quotes. See figures.py."""

import statistics
import sys

import depth
import fabric_trials
import network
import overlapped
import texture_figures
from data import MPIS, ROOT, between, lines, newest, of_mpi

sys.path.append(str(ROOT / "study" / "nvm"))

import findings  # noqa: E402
import lines as study  # noqa: E402

CYCLES = 8  # Of an operation of `results/measure test-calls`.
WITHOUT_TESTS = ("sluice 0", "interposed 0")


def random_programs():
    programs = lines("random")
    if programs:
        yield "random_programs", f"{sum(row['programs'] for row in programs):,}"
        yield "random_failed", str(sum(row["failed"] for row in programs))


def repeated():
    rows = lines("outstanding")
    if rows:
        yield "outstanding_right", f"{sum(r['right'] for r in rows)} of {sum(r['runs'] for r in rows)}"


def tests():
    """L8: what tests hide; with 2 ranks each has a core, with 4 a test takes it from another."""
    rows = newest(lines("test-calls"), "mpi", "ranks", "nodes", "pattern", "direction",
                  "tests").values()
    for name, ranks, nodes in (("", 2, 1), ("_4", 4, 1), ("_hosts", 4, 2)):
        found = {}
        for row in rows:
            if row["tests"] >= CYCLES and (row["ranks"], row["nodes"] or 1) == (ranks, nodes):
                found.setdefault(row["tests"] // CYCLES, []).append(
                    100 * row["hidden_strict"]["median"])
        yield f"tests{name}", ", ".join(
            f"{tests}: {between(hidden, '{:.0f}')} %" for tests, hidden in sorted(found.items()))


def nonblocking():
    """M5, L5: mean bandwidth of nonblocking calls, waited for at once, over that of blocking ones."""
    rows = newest(lines("nonblocking"), "mpi", "ranks", "bytes_per_rank", "direction", "pattern",
                  "side").values()
    ours = [row["ratio_of_means"] for row in rows if row["side"] == "Sluice"]
    yield "waited", between(ours)
    yield "waited_median", f"{statistics.median(ours):.3f}"
    yield "waited_good", f"{sum(ratio >= 0.97 for ratio in ours)} of {len(ours)}"
    few = [row["ratio_of_means"] for row in rows if row["side"] == "Sluice" and row["ranks"] <= 2]
    yield "waited_few", between(few)
    for mpi in MPIS:
        yield f"waited_{mpi}", between(row["ratio_of_means"] for row in of_mpi(rows, mpi)
                                       if row["side"] == "peer")
    yield "waited_4", between(row["ratio_of_means"] for row in rows
                              if row["side"] == "Sluice" and row["ranks"] == 4)


def plans():
    rows = newest([row for row in lines("checkpoint") if row["side"] == "Sluice"], "mpi", "ranks",
                  "pattern", "direction", "variant").values()
    yield "first_later", between(row["first_over_later"] for row in rows)


def device():
    rows = lines("device")
    yield "device_passed", f"{sum(row['passed'] for row in rows)} of {len(rows)}"


def nvm():
    """What each finding of the study measured, by the name of its function."""
    rows = study.Lines(lines("nvm"))
    for look in findings.ALL:
        found = look(rows)
        if found:
            yield f"nvm_{look.__name__}", found.ours


def overhead():
    """I6: how often Sluice without tests, by its own calls or in the place of the MPI's, has the least
    overhead of all contenders."""
    rows = newest(lines("collectives-overhead"), "mpi", "nodes", "kind", "bytes", "while").values()
    rows = [row for row in rows if row["mode"] == "overhead"]
    for mpi in MPIS:
        for nodes, where in ((1, "node"), (2, "hosts")):
            cases = [row["ways"] for row in of_mpi(rows, mpi) if row["nodes"] == nodes]
            best = sum(min(ways[way]["overhead"]["median"] for way in WITHOUT_TESTS if way in ways) <=
                       min(way["overhead"]["median"] for way in ways.values()) for ways in cases)
            yield f"overhead_{mpi}_{where}", f"{best} of {len(cases)}"


GROUPS = (random_programs, repeated, overlapped.figures, overlapped.copies,
          overlapped.crowded, depth.figures, network.figures, fabric_trials.figures, tests, nonblocking, plans, device, nvm, overhead, texture_figures.figures,
          texture_figures.thread_figures)
