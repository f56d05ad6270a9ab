"""The ways of the image application that study/results/texture compares, and tables and figures of them."""

import statistics
from typing import NamedTuple

from data import MPIS, lines, mpi_of, newest, of_mpi, percent


class Way(NamedTuple):
    """One way to run the program."""
    options: tuple = ()  # of examples/texture.py
    sluice: bool = False
    settings: dict = {}
    colour: str = ""  # in pictures, of results/palette.py


NONBLOCKING = ("--mode", "nonblocking")
SEVERAL = ("--outstanding", "3")
BEHIND = {"SLUICE_WRITE_BEHIND": "256M"}
BLOCKING, THREAD = "blocking", "in a thread"
WAYS = {
    BLOCKING: Way(colour="mpi-default"),
    "tests between": Way((*NONBLOCKING, "--tests", "between"), colour="mpi"),
    "tests inside": Way((*NONBLOCKING, "--tests", "inside"), colour="mpi"),
    "tests inside, 3 files": Way((*NONBLOCKING, *SEVERAL, "--tests", "inside"), colour="mpi"),
    THREAD: Way(("--mode", "thread"), colour="mpi-thread"),
    "Sluice blocking": Way((), True, colour="interposed"),
    "Sluice": Way(NONBLOCKING, True, colour="sluice"),
    "Sluice, 3 files": Way((*NONBLOCKING, *SEVERAL), True, colour="sluice"),
    "Sluice behind": Way((), True, BEHIND, "sluice-auto"),
    "Sluice behind, closed at once": Way(("--close-at-once",), True, BEHIND, "sluice-auto"),
}
NOTE = """`results/measure texture`: `examples/texture.py`, the application of the libNBC paper (row L7 of [the papers](../study/README.md)), 12 Gabor
filters with two distributed FFTs and a convolution each, a file for each filter; turns: {turns}, all ways in each, in changing order. The image of
{height} x {width} pixels and {channels} channels (a photograph of three colours, between which channels lie) is read from the device, {mib:.0f} MiB of
textures are written to it. It is [emulated](../device.md), without page cache: `40M` has 40 MiB/s, others are profiles. Drawn by `results/picture-texture`.

- *I/O*: the time in open, set view, write, test, wait and close, of the slowest rank; *loop*: from the first filter to the last close. Medians.
- *Less*: than by the MPI's blocking calls in the same turn: median (least .. most). *At best*: what the computation could hide, which is all but the
  last file, if it takes as long as the I/O. *Loop less* has in it what tests or helpers take from the computation,
  and that a rank waits in a transform's all-to-all for another one that is held up in I/O.
- *tests between*, *inside*: the MPI's own nonblocking calls in the paper's two ways, `MPI_Test` between transforms and convolution, or also after
  each 32 lines within a transform. *in a thread*: the MPI's blocking call, made by a thread of the program. *Sluice*: the same nonblocking calls, no test. One file is under way, or three where it says so.
- *behind*: the blocking program with `SLUICE_WRITE_BEHIND=256M`. It closes its files at the end; where each is *closed at once* nothing hides, because a close waits.
- *read*, *clusters*: seconds of the blocking collective read of the image, and of the write of the clusters at the end."""
HEADER = ["device", "MPI", "ranks", "way", "I/O", "I/O less", "loop", "loop less", "read", "clusters"]


def found_lines(way="tests between"):
    """The newest line of each case that has this way: those of the paper, if no other is named."""
    return newest([line for line in lines("texture") if way in line["ways"]], "device", "mpi", "ranks",
                  "channels")


def all_lines():
    """Those as well that compare with a thread of the program only."""
    found = found_lines()
    return found | {(*key, THREAD): line for key, line in found_lines(THREAD).items()
                    if line != found.get(key)}


def less(line, way, key):
    """By how much it is less than by blocking calls, in each turn."""
    return [1 - turn[key] / blocking[key]
            for turn, blocking in zip(line["ways"][way], line["ways"][BLOCKING])]


def median(line, way, key):
    return statistics.median(turn[key] for turn in line["ways"][way])


def at_best(line):
    """The part of the I/O that computation could hide: all but the last file's, if it is as long."""
    return statistics.median(min(1, turn["compute"] / turn["blocked"]) * (1 - 1 / line["filters"])
                             for turn in line["ways"][BLOCKING])


def less_in_words(line, way, key):
    values = less(line, way, key)
    return (f"{percent(statistics.median(values))} "
            f"({percent(min(values))} .. {percent(max(values))})")


def tables(rows, table, seconds):
    if not rows:
        return ""
    drawn = [[device, mpi, str(ranks), way, seconds(median(line, way, "blocked")),
              f"at best {percent(at_best(line))}" if way == BLOCKING
              else less_in_words(line, way, "blocked"),
              seconds(median(line, way, "total")),
              "" if way == BLOCKING else less_in_words(line, way, "total"),
              seconds(median(line, way, "read")), seconds(median(line, way, "write_clusters"))]
             for (device, mpi, ranks, *_), line in sorted(rows.items(), key=lambda item: item[0])
             for way in line["ways"]]
    last = list(rows.values())[-1]
    height, width = last["size"]
    return table("The image application of the libNBC paper",
                 NOTE.format(**last, height=height, width=width, mib=last["bytes"] / 2**20),
                 HEADER, drawn)


def in_percent(shares):
    """The least and the largest, once if they are the same."""
    values = [f"{100 * share:.0f}" for share in sorted(shares)]
    return (values[0] if values[0] == values[-1] else f"{values[0]} to {values[-1]}") + " %"


def figures():
    """L7: how much less time in I/O, and in the whole loop, least and largest of all medians."""
    rows = found_lines().values()
    yield "texture_at_best", in_percent(at_best(line) for line in rows)
    yield "texture_stretched", ", ".join(
        f"{median(line, 'tests inside', 'compute') / median(line, BLOCKING, 'compute'):.1f}"
        for line in of_mpi(rows, "openmpi"))
    for way, name in (("tests between", "between"), ("tests inside", "inside"), ("Sluice", "sluice"),
                      ("Sluice, 3 files", "sluice_several"), ("Sluice behind", "behind")):
        for mpi in MPIS:
            of = [line for line in of_mpi(rows, mpi) if way in line["ways"]]
            for key, what in (("blocked", ""), ("total", "_loop")):
                yield f"texture_{name}_{mpi}{what}", in_percent(
                    statistics.median(less(line, way, key)) for line in of)


def thread_figures():
    """The same by a thread of the program, and by Sluice in that run."""
    for line in found_lines(THREAD).values():
        mpi = next(name for name, words in MPIS.items() if mpi_of(line).startswith(words))
        for way, name in ((THREAD, "thread"), ("Sluice", "thread_sluice"), ("Sluice behind", "thread_behind")):
            yield f"texture_{name}_{mpi}", in_percent([statistics.median(less(line, way, "blocked"))])
