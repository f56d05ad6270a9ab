"""Figures that texts quote, each worked out from the lines that the tables are drawn from. A text has
{name} in its place; a name that is none fails, and so does a figure whose lines are gone."""

import json
import pathlib
import re
import statistics

import choice
import row_figures

HERE = pathlib.Path(__file__).resolve().parent
MPIS = {"mpich": "MPICH", "openmpi": "Open MPI"}
PEER = "the MPI's own"
PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def lines(name):
    return [json.loads(text) for text in (HERE / f"{name}.jsonl").read_text().splitlines()]


def of_mpi(rows, mpi):
    return [row for row in rows if MPIS[mpi] in row["mpi_library"]]


def between(values, text="{:.1f}"):
    """The least and the largest."""
    return f"{text.format(min(values))} to {text.format(max(values))}"


def percent(value):
    return f"{100 * value:.0f} %"


def outstanding():
    """M6: seconds of all operations together, by how many are under way at once."""
    rows = {}
    for row in lines("outstanding-times"):
        rows[row["mpi_library"], row["direction"], int(row["variant"].split("=")[1])] = row
    for mpi, name in MPIS.items():
        for way in ("write", "read"):
            found = {k: row["sluice"]["median"] for (library, direction, k), row in rows.items()
                     if direction == way and name in library}
            yield f"outstanding_{mpi}_{way}", ", ".join(
                f"{1e3 * found[k]:.1f}" for k in sorted(found))


def model():
    """N6: how far estimates are from the clock."""
    rows = choice.newest(lines("choice"), "choice", lambda row: row["mpi_library"], "candidate").values()
    kinds = list(choice.kinds(rows).values())
    cases = [abs(row["error"]) for row in rows if row["candidate"] in choice.STRATEGIES
             and choice.is_long(row) and row["error"] is not None]
    yield "model_mean", f"{100 * statistics.mean(kinds):.1f} %"
    yield "model_worst_kind", f"{100 * max(kinds):.1f} %"
    yield "model_worst_case", f"{100 * max(cases):.1f} %"
    yield "model_kinds", str(len(kinds))
    verdicts = choice.newest(lines("choice"), "choice verdict", lambda row: row["mpi_library"]).values()
    own = choice.errors_of(row for row in verdicts if choice.is_long(row))
    yield "model_chosen_mean", f"{100 * statistics.mean(own):.1f} %"
    yield "model_chosen_worst", f"{100 * max(own):.1f} %"


def verdicts():
    """N7: the library's choice, judged in the kinder and in the stricter way."""
    rows = lines("choice")
    found = choice.newest(rows, "choice verdict", lambda row: row["mpi_library"])
    close = [row for row in found.values() if choice.is_close(row)]
    yield "choice_within", f"{len(close)} of {len(found)}"
    medians = {}
    for key, row in choice.newest(rows, "choice", lambda row: row["mpi_library"], "candidate").items():
        medians.setdefault(key[:-1], {})[row["candidate"]] = row["total"]["median"]
    ratios = [of["auto"] / min(of.values()) for key, of in medians.items() if key in found]
    yield "choice_within_by_medians", f"{sum(r <= choice.WITHIN for r in ratios)} of {len(ratios)}"
    yield "choice_worst_by_medians", f"{max(ratios):.2f}"


def simulated():
    """A6: one layer in the order of ROMIO against the balanced order."""
    runs = {}
    for row in lines("exchange"):
        if row["mode"] == "kernels":
            runs[row["machine"], row["ranks"], row["pattern"], row["name"]] = row

    def ratios(machine, ranks, name):
        return {pattern: row["seconds"] / runs[machine, ranks, pattern, "balanced"]["seconds"]
                for (m, n, pattern, named), row in runs.items()
                if (m, n, named) == (machine, ranks, name)}

    for machine in ("knl", "power9"):
        yield f"{machine}_romio", between(ratios(machine, 1024, "ROMIO").values())
        yield f"{machine}_issend", between(ratios(machine, 1024, "ROMIO, issend").values())
    large = ratios("knl", 4096, "ROMIO")
    yield "knl_4096_strided", f"{large['strided']:.0f}"
    yield "knl_4096_worst", f"{max(large.values()):.0f} ({max(large, key=large.get)})"
    of_rank = {pattern: row["bytes"] / row["ranks"] for (_, _, pattern, _), row in runs.items()}
    yield "simulated_bytes", ", ".join(f"{value / 1024:.0f} KiB ({name})"
                                       for name, value in sorted(of_rank.items()))
    sweep = {row["throttle"]: row["seconds"] for row in lines("exchange")
             if row["mode"] == "throttle" and row["machine"] == "knl" and row["ranks"] == 1024
             and row["name"].startswith("balanced")}
    for batch in ("1", "4", "32", "256", "0"):
        if batch in sweep:
            yield f"knl_throttle_{batch}", f"{1e3 * sweep[batch]:.1f}"


