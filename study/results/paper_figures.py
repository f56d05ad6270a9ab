"""Figures of the papers' rows and of the study's findings, each worked out from the lines that the
tables are drawn from. See results/figures.py."""

import statistics

import choice
import peers
import romio
import row_figures
import simulated
import skew
import wire
from data import MPIS, between, lines, mpi_of, newest, of_mpi, percent

PEER = "the MPI's own"


def model():
    """N6: how far estimates are from the clock."""
    rows = choice.newest(lines("choice"), "choice", mpi_of, "candidate").values()
    kinds = list(choice.kinds(rows).values())
    cases = choice.errors_of(row for row in rows if row["candidate"] in choice.STRATEGIES
                             and choice.is_long(row))
    yield "model_mean", f"{100 * statistics.mean(kinds):.1f} %"
    yield "model_worst_kind", f"{100 * max(kinds):.1f} %"
    yield "model_worst_case", f"{100 * max(cases):.1f} %"
    yield "model_kinds", str(len(kinds))
    verdicts = choice.newest(lines("choice"), "choice verdict", mpi_of).values()
    own = choice.errors_of(row for row in verdicts if choice.is_long(row))
    yield "model_chosen_mean", f"{100 * statistics.mean(own):.1f} %"
    yield "model_chosen_worst", f"{100 * max(own):.1f} %"
    short = [row["error"] for row in rows if row["candidate"] in choice.STRATEGIES
             and not choice.is_long(row) and row["error"] is not None]
    yield "model_short", f"{100 * min(short):+.0f} to {100 * max(short):+.0f} %"


def verdicts():
    """N7: the library's choice, judged in the kinder and in the stricter way."""
    rows = lines("choice")
    found = choice.newest(rows, "choice verdict", mpi_of)
    close = [row for row in found.values() if choice.is_close(row)]
    yield "choice_within", f"{len(close)} of {len(found)}"
    medians = {}
    for (*case, candidate), row in choice.newest(rows, "choice", mpi_of, "candidate").items():
        medians.setdefault(tuple(case), {})[candidate] = row["total"]["median"]
    ratios = [of["auto"] / min(of.values()) for case, of in medians.items() if case in found]
    yield "choice_within_by_medians", f"{sum(r <= choice.WITHIN for r in ratios)} of {len(ratios)}"
    yield "choice_worst_by_medians", f"{max(ratios):.2f}"


def in_simulation():
    """A6: one layer in the order of ROMIO against the balanced order."""
    runs = simulated.kernel_runs(lines("exchange"))

    def ratios(machine, ranks, name):
        return {pattern: of[name]["seconds"] / of["balanced"]["seconds"]
                for (m, n, pattern), of in runs.items() if (m, n) == (machine, ranks) and name in of}

    for machine in ("knl", "power9"):
        yield f"{machine}_romio", between(ratios(machine, 1024, "ROMIO").values(), "{:.1f}")
        yield f"{machine}_issend", between(ratios(machine, 1024, "ROMIO, issend").values(), "{:.1f}")
    for name, kernel in (("pairwise", "pairwise"), ("hybrid_caption", "hybrid, caption of figure 5"),
                         ("hybrid_text", "hybrid, section V.C"),
                         ("hybrid_caption_throttled", "hybrid, caption, throttled"),
                         ("hybrid_text_throttled", "hybrid, V.C, throttled"),
                         ("hybrid_caption_batches", "hybrid, caption, batches"),
                         ("hybrid_text_batches", "hybrid, V.C, batches"),
                         ("balanced_batches", "balanced, batches")):
        yield f"knl_btio_{name}", f"{ratios('knl', 1024, kernel)['btio']:.2f}"
    yield "knl_flash_pairwise", f"{ratios('knl', 1024, 'pairwise')['flash']:.2f}"
    btio = runs["knl", 1024, "btio"]
    yield "knl_btio_tam", f"{btio['TAM']['seconds'] / btio['ROMIO, issend']['seconds']:.2f}"
    yield "knl_btio_tam_pairwise", f"{btio['TAM, pairwise']['seconds'] / btio['TAM']['seconds']:.2f}"
    large = ratios("knl", 4096, "ROMIO")
    yield "knl_4096_strided", f"{large['strided']:.0f}"
    yield "knl_4096_worst", f"{max(large.values()):.0f} ({max(large, key=large.get)})"
    yield "simulated_bytes", simulated.bytes_of_rank(runs, 1024)
    sweep = newest([row for row in lines("exchange") if row["mode"] == "throttle"],
                   "machine", "ranks", "name")
    for batch in ("1", "4", "32", "256", "0"):
        yield f"knl_throttle_{batch}", f"{1e3 * sweep['knl', 1024, f'balanced {batch}']['seconds']:.1f}"


