#!/usr/bin/env python3
"""Draws the diagrams of the documents: what they show was not measured.

Wants matplotlib: build/env/tools/bin/python docs/images/diagrams.py
"""
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402: the backend comes first
from matplotlib.patches import FancyBboxPatch, Rectangle  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# Okabe and Ito's, which readers who see few colours tell apart.
RANKS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
COMPUTES, WAITS, FILE, COPIES = "#c8c8c8", "#b5331e", "#0072b2", "#009e73"
LINE = "#444444"


def board(width, height, title):
    """Axes in units of a tenth of an inch, without any frame."""
    figure, axes = plt.subplots(figsize=(width / 10, height / 10))
    axes.set_position((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    axes.text(1, height - 1.2, title, fontsize=10, va="top", fontweight="bold")
    return figure, axes


def save(figure, name):
    figure.savefig(HERE / f"{name}.svg", metadata={"Date": None}, facecolor="white")
    plt.close(figure)
    print(f"{name}.svg")


def bar(axes, x, y, width, colour, text="", height=2.6, ink="white"):
    axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, edgecolor="white", linewidth=0.8))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=7.5, color=ink)


def box(axes, x, y, width, height, text, colour="#eef3f7", size=8):
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.5",
                                  facecolor=colour, edgecolor=LINE, linewidth=0.8))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=size)


def arrow(axes, begin, end, colour=LINE):
    axes.annotate("", end, begin, arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1,
                                              "shrinkA": 0, "shrinkB": 0})


def label(axes, x, y, text, **style):
    axes.text(x, y, text, **{"fontsize": 8, "va": "center", **style})


def time_line(axes, y):
    arrow(axes, (22, y), (79, y))
    label(axes, 79, y - 1.2, "time", ha="right", fontsize=7.5)


def waiting():
    figure, axes = board(80, 31, "One rank that computes and writes, in a loop")
    rows = (("blocking call", ((22, 14, "c"), (36, 12, "w"), (48, 14, "c"), (62, 12, "w")),
             ((36, 12), (62, 12))),
            ("nonblocking call,\nmost MPIs", ((22, 14, "c"), (36, 1, "s"), (37, 14, "c"), (51, 11, "w"),
                                              (62, 1, "s"), (63, 14, "c")), ((51, 11),)),
            ("nonblocking call,\nSluice", ((22, 14, "c"), (36, 1, "s"), (37, 14, "c"), (51, 1, "s"),
                                           (52, 14, "c"), (66, 1, "s"), (67, 11, "c")),
             ((37, 12), (52, 12), (67, 11))))
    colours = {"c": (COMPUTES, "computes", "black"), "w": (WAITS, "waits", "white"), "s": (WAITS, "", "white")}
    for number, (name, program, storage) in enumerate(rows):
        y = 22 - 7.4 * number
        label(axes, 1, y + 0.2, name)
        for x, width, kind in program:
            colour, text, ink = colours[kind]
            bar(axes, x, y, width, colour, text, ink=ink)
        for x, width in storage:
            bar(axes, x, y - 2.4, width, FILE, "file is written", height=2.2)
    time_line(axes, 3)
    save(figure, "waiting")


def behind():
    figure, axes = board(80, 24, "A program of blocking writes, without and with write-behind")
    label(axes, 1, 16.5, "without")
    label(axes, 1, 8.5, "with --behind")
    for x in (22, 46):
        bar(axes, x, 15.5, 12, COMPUTES, "computes", ink="black")
        bar(axes, x + 12, 15.5, 12, WAITS, "waits")
        bar(axes, x + 12, 13.1, 12, FILE, "file is written", height=2.2)
    for number, x in enumerate((22, 35, 48, 61)):
        bar(axes, x, 7.5, 12, COMPUTES, "computes", ink="black")
        bar(axes, x + 12, 7.5, 1, COPIES)
        if number < 3:
            bar(axes, x + 13, 5.1, 12, FILE, "file is written", height=2.2)
    axes.annotate("the call copies,\nand returns", (47.5, 10.2), (48.5, 12.3), fontsize=7.5, va="center",
                  arrowprops={"arrowstyle": "-", "color": LINE})
    time_line(axes, 2.6)
    save(figure, "behind")