def hosts():
    """A7: the library's choice on hosts, against the best of the other kernels."""
    trials = {}
    for row in lines("nodes"):
        if row["mode"] == "exchange":
            case = tuple(row[key] for key in ("mpi_library", "nodes", "ranks", "pattern", "direction"))
            trials.setdefault(case, {})[row["kernel"], row["throttle"]] = row["total"]["median"]
    ratios = [of["auto", "auto"] / min(value for key, value in of.items() if key != ("auto", "auto"))
              for of in trials.values() if len(of) > 1 and ("auto", "auto") in of]
    yield "hosts_choice_cases", str(len(ratios))
    yield "hosts_choice_median", f"{statistics.median(ratios):.2f}"
    yield "hosts_choice_worst", f"{max(ratios):.2f}"


def shared_device():
    """Writes of two nodes to a device behind the wire: the MPI's time over Sluice's."""
    ratios = []
    runs = {}
    for row in lines("domains"):
        case = tuple(row.get(key) for key in ("device", "nodes", "ranks", "pattern", "direction",
                                              "bytes_per_rank"))
        runs.setdefault(case, {})[row["division"]] = row["total"]["median"]
    for (device, nodes, *_), of in runs.items():
        if nodes == 2 and device != "memory" and "auto" in of and PEER in of:
            ratios.append(of[PEER] / of["auto"])
    yield "behind_wire", between(ratios, "{:.2f}")


def kernels():
    """I7: less overhead, and less time in calls, which is what the paper counts."""
    newest = {}
    for row in lines("collectives-kernels"):
        if row["mode"] == "application kernel" and row.get("while") == "asleep" and row.get("nodes", 1) == 1:
            newest[row["mpi_library"], row["kernel"]] = row
    for mpi, name in MPIS.items():
        for (library, kernel), row in newest.items():
            if name not in library:
                continue
            ways = row["ways"]
            way = ways.get("sluice, one operation", ways.get("sluice", {}))
            short = kernel.split()[0].replace("fft-", "")  # compression, slab, pencil
            yield f"{short}_{mpi}_overhead", percent(way["reduction"])
            yield f"{short}_{mpi}_in_calls", percent(way["reduction_in_calls"])
    packed = [row for row in newest.values() if row.get("codec") == "zstd"]
    yield "zstd_ratio", f"{packed[-1]['bytes'] / packed[-1]['compressed_bytes']:.1f} : 1"


def all_figures():
    found = {}
    for group in (outstanding, model, verdicts, simulated, hosts, shared_device, kernels):
        found.update(group())
    found.update(row_figures.figures(lines))
    return found


def typed_by_hand(text):
    """Cells of the column `here` that have a figure which does not come from the data."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 5 or cells[2] in ("here", "---"):
            continue
        bare = PLACE.sub("", re.sub(r"`[^`]*`|\]\([^)]*\)", "", cells[2]))
        for bound in ("at least 0.97", "within 10 %", "power9"):
            bare = bare.replace(bound, "")
        if re.search(r"\d", bare):
            yield f"{cells[0]}: {cells[2]}"


def filled(text):
    """The text with its figures."""
    known = all_figures()

    def figure(match):
        if match[1] not in known:
            raise KeyError(f"results/figures.py has no figure {match[1]}")
        return known[match[1]]

    return PLACE.sub(figure, text)
