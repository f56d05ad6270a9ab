"""Pictures of a report: SVG, and a heat map as PNG inside of it, so that it stays small."""
from __future__ import annotations

import base64
import math
import struct
import zlib
from html import escape

from sluice import timeline
from sluice.report.job import Access, Job

# Okabe and Ito's colours, which colour-blind people can tell apart.
COLOURS = {"blue": "#0072B2", "orange": "#E69F00", "green": "#009E73", "red": "#D55E00",
           "purple": "#CC79A7", "sky": "#56B4E9", "grey": "#9a9a9a"}
WIDTH, LEFT, RIGHT = 900, 150, 40
TICKS_MOST = 8


def _png(cells: list[list[float]]) -> bytes:
    """One pixel for each cell, from white (0) over orange to a dark blue (1)."""
    def colour(value: float) -> bytes:
        stops = [(255, 255, 255), (230, 159, 0), (0, 63, 115)]
        place = min(max(value, 0.0), 1.0) * 2
        low, high = stops[min(int(place), 1)], stops[min(int(place), 1) + 1]
        part = place - min(int(place), 1)
        return bytes(round(a + (b - a) * part) for a, b in zip(low, high))

    rows = b"".join(b"\0" + b"".join(colour(value) for value in row) for row in cells)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))

    head = struct.pack(">IIBBBBB", len(cells[0]), len(cells), 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9))
            + chunk(b"IEND", b""))


def _svg(height: float, title: str, parts: list[str]) -> str:
    return (f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>')


def _text(x: float, y: float, words: str, anchor: str = "start", css: str = "") -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{css}">'
            f'{escape(words)}</text>')


def seconds_text(value: float) -> str:
    """With a unit that suits it."""
    if value < 1e-9:  # What is left when sums of seconds are taken from each other.
        return "0 s"
    if value >= 0.9995:
        return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s"
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} us"


def _ticks(length: float) -> tuple[list[float], str]:
    """Round moments from 0 on, at most TICKS_MOST + 1 of them, and their unit."""
    unit, scale = next(((name, size) for name, size in (("s", 1.0), ("ms", 1e-3))
                        if length >= size), ("us", 1e-6))
    wanted = max(length, 1e-9) / scale / TICKS_MOST
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= wanted * 0.999999)
    return [step * scale * i for i in range(int(length / scale / step * 1.000001) + 1)], unit


def _axis(begin: float, end: float, y: float) -> list[str]:
    """Times below a picture that goes from one moment to another; they count from its begin."""
    whence = "the job's begin" if begin == 0 else f"{begin:.3f} s after the job's begin"
    parts = []
    ticks, unit = _ticks(end - begin)
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]
    for tick in ticks:
        x = LEFT + (WIDTH - LEFT - RIGHT) * tick / max(end - begin, 1e-9)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{y + 5:.1f}" '
                     'class="axis"/>')
        parts.append(_text(x, y + 18, f"{tick * scale:.6g} {unit}", "middle"))
    parts.append(_text(LEFT + (WIDTH - LEFT - RIGHT) / 2, y + 36, f"time from {whence}",
                       "middle"))
    return parts


def heat_map(cells: list[list[float]], job: Job) -> str:
    """Ranks against time: how much of each moment was spent in calls on files."""
    row = max(2.0, min(18.0, 360 / len(cells)))
    height = row * len(cells)
    data = base64.b64encode(_png(cells)).decode()
    parts = [f'<image x="{LEFT}" y="8" width="{WIDTH - LEFT - RIGHT}" height="{height:.1f}" '
             f'preserveAspectRatio="none" style="image-rendering:pixelated" '
             f'href="data:image/png;base64,{data}"/>',
             f'<rect x="{LEFT}" y="8" width="{WIDTH - LEFT - RIGHT}" height="{height:.1f}" '
             'class="frame"/>']
    names = {0: "rank 0", len(cells) - 1: f"rank {job.ranks - 1}"}
    for place, name in names.items():
        parts.append(_text(LEFT - 8, 8 + row * (place + 0.5) + 4, name, "end"))
    parts += _axis(0.0, job.seconds, 8 + height)
    y = 8 + height + 60
    shades = base64.b64encode(_png([[step / 49 for step in range(50)]])).decode()
    parts.append(f'<image x="{LEFT}" y="{y:.0f}" width="200" height="12" '
                 f'preserveAspectRatio="none" href="data:image/png;base64,{shades}"/>')
    parts.append(_text(LEFT - 8, y + 11, "in calls: 0 %", "end"))
    parts.append(_text(LEFT + 210, y + 11, "100 % of the time"))
    return _svg(y + 20, "Time in calls on files, by rank and moment", parts)


