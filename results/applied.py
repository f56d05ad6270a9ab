"""Tables of programs that people run for their work, from results/applications.jsonl, and of kernels
of others, from results/behind.jsonl."""
import data
from behind_figures import ALONE, BEHIND, CLOSED, SERVED

NOTE = """`results/applications`: programs as Debian 12 packages them with {mpi}, on small inputs
(`tests/suites/inputs`), on a device of {bandwidth} MiB/s; turns: {turns}. Seconds of whole runs, from the start of the job to its end,
and of the slowest rank in MPI's functions of files: medians of the MPI alone, of Sluice, and of Sluice with
`SLUICE_WRITE_BEHIND={memory}` (*behind*), and with the hint `sluice_close` = `behind` as well (*close behind*). *Spread*: of the whole runs, least to most. *Other contents*: runs after which files held
something else than after the first run of the MPI alone; FEniCS and FEniCSx compare themselves what they have read again."""
HEADER = ["program", "what it writes", "ranks", "MiB", "whole run: the MPI alone", "spread", "Sluice", "behind",
          "close behind", "spread", "in calls: the MPI alone", "Sluice", "behind", "close behind", "most of it, close behind",
          "other contents"]
KERNELS_NOTE = """`results/behind --program kernels`: what programs write that are no packages (`bench/programs/kernels.c`), on a device of {bandwidth} MiB/s.
Each step computes for as long as its output takes by the MPI alone. Seconds of whole runs, and in calls: an output is one, with the
open and the close of its file where each step has its own (s3d, hacc, lattice). A whole run ends when all files are complete."""
KERNELS_HEADER = ["kernel", "ranks", "steps", "MiB of a step", "turns", "whole run: the MPI alone", "Sluice", "behind",
                  "close behind", "in calls: the MPI alone", "Sluice", "behind", "close behind", "bytes wrong"]


def longest(functions):
    """The function in which the slowest rank spends most of the time."""
    found = {name: value for name, value in functions.items()
             if name.lower().startswith("mpi_file_")}
    name = max(found, key=found.get)
    name = "MPI_File_" + name.lower().removeprefix("mpi_file_").removesuffix("_")
    return f"`{name}`"


def cells(row, seconds):
    variants = [row["variants"][name] for name in (ALONE, SERVED, BEHIND, CLOSED)]
    alone, served, behind, closed = (each["whole"] for each in variants)

    def spread(of):
        return f"{seconds(of['min'])} .. {seconds(of['max'])}"

    return [f"{row['application']} {row['version'].split('+')[0]}", row["writes"], str(row["ranks"]),
            f"{row['bytes'] / 2**20:.0f}", seconds(alone["median"]), spread(alone),
            seconds(served["median"]), seconds(behind["median"]), seconds(closed["median"]), spread(closed),
            *(seconds(each["calls"]["median"]) for each in variants),
            longest(row["functions"][CLOSED]), str(row["differing_runs"])]


def newest(rows):
    """Those on a device."""
    return list(data.newest([row for row in rows if row["bandwidth"] and CLOSED in row["variants"]],
                            "application", "ranks").values())


def newest_kernels(rows):
    """Those on a device."""
    return list(data.newest([row for row in rows if row["program"] == "kernels"
                             and row["bandwidth"] and CLOSED in row["variants"]],
                            "way", "ranks").values())


def kernels(rows, table, seconds):
    found = newest_kernels(rows)
    if not found:
        return ""

    def medians(row, part):
        return [seconds(row["variants"][name][part]["median"]) for name in (ALONE, SERVED, BEHIND, CLOSED)]

    return table("Kernels of other programs", KERNELS_NOTE.format(bandwidth=found[-1]["bandwidth"][:-1]),
                 KERNELS_HEADER,
                 [[row["way"], str(row["ranks"]), str(row["steps"]),
                   f"{row['bytes_per_rank'] * row['ranks'] >> 20}", str(row["turns"]),
                   *medians(row, "total"), *medians(row, "calls"), str(row["wrong"])]
                  for row in found])


def gains(rows, part="whole"):
    """Of each program, how many times as long it takes by the MPI alone as with write-behind and closes that wait for
    nothing."""
    return [row["variants"][ALONE][part]["median"] / row["variants"][CLOSED][part]["median"]
            for row in newest(rows)]


def tables(rows, table, seconds):
    found = newest(rows)
    if not found:
        return ""
    names = {"debian-openmpi": "Open MPI 4.1"}
    note = NOTE.format(**{**found[-1], "mpi": names[found[-1]["mpi"]],
                          "bandwidth": found[-1]["bandwidth"][:-1]})
    return table("Programs that people run", note, HEADER, [cells(row, seconds) for row in found])
