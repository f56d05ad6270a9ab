"""The tables of barriers by messages and by counters, and of multicast groups, over libfabric, from
lines of `bench overhead --what barrier` and `--what multicast` (row I9)."""

from data import between, lines, mpi_of, newest

BARRIERS = """`results/measure fabric`: one rank on each host. Dissemination: *messages* take slots, credits and a match, as those of the library;
with *writes with data*, *atomic additions* and *counted writes* peers raise counters, nothing is received and nothing matched. *Looking* ranks ask all the
time, so with more of them than cores they wait for each other. Median of turns of 300 barriers, of the slowest rank; processor time is that of all ranks
together for one barrier. The machine had other work meanwhile, and the ways took turns. Row I9 of [the papers](../study/README.md)."""
GROUPS = """`results/measure fabric`: what each provider of libfabric answers to `FI_MULTICAST` and `fi_join` on each host, and where all hosts joined, how many
of 200 datagrams of 1 KiB came, and how long one and a barrier took. Row I9 of [the papers](../study/README.md)."""


def rows_of(mode):
    return [row for row in lines("fabric") if row["mode"] == mode]


def barriers():
    """(MPI, nodes) -> {way: line}."""
    found = {}
    measured = [row for row in rows_of("barrier") if "seconds" in row]
    for (*case, way), row in newest(measured, "mpi", "nodes", "way").items():
        found.setdefault(tuple(case), {})[way] = row
    return found


def groups():
    found = newest(rows_of("multicast"), "mpi", "nodes", "provider", "endpoint")
    return {key: row for key, row in found.items() if key[1] == 2}


def text_of(row):
    if row["answer"] != "joined":
        return row["answer"]
    return f"joined, {100 * row['came']:.1f} % came"


def tables(table, seconds):
    drawn = [[str(nodes), mpi, way, seconds(row["seconds"]["median"]), seconds(row["processor"]["median"])]
             for (mpi, nodes), ways in barriers().items() for way, row in ways.items()]
    asked = [[mpi, provider, endpoint, text_of(row),
              seconds(row["seconds"]) if "seconds" in row else "",
              seconds(row["seconds_of_mpi"]) if "seconds" in row else ""]
             for (mpi, _, provider, endpoint), row in groups().items()]
    if not drawn or not asked:
        return ""
    return (table("Barriers between hosts", BARRIERS,
                  ["hosts", "MPI", "way", "one barrier", "processor, all ranks"], drawn) +
            table("Multicast groups", GROUPS,
                  ["MPI", "provider", "endpoint", "answer", "to all, and a barrier", "by `MPI_Bcast`"], asked))


def figures():
    """Counters by writes with data, asleep, as the library waits: against messages, and the MPI."""
    found = barriers()
    counters = "writes with data, tcp, asleep"
    asleep = [ways for ways in found.values() if counters in ways]

    def ratios(quantity, other):
        return between((ways[counters][quantity]["median"] / ways[other][quantity]["median"]
                        for ways in asleep), "{:.2f}")

    for quantity in ("seconds", "processor") if asleep else ():
        yield f"counters_{quantity}", ratios(quantity, "messages, tcp, asleep")
        yield f"counters_mpi_{quantity}", ratios(quantity, "MPI_Ibarrier")
    asked = groups()
    if not asked:
        return
    came = [row["came"] for row in asked.values() if "came" in row]
    joined = {key[2] for key, row in asked.items() if row["answer"].startswith("joined")}
    yield "multicast_asked", str(len({key[2] for key in asked}))
    yield "multicast_joined", ", ".join(f"`{one}`" for one in sorted(joined)) or "none"
    yield "multicast_came", between((100 * one for one in came), "{:.1f}") if came else "none"
