"""Pictures of a report: SVG, and a heat map as PNG inside of it, so that it stays small."""
from __future__ import annotations

import base64
import math
import struct
import zlib
from dataclasses import dataclass
from html import escape

from sluice import timeline
from sluice.report.job import Access, Job

# Okabe and Ito's colours, which colour-blind people can tell apart.
COLOURS = {"blue": "#0072B2", "orange": "#E69F00", "green": "#009E73", "red": "#D55E00",
           "purple": "#CC79A7", "sky": "#56B4E9", "grey": "#9a9a9a"}
LETTER = 7.4  # As wide as a letter is at most on average, in the units of a picture.


@dataclass(frozen=True)
class Canvas:
    """How wide a picture is, in units that a browser shows as about a pixel each."""
    width: int
    left: int  # For names beside what is drawn.
    right: int
    ticks_most: int

    @property
    def drawn(self) -> int:
        """Between the margins."""
        return self.width - self.left - self.right


WIDE = Canvas(900, 150, 40, 8)
NARROW = Canvas(372, 70, 26, 4)  # For a telephone: letters are as large as on a screen.


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


def _svg(canvas: Canvas, height: float, title: str, parts: list[str]) -> str:
    return (f'<svg viewBox="0 0 {canvas.width} {height:.0f}" role="img" '
            f'aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg">'
            f'{"".join(parts)}</svg>')


def _text(x: float, y: float, words: str, anchor: str = "start", css: str = "") -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{css}">'
            f'{escape(words)}</text>')


def _legend(canvas: Canvas, entries: list[tuple[str, str]]) -> tuple[list[str], float]:
    """Colours and what they mean, in as many lines as they need; where the picture goes on."""
    begin = canvas.left if canvas is WIDE else 0
    parts, x, y = [], float(begin), 4.0
    for colour, name in entries:
        size = 18 + LETTER * len(name)
        if x > begin and x + size > canvas.width:
            x, y = float(begin), y + 20
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="12" height="12" '
                     f'fill="{COLOURS[colour]}"/>')
        parts.append(_text(x + 18, y + 10, name))
        x += size + 22
    return parts, y + 22


def seconds_text(value: float) -> str:
    """With a unit that suits it."""
    if value < 1e-9:  # What is left when sums of seconds are taken from each other.
        return "0 s"
    if value >= 0.9995:
        return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s"
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} us"


def _ticks(length: float, most: int) -> tuple[list[float], str]:
    """Round moments from 0 on, at most one more than `most`, and their unit."""
    unit, scale = next(((name, size) for name, size in (("s", 1.0), ("ms", 1e-3))
                        if length >= size), ("us", 1e-6))
    wanted = max(length, 1e-9) / scale / most
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= wanted * 0.999999)
    return [step * scale * i for i in range(int(length / scale / step * 1.000001) + 1)], unit


def _axis(begin: float, end: float, y: float, canvas: Canvas = WIDE) -> list[str]:
    """Times below a picture that goes from one moment to another; they count from its begin."""
    whence = "the job's begin" if begin == 0 else f"{begin:.3f} s after the job's begin"
    parts = []
    ticks, unit = _ticks(end - begin, canvas.ticks_most)
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]
    for tick in ticks:
        x = canvas.left + canvas.drawn * tick / max(end - begin, 1e-9)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{y + 5:.1f}" '
                     'class="axis"/>')
        parts.append(_text(x, y + 18, f"{tick * scale:.6g} {unit}", "middle"))
    parts.append(_text(canvas.left + canvas.drawn / 2, y + 36, f"time from {whence}", "middle"))
    return parts


def heat_map(cells: list[list[float]], job: Job, canvas: Canvas = WIDE) -> str:
    """Ranks against time: how much of each moment was spent in calls on files."""
    row = max(2.0, min(18.0, 360 / len(cells)))
    height, left = row * len(cells), canvas.left
    data = base64.b64encode(_png(cells)).decode()
    parts = [f'<image x="{left}" y="8" width="{canvas.drawn}" height="{height:.1f}" '
             f'preserveAspectRatio="none" style="image-rendering:pixelated" '
             f'href="data:image/png;base64,{data}"/>',
             f'<rect x="{left}" y="8" width="{canvas.drawn}" height="{height:.1f}" '
             'class="frame"/>']
    names = {0: "rank 0", len(cells) - 1: f"rank {job.ranks - 1}"}
    for place, name in names.items():
        parts.append(_text(left - 8, 8 + row * (place + 0.5) + 4, name, "end"))
    parts += _axis(0.0, job.seconds, 8 + height, canvas)
    y, wide = 8 + height + 60, canvas.drawn / 3
    shades = base64.b64encode(_png([[step / 49 for step in range(50)]])).decode()
    parts.append(f'<image x="{left}" y="{y:.0f}" width="{wide:.0f}" height="12" '
                 f'preserveAspectRatio="none" href="data:image/png;base64,{shades}"/>')
    parts.append(_text(left - 8, y + 11, "0 %", "end"))
    parts.append(_text(left + wide + 10, y + 11, "100 % of the time in calls"))
    return _svg(canvas, y + 20, "Time in calls on files, by rank and moment", parts)


def _end(name: str, letters: int) -> str:
    """Of a path, where its end is what tells it from others."""
    return name if len(name) <= letters else "..." + name[3 - letters:]


