"""Tables of what recording costs and how near a replay comes to the job, from lines of
results/record (docs/record.md)."""

from data import lines

COST_NOTE = """`results/record overhead`: 10,000 calls of `MPI_File_write_at`, 8 bytes each, with and without a log, in turn, 15 times (7 on the device).
*Log*: what the calling thread computes more for a call; median, least and most of the pairs: other work on the machine is in the ends.
*Alone*: the call without a log, on the wall. *Sluice*: `off` means that the MPI serves the calls. The last column is the median beside *alone*."""
REPLAY_NOTE = """`results/record replay`: a program of 2 ranks on `sluice device --profile ssd` is recorded, and its log played there at once, in turn,
5 or 7 times, with Sluice. Seconds from the first call to the last of the slowest rank; medians, and the least and most of replay / job. All bytes
that the replays read and wrote were compared."""
PLACES = {"memory": "tmpfs", "ssd": "emulated SSD"}
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI", "debian-openmpi": "Open MPI, Debian's"}


def overheads():
    """By MPI, as the lines have its name."""
    rows = {}
    for row in lines("record"):
        if row["mode"] == "record-overhead":
            rows[row["mpi"], row["where"], row["sluice"], row["ranks"]] = row
    return list(rows.values())


def replays():
    rows = {}
    for row in lines("record"):
        if row["mode"] == "record-replay":
            rows[row["mpi"], row["program"], row["device"]] = row
    return list(rows.values())


def cells_of_cost(row):
    cost = row["us_a_call"]
    return [NAMES[row["mpi"]], PLACES[row["where"]], row["sluice"], str(row["ranks"]),
            f"{row['alone_us_a_call']:.2f} us",
            f"{cost['median']:.2f} us ({cost['min']:.2f} .. {cost['max']:.2f})",
            f"{row['percent']:.1f} %"]


def cells_of_replay(row):
    ratio, inside = row["ratio"], row["ratio_in_calls"]
    return [row["program"], NAMES[row["mpi"]], f"{row['recorded_seconds']:.3f} s", f"{row['seconds']:.3f} s",
            f"{ratio['median']:.3f} ({ratio['min']:.3f} .. {ratio['max']:.3f})",
            f"{row['recorded_in_calls']:.3f} s", f"{row['in_calls']:.3f} s", f"{inside['median']:.2f}"]


def tables(table):
    text = ""
    if overheads():
        text += table("What a log costs", COST_NOTE,
                      ["MPI", "file", "Sluice", "ranks", "alone", "log", "of the call"],
                      map(cells_of_cost, overheads()))
    if replays():
        text += table("A job and its replay", REPLAY_NOTE,
                      ["program", "MPI", "job", "replay", "replay / job", "in calls, job", "in calls, replay", "ratio"],
                      map(cells_of_replay, replays()))
    return text
