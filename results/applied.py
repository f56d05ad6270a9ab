"""The table of programs that people run for their work, from results/applications.jsonl."""
from behind_figures import ALONE, BEHIND, SERVED

NOTE = """`results/applications`: programs as Debian 12 packages them with {mpi}, on small inputs
(`tests/suites/inputs`), on a device of {bandwidth} MiB/s; turns: {turns}. Seconds of whole runs, from the start of the job to its end,
and of the slowest rank in MPI's functions of files: medians of the MPI alone, of Sluice, and of Sluice with
`SLUICE_WRITE_BEHIND={memory}` (*behind*). *Spread*: of the whole runs of the MPI alone, least to most. All files hold what they hold
after a run of the MPI alone."""
HEADER = ["program", "what it writes", "ranks", "MiB", "whole run: the MPI alone", "spread", "Sluice", "behind",
          "in calls: the MPI alone", "Sluice", "behind", "most of it, behind", "runs with other contents"]


def longest(functions):
    """The function in which the slowest rank spends most of the time."""
    found = {name: value for name, value in functions.items()
             if name.lower().startswith("mpi_file_")}
    name = max(found, key=found.get)
    name = "MPI_File_" + name.lower().removeprefix("mpi_file_").removesuffix("_")
    return f"`{name}`"


def cells(row, seconds):
    variants = [row["variants"][name] for name in (ALONE, SERVED, BEHIND)]
    whole = [seconds(each["whole"]["median"]) for each in variants]
    alone = variants[0]["whole"]
    return [f"{row['application']} {row['version'].split('+')[0]}", row["writes"], str(row["ranks"]),
            f"{row['bytes'] / 2**20:.0f}", whole[0],
            f"{seconds(alone['min'])} .. {seconds(alone['max'])}", *whole[1:],
            *(seconds(each["calls"]["median"]) for each in variants),
            longest(row["functions"][BEHIND]), str(row["differing_runs"])]


def newest(rows):
    return list({(row["application"], row["ranks"], row["bandwidth"]): row for row in rows}.values())


def tables(rows, table, seconds):
    found = [row for row in newest(rows) if row["bandwidth"]]
    if not found:
        return ""
    names = {"debian-openmpi": "Open MPI 4.1"}
    note = NOTE.format(**{**found[-1], "mpi": names[found[-1]["mpi"]],
                          "bandwidth": found[-1]["bandwidth"][:-1]})
    return table("Programs that people run", note, HEADER, [cells(row, seconds) for row in found])
