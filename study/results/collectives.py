"""Tables of collectives between memories, from lines of `bench overhead` and `bench kernels`."""

OVERHEAD = """`results/measure overhead`: what a call costs a program that computes as long as the MPI's blocking call takes,
the time in initiation, tests and wait, of the slowest rank, medians; in brackets as a multiple of the blocking call, which
was measured in the same turns. The MPI's nonblocking call with no tests, and with the interval (bytes for each test, of
1024, 2048, 4096, 8192) that was best for this size; Sluice in its place (`SLUICE=all`) and by its own function,
both with no tests."""
BLOCKING = """`results/measure collectives`: start and wait with nothing in between, as a multiple of the MPI's *blocking* call, turn
by turn, medians. Small: the largest ratio of blocks to 4 KiB."""
OVERLAP = """`results/measure collectives`: the share of a call that hid behind a computation of its own length, with no test; 1 MiB
blocks (nodes: 4 MiB). *Asleep*: ranks slept instead, as if each had a core to spare. Medians (smallest .. largest)."""
KERNELS = """`results/measure app-kernels`: total time of the slowest rank, medians. *Overhead*: what is left without the
computation alone, measured in the same turn, and how much less that is than with the MPI's blocking calls, which have the same
tiles, buffers and order of computation; the paper's best is
92 % less. *In calls*: the same of the time inside of communication calls. *Hideable*: the computation / the overhead
of the blocking calls; more than that cannot hide. *While*: *computing*, or *asleep*: each piece of the computation replaced by
a sleep of the length it was measured to have, messages as ever, as if each rank had a core to spare. *A core to spare*: both
ranks compute on core 0, alone as well, and their helpers have core 1. *Tests*: `MPI_Test` between lines or parts of a chunk.
*Sizes too*: the gather of sizes is not waited for but completed a chunk later, by hand; *one operation*:
`sluice_igather_results`. *fft-slab 3 x 160*: three fields of 160^3 points in one pipeline."""
WAYS = ("mpi", "interposed", "sluice")
SHOWN = (1, 64, 1024, 16384, 262144)
SMALL = 4096


def setting(line):
    """Where it was measured, in words."""
    hosts = f"{line['nodes']} x {line['ranks'] // line['nodes']}"
    return hosts + (f", {line['link']}" if line.get("link") else "")


def seconds(value):
    if abs(value) < 1e-3:
        return f"{1e6 * value:.1f} us"
    return f"{1e3 * value:.2f} ms" if abs(value) < 1 else f"{value:.2f} s"


def size(count):
    units = (2**20, "MiB"), (2**10, "KiB"), (1, "B")
    unit, name = next((u for u in units if count >= u[0]), units[-1])
    return f"{count / unit:.3g} {name}"


def percent(value):
    return f"{100 * value:.0f} %"


def newest(rows, mpi_of, mode, *members):
    """The last line for each MPI, setting and the members named."""
    return {(mpi_of(row), setting(row), *(row.get(member, "") for member in members)): row
            for row in rows if row["mode"] == mode}


def overhead_rows(rows, mpi_of):
    for (mpi, where, kind, count, how), line in newest(rows, mpi_of, "overhead", "kind", "bytes",
                                                       "while").items():
        if count not in SHOWN or how == "asleep":
            continue
        blocking = line["blocking"]["median"]

        def cell(name, entries=line["ways"], unit=blocking):
            if name not in entries:
                return ""
            value = entries[name]["overhead"]["median"]
            return f"{seconds(value)} ({value / unit:.2f})" if unit else seconds(value)

        tested = [name for name in line["ways"] if name.startswith("mpi ") and name != "mpi 0"]
        best = min(tested, default="", key=lambda name, e=line["ways"]: e[name]["overhead"]["median"])
        note = f", {best.split()[1]}" if best else ""
        yield [f"{kind}, {size(count)}", mpi, where, seconds(blocking), cell("mpi 0"),
               cell(best) + note, cell("interposed 0"), cell("sluice 0")]


