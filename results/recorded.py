"""Tables of what recording costs, how near a replay comes to the job, and what tune finds, from
lines of results/record and results/tuned (docs/record.md)."""

from data import lines, mpi_of, newest

COST_NOTE = """`results/record overhead`: 10,000 calls of `MPI_File_write_at`, 8 bytes each, with and without a log, in turn, 15 times (7 on the device).
*Log*: what the calling thread computes more for a call; median, least and most of the pairs: other work on the machine is in the ends.
*Alone*: the call without a log, on the wall. *Sluice*: `off` means that the MPI serves the calls. The last column is the median beside *alone*."""
REPLAY_NOTE = """`results/record replay`: a program of 2 ranks on `sluice device --profile ssd` is recorded, and its log played there at once, in turn,
5 or 7 times, with Sluice. Seconds from the first call to the last of the slowest rank; medians, and the least and most of replay / job. All bytes
that the replays read and wrote were compared."""
TUNED_NOTE = """`results/tuned`: a job of 2 ranks on an emulated device; the *grid* has all hints that tune can put together, each played {turns} times.
`sluice tune` gets a tenth of its seconds, and the best of both are played in turn, {pairs} times, with the default. *Ratio*: of the hints that
tune names to the best of the grid, median, least and most; below 1, those of tune are faster."""
PLACES = {"memory": "tmpfs", "ssd": "emulated SSD"}
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI", "debian-mpich": "MPICH, Debian's",
         "debian-openmpi": "Open MPI, Debian's"}


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


def seconds(row, hints):
    return f"{row['seconds'][hints]:.3f} s"


def cells_of_tuned(row):
    ratio = row["ratio"]
    return [row["device"], mpi_of(row), str(row["settings"]), f"{row['grid_seconds']:.0f} s",
            f"{row['tune_seconds']:.0f} s, {row['tune_replays']}", seconds(row, ""),
            f"`{row['best'] or 'the default'}`", seconds(row, row["best"]),
            f"`{row['tuned'] or 'the default'}`", seconds(row, row["tuned"]),
            f"{ratio['median']:.3f} ({ratio['min']:.3f} .. {ratio['max']:.3f})"]


def tuned():
    return list(newest(lines("tuned"), "device", "mpi").values())


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
    if tuned():
        text += table("Hints by sluice tune, and by a full grid", TUNED_NOTE.format(**tuned()[-1]),
                      ["device", "MPI", "grid", "took", "tune took, replays", "default",
                       "best of the grid", "takes", "tune's", "takes", "ratio"],
                      map(cells_of_tuned, tuned()))
    return text
