"""Tables of the exchange in simulation, from lines of `sluice bench exchange --json`."""

KERNELS_NOTE = """`sluice bench exchange --kernels --ranks {ranks} --machines knl,power9,ethernet`: virtual time of one write, {bytes} a rank,
windows of 128 KiB ([the machines and the model](../simulation.md)). *Metadata*, *data*, *computation* and *I/O*: of the rank
with most of each, so they do not add up. Every byte was compared. *Choice*: the library's choice over the best of the others."""
THROTTLE_NOTE = """`sluice bench exchange --throttles`: strided, knl, {ranks} ranks, the balanced kernel in one layer."""
PLANNING_NOTE = """`sluice bench exchange --planning --bytes 512 --piece 64 --window 64K`: real time of all that a rank does for one tiny write (not of
planning alone), and the memory that it holds at most beside the topology; wall clock of one process, so noisy. The file grows with the ranks, and with it the number
of aggregators, up to 64. *Most*: an aggregator. With one layer it holds some 1 KiB for each rank of other nodes (ops, claim, message)."""
CHOICE = "the library's choice"


def parts(run, seconds):
    return [seconds(run[part]) for part in ("seconds", "metadata", "data", "computation", "storage")]


def bytes_of_rank(runs, ranks):
    """Patterns have their own sizes."""
    found = {}
    for (_, of_ranks, pattern), by_name in runs.items():
        run = next(iter(by_name.values()))
        if of_ranks == ranks:
            found.setdefault(f"{run['bytes'] / run['ranks'] / 1024:.0f} KiB", []).append(pattern)
    return ", ".join(f"{size} ({', '.join(sorted(set(names)))})" for size, names in sorted(found.items()))


def kernels(runs, table, seconds):
    text = ""
    for ranks in sorted({key[1] for key in runs}):
        rows = []
        for (machine, of_ranks, pattern), by_name in runs.items():
            if of_ranks != ranks:
                continue
            best = min(r["seconds"] for name, r in by_name.items() if name != CHOICE)
            for name, run in by_name.items():
                ratio = f"{run['seconds'] / best:.3f}" if name == CHOICE else ""
                rows.append([f"{machine}, {pattern}", name, *parts(run, seconds),
                             str(run["messages"]), ratio])
        note = KERNELS_NOTE.format(ranks=ranks, bytes=bytes_of_rank(runs, ranks))
        text += table(f"In simulation: kernels at {ranks} ranks", note,
                      ["machine, pattern", "kernel", "time", "metadata", "data", "computation",
                       "I/O", "messages", "choice"], rows)
    return text


def throttles(lines, table, seconds):
    text = ""
    for ranks in sorted({r["ranks"] for r in lines}):
        runs = {(r["name"].split()[0], r["throttle"]): r for r in lines if r["ranks"] == ranks}
        rows = [[name, throttle, *parts(r, seconds)] for (name, throttle), r in runs.items()]
        text += table(f"In simulation: throttles at {ranks} ranks", THROTTLE_NOTE.format(ranks=ranks),
                      ["kernel", "throttle", "time", "metadata", "data", "computation", "I/O"], rows)
    return text


def planning(lines, table, seconds, size):
    rows = [[str(r["ranks"]), r["layers"], seconds(r["seconds_mean"]), seconds(r["seconds_most"]),
             size(r["peak_mean"]), size(r["peak_most"]), size(r["topology"])]
            for r in sorted(lines, key=lambda r: (r["layers"], r["ranks"]))]
    return table("In simulation: what an operation costs a rank, by number of ranks", PLANNING_NOTE,
                 ["ranks", "layers", "time, mean", "time, most", "memory, mean",
                  "memory, most", "topology, of all ranks"], rows)


def kernel_runs(lines):
    """(machine, ranks, pattern) -> name of the kernel -> its newest line."""
    runs = {}
    for r in lines:
        if r["mode"] == "kernels":
            runs.setdefault((r["machine"], r["ranks"], r["pattern"]), {})[r["name"]] = r
    return runs


def tables(lines, table, seconds, size):
    """The newest line for each combination counts."""
    runs = kernel_runs(lines)
    complete = {key: named for key, named in runs.items() if CHOICE in named and len(named) > 1}
    plans = {(r["ranks"], r["layers"]): r for r in lines if r["mode"] == "planning"}
    return kernels(complete, table, seconds) + \
        throttles([r for r in lines if r["mode"] == "throttle"], table, seconds) + \
        planning(list(plans.values()), table, seconds, size)
