"""How much of the wire between hosts collective calls fill."""

import statistics

from data import between, lines, mpi_of, newest

NOTE = """`results/measure wire`: one call with pieces of 64 bytes, medians of nine; hosts are network namespaces of one machine
with 2 cores, and all see the file in memory. (N - 1)/N of all bytes go to other hosts in a write, and come from them in a read.
*Bytes*: they and nothing else, of what a link carries in the time of the whole call: 1 Gbit/s, and the 256 KiB that `tbf` lets
through at once after a pause. *Frames*: with the headers of Ethernet, IP and TCP, 66 bytes with each 1,448; bytes alone cannot
fill more than 95.6 %. With 4 ranks each has half of a core."""
FREE_NOTE = """The same calls where nothing limits the links: the 2 cores do, which pack, unpack, send and write to the file. *libfabric*:
as the library sends messages. *The MPI*: as it did before, and does where there is no libfabric (`SLUICE_NETWORK=mpi`)."""
FRAME = (1448 + 66) / 1448
BURST = 256 << 10  # tests/nodes/hosts.py


def newest_rows(link):
    return list(newest((row for row in lines("wire") if row["link"] == link), "nodes", "ranks",
                       "bytes_per_rank", "direction", "network", "mpi").values())


def place_of(row):
    """In a table."""
    return (row["nodes"], row["ranks"], row["bytes_per_rank"], row["direction"] == "read",
            mpi_of(row))


def free_pairs():
    """Of calls over links without a limit: over libfabric, and over the MPI."""
    of = {}
    for row in newest_rows("not shaped"):
        of.setdefault(place_of(row), {})[row["network"]] = row
    return [(of[case]["fabric"], of[case]["mpi"]) for case in sorted(of)]


def gain(pair):
    fabric, mpi = (row["sluice"]["median"] for row in pair)
    return mpi / fabric


def share(row):
    """Of a link of 1 Gbit/s, without headers."""
    hosts, link = row["nodes"], 1e9 / 8
    on_the_wire = row["bytes_per_rank"] * row["ranks"] / hosts * (hosts - 1) / hosts
    return on_the_wire / (link * row["sluice"]["median"] + BURST)


def figures():
    """Writes and reads with both MPIs, with headers."""
    rows = newest_rows("1gbit")
    for name, size in ("short", 16), ("long", 128):
        for hosts, ranks in (2, 2), (2, 4), (4, 4):
            found = [100 * share(r) * FRAME for r in rows
                     if (r["bytes_per_rank"], r["nodes"], r["ranks"]) == (size << 20, hosts, ranks)]
            yield f"wire_{name}_{hosts}x{ranks // hosts}", between(found, "{:.0f}") + " %"
    gains = list(map(gain, free_pairs()))
    yield "unshaped_gain", between(gains, "{:.2f}")
    yield "unshaped_gain_median", f"{statistics.median(gains):.2f}"


def case_of(row):
    return [f"{row['nodes']} x {row['ranks'] // row['nodes']}", f"{row['bytes_per_rank'] >> 20} MiB",
            row["direction"], mpi_of(row)]


def tables(table, seconds):
    """One row a call, hosts and MPI."""
    drawn = []
    for r in sorted(newest_rows("1gbit"), key=place_of):
        peer = seconds(r["peer"]["median"]) if "peer" in r else "-"
        drawn.append([*case_of(r), seconds(r["sluice"]["median"]), peer,
                      f"{100 * share(r):.1f} %", f"{100 * share(r) * FRAME:.1f} %"])
    free = [[*case_of(fabric), *(seconds(row["sluice"]["median"]) for row in (fabric, mpi)),
             f"{gain((fabric, mpi)):.2f}"] for fabric, mpi in free_pairs()]
    case = ["hosts x ranks", "a rank", "what", "MPI"]
    limited = table("How much of the wire calls fill", NOTE,
                    [*case, "Sluice", "MPI alone", "bytes", "frames"], drawn) if drawn else ""
    return limited + (table("Where nothing limits the links", FREE_NOTE,
                            [*case, "over libfabric", "over the MPI", "ratio"], free)
                      if free else "")
