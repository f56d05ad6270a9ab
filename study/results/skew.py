"""How much of what late ranks cost each kind of call absorbs."""

from data import between, lines, mpi_of, newest

NOTE = """`results/measure skew`: ranks compute in steps of 20 ms, each by lot up to a half shorter or longer, and write
64 KiB each, together, with pieces of 64 bytes, after every step; 20 steps, medians of nine, a file in memory. They sleep instead of computing,
so that whoever moves the data has a core. *No call* and *barrier*: the same steps with no call, and with `MPI_Barrier` in
place of the write; a write that costs no more than the first absorbs all of what skew costs (100 %), one as slow as the second
nothing, and one that is slower has less than nothing. *N at a time*: nonblocking calls, of which so many may be under way."""
WAYS = ("Sluice, blocking", "Sluice, nonblocking, 1 at a time", "Sluice, nonblocking, 4 at a time",
        "Sluice, write-behind", "the MPI, blocking", "the MPI, nonblocking, 1 at a time",
        "the MPI, nonblocking, 4 at a time")


def runs():
    """(device, ranks, MPI) -> way -> its line."""
    of = {}
    for (device, ranks, mpi, way), row in newest(lines("skew"), "device", "ranks", "mpi",
                                                 "way").items():
        of.setdefault((device, ranks, mpi), {})[way] = row
    return of


def absorbed(way, ranks=None):
    """Of each run, in per cent."""
    return [100 * of[way]["absorbed"]["median"] for case, of in runs().items()
            if way in of and ranks in (None, case[1])]


def figures():
    for name, way in (("blocking", WAYS[0]), ("nonblocking", WAYS[2]), ("behind", WAYS[3]),
                      ("mpi_blocking", WAYS[4]), ("mpi_nonblocking", WAYS[6])):
        for ranks in sorted({of for _, of, _ in runs()}):
            yield f"skew_{name}_{ranks}", between(absorbed(way, ranks), "{:.0f}") + " %"


def tables(table, seconds):
    drawn = [[device, str(ranks), mpi, seconds(of["no call"]["seconds"]["median"]),
              seconds(of["MPI_Barrier"]["seconds"]["median"]),
              *(f"{100 * of[way]['absorbed']['median']:.0f} %" if way in of else "-"
                for way in WAYS)]
             for (device, ranks, mpi), of in sorted(runs().items())]
    return table("What late ranks cost, and which calls absorb it", NOTE,
                 ["device", "ranks", "MPI", "no call", "barrier", *WAYS], drawn) if drawn else ""
