#!/usr/bin/env python3
"""Draw what the demo found: the textures on the left, the times on the right."""

import json
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

COMPUTE, BLOCKED = "#9fb4c7", "#d1495b"
INK, FAINT = "#22303c", "#6b7a86"
MODES = {"blocking": "blocking", "nonblocking": "nonblocking", "behind": "blocking\nwith --behind"}


def draw(summary, target):
    """The whole picture."""
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 10, "text.color": INK,
                         "axes.labelcolor": INK, "xtick.color": FAINT, "ytick.color": INK})
    figure = plt.figure(figsize=(14, 6.9), facecolor="white")
    figure.suptitle("Texture of a tissue picture: each filter's file is written "
                    "while the next filters are computed",
                    x=0.02, y=0.965, ha="left", fontsize=15, fontweight="bold")
    figure.text(0.02, 0.905, subtitle(summary), ha="left", fontsize=10, color=FAINT)
    draw_pictures(figure, summary)
    draw_times(figure.add_axes([0.555, 0.185, 0.425, 0.64]), summary["runs"])
    figure.text(0.445, 0.04, summary["definition"], fontsize=8.5, color=FAINT, linespacing=1.45)
    figure.savefig(target, dpi=110)


def subtitle(summary):
    height, width = summary["size"]
    return (f"{height} x {width} pixels, {summary['filters']} Gabor filters, "
            f"{summary['bytes'] / 2**20:.0f} MiB in {summary['filters']} files; "
            f"{summary['ranks']} ranks, {summary['outstanding']} files in flight; "
            f"{summary['storage']}.  {summary['verdict']}")


def draw_pictures(figure, summary):
    """The input and up to three textures of the same part, two by two."""
    side = summary["crop"]
    source = np.asarray(Image.open(summary["picture"]).convert("RGB"))[:side, :side]
    panels = [("input", source)]
    for texture in summary["textures"][:3]:
        values = np.fromfile(texture["file"], np.float32).reshape(side, -1)
        panels.append((texture["title"], values))
    corners = [(0.02, 0.46), (0.222, 0.46), (0.02, 0.04), (0.222, 0.04)]
    for (title, values), (left, bottom) in zip(panels, corners):
        axes = figure.add_axes([left, bottom, 0.196, 0.398])  # square on this figure
        top = np.percentile(values, 99.5)
        axes.imshow(values, cmap="magma", vmin=0, vmax=None if values.ndim == 3 else top)
        axes.set_axis_off()
        axes.text(0.02, 0.96, title, transform=axes.transAxes, va="top", fontsize=9,
                  color="white", bbox={"facecolor": INK, "alpha": 0.8, "edgecolor": "none",
                                       "boxstyle": "round,pad=0.35"})


def draw_times(axes, runs):
    """A bar for each run, grouped by MPI; what is blocked comes last, so that it shows."""
    places = bar_places(runs)
    longest = max(run["total"] for run in runs)
    for run, place in zip(runs, places):
        computing = run["total"] - run["blocked"]
        axes.barh(place, computing, 0.72, color=COMPUTE)
        axes.barh(place, run["blocked"], 0.72, left=computing, color=BLOCKED)
        axes.text(run["total"] + longest * 0.015, place, remark(run), va="center", fontsize=9)
    axes.set_yticks(places, [f"{run['library']}, {MODES[run['mode']]}" for run in runs])
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text().startswith("Sluice") else "normal")
    for mpi in dict.fromkeys(run["mpi"] for run in runs):
        first = min(place for run, place in zip(runs, places) if run["mpi"] == mpi)
        axes.text(0, first - 0.62, mpi, fontweight="bold", fontsize=11)
    finish_axes(axes, places, longest)


def bar_places(runs):
    """Positions down the axis with a gap, for a heading, before each MPI."""
    order = list(dict.fromkeys(run["mpi"] for run in runs))
    return [index + 1.1 * order.index(run["mpi"]) for index, run in enumerate(runs)]


def remark(run):
    text = f"{run['total']:.1f} s"
    if run["mode"] == "blocking":
        return text
    return f"{text}   ({run['hidden']:.0%} hidden)"


def finish_axes(axes, places, longest):
    axes.set_ylim(places[-1] + 0.6, places[0] - 1.2)
    axes.set_xlim(0, longest * 1.33)
    axes.set_xlabel("seconds for the whole loop")
    axes.tick_params(axis="both", length=0)
    axes.grid(axis="x", color="#e4e9ed", zorder=0)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)
    keys = [plt.Rectangle((0, 0), 1, 1, color=color) for color in (COMPUTE, BLOCKED)]
    axes.legend(keys, ["computing", "blocked in I/O"], ncols=2, frameon=False,
                loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as stream:
        draw(json.load(stream), sys.argv[2])
