"""How much of the wire between hosts collective calls fill."""

from data import between, lines, mpi_of, newest

NOTE = """`results/measure wire`: one call with pieces of 64 bytes, medians of nine; hosts are network namespaces of one machine
with 2 cores, and all see the file in memory. (N - 1)/N of all bytes go to other hosts in a write, and come from them in a read.
*Bytes*: they and nothing else, of what a link carries in the time of the whole call: 1 Gbit/s, and the 256 KiB that `tbf` lets
through at once after a pause. *Frames*: with the headers of Ethernet, IP and TCP, 66 bytes with each 1,448; bytes alone cannot
fill more than 95.6 %. With 4 ranks each has half of a core."""
FRAME = (1448 + 66) / 1448
BURST = 256 << 10  # tests/nodes/hosts.py


def newest_rows():
    return list(newest(lines("wire"), "nodes", "ranks", "bytes_per_rank", "direction",
                       "mpi").values())


def share(row):
    """Of the link, without headers."""
    hosts, link = row["nodes"], 1e9 / 8
    assert row["link"] == "1gbit"
    on_the_wire = row["bytes_per_rank"] * row["ranks"] / hosts * (hosts - 1) / hosts
    return on_the_wire / (link * row["sluice"]["median"] + BURST)


def figures():
    """Writes and reads with both MPIs, with headers."""
    rows = newest_rows()
    for name, size in ("short", 16), ("long", 128):
        for hosts, ranks in (2, 2), (2, 4), (4, 4):
            found = [100 * share(r) * FRAME for r in rows
                     if (r["bytes_per_rank"], r["nodes"], r["ranks"]) == (size << 20, hosts, ranks)]
            yield f"wire_{name}_{hosts}x{ranks // hosts}", between(found, "{:.0f}") + " %"


def tables(table, seconds):
    """One row a call, hosts and MPI."""
    drawn = []
    for r in sorted(newest_rows(), key=lambda r: (r["nodes"], r["ranks"], r["bytes_per_rank"],
                                                   r["direction"] == "read", mpi_of(r))):
        peer = seconds(r["peer"]["median"]) if "peer" in r else "-"
        drawn.append([f"{r['nodes']} x {r['ranks'] // r['nodes']}", f"{r['bytes_per_rank'] >> 20} MiB",
                      r["direction"], mpi_of(r), seconds(r["sluice"]["median"]), peer,
                      f"{100 * share(r):.1f} %", f"{100 * share(r) * FRAME:.1f} %"])
    return table("How much of the wire calls fill", NOTE,
                 ["hosts x ranks", "a rank", "what", "MPI", "Sluice", "MPI alone", "bytes", "frames"],
                 drawn) if drawn else ""
