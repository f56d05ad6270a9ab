"""Tables of the patterns that users report as slow in every MPI, and of writes of each rank alone, from lines of
`results/measure reported`."""

from data import between, lines, mpi_of, newest

NOTE = """`results/measure reported`, page cache (tmpfs), in turn, medians of repeated calls: each contender's time over Sluice's, above 1 Sluice
is faster. *lattice4d*, *lattice5d*: a block of sites of 36 MiB a rank in the order of the whole lattice (pmodels/mpich#7935). *strided*:
segments of 4 KiB in turn, 64 MiB a rank (pmodels/mpich#7645). *holes*: 175,000 single words a rank with gaps between them
(pmodels/mpich#7283). *By hand*: `MPI_Alltoallv` and one POSIX transfer of each rank, whose lists are worked out before the clock starts.
*Of limit*: see the comparison. *Changed gaps*: bytes between the words in which the MPI's own write left what was in its memory."""
ALONE_NOTE = """`sluice bench --mode independent` in `results/measure reported`: `MPI_File_write_at` and `read_at` of each rank, 4 MiB, in
turn, page cache (tmpfs); the MPI's time over Sluice's. Sluice writes no byte of a gap ([0026](../decisions/0026-no-sieved-writes.md)); short pieces
go into a mapping of the file ([0068](../decisions/0068-mapped-pieces.md))."""
CONTENDERS = ("default", "best hints", "thread", "by hand")
KEYS = ("mpi", "ranks", "pattern", "piece_bytes", "direction")


def of_mode(mode):
    """(MPI, ranks, pattern, piece, direction, contender or variant) -> its newest line."""
    found = [line for line in lines("reported") if line["mode"] == mode]
    return newest(found, *KEYS, "contender" if mode == "compare" else "variant")


def compared():
    """(MPI, ranks, pattern, direction) -> contender -> its line."""
    of = {}
    for (mpi, ranks, pattern, _, direction, contender), line in of_mode("compare").items():
        of.setdefault((mpi, ranks, pattern, direction), {})[contender] = line
    return of


def over_sluice(of, contender):
    return f"{of[contender]['repeated_over_sluice']:.2f}" if contender in of else "-"


def alone():
    """(MPI, ranks, pattern, piece, direction) -> the line of blocking calls."""
    return {key[:5]: line for key, line in of_mode("independent").items() if key[5] == "at"}


def tables(table, seconds):
    rows = []
    for (mpi, ranks, pattern, direction), of in sorted(compared().items()):
        ours = of["sluice"]
        rows.append([f"{pattern} {direction}", mpi, str(ranks), seconds(ours["repeated"]["median"]),
                     *(over_sluice(of, one) for one in CONTENDERS),
                     f"{100 * ours['share_of_limit']:.0f} %",
                     str(of["default"]["wrong_bytes"] or "") if pattern == "holes" else ""])
    text = table("Patterns that users report", NOTE,
                 ["what", "MPI", "ranks", "Sluice", *CONTENDERS, "of limit", "changed gaps"], rows)
    rows = [[f"{pattern} {direction}" + (f", {piece} bytes" if pattern == "strided" else ""), mpi, str(ranks),
             seconds(line["sluice"]["median"]), seconds(line["peer"]["median"]),
             f"{line['peer_over_sluice']:.2f}"]
            for (mpi, ranks, pattern, piece, direction), line in sorted(alone().items())]
    return text + table("Each rank alone, in pieces", ALONE_NOTE,
                        ["what", "MPI", "ranks", "Sluice", "the MPI", "MPI / Sluice"], rows)


def sieved():
    """MPICH's time over Sluice's, where each of its ranks sieves."""
    return [of["best hints"]["repeated_over_sluice"] for (mpi, _, pattern, direction), of in compared().items()
            if (mpi[:5], pattern, direction) == ("MPICH", "holes", "write")]


def figures():
    for pattern in ("lattice4d", "lattice5d", "strided", "holes"):
        for contender in CONTENDERS:
            ratios = [of[contender]["repeated_over_sluice"] for key, of in compared().items()
                      if key[2] == pattern and contender in of]
            if ratios:
                yield f"reported_{pattern}_{contender.replace(' ', '_')}", between(ratios, "{:.1f}")
    if sieved():
        yield "reported_sieved", between(sieved())
    for mpi in ("MPICH", "Open MPI"):
        for piece in (64, 1024, 4096):
            ratios = [line["peer_over_sluice"] for key, line in alone().items()
                      if key[0].startswith(mpi) and key[2:5] == ("strided", piece, "write")]
            if ratios:
                yield f"alone_{mpi.replace(' ', '').lower()}_{piece}", between(ratios)