def two_phase():
    figure, axes = board(80, 42, "Two-phase I/O: four ranks have columns, the file has rows")
    for rank, colour in enumerate(RANKS):
        label(axes, 12 + 18 * rank, 37.0, f"rank {rank}", ha="center")
        for row in range(4):
            bar(axes, 7 + 18 * rank, 34 - 1.7 * row, 10, colour, height=1.5)
    label(axes, 1, 26.6, "exchange: each rank copies its pieces into memory that the node shares")
    for rank, colour in enumerate(RANKS):
        for half in range(2):
            arrow(axes, (12 + 18 * rank, 25.2), (20 + 39 * half + 3 * (rank - 1.5), 17.6), colour)
    for half in range(2):
        for place in range(8):
            bar(axes, 5.6 + 39 * half + 3.6 * place, 14.8, 3.6, RANKS[place % 4], height=2.6)
        label(axes, 20 + 39 * half, 13.4, f"aggregator {half}: one long stretch of the file", ha="center",
              fontsize=7.5)
        arrow(axes, (20 + 39 * half, 12.2), (20 + 39 * half, 8))
    for place in range(16):
        bar(axes, 5.6 + 33.9 / 8 * place, 5, 33.9 / 8, RANKS[place % 4], height=2.6)
    label(axes, 1, 3, "the file, row by row: long writes in place of many small ones")
    save(figure, "two-phase")


def stages():
    figure, axes = board(80, 34, "One collective write, on each rank")
    for number, (name, text) in enumerate((
            ("summaries", "what all ranks want:\none record each,\nmerged"),
            ("claims", "in which rounds a rank\ntakes part;\nonce for a plan"),
            ("exchange", "round by round:\ncopy, send, write;\nfour buffers in turn"),
            ("agreement", "one status\nfor all ranks"))):
        x = 2 + 19.6 * number
        box(axes, x, 19, 17, 8.5, "")
        label(axes, x + 8.5, 25.8, name, ha="center", fontweight="bold")
        label(axes, x + 8.5, 22, text, ha="center", fontsize=7.5)
        if number < 3:
            arrow(axes, (x + 17, 23.2), (x + 19.6, 23.2))
    box(axes, 2, 11.5, 75.8, 5, "who drives it: the calling thread in a blocking call or a wait, "
        "else the helper thread, while the program computes", "#fdf3e3", 7.5)
    for number, (name, text) in enumerate((("node", "shared memory,\ncounters, doorbells"),
                                           ("between nodes", "libfabric,\nor messages of the MPI"),
                                           ("file", "pwritev and preadv,\nwith or without direct I/O"))):
        x = 2 + 26.2 * number
        box(axes, x, 2, 23.4, 7, "", "#e9f4ee")
        label(axes, x + 11.7, 7.4, name, ha="center", fontweight="bold")
        label(axes, x + 11.7, 4.4, text, ha="center", fontsize=7.5)
    save(figure, "stages")


def rounds():
    figure, axes = board(80, 30, "Domains, windows and rounds, of two aggregators")
    label(axes, 1, 24.6, "the span that\nall ranks want")
    for domain, colour in enumerate(RANKS[:2]):
        for window in range(6):
            bar(axes, 14 + 32 * domain + 5.2 * window, 23, 5.2, colour, str(window))
        label(axes, 29.6 + 32 * domain, 21.4, f"domain of aggregator {domain}, in windows", ha="center",
              fontsize=7.5)
    label(axes, 1, 15.4, "collective buffers\nof aggregator 0")
    for buffer in range(4):
        box(axes, 19 + 14.5 * buffer, 13, 12, 5, "")
        label(axes, 25 + 14.5 * buffer, 16.4, f"buffer {buffer}", ha="center", fontweight="bold")
        windows = " then ".join(str(window) for window in range(buffer, 6, 4))
        label(axes, 25 + 14.5 * buffer, 14.4, f"window {windows}", ha="center", fontsize=7.5)
    label(axes, 1, 7.4, "a round: one window\nin its buffer")
    for number, step in enumerate(("ranks copy\ntheir bytes", "messages of\nother nodes", "write to\nthe file",
                                   "the buffer\nis free")):
        box(axes, 19 + 14.5 * number, 4.6, 12, 5, step, "#fdf3e3")
        if number < 3:
            arrow(axes, (31 + 14.5 * number, 7.1), (33.5 + 14.5 * number, 7.1))
    label(axes, 19, 2.4, "up to four rounds of an aggregator are under way at once", fontsize=7.5)
    save(figure, "rounds")


