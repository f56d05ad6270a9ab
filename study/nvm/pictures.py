#!/usr/bin/env python3
"""Draws nvm-*.png from the study's lines: pictures.py LINES FOLDER. Wants matplotlib."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "results"))
import emulations
import lines as study
import model
import palette
from palette import plain, plt, save
from paper import DEVICES, MIB, SCALE

COLOURS = palette.DEVICES
MARKS = {"hdd": "o", "ssd": "s", "nvm": "^"}
STYLES = {emulations.LOOP: "--", emulations.TMPFS: ":"}
WAY_COLOURS = {way: palette.CONTENDERS[contender] for way, contender in
               (("posix", "posix"), ("mpi-individual", "mpi-default"),
                ("individual", "interposed"), ("mpi-collective", "mpi"),
                ("collective", "sluice"), ("auto", "sluice-auto"))}
EMULATED = "measured on emulated devices (sluice device)"
CACHED = (("hacc", "write", "HACC-IO"), ("madbench", "W", "MADBench2, W"),
          ("s3asim", "read", "S3aSim"))


def draw_caches(lines, folder):
    shown = [one for one in CACHED if lines.caches(*one[:2])]
    if not shown:
        return None
    figure, all_axes = plt.subplots(1, len(shown), figsize=(3.3 * len(shown), 3.2),
                                    layout="constrained", squeeze=False)
    for axes, (application, step, name) in zip(all_axes[0], shown):
        caches = lines.caches(application, step)
        for device in dict.fromkeys((*DEVICES, *emulations.ALL)):
            points = [(cache / MIB, lines.cached[application, step, device, cache])
                      for cache in caches if (application, step, device, cache) in lines.cached]
            heights = [study.rate(row) for _, row in points]
            spread = palette.whiskers(heights, [study.rates(row) for _, row in points])
            axes.errorbar([cache for cache, _ in points], heights, spread, capsize=2, color=COLOURS[device.split("-")[0]], marker=MARKS[device.split("-")[0]],
                      markersize=4, linestyle=STYLES.get(device, "-"), label=device)
        axes.set_title(name, fontsize=10, loc="left")
        axes.set_yscale("log")
        axes.set_xticks([cache / MIB for cache in caches])
        axes.tick_params(which="both", labelsize=7)
        for axis in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            axis(lambda value, _: f"{value:.0f}" if f"{value:.0f}"[0] in "125" else "")
        axes.set_xlabel(f"page cache, MiB ({1024 // SCALE}: 1 GB of the paper)", fontsize=8)
        axes.set_ylabel("MB/s, 4 processes", fontsize=8)
        plain(axes)
    share_limits(all_axes[0])
    palette.title(figure, "Bandwidth by size of the page cache, measured on emulated devices; "
                          "median, whiskers: smallest to largest")
    palette.legend(figure, all_axes[0][0], 5)
    return save(figure, folder / "nvm-page-cache.png")


def share_limits(all_axes):
    """The same axis for the same quantity."""
    limits = [axes.get_ylim() for axes in all_axes]
    for axes in all_axes:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def draw_bars(axes, lines, setting, step, ways):
    devices = lines.devices(setting)
    width = 0.8 / len(ways)
    for place, way in enumerate(ways):
        rows = [lines.app(setting, device, step, way) for device in devices]
        heights = [study.rate(row) if row else 0 for row in rows]
        left = [x + (place - (len(ways) - 1) / 2) * width for x in range(len(devices))]
        spread = [study.rates(row) if row else (0, 0) for row in rows]
        bars = palette.draw_bars(axes, left, heights, spread, width=width, color=WAY_COLOURS[way],
                                 label=way)
        axes.bar_label(bars, [f"{height:.0f}" if height else "" for height in heights], fontsize=6,
                       padding=1, rotation=90)
    axes.set_xticks(range(len(devices)), devices)
    axes.tick_params(labelsize=8)
    axes.margins(y=0.18)
    axes.set_title(f"{step}, {title_of(setting)}", fontsize=9, loc="left")
    axes.set_ylabel("MB/s, all processes", fontsize=8)
    plain(axes)


def title_of(setting):
    nodes, ranks = setting
    return f"{ranks} processes, one node" if nodes == 1 else f"{nodes} nodes x {ranks // nodes}"


def draw_settings(lines, folder, settings, ways, name):
    settings = [setting for setting in settings if setting and lines.devices(setting)]
    if not settings:
        return None
    figure, axes = plt.subplots(2, len(settings), figsize=(4.4 * len(settings), 5.2),
                                layout="constrained", squeeze=False)
    for row, step in enumerate(study.STEPS):
        for column, setting in enumerate(settings):
            draw_bars(axes[row][column], lines, setting, step, ways)
    share_limits([each for row in axes for each in row])
    palette.title(figure, f"IOR, {EMULATED}; median, whiskers: smallest to largest")
    palette.legend(figure, axes[0][0], len(ways))
    return save(figure, folder / name)


def draw_tradeoff(lines, folder):
    panels = [(where, curves) for where, curves in
              (("the paper's cluster", model.paper_tradeoff(lines)),
               ("emulated here", model.own_tradeoff(lines))) if curves]
    if not panels:
        return None
    figure, all_axes = plt.subplots(len(panels), 3, figsize=(9.6, 2.6 * len(panels)),
                                    layout="constrained", squeeze=False)
    for row, (where, curves) in zip(all_axes, panels):
        for axes, device in zip(row, DEVICES):
            if device not in curves:
                axes.set_visible(False)
                continue
            sizes = [point.bytes for point in curves[device]]
            axes.plot(sizes, [1e3 * point.cost for point in curves[device]], color="#cc6677",
                      marker="o", markersize=3, label="cost of the shuffle")
            axes.plot(sizes, [1e3 * point.benefit for point in curves[device]], color="#332288",
                      marker="s", markersize=3, label="benefit: individual - collective")
            axes.set_xscale("log", base=2)
            axes.set_yscale("symlog", linthresh=1)
            axes.axhline(0, color="black", linewidth=0.5)
            ticks = sizes[::3]
            axes.set_xticks(ticks, [f"{size // 1024}K" if size < MIB else f"{size // MIB}M"
                                    for size in ticks])
            axes.tick_params(labelsize=7)
            axes.set_title(f"{device}, {where}", fontsize=9, loc="left")
            axes.set_ylabel("ms, one iteration", fontsize=8)
            plain(axes)
    share_limits([axes for row in all_axes for axes in row if axes.get_visible()])
    palette.title(figure, "Cost and benefit of collective writes by bytes of a message: computed "
                          "by the paper's equations, not measured")
    palette.legend(figure, all_axes[0][0], 2)
    return save(figure, folder / "nvm-tradeoff.png")


def draw_model(lines, folder):
    cases = [case for case in model.cases(lines) if case.direction == "write"]
    if not cases:
        return None
    figure, axes = plt.subplots(figsize=(9, 3.2), layout="constrained")
    colours = palette.ESTIMATES
    kinds = (("measured", colours["measured"], lambda case: case.measured),
             ("the paper's equations", colours["equations"],
              lambda case: case.equations or case.calibrated),
             ("the library's model", colours["model"], lambda case: case.estimate))
    width = 0.27
    for place, (name, colour, value) in enumerate(kinds):
        heights = [value(case) or 0 for case in cases]
        palette.draw_bars(axes, [x + (place - 1) * width for x in range(len(cases))], heights,
                          width=width, color=colour, label=name)
    axes.set_xticks(range(len(cases)), [f"{case.device}\n{case.way}\n{case.nodes} nodes"
                                        for case in cases])
    axes.tick_params(labelsize=7)
    axes.set_ylabel("seconds, writes", fontsize=8)
    palette.title(figure, "IOR's writes, measured on emulated devices (medians) beside two "
                          "estimates")
    palette.legend(figure, axes, len(kinds))
    plain(axes)
    return save(figure, folder / "nvm-model.png")


def draw(lines, folder):
    """All pictures for which there are lines; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    many = lines.many()
    drawn = [draw_caches(lines, folder),
             draw_settings(lines, folder, [(1, 4), many], study.WAYS[:3], "nvm-individual.png"),
             draw_settings(lines, folder, lines.by_processes(), study.WAYS[1:],
                           "nvm-collective.png"),
             draw_model(lines, folder), draw_tradeoff(lines, folder)]
    return [path for path in drawn if path]


def main():
    for path in draw(study.read(sys.argv[1]), pathlib.Path(sys.argv[2])):
        print(f"{path}: {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
