"""What hides behind computation: on the device of 40 MiB/s, and on faster ones, where a plain thread
without any MPI tells how much can be hidden on the machine's cores at all."""

import statistics

from data import between, lines, newest, percent

GOAL, REACHABLE = 0.84, 0.90  # The paper's share, and the least of the ideal that makes it a goal.
PLACES = {("nvm", 1): "nvm, emulated", ("ssd", 1): "ssd, emulated", ("disk", 1): "disk of the machine",
          ("ssd", 2): "ssd behind 2 hosts"}


def slow():
    """Sluice's lines on the device of 40 MiB/s, each by (MPI, ranks, pattern, direction)."""
    return newest([row for row in lines("overlap") if row["side"] == "Sluice" and "device" not in row],
                  "mpi", "ranks", "pattern", "direction")


def side_of(row):
    """Without Sluice a run has the MPI's own calls, with its thread for progress."""
    return row["side"] if row["sluice_version"] else "async"


def fast():
    """(MPI, nodes, device, ranks, pattern, direction) -> lines by side."""
    cases = {}
    rows = [{**row, "side": side_of(row)} for row in lines("overlap") if "device" in row]
    for (*case, side), row in newest(rows, "mpi", "nodes", "device", "ranks", "pattern", "direction",
                                     "side").items():
        cases.setdefault(tuple(case), {})[side] = row
    return cases


def hidden(row):
    return row["hidden_strict"]["median"]


def place(case):
    return PLACES[case[2], case[1]]


def reachable(cases):
    """Sluice's share of each case in which the ideal hides enough for the goal."""
    return [hidden(sides["Sluice"]) for sides in cases.values() if hidden(sides["ideal"]) >= REACHABLE]


def by_place(cases):
    found = {}
    for case, sides in cases.items():
        found.setdefault(place(case), []).append(sides)
    return found


def slow_table(table, seconds):
    rows = []
    for (mpi, ranks, pattern, direction), row in slow().items():
        share, alone = row["hidden_strict"], row["io_alone"]
        rows.append([f"{pattern} {direction}", mpi, str(ranks), seconds(alone),
                     seconds(row["compute_alone"]["median"]), percent(share["median"]),
                     f"{percent(share['min'])} .. {percent(share['max'])}",
                     f"{100 * row['start']['median'] / alone:.2f} %"])
    return table("Hidden behind computation, with no MPI_Test", "`results/measure overlap`, 8 MiB a rank.",
                 ["what", "MPI", "ranks", "I/O alone", "computation alone", "hidden", "spread",
                  "initiation / I/O"], rows)


def processors(row, whose="processors_threads"):
    """Milliseconds beside the computation."""
    return 1e3 * row[whose]["median"]


def used(row):
    """Processor time of the ranks' threads and of the device's server, where there is one."""
    return " + ".join(f"{processors(row, whose):.0f}"
                      for whose in ("processors_threads", "processors_server") if row.get(whose))


FAST_NOTE = """`results/measure overlap-devices`, no `MPI_Test`: Sluice / the ideal / the MPI's own, in turn, and
where it was measured the MPI's blocking call in a thread of each rank (with `MPI_THREAD_MULTIPLE` for all), and in a run of its
own MPICH with its thread for progress (`MPIR_CVAR_ASYNC_PROGRESS=1`).
The *ideal* is a plain thread in each rank that transfers an equal part of the file, in the file's order, without any MPI; on
hosts it also sends what an exchange must by one connection of TCP. It has no copy between user memory and the file's order, so
no collective call reaches it. *Shorter*: the whole run against I/O and computation one after the other; the most is 50 %.
*Processors*: ms beside the computation, threads of the ranks + the server of the emulated device, which a real one has not.
The disk is past the page cache (`sluice_page_cache=direct`); the MPI's own goes through the cache there."""


def fast_table(table, seconds):
    rows = []
    for case, sides in fast().items():
        mpi, _, _, ranks, pattern, direction = case
        order = [sides[side] for side in ("Sluice", "ideal", "peer", "thread", "async")
                 if side in sides]
        ours = sides["Sluice"]["hidden_strict"]
        rows.append([place(case), mpi, str(ranks), f"{pattern} {direction}",
                     seconds(sides["Sluice"]["io_alone"]),
                     " / ".join(percent(hidden(row)) for row in order),
                     f"{percent(ours['min'])} .. {percent(ours['max'])}",
                     " / ".join(percent(row["shorter"]["median"]) for row in order),
                     " / ".join(used(row) for row in order[:2])])
    return table("Hidden on fast devices and on two hosts", FAST_NOTE,
                 ["where", "MPI", "ranks", "what", "I/O alone", "hidden", "Sluice's spread", "shorter",
                  "processors"], rows)


HALO_NOTE = """`results/measure halos`: as above, with two ranks, and beside it the same with a computation that exchanges 64 KiB
with its neighbours after each few hundred microseconds. On two hosts one link carries these messages, the exchange and the file.
*Hidden*: Sluice / the MPI's own / on one node the MPI's blocking call in a thread of each rank. *Slower*: Sluice's computation with an operation
under way, against none."""