def blocking_rows(rows, mpi_of):
    ratios = {}
    for (mpi, where, kind, count), line in newest(rows, mpi_of, "collective", "kind",
                                                  "bytes").items():
        ratios.setdefault((kind, mpi, where), {})[count] = {
            way: entry["over_blocking"]["median"] for way, entry in line["ways"].items()}
    for (kind, mpi, where), by_size in ratios.items():
        def worst(way, sizes, of=by_size):
            found = [of[count][way] for count in sizes if way in of[count]]
            return f"{max(found):.2f}" if found else ""

        small = [count for count in by_size if count <= SMALL]
        middle = [count for count in by_size if SMALL < count < 2**20]
        large = [count for count in by_size if count == 2**20]
        yield [kind, mpi, where, *(worst(way, sizes) for sizes in (small, middle, large)
                                   for way in WAYS)]


def overlap_rows(rows, mpi_of):
    for (mpi, where, kind, count, how, tests), line in newest(
            rows, mpi_of, "overlap of collectives", "kind", "bytes", "while", "tests").items():
        cells = []
        for way in WAYS:
            hidden = line["ways"].get(way, {}).get("hidden")
            cells.append(f"{percent(hidden['median'])} ({percent(hidden['min'])} .. "
                         f"{percent(hidden['max'])})" if hidden else "")
        with_tests = f", {tests} tests" if tests else ""
        yield [f"{kind}, {size(count)}", mpi, where, how + with_tests, *cells]


def kernel_rows(rows, mpi_of):
    for (mpi, where, kernel, *_), line in newest(rows, mpi_of, "application kernel", "kernel",
                                                 "file", "codec", "level", "while").items():
        if "codec" in line:
            kernel += f" ({line['codec']} {line['level']:g}, {line['file']})"
        for way, entry in line["ways"].items():
            less, called = entry.get("reduction"), entry.get("reduction_in_calls")
            yield [kernel, mpi, where, line.get("while", "computing"),
                   seconds(line["computation"]["median"]), percent(line["hideable"]), way,
                   seconds(entry["seconds"]["median"]), seconds(entry["overhead"]["median"]),
                   "" if less is None else percent(less), seconds(entry["in_calls"]["median"]),
                   "" if called is None else percent(called)]


def message_rows(rows, mpi_of):
    for (mpi, where, count), line in newest(rows, mpi_of, "message overhead", "bytes").items():
        yield [size(count), mpi, where, *(seconds(line[call]["median"])
                                          for call in ("isend", "irecv", "test"))]


def tables(rows, table, mpi_of):
    """All that there are lines of. `table` draws one: title, note, header, rows."""
    what = ["what", "MPI", "nodes x ranks"]
    wanted = (
        ("Collectives: overhead, the paper's benchmark", OVERHEAD,
         what + ["blocking", "MPI, no tests", "MPI, best interval", "interposed", "sluice_i*"],
         overhead_rows),
        ("Collectives: start and wait against the MPI's blocking call", BLOCKING,
         what + [f"{sizes}: {name}" for sizes in ("small", "to 256 KiB", "1 MiB")
                 for name in ("MPI", "interposed", "sluice_i*")], blocking_rows),
        ("Collectives: hidden with no MPI_Test", OVERLAP,
         what + ["while", "MPI", "interposed", "sluice_i*"], overlap_rows),
        ("Application kernels", KERNELS,
         what + ["while", "computation", "hideable", "way", "total", "overhead", "less", "in calls", "less"],
         kernel_rows),
        ("Calls of the MPI's messages", "`results/measure overhead`: one call in a ping-pong (row I6).",
         ["bytes", *what[1:], "isend", "irecv", "test"], message_rows))
    text = ""
    for title, note, header, drawn in wanted:
        found = list(drawn(rows, mpi_of))
        if found:
            text += table(title, note, header, found)
    return text
