"""The table of how long all operations of a file take together, by how many are under way at once, from
lines of `bench --mode outstanding` (row M6)."""

from data import between, lines, mpi_of as name_of

NOTE = """`results/measure outstanding`: block3d, 4 ranks, operations of 64 MiB (16 MiB a rank), 16 of them, on ssd and *far* 8, on hdd 4; Sluice and
the MPI's own nonblocking calls in turn. Times are of *all operations together*, from the first start to the last wait: medians
(smallest .. largest). *Change*: against one at a time. *far* is `study/nvm/far.toml`: 2 GB/s, 5 ms before each
request's bytes, 32 requests at once. Row M6 of [the papers](../study/README.md)."""
NAMES = {"memory": "tmpfs"}
SIDES = {"sluice": "Sluice", "peer": "the MPI"}
# Bytes a second of the profiles in docs/device.md.
BANDWIDTH = {("nvm", "read"): 1000e6, ("nvm", "write"): 900e6, ("ssd", "read"): 550e6,
             ("ssd", "write"): 270e6, ("hdd", "read"): 120e6, ("hdd", "write"): 120e6}
FAR = "far"


def seconds(value):
    return f"{value:.2f} s" if value >= 1 else f"{1e3 * value:.0f} ms"


def cases(rows, mpi_of):
    """(MPI, device, direction) -> {operations under way: line}, the newest lines with an MPI beside."""
    found = {}
    for row in (row for row in rows if "peer" in row):
        limit = int(row["variant"].split("=")[1])
        found.setdefault((mpi_of(row), row["device"], row["direction"]), {})[limit] = row
    return found


def change(by_limit, side, limit):
    """Of the median, against one at a time, in percent."""
    return 100 * (by_limit[limit][side]["median"] / by_limit[1][side]["median"] - 1)


def tables(rows, table, mpi_of):
    drawn = []
    for (mpi, device, direction), by_limit in cases(rows, mpi_of).items():
        for limit, row in sorted(by_limit.items()):
            cells = []
            for side in SIDES:
                of = row[side]
                cells += [f"{seconds(of['median'])} ({seconds(of['min'])} .. {seconds(of['max'])})",
                          f"{change(by_limit, side, limit):+.0f} %" if limit > 1 else ""]
            drawn.append([f"{NAMES.get(device, device)} {direction}", mpi, str(limit), *cells,
                          f"{row['peer_over_sluice']:.2f}"])
    return table("Several operations under way", NOTE,
                 ["what", "MPI", "at once", "Sluice", "change", "the MPI", "change", "MPI / Sluice"],
                 drawn) if drawn else ""


def part_of_bandwidth(device, direction, row):
    bytes_of_all = row["bytes_per_rank"] * row["ranks"]
    return bytes_of_all / row["sluice"]["median"] / BANDWIDTH[device, direction]


def figures():
    """Row M6: the deepest against one at a time, both ways, over all devices but the far one; and there."""
    found = cases(lines("outstanding-times"), name_of)
    filled = {case: by_limit for case, by_limit in found.items() if case[1] != FAR}
    far = [by_limit for case, by_limit in found.items() if case[1] == FAR]
    for name, of in (("depth", filled.values()), ("depth_far", far)):
        for side, word in (("sluice", "sluice"), ("peer", "mpich")) if of else ():
            yield f"{name}_{word}", between((change(by_limit, side, max(by_limit)) for by_limit in of),
                                            "{:+.0f}") + " %"
    yield "depth_faster", between((row["peer_over_sluice"] for by_limit in found.values()
                                   for row in by_limit.values()), "{:.1f}")
    yield "depth_filled", between((100 * part_of_bandwidth(device, direction, by_limit[1])
                                   for (_, device, direction), by_limit in filled.items()
                                   if (device, direction) in BANDWIDTH), "{:.0f}") + " %"
