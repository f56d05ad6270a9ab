"""Tables of programs that call only blocking functions, from results/behind.jsonl."""
from behind_figures import ALONE, ALWAYS, BEHIND, FREE, SERVED

NOTE = """`results/behind`: the programs of `bench/programs`, unchanged, {steps} steps of {size} of all ranks on a device of
{bandwidth} MiB/s, each computing for as long as its I/O takes; turns: {turns}. Seconds of whole runs with the close, medians of
the MPI alone, of Sluice, and of Sluice with `SLUICE_WRITE_BEHIND` and the hint `sluice_read_ahead` = {memory} (*behind*).

- *Ideal*: the computation, and the I/O of one step, which has no computation beside it.
- *Hidden*: (the MPI alone - behind) / (the MPI alone - ideal); *spread*: by the slowest and the fastest run behind.
- *In calls*: the time that the program spent in its calls, without the close; *ratio*: the MPI's by behind's."""
FREE_NOTE = """
- *Free writes*: the same, if the MPI returned from each long write at once, and wrote nothing: what the interface
  itself takes, and its ranks' waiting for each other. No write-behind avoids that, but the waiting differs from run to run;
  *of it*: behind's by this."""
HEADER = ["program", "MPI", "ranks", "the MPI alone", "Sluice", "behind", "ideal", "hidden", "spread",
          "in calls: the MPI", "behind", "ratio", "close", "bytes wrong"]
FREE_HEADER = [*HEADER[:-2], "free writes", "of it", *HEADER[-2:]]


CACHE_NOTE = """`results/behind --dir`: the same programs where writes go to the page cache, {steps} steps of {size} of all ranks,
2 cores; turns: {turns}. Sluice delays a write there only where each rank has a core besides the one on which it computes. *always*
delays all writes (`SLUICE_TEST=behind=always`): what that rule is for."""
CACHE_HEADER = ["program", "file system", "MPI", "ranks", "whole run: the MPI alone", "Sluice", "behind", "behind by Sluice",
                "always by Sluice", "in calls: Sluice", "behind", "behind by Sluice", "always by Sluice", "bytes wrong"]


PARTS_NOTE = """`results/behind --call-times`: of the fastest turn, the rank whose calls took longest. *Before the last rank*: how
much earlier than the last one it came to the calls, and so what it has to wait in any call that all ranks
must have come to; it is a part of the collectives, or of the first of the other functions that wait. *Collectives*: of
communication, as the interface calls them; *rest*: the interface itself."""
PARTS_HEADER = ["program", "MPI", "ranks", "variant", "in calls", "before the last rank", "collectives",
                "`MPI_File_set_view`", "reads and writes", "rest"]


def mpi_of(line):
    """Debian's MPICH is another one than that of build/env: the version counts."""
    words = line["mpi_library"].split(",")[0].split()
    return f"MPICH {words[-1]}" if words[0] == "MPICH" else " ".join(words).replace("MPI v", "MPI ")


def newest(rows, variant=BEHIND):
    keys = ("direction", "program", "way", "mpi_library", "ranks")
    return {tuple(row[key] for key in keys): row for row in rows
            if row["bandwidth"] and variant in row["variants"] and row["program"] != "kernels"}


def hidden_by(row, total):
    alone = row["variants"][ALONE]["total"]["median"]
    return f"{100 * (alone - total) / (alone - row['ideal']):.0f} %"


def cells(row, seconds):
    alone, behind = row["variants"][ALONE], row["variants"][BEHIND]
    served = row["variants"].get(SERVED)
    total = behind["total"]
    return [f"{row['program']} {row['way']}", mpi_of(row), str(row["ranks"]),
            seconds(alone["total"]["median"]),
            seconds(served["total"]["median"]) if served else "",
            seconds(total["median"]), seconds(row["ideal"]), hidden_by(row, total["median"]),
            f"{hidden_by(row, total['max'])} .. {hidden_by(row, total['min'])}",
            seconds(alone["calls"]["median"]), seconds(behind["calls"]["median"]),
            f"{row['calls_ratio']:.1f}", seconds(behind["close"]["median"]), str(row["wrong"])]


