"""Figures that texts quote, each worked out from the lines that the tables are drawn from. A text has
{name} in its place; a name that is none fails, and so does a figure whose lines are gone."""

import contextlib
import re
import statistics

import choice
import peers
import romio
import row_figures
import simulated
import traced_figures
import wire
from data import MPIS, between, lines, mpi_of, newest, of_mpi, percent

PEER = "the MPI's own"
PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def outstanding():
    """Milliseconds of all short operations together, by how many are under way at once."""
    short = [row for row in lines("outstanding-times") if "peer" not in row]
    rows = newest(short, "mpi_library", "direction", "variant").values()
    for mpi in MPIS:
        for way in ("write", "read"):
            found = {int(row["variant"].split("=")[1]): row["sluice"]["median"]
                     for row in of_mpi(rows, mpi) if row["direction"] == way}
            yield f"outstanding_{mpi}_{way}", ", ".join(
                f"{1e3 * found[k]:.1f}" for k in sorted(found))


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


GROUPS = (outstanding, model, verdicts, in_simulation, drawn_choices, hosts, shared_device, kernels,
          kernels_between_hosts, romio.figures, traced_figures.figures, wire.figures,
          *row_figures.GROUPS, *peers.GROUPS)


def all_figures():
    found = {}
    for group in GROUPS:
        found.update(group())
    return found


def figures_that_are_there():
    """Of a run that measured a part only: a group ends at the first figure that has no lines."""
    found = {}
    for group in GROUPS:
        with contextlib.suppress(KeyError, ValueError, IndexError, ZeroDivisionError):
            for name, figure in group():
                if figure not in ("", "0 of 0"):
                    found[name] = figure
    return found


def typed_by_hand(text):
    """Cells of the column `here` that have a figure which does not come from the data."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 5 or cells[2] in ("here", "---"):
            continue
        bare = PLACE.sub("", re.sub(r"`[^`]*`|\]\([^)]*\)", "", cells[2]))
        for bound in ("at least 0.97", "within 10 %", "within 1.1", "power9"):
            bare = bare.replace(bound, "")
        if re.search(r"\d", bare):
            yield f"{cells[0]}: {cells[2]}"


def filled(text, known=None):
    """The text with its figures: the recorded ones, if no others are given."""
    known = all_figures() if known is None else known

    def figure(match):
        if match[1] not in known:
            raise KeyError(f"results/figures.py has no figure {match[1]}")
        return known[match[1]]

    return PLACE.sub(figure, text)
