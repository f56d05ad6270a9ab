"""ROMIO's own collective write beside Sluice's in simulation, and what a queued message costs a real MPI:
tables and figures, from lines of `sluice bench exchange --romio` and `sluice bench overhead --what queue`."""

import itertools

from data import MPIS, between, lines, mpi_of, newest, of_mpi

BESIDE_NOTE = """`sluice bench exchange --romio` on the machine knl: virtual time of one write, 64 aggregators, stripes of 1 MiB. *ROMIO* is
ROMIO's own program: an exchange of counts each round, receives in the order of ranks, one buffer, a write before the next round.
*balanced* is Sluice's exchange in the paper's order, with as many aggregators and the same windows. *queue*: what each request in a
receiver's queue adds to a message; *measured* is 10 ns, see the next table. *of the choice*: time over that of the library's choice."""
QUEUE_NOTE = """`results/measure queue`: rank 0 has so many receives posted, or messages that came unasked, of all other ranks; time of one
message. One sender stands for the worst case: MPICH has one queue for all senders, Open MPI one for each sender."""


def price_of(line):
    """Lines of the first records say where the price was measured."""
    return line["queue"].split()[0]


def comparisons():
    """(ranks, pattern, queue) -> name -> its newest line."""
    found = {}
    for line in lines("exchange"):
        if line["mode"] == "romio":
            found.setdefault((line["ranks"], line["pattern"], price_of(line)), {})[line["name"]] = line
    return found


def queues():
    return newest([line for line in lines("queue") if "requests" in line],
                  "mpi", "ranks", "queue", "requests").values()


def tables(table, seconds):
    rows = []
    for (ranks, pattern, price), of in comparisons().items():
        choice = of["the library's choice"]["seconds"]
        for name, line in of.items():
            rows.append([f"{pattern}, {ranks} ranks", price, name, seconds(line["seconds"]),
                         str(line["messages"]), f"{line['seconds'] / choice:.1f}",
                         str(line.get("rounds", ""))])
    text = table("In simulation: ROMIO's own collective write", BESIDE_NOTE,
                 ["pattern", "queue", "", "time", "messages", "of the choice", "rounds"], rows)
    rows = [[mpi_of(line), str(line["ranks"] - 1), line["queue"], str(line["requests"]),
             seconds(line["message"]["median"]), seconds(line["message"]["min"]),
             seconds(line["message"]["max"])] for line in queues()]
    return text + table("What a queued message costs", QUEUE_NOTE,
                        ["MPI", "senders", "queue", "requests", "a message: median", "min", "max"], rows)


def figures():
    counts = sorted({ranks for ranks, pattern, _ in comparisons() if pattern == "e3sm-f"})
    yield "romio_fewer", f"{counts[0]:,} ranks"
    yield "romio_more", f"{counts[-1]:,} ranks"
    rest = [of for (ranks, pattern, _), of in comparisons().items()
            if pattern != "e3sm-f" and ranks == counts[0]]
    yield "romio_others", between((of["ROMIO"]["seconds"] / of["the library's choice"]["seconds"]
                                   for of in rest), "{:.1f}")
    for (ranks, pattern, price), of in comparisons().items():
        if pattern != "e3sm-f":
            continue
        romio = of["ROMIO"]["seconds"]
        yield f"romio_{ranks}_senders", f"{of['ROMIO']['senders']:.0f}"
        for name, other in (("choice", "the library's choice"), ("balanced", "balanced")):
            yield f"romio_{ranks}_{price}_{name}", f"{romio / of[other]['seconds']:.1f}"
    yield from queued_requests()


def queued_requests():
    """A2: what a request adds to a message, between lengths of queues from 1,024 on. On average half
    of the requests are left; shorter queues are in the nearest cache."""
    of = {}
    for mpi in MPIS:
        for line in of_mpi(queues(), mpi):
            if line["requests"] >= 1024:
                of.setdefault((mpi, line["ranks"], line["queue"]), {})[line["requests"]] = (
                    line["message"]["median"])
    for (mpi, ranks, queue), messages in of.items():
        each = [2e9 * (messages[more] - messages[fewer]) / (more - fewer)
                for fewer, more in itertools.pairwise(sorted(messages))]
        yield f"queue_{mpi}_{ranks - 1}_{queue}", between(each, "{:.0f}") + " ns"