def blocked_bars(rows: list[tuple[str, float, float | None]], canvas: Canvas = WIDE) -> str:
    """For each file: seconds in calls, and seconds under way that no call waited for, if known.
    Names are beside the bars, or above them where there is no room."""
    most = max((blocked + (hidden or 0.0) for _, blocked, hidden in rows), default=0.0) or 1.0
    left = canvas.left if canvas is WIDE else 0
    room = canvas.width - left - (230 if canvas is WIDE else 130)
    parts, y = _legend(canvas, [("red", "the program waits in a call"),
                                ("green", "under way while it computes")])
    y += 4
    for name, blocked, hidden in rows:
        a, b = room * blocked / most, room * (hidden or 0.0) / most
        if canvas is WIDE:
            parts.append(_text(left - 8, y + 13, _end(name, 18), "end"))
        else:
            parts.append(_text(0, y + 11, _end(name, int(canvas.width / LETTER))))
            y += 16
        parts.append(f'<rect x="{left}" y="{y}" width="{a:.1f}" height="18" '
                     f'fill="{COLOURS["red"]}"><title>{escape(name)}</title></rect>')
        parts.append(f'<rect x="{left + a:.1f}" y="{y}" width="{b:.1f}" height="18" '
                     f'fill="{COLOURS["green"]}"/>')
        more = f" + {seconds_text(hidden)}" if hidden and hidden >= 1e-6 else ""
        parts.append(_text(left + a + b + 8, y + 13, seconds_text(blocked) + more))
        y += 26
    return _svg(canvas, y + 6, "Seconds waited and seconds hidden, by file", parts)


KINDS = {"call": ("grey", "call of the program"), "copy": ("sky", "copy"),
         "transfer": ("blue", "transfer to or from the file"), "message": ("purple", "message"),
         "wait": ("red", "waits"), "program": ("green", "computes")}
RANKS_MOST, SLICES_MOST = 12, 4000


def _lane(slices: list[timeline.Slice], span: timeline.Interval, y: float, kind: str,
          canvas: Canvas) -> list[str]:
    """Slices of one kind, joined where they touch or lie closer than a pixel."""
    scale = canvas.drawn / max(span[1] - span[0], 1)
    pixel = int(1 / scale)
    joined: list[list[int]] = []
    for begin, end in timeline.union((max(one.begin, span[0]), min(one.end, span[1]))
                                     for one in slices
                                     if one.end > span[0] and one.begin < span[1]):
        if joined and begin - joined[-1][1] < pixel:
            joined[-1][1] = end
        else:
            joined.append([begin, end])
    return [f'<rect x="{canvas.left + (begin - span[0]) * scale:.1f}" y="{y:.1f}" '
            f'width="{max((end - begin) * scale, 0.7):.1f}" height="6" '
            f'fill="{COLOURS[KINDS[kind][0]]}"/>' for begin, end in joined[:SLICES_MOST]]


def operation_timeline(trace: timeline.Timeline, operation: timeline.Operation,
                       canvas: Canvas = WIDE) -> str:
    """What each rank did during one operation; of many ranks those on which it took longest."""
    span = operation.span
    longest = sorted(operation.whole, key=lambda one: -one.seconds)
    ranks = sorted({one.rank for one in longest[:RANKS_MOST]})
    of_rank = {kind: trace.by_rank(kind) for kind in KINDS}
    present = [kind for kind in KINDS
               if any(one.end > span[0] and one.begin < span[1]
                      for rank in ranks for one in of_rank[kind][rank])]
    parts, y = _legend(canvas, [(KINDS[kind][0], KINDS[kind][1].split(" to ")[0].split(" of ")[0])
                                for kind in present])
    for rank in ranks:
        parts.append(_text(canvas.left - 8, y + 4 * len(present), f"rank {rank}", "end"))
        for kind in present:
            parts += _lane(of_rank[kind][rank], span, y, kind, canvas)
            y += 7
        y += 6
    return _svg(canvas, y + 42, "The slowest operation",
                parts + _axis(span[0] / 1e9, span[1] / 1e9, y, canvas))


def access_timeline(accesses: list[Access], canvas: Canvas = WIDE) -> str:
    """One access on its ranks: in the calls, and under way between them."""
    begin = min(one.begin for one in accesses)
    end = max(one.completed for one in accesses)
    shown = sorted(sorted(accesses, key=lambda one: -one.blocked)[:4 * RANKS_MOST],
                   key=lambda one: one.rank)
    scale = canvas.drawn / max(end - begin, 1e-9)

    def bar(first: float, last: float, y: float, colour: str) -> str:
        return (f'<rect x="{canvas.left + (first - begin) * scale:.1f}" y="{y:.1f}" '
                f'width="{max((last - first) * scale, 0.7):.1f}" height="12" '
                f'fill="{COLOURS[colour]}"/>')

    parts, y = _legend(canvas, [("red", "in a call"), ("green", "under way")])
    for one in shown:
        parts.append(_text(canvas.left - 8, y + 10, f"rank {one.rank}", "end"))
        parts.append(bar(one.begin, one.completed, y, "green"))
        parts.append(bar(one.begin, one.returned, y, "red"))
        if one.waited:
            parts.append(bar(one.completed - one.waited, one.completed, y, "red"))
        y += 16
    return _svg(canvas, y + 42, "The slowest access", parts + _axis(begin, end, y, canvas))