def with_free(row, free, seconds):
    """The cells of a row, with those of free writes, from a line that may be another one."""
    *most, close, wrong = cells(row, seconds)
    if not free:
        return [*most, "", "", close, wrong]
    least = free["variants"][FREE]["calls"]["median"]
    ratio = row["variants"][BEHIND]["calls"]["median"] / least
    return [*most, seconds(least), f"{ratio:.1f}", close, wrong]


def table_of(rows, free, direction, seconds):
    """Note, header and rows of one table; `rows` and `free` by the same keys."""
    chosen = {key: row for key, row in rows.items() if key[0] == direction}
    note = note_of(direction, list(chosen.values())) if chosen else ""
    if not any(key in free for key in chosen):
        return note, HEADER, [cells(row, seconds) for row in chosen.values()]
    return note + FREE_NOTE, FREE_HEADER, [with_free(row, free.get(key), seconds)
                                           for key, row in chosen.items()]


def note_of(direction, rows):
    if direction == "read":
        return "As above: the same programs read what they wrote, each step before its computation."
    size = f"{rows[-1]['bytes_per_rank'] * rows[-1]['ranks'] / 2**20:.3g} MiB"
    return NOTE.format(**{**rows[-1], "size": size, "bandwidth": rows[-1]["bandwidth"][:-1]})


def parts_of(rank):
    """Of the seconds of a rank: collectives, views, reads and writes, and the interface itself."""
    of_mpi = {name: value for name, value in rank.items() if name.startswith("MPI_")}
    view = of_mpi.pop("MPI_File_set_view", 0)
    moved = sum(value for name, value in of_mpi.items()
                if name.startswith(("MPI_File_write", "MPI_File_read")))
    together = sum(value for name, value in of_mpi.items()
                   if not name.startswith(("MPI_File", "MPI_Type")))
    return together, view, moved, max(0, rank["total"] - together - view - moved)


def parts(rows, table, seconds):
    """Where the time in the calls goes, where that was measured."""
    drawn = []
    for row in newest([row for row in rows if "call_times" in row]).values():
        for variant, ranks in row["call_times"].items():
            rank = max(ranks, key=lambda one: one["total"])
            drawn.append([f"{row['program']} {row['way']}", mpi_of(row), str(row["ranks"]), variant,
                          *map(seconds, (rank["total"], rank["before the last rank"],
                                         *parts_of(rank)))])
    return table("Programs that call only blocking functions: where the time in their calls goes",
                 PARTS_NOTE, PARTS_HEADER, drawn) if drawn else ""


def cached_cells(row, seconds):
    served, behind, always = (row["variants"][name] for name in (SERVED, BEHIND, ALWAYS))

    def ratio(one, name):
        return f"{one[name]['median'] / served[name]['median']:.2f}"

    return [f"{row['program']} {row['way']}", row["file_system"], mpi_of(row), str(row["ranks"]),
            *(seconds(one["total"]["median"]) for one in (row["variants"][ALONE], served, behind)),
            ratio(behind, "total"), ratio(always, "total"),
            seconds(served["calls"]["median"]), seconds(behind["calls"]["median"]),
            ratio(behind, "calls"), ratio(always, "calls"), str(row["wrong"])]


def cached(rows, table, seconds):
    keys = ("file_system", "program", "way", "mpi_library", "ranks")
    newest_rows = {tuple(row[key] for key in keys): row for row in rows
                   if not row["bandwidth"] and ALWAYS in row["variants"]}
    if not newest_rows:
        return ""
    last = list(newest_rows.values())[-1]
    size = f"{last['bytes_per_rank'] * last['ranks'] >> 20} MiB"
    return table("Programs that call only blocking functions: write-behind and the page cache",
                 CACHE_NOTE.format(**last | {"size": size}), CACHE_HEADER,
                 [cached_cells(row, seconds) for row in newest_rows.values()])


def tables(rows, table, seconds):
    drawn = ""
    for direction, what in (("write", "write-behind"), ("read", "read-ahead")):
        note, header, drawn_rows = table_of(newest(rows), newest(rows, FREE), direction, seconds)
        if drawn_rows:
            drawn += table(f"Programs that call only blocking functions: {what}", note, header,
                           drawn_rows)
    return drawn + cached(rows, table, seconds) + parts(rows, table, seconds)