def halos():
    """(nodes, device, MPI, pattern, direction) -> computation -> side -> its line."""
    found = {}
    for (*case, computation, side), row in newest(
            lines("halos"), "nodes", "device", "mpi", "pattern", "direction", "computation",
            "side").items():
        found.setdefault(tuple(case), {}).setdefault(computation, {})[side] = row
    return found


def halo_table(table, seconds):
    rows = []
    for (nodes, device, mpi, pattern, direction), of in halos().items():
        cells = []
        for computation in ("host", "halos"):
            sides = of[computation]
            cells += [" / ".join(percent(hidden(sides[side])) for side in ("Sluice", "peer", "thread")
                                 if side in sides),
                      percent(sides["Sluice"]["slower"]["median"])]
        rows.append([PLACES[device, nodes], mpi, f"{pattern} {direction}",
                     seconds(of["halos"]["Sluice"]["io_alone"]), *cells])
    return table("Beside the program's own messages", HALO_NOTE,
                 ["where", "MPI", "what", "I/O alone", "hidden, computation alone", "slower",
                  "hidden, with messages", "slower"], rows)


def tables(table, seconds):
    return (slow_table(table, seconds) + (fast_table(table, seconds) if fast() else "")
            + (halo_table(table, seconds) if halos() else ""))


def copies():
    """M4: what the exchange's copies take, with two ranks on one node."""
    cases = {case: sides for case, sides in fast().items() if case[1] == 1 and case[3] == 2}
    for pattern in ("block3d", "strided"):
        found = [sides for case, sides in cases.items() if case[4] == pattern]
        more = [processors(sides["Sluice"]) - processors(sides["ideal"]) for sides in found]
        gaps = [100 * (hidden(sides["ideal"]) - hidden(sides["Sluice"])) for sides in found]
        yield f"copies_{pattern}", f"{statistics.median(more):.0f} ms"
        yield f"gap_{pattern}", f"{statistics.median(gaps):.0f}"
    yield "served_nvm", between((processors(sides["ideal"], "processors_server")
                                 for case, sides in cases.items() if case[2] == "nvm"), "{:.0f}") + " ms"


def crowded():
    """M4: with four ranks, and their helpers, on two cores."""
    on_disk = [sides for case, sides in fast().items() if (case[2], case[3]) == ("disk", 4)]
    for side in ("Sluice", "ideal"):
        yield f"disk_4_{side.lower()}", between((100 * hidden(sides[side]) for sides in on_disk), "{:.0f}") + " %"


def figures():
    """Rows M4 and L6."""
    for ranks in (2, 4):
        rows = [row for (_, of, *_), row in slow().items() if of == ranks]
        if not rows:
            continue
        yield f"overlap_{ranks}", between((100 * hidden(row) for row in rows), "{:.0f}") + " %"
        yield f"longer_{ranks}", between((100 * (row["total"]["median"] / row["io_alone"] - 1)
                                          for row in rows), "{:.1f}") + " %"
        yield f"shorter_{ranks}", between(
            (100 * (1 - row["total"]["median"] / (row["io_alone"] + row["compute_alone"]["median"]))
             for row in rows), "{:.0f}") + " %"
    cases = fast()
    if not cases:
        return
    shares = reachable(cases)
    yield "fast_good", f"{sum(share >= GOAL for share in shares)} of {len(shares)}"
    good = sum(hidden(sides["Sluice"]) >= GOAL for sides in cases.values())
    yield "fast_good_of_all", f"{good} of {len(cases)}"
    yield "fast_cases", str(len(cases))
    for side in ("Sluice", "ideal", "peer", "thread", "async"):
        of_side = [sides[side] for sides in cases.values() if side in sides]
        if not of_side:
            continue
        yield f"fast_{side.lower()}", between((100 * hidden(row) for row in of_side), "{:.0f}") + " %"
        yield f"fast_shorter_{side.lower()}", between((100 * row["shorter"]["median"] for row in of_side),
                                              "{:.0f}") + " %"
    behind = [hidden(sides["ideal"]) - hidden(sides["Sluice"]) for sides in cases.values()]
    yield "fast_behind", f"{100 * statistics.median(behind):.0f}"
    for name, found in by_place(cases).items():
        word = name.split(",")[0].replace(" ", "_")
        for side in ("Sluice", "ideal"):
            yield f"on_{word}_{side.lower()}", between((100 * hidden(sides[side]) for sides in found),
                                               "{:.0f}") + " %"
        yield f"on_{word}_longer", between(
            (100 * (sides["Sluice"]["total"]["median"] / sides["Sluice"]["io_alone"] - 1)
             for sides in found), "{:.0f}") + " %"
        yield f"on_{word}_ideal_longer", between(
            (100 * (sides["ideal"]["total"]["median"] / sides["ideal"]["io_alone"] - 1)
             for sides in found), "{:.0f}") + " %"
