"""Tables of the library's own choice against all its candidates, from lines of `bench --mode choice --json`."""

NOTE = """`results/measure choice`, on emulated devices ([device](../device.md)) without page cache, each with the profile that
`sluice calibrate` measured on it just before. Candidates: independent calls, always collective (`romio_cb_*` = `enable`,
else no hints), and two-phase forced by hints with 1, 2 and 4 aggregators and windows of 256K, 1M and 4M (`even 2x1M`).
All in turn, with *auto*, the library's own choice; ratios are medians of those of the same turn. Before each timed access far places
are read, then the same candidate runs once untimed, so that each finds the disk's head where it left it; those of two hosts are from before that.

- *Best*: the candidate with the shortest median. It is the best of a dozen medians, so it is a little too good by chance.
- *auto / best*: bold where it is more than 1.10 and auto chose another way than the best. *~*: in a quarter of the turns or more auto was no slower.
- *Same way*: auto / the candidate that is done in the same way; what is not 1.00 is noise.
- *Against the better*: the better of always-collective and always-independent / auto; bold below 0.95.
- *Error*: estimate / measured - 1, of what auto chose."""
SUMMARY_NOTE = "Over the cases of the next table."
WITHIN, AGAINST = 1.10, 0.95
LONG, STRATEGIES = 1 << 20, ("collective", "independent")
KIND_NOTE = """The paper validates its model for three devices, collective and individual access, on 4 and 2 nodes. Here: the
mean of |estimate / measured - 1| over contiguous, strided and random accesses of 1 MiB a rank and more, writes and reads."""


def case_of(line, mpi_of):
    return (line.get("device", ""), line["ranks"], line["pattern"], line["direction"],
            line["bytes_per_rank"], mpi_of(line))


def newest(rows, mode, mpi_of, *more):
    """The last line for each case."""
    return {(*case_of(r, mpi_of), *(r[key] for key in more)): r for r in rows if r["mode"] == mode}


def percent(part):
    return "" if part is None else f"{100 * part:+.0f} %"


def most(verdicts, quantity, device):
    """The largest ratio on a device, and where."""
    found = max((r for r in verdicts if r.get("device") == device), default=None,
                key=lambda r: r[quantity])
    if found is None:
        return "not measured"
    return (f"{found[quantity]:.2f} ({found['pattern']} {found['direction']}, "
            f"{found['ranks']} ranks, {found['bytes_per_rank'] >> 10} KiB a rank)")


def is_close(verdict):
    return verdict["chosen"] == verdict["best"] or verdict["chosen_over_best"] <= WITHIN


def errors_of(rows):
    return [abs(r["error"]) for r in rows if r["error"] is not None]


def error_rows(what, errors):
    if not errors:
        return
    mean, worst = sum(errors) / len(errors), max(errors)
    yield [f"{what}: mean of {len(errors)}", f"{100 * mean:.1f} %"]
    yield [f"{what}: worst", f"{100 * worst:.0f} %"]


def summary(verdicts, candidates):
    """What all cases come to together."""
    count = len(verdicts)
    within = [r for r in verdicts if is_close(r)]
    fair = [r for r in verdicts if r["better_over_chosen"] >= AGAINST]
    yield ["auto is the best or within 10 % of it", f"{len(within)} of {count}"]
    yield ["auto / best, the largest", f"{max(r['chosen_over_best'] for r in verdicts):.2f}"]
    yield ["auto at least 0.95 of the better of always-collective and always-independent",
           f"{len(fair)} of {count}"]
    yield ["the same, the least", f"{min(r['better_over_chosen'] for r in verdicts):.2f}"]
    for quantity, other, device in (("collective_over_chosen", "always-collective", "nvm"),
                                    ("independent_over_chosen", "always-independent", "hdd")):
        yield [f"most against {other} on {device}", most(verdicts, quantity, device)]
    of_kinds = kinds(candidates).values()
    yield from error_rows("error of the estimate, the paper's kinds of case", list(of_kinds))
    for long, size in ((True, "1 MiB a rank and more"), (False, "64 KiB a rank and less")):
        yield from error_rows(f"error of the estimate of auto, {size}", errors_of(
            r for r in verdicts if is_long(r) == long))
        yield from error_rows(f"error of the estimates of all candidates, {size}", errors_of(
            r for r in candidates if r["candidate"] != "auto" and is_long(r) == long))


def is_long(row):
    """Shorter calls take less than a few milliseconds: mostly until ranks have woken up."""
    return row["bytes_per_rank"] >= LONG


def kinds(candidates):
    """Device, ranks, strategy, and the errors of its estimates over patterns and directions."""
    of_kind = {}
    for row in candidates:
        if row["candidate"] in STRATEGIES and is_long(row) and row["error"] is not None:
            key = (row.get("device", ""), row["ranks"], row["candidate"])
            of_kind.setdefault(key, []).append(abs(row["error"]))
    return {key: sum(errors) / len(errors) for key, errors in sorted(of_kind.items())}


def kind_rows(candidates):
    for (device, ranks, strategy), error in kinds(candidates).items():
        yield [device, str(ranks), strategy, f"{100 * error:.1f} %"]


def verdict_row(verdict, seconds, size, mpi):
    over_best, against = verdict["chosen_over_best"], verdict["better_over_chosen"]
    text = f"{over_best:.2f}" + (" ~" if verdict["tie"] else "")
    same = verdict.get("chosen_over_twin")
    return [verdict.get("device", ""), f"{verdict['pattern']} {verdict['direction']}",
            str(verdict["ranks"]), size(verdict["bytes_per_rank"]), mpi, verdict["best"],
            seconds(verdict["best_seconds"]), verdict["chosen"],
            text if is_close(verdict) else f"**{text}**", f"{same:.2f}" if same else "",
            f"{against:.2f}" if against >= AGAINST else f"**{against:.2f}**",
            f"{verdict['collective_over_chosen']:.2f}",
            f"{verdict['independent_over_chosen']:.2f}", percent(verdict["error"])]


def tables(rows, table, seconds, size, mpi_of):
    verdicts = newest(rows, "choice verdict", mpi_of)
    candidates = newest(rows, "choice", mpi_of, "candidate").values()
    if not verdicts:
        return ""
    drawn = [verdict_row(verdict, seconds, size, key[-1])
             for key, verdict in sorted(verdicts.items())]
    return (table("The library's own choice: all cases together", SUMMARY_NOTE,
                  ["what", "measured"], summary(list(verdicts.values()), candidates)) +
            table("The model against the clock, by the paper's kinds of case", KIND_NOTE,
                  ["device", "ranks", "access", "error"], kind_rows(candidates)) +
            table("The library's own choice: each case", NOTE,
                  ["device", "what", "ranks", "a rank", "MPI", "best", "its time", "auto", "auto / best",
                   "same way", "against the better", "collective / auto", "independent / auto",
                   "error"], drawn))