def blocked_bars(rows: list[tuple[str, float, float | None]]) -> str:
    """For each file: seconds in calls, and seconds under way that no call waited for, if known."""
    most = max((blocked + (hidden or 0.0) for _, blocked, hidden in rows), default=0.0) or 1.0
    parts, y, room = [], 30.0, WIDTH - LEFT - RIGHT - 190
    for place, (colour, name) in enumerate((("red", "the program waits in a call"),
                                            ("green", "under way while it computes"))):
        parts.append(f'<rect x="{LEFT + 230 * place}" y="4" width="12" height="12" '
                     f'fill="{COLOURS[colour]}"/>')
        parts.append(_text(LEFT + 230 * place + 18, 14, name))
    for name, blocked, hidden in rows:
        a, b = room * blocked / most, room * (hidden or 0.0) / most
        shown = name if len(name) <= 18 else "..." + name[-15:]
        parts.append(_text(LEFT - 8, y + 13, shown, "end"))
        parts.append(f'<rect x="{LEFT}" y="{y}" width="{a:.1f}" height="18" '
                     f'fill="{COLOURS["red"]}"><title>{escape(name)}</title></rect>')
        parts.append(f'<rect x="{LEFT + a:.1f}" y="{y}" width="{b:.1f}" height="18" '
                     f'fill="{COLOURS["green"]}"/>')
        parts.append(_text(LEFT + a + b + 8, y + 13,
                           seconds_text(blocked) + ("" if hidden is None
                                                    else f" + {seconds_text(hidden)}")))
        y += 26
    return _svg(y + 6, "Seconds waited and seconds hidden, by file", parts)


KINDS = {"call": ("grey", "call of the program"), "copy": ("sky", "copy"),
         "transfer": ("blue", "transfer to or from the file"), "message": ("purple", "message"),
         "wait": ("red", "waits"), "program": ("green", "computes")}
RANKS_MOST, SLICES_MOST = 12, 4000


def _lane(slices: list[timeline.Slice], span: timeline.Interval, y: float, kind: str) -> list[str]:
    """Slices of one kind, joined where they touch or lie closer than a pixel."""
    scale = (WIDTH - LEFT - RIGHT) / max(span[1] - span[0], 1)
    pixel = int(1 / scale)
    joined: list[list[int]] = []
    for begin, end in timeline.union((max(one.begin, span[0]), min(one.end, span[1]))
                                     for one in slices
                                     if one.end > span[0] and one.begin < span[1]):
        if joined and begin - joined[-1][1] < pixel:
            joined[-1][1] = end
        else:
            joined.append([begin, end])
    return [f'<rect x="{LEFT + (begin - span[0]) * scale:.1f}" y="{y:.1f}" '
            f'width="{max((end - begin) * scale, 0.7):.1f}" height="6" '
            f'fill="{COLOURS[KINDS[kind][0]]}"/>' for begin, end in joined[:SLICES_MOST]]


def operation_timeline(trace: timeline.Timeline, operation: timeline.Operation) -> str:
    """What each rank did during one operation; of many ranks those on which it took longest."""
    span = operation.span
    longest = sorted(operation.whole, key=lambda one: -one.seconds)
    ranks = sorted({one.rank for one in longest[:RANKS_MOST]})
    of_rank = {kind: trace.by_rank(kind) for kind in KINDS}
    present = [kind for kind in KINDS
               if any(one.end > span[0] and one.begin < span[1]
                      for rank in ranks for one in of_rank[kind][rank])]
    parts = []
    for place, kind in enumerate(present):
        x = LEFT + 120 * place
        parts.append(f'<rect x="{x}" y="4" width="12" height="12" '
                     f'fill="{COLOURS[KINDS[kind][0]]}"/>')
        parts.append(_text(x + 17, 14, KINDS[kind][1].split(" to ")[0].split(" of ")[0]))
    y = 26.0
    for rank in ranks:
        parts.append(_text(LEFT - 8, y + 4 * len(present), f"rank {rank}", "end"))
        for kind in present:
            parts += _lane(of_rank[kind][rank], span, y, kind)
            y += 7
        y += 6
    return _svg(y + 42, "The slowest operation", parts + _axis(span[0] / 1e9, span[1] / 1e9, y))


def access_timeline(accesses: list[Access]) -> str:
    """One access on its ranks: in the calls, and under way between them."""
    begin = min(one.begin for one in accesses)
    end = max(one.completed for one in accesses)
    shown = sorted(sorted(accesses, key=lambda one: -one.blocked)[:4 * RANKS_MOST],
                   key=lambda one: one.rank)
    scale = (WIDTH - LEFT - RIGHT) / max(end - begin, 1e-9)

    def bar(first: float, last: float, y: float, colour: str) -> str:
        return (f'<rect x="{LEFT + (first - begin) * scale:.1f}" y="{y:.1f}" '
                f'width="{max((last - first) * scale, 0.7):.1f}" height="12" '
                f'fill="{COLOURS[colour]}"/>')

    parts, y = [], 26.0
    for place, (colour, name) in enumerate((("red", "in a call"), ("green", "under way"))):
        parts.append(f'<rect x="{LEFT + 130 * place}" y="4" width="12" height="12" '
                     f'fill="{COLOURS[colour]}"/>')
        parts.append(_text(LEFT + 130 * place + 18, 14, name))
    for one in shown:
        parts.append(_text(LEFT - 8, y + 10, f"rank {one.rank}", "end"))
        parts.append(bar(one.begin, one.completed, y, "green"))
        parts.append(bar(one.begin, one.returned, y, "red"))
        if one.waited:
            parts.append(bar(one.completed - one.waited, one.completed, y, "red"))
        y += 16
    return _svg(y + 42, "The slowest access", parts + _axis(begin, end, y))