def layers():
    figure, axes = board(80, 36, "Folders of the sources: green ones are pure, yellow ones reach the outside")
    rows = (((2, 76, "programs: tools, bench, device/fuse; study", "#eef3f7"),),
            ((2, 49, "src/mpi: interposed functions, requests, progress", "#eef3f7"),
             (53, 25, "simulate: the outside\nin virtual time", "#eef3f7")),
            ((2, 25, "src/transport\nmessages, doorbells", "#fdf3e3"),
             (28, 24, "src/storage\nfiles", "#fdf3e3"),
             (53, 25, "src/file, src/collective\nplans and stages: pure", "#e9f4ee")),
            ((2, 50, "src/system: threads, memory, clocks", "#fdf3e3"),
             (53, 25, "src/schedule: schedules and\ntheir interpreter: pure", "#e9f4ee")),
            ((2, 76, "src/base: extents, datatypes, statuses: pure", "#e9f4ee"),))
    for number, row in enumerate(rows):
        for x, width, text, colour in row:
            box(axes, x, 26.4 - 6 * number, width, 4.8, text, colour)
    save(figure, "layers")


def tests():
    figure, axes = board(80, 27, "What is real in a test, and what stands in for it")
    rows = (("unit tests", "1 process", "pure functions: no MPI, no thread, no clock", 0),
            ("simulation", "up to 4,096 ranks", "the shipped operations; messages, file and time are simulated", 1),
            ("pretended nodes", "1 to 8 ranks", "MPI, threads and files; nodes are groups of ranks", 2),
            ("hosts in namespaces", "2 and 4 hosts", "and network, with a link each; storage is memory or emulated", 3),
            ("a cluster", "", "not tested", 4))
    for name, size, text, number in rows:
        y = 19.4 - 4.4 * number
        last = number == 4
        box(axes, 1.5, y, 18, 3.6, name, "white" if last else "#eef3f7")
        label(axes, 21, y + 1.8, size, fontsize=7.5)
        label(axes, 33, y + 1.8, text, fontsize=7.5)
    save(figure, "tests")


def report():
    figure, axes = board(80, 24, "What the report's figures mean: one nonblocking write of a rank")
    label(axes, 1, 16.3, "the program")
    bar(axes, 22, 15, 2, WAITS)
    bar(axes, 24, 15, 38, COMPUTES, "computes", ink="black")
    bar(axes, 62, 15, 2, WAITS)
    bar(axes, 64, 15, 12, COMPUTES, "computes", ink="black")
    for x, text in ((23, "MPI_File_iwrite_all"), (63, "MPI_Wait")):
        label(axes, x, 18.7, text, ha="center", fontsize=7.5)
    label(axes, 1, 11, "blocked")
    label(axes, 1, 7.4, "under way")
    for x in (22, 62):
        bar(axes, x, 9.8, 2, WAITS, height=2)
    bar(axes, 22, 6.4, 42, FILE, "from the call that starts it to the call that completes it", height=2)
    label(axes, 66, 9.2, "hidden =\n1 - blocked / under way", fontsize=7.5)
    time_line(axes, 3)
    save(figure, "report")


def settings():
    figure, axes = board(80, 15, "Where the value of a hint comes from: the first that has it")
    for number, text in enumerate(("the program's MPI_Info", "SLUICE_HINTS", "the file of ROMIO_HINTS,\n"
                                   "else /etc/romio-hints", "the default:\nthe library decides")):
        box(axes, 1.5 + 19.8 * number, 3.5, 17.4, 6, text)
        if number < 3:
            arrow(axes, (18.9 + 19.8 * number, 6.5), (21.3 + 19.8 * number, 6.5))
    save(figure, "settings")


def where_to_look():
    figure, axes = board(80, 23, "Run it with SLUICE_LOG=2")
    for number, (sign, meaning) in enumerate((
            ("nothing, or why the\nMPI serves the file", "Nothing changes"),
            ("the program ends\nat MPI_Init", "The program ends\nat MPI_Init"),
            ("blocked is as long\nas under way", "It is served, and waits\nas long as before"),
            ("no end", "It hangs"))):
        x = 1.5 + 19.8 * number
        box(axes, x, 11, 17.4, 6.4, sign, "#fdf3e3")
        arrow(axes, (x + 8.7, 11), (x + 8.7, 8.6))
        box(axes, x, 3, 17.4, 5.6, meaning)
    label(axes, 1.5, 18.6, "what is seen", fontsize=7.5)
    label(axes, 1.5, 1.6, "the section of this page", fontsize=7.5)
    save(figure, "where-to-look")


def main():
    # Names of parts that do not differ from run to run; letters as such, which takes a fifth.
    plt.rcParams.update({"svg.hashsalt": "sluice", "svg.fonttype": "none"})
    for draw in (waiting, behind, two_phase, stages, rounds, layers, tests, report, settings,
                 where_to_look):
        draw()


if __name__ == "__main__":
    main()
