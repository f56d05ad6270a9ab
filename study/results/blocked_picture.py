"""The first picture of the papers' page: seconds that the image application is blocked in I/O, by the
MPI's own calls, by a thread of the program, and under Sluice. Wants matplotlib."""

import io
import re
import statistics
import sys

from data import ROOT, mpi_of

import palette
from palette import plt  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402

import texture_figures as texture  # noqa: E402

# Ways of the application that study/results/texture compares -> what a reader calls them.
SHOWN = {texture.BLOCKING: "the MPI, blocking calls", "tests inside": "the MPI, nonblocking, tests in the FFT",
         texture.THREAD: "the MPI in a helper thread", "Sluice": "Sluice, nonblocking, no test",
         "Sluice behind": "Sluice's write-behind,\nblocking calls"}
REST = {"facecolor": "white", "edgecolor": "#888888", "linewidth": 0.8}


def draw_case(axes, line):
    """A bar for each way: the loop in grey, what is blocked of it in the contender's colour."""
    ways = [way for way in SHOWN if way in line["ways"]]
    for place, way in enumerate(ways):
        blocked, whole = (texture.median(line, way, key) for key in ("blocked", "total"))
        turns = [turn["blocked"] for turn in line["ways"][way]]
        axes.barh(place, whole, height=0.72, **REST)
        axes.barh(place, blocked, height=0.72, color=palette.CONTENDERS[texture.WAYS[way].colour],
                  xerr=palette.whiskers([blocked], [(min(turns), max(turns))]),
                  error_kw={"elinewidth": 0.8, "capsize": 2, "ecolor": "#222222"})
        axes.text(whole + 0.08, place, f"{blocked:.2f} of {whole:.1f} s", va="center", fontsize=9)
    axes.set_yticks(range(len(ways)), [SHOWN[way] for way in ways], fontsize=9)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"{mpi_of(line).strip(chr(0))}, {line['ranks']} ranks", fontsize=10, loc="left")
    palette.plain(axes, "x")


def svg_of(figure):
    """Without what belongs to a file of its own; names of parts that do not differ from run to run."""
    with io.StringIO() as out:
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
        text = out.getvalue()
    plt.close(figure)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return text[text.index("<svg"):]


def caption(line):
    size = " x ".join(map(str, line["size"]))
    command = re.sub(r" --json \S+", "", line["command"])
    return (f"Measured by `{command}`: medians, turns: {line['turns']}, all ways in each; one node, "
            f"{line['cores']} cores; image of {size} pixels, {line['bytes'] >> 20} MiB of textures to an "
            f"emulated device of {line['device'].removesuffix('M')} MiB/s without page cache. At best all but the last of "
            f"{line['filters']} files hides behind the computation.")


def picture(cases, title):
    """(SVG, caption) of lines of study/results/texture.jsonl, a panel each; nothing if there are none."""
    plt.rcParams.update({"svg.hashsalt": "sluice", "svg.fonttype": "none"})
    figure, panels = plt.subplots(len(cases), 1, figsize=(8, 0.8 + 2.1 * len(cases)), sharex=True,
                                  squeeze=False, layout="constrained")
    for axes, line in zip(panels[:, 0], cases):
        draw_case(axes, line)
    most = max(texture.median(line, way, "total") for line in cases for way in SHOWN
               if way in line["ways"])
    panels[-1, 0].set_xlim(0, most * 1.28)
    panels[-1, 0].set_xlabel("seconds, of the slowest rank (whiskers: smallest to largest of blocked)",
                             fontsize=9)
    palette.title(figure, title)
    figure.legend([Patch(color=palette.CONTENDERS["mpi"]), Patch(**REST)],
                  ["filled: blocked in I/O", "the rest of the loop"], loc="outside lower center", ncols=2,
                  fontsize=9, frameon=False)
    return svg_of(figure), caption(cases[-1])


def pictures(found, title):
    """Of the slow device with 2 ranks, where all ways were measured."""
    cases = [line for (device, _, ranks, _), line in sorted(found.items())
             if (device, ranks) == ("40M", 2)]
    return [picture(cases, title)] if cases else []