def drawn_choices():
    """A7: the library's choice in simulation, on drawn machines and patterns, over the best of the forced ones."""
    rows = newest([row for row in lines("exchange") if row["mode"] == "choice"], "seed").values()
    ratios = [row["seconds"] / row["best_seconds"] for row in rows]
    yield "drawn_within", f"{sum(ratio <= 1.1 for ratio in ratios)} of {len(ratios)}"
    yield "drawn_worst", f"{max(ratios):.2f}"
    yield "drawn_median", f"{statistics.median(ratios):.2f}"


def hosts():
    """A7: the library's choice on hosts, against the best of the other kernels."""
    trials = {}
    for (*case, kernel, throttle), row in newest(
            [row for row in lines("nodes") if row["mode"] == "exchange"], "mpi", "nodes", "ranks",
            "pattern", "direction", "kernel", "throttle").items():
        trials.setdefault(tuple(case), {})[kernel, throttle] = row["total"]["median"]
    ratios = [of["auto", "auto"] / min(value for key, value in of.items() if key != ("auto", "auto"))
              for of in trials.values() if len(of) > 1 and ("auto", "auto") in of]
    yield "hosts_choice_cases", str(len(ratios))
    yield "hosts_choice_median", f"{statistics.median(ratios):.2f}"
    yield "hosts_choice_worst", f"{max(ratios):.2f}"


def shared_device():
    """Writes of two nodes to a device behind the wire: the MPI's time over Sluice's."""
    runs = {}
    for (*case, division), row in newest(
            [row for row in lines("domains") if row["nodes"] == 2 and row["device"] != "memory"],
            "device", "ranks", "pattern", "direction", "bytes_per_rank", "division").items():
        runs.setdefault(tuple(case), {})[division] = row["total"]["median"]
    yield "behind_wire", between(of[PEER] / of["auto"] for of in runs.values()
                                 if "auto" in of and PEER in of)


def own_way(row):
    """Sluice's, of an application kernel: as one operation where there is such a way."""
    return row["ways"].get("sluice, one operation", row["ways"].get("sluice"))


def kernels():
    """I7: less overhead, and less time in calls, which is what the paper counts."""
    rows = newest([row for row in lines("collectives-kernels") if row.get("while") == "asleep"
                   and row["nodes"] == 1], "mpi", "kernel").values()
    for mpi in MPIS:
        for row in of_mpi(rows, mpi):
            way, short = own_way(row), peers.short_kernel(row)
            yield f"{short}_{mpi}_overhead", percent(way["reduction"])
            yield f"{short}_{mpi}_in_calls", percent(way["reduction_in_calls"])
    spared = newest([row for row in lines("collectives-kernels") if row["nodes"] == 1
                     and row.get("link") == "a core to spare"], "mpi", "kernel").values()
    for mpi in MPIS:
        for row in of_mpi(spared, mpi):
            yield f"{peers.short_kernel(row)}_{mpi}_spared", percent(
                own_way(row)["reduction_in_calls"])
    packed = [row for row in rows if row.get("codec") == "zstd"]
    yield "zstd_ratio", f"{packed[-1]['bytes'] / packed[-1]['compressed_bytes']:.1f} : 1"


def kernels_between_hosts():
    """I7: less time in calls on two hosts, by link, of both MPIs."""
    rows = newest([row for row in lines("collectives-kernels") if row["nodes"] == 2
                   and row.get("while") == "asleep"], "mpi", "link", "kernel").values()
    found = {}
    for row in (row for mpi in MPIS for row in of_mpi(rows, mpi)):
        found.setdefault(f"{peers.short_kernel(row)}_{row['link']}", []).append(
            100 * own_way(row)["reduction_in_calls"])
    for name, shares in found.items():
        yield name, " and ".join(f"{share:.0f}" for share in shares) + " %"
    yield "hideable_1gbit", between((100 * row["hideable"] for row in rows if row["link"] == "1gbit"
                                     and row["hideable"] < 1), "{:.0f}") + " %"


GROUPS = (model, verdicts, in_simulation, drawn_choices, hosts, shared_device, kernels,
          kernels_between_hosts, romio.figures, skew.figures, wire.figures, *row_figures.GROUPS, *peers.GROUPS)
