"""The table of messages between two hosts over the MPI and over libfabric, from lines of
`bench overhead --what network` (rows I2 to I5)."""

from data import between, lines, mpi_of, newest

NOTE = """`results/measure network`: a rank on each of two hosts. *Looking*: the thread that waits asks all the time; *napping*: as the
library waits for messages of the MPI; *asleep*: as it waits for those of libfabric; *kept*: its memory is registered once, not for each message. Half round trip of a ping-pong, and a stream of windows
of 16 messages one way: median of five turns, the ways in turn. *Computing*: both ranks have a thread that computes, on 2 cores in all. *s/GiB*: processor
seconds of both ranks for a GiB of the stream. The helper of the library is asleep. Rows I2 to I5 of [the papers](../study/README.md)."""
FABRIC, MPI = "tcp", "MPI"


def cases():
    """(MPI, link, computing, bytes) -> {way: line}."""
    found = {}
    for (*case, way), row in newest(lines("network"), "mpi", "link", "computing", "bytes", "way").items():
        found.setdefault(tuple(case), {})[way] = row
    return found


def microseconds(value):
    return f"{1e6 * value:.1f} us" if value < 1e-3 else f"{1e3 * value:.2f} ms"


def cells(row):
    return [microseconds(row["half_round_trip"]["median"]), f"{row['bandwidth']['median'] / 2 ** 20:.0f}",
            f"{row['processor']['median']:.2f}"]


def tables(table, size):
    drawn = [[link, mpi, "yes" if computing else "", f"{count} B" if count < 1024 else size(count), way, *cells(row)]
             for (mpi, link, computing, count), ways in cases().items() for way, row in ways.items()]
    return table("Messages between two hosts", NOTE,
                 ["link", "MPI", "computing", "bytes", "way", "half round trip", "MiB/s", "s/GiB"],
                 drawn) if drawn else ""


def ratio(ways, quantity, one, other):
    return ways[one][quantity]["median"] / ways[other][quantity]["median"]


def figures():
    """Against the MPI of the same run: below 1 libfabric is faster, but for bandwidth."""
    found = cases()
    free = [ways for (_, link, computing, _), ways in found.items() if link == "not shaped" and not computing]
    if not free:
        return
    looking, asleep = f"{FABRIC}, looking", f"{FABRIC}, asleep"
    yield "network_looking", between((ratio(ways, "half_round_trip", looking, f"{MPI}, looking")
                                      for ways in free), "{:.2f}")
    yield "network_stream", between((ratio(ways, "bandwidth", looking, f"{MPI}, looking")
                                     for ways in free), "{:.2f}")
    yield "network_asleep", between((ratio(ways, "half_round_trip", f"{MPI}, napping", asleep)
                                     for ways in free), "{:.1f}")
    computing = [ways for (_, _, computes, _), ways in found.items() if computes]
    if computing:
        yield "network_computing", between((ratio(ways, "half_round_trip", f"{MPI}, napping", asleep)
                                            for ways in computing), "{:.1f}")
    shaped = [ways for (_, link, computes, count), ways in found.items()
              if link == "1gbit" and not computes and count >= 65536]
    for name, way in (("napping", "MPI, napping"), ("looking", "MPI, looking")):
        yield f"network_processor_1gbit_{name}", between((ratio(ways, "processor", asleep, way)
                                                          for ways in shaped), "{:.2f}")
    long = [ways for (_, link, computes, count), ways in found.items()
            if link == "not shaped" and not computes and count >= 65536]
    kept = f"{asleep}, kept"
    of_long = [ways for ways in free if kept in ways and ways[kept]["bytes"] >= 65536]
    for name, quantity in ((("network_kept", "half_round_trip"), ("network_kept_processor", "processor"))
                           if of_long else ()):
        yield name, between((ratio(ways, quantity, kept, asleep) for ways in of_long), "{:.2f}")
    yield "network_processor", between((ratio(ways, "processor", asleep, f"{MPI}, looking")
                                        for ways in long), "{:.2f}")
