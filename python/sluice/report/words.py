"""A report as text, for a terminal."""
from __future__ import annotations

import textwrap

from sluice.report import parts
from sluice.report.job import Job
from sluice.report.pictures import seconds_text
from sluice.terminal import printable

FIRST_MOST = 48


def _table(table: parts.Table) -> list[str]:
    rows = [table.heads, *table.rows]
    shown = [[row[0] if len(row[0]) <= FIRST_MOST else "..." + row[0][3 - FIRST_MOST:], *row[1:]]
             for row in rows]
    widths = [max(len(row[i]) for row in shown) for i in range(len(table.heads))]
    return ["  " + row[0].ljust(widths[0])
            + "".join(cell.rjust(width + 2) for cell, width in zip(row[1:], widths[1:]))
            for row in shown]


def text(job: Job, plan: list[str]) -> str:
    """The whole report."""
    lines = [f"{name + ':':<20}{value}" for name, value in parts.head(job)]
    for title, table in (("Files", parts.files(job)), ("Calls", parts.calls(job)),
                         ("Sizes", parts.sizes(job)), ("Waits", parts.waits(job))):
        if table.rows:
            lines += ["", title, *_table(table)]
        if title == "Files" and parts.notes(job):
            lines += textwrap.wrap(parts.notes(job), 94, initial_indent="  ",
                                   subsequent_indent="  ")
    if plan:
        lines += ["", "What the library decides for the access that took longest",
                  *(f"  {line}" for line in plan)]
    lines += ["", "Advice"]
    advised = parts.advised(job)
    if not advised:
        lines += textwrap.wrap(parts.no_advice(job), 94, initial_indent="  ",
                               subsequent_indent="  ")
    for one in advised:
        lines.append(f"  at most {seconds_text(one.seconds or 0.0)}: {one.title}")
        lines += textwrap.wrap(one.text, 90, initial_indent="      ", subsequent_indent="      ")
    return "\n".join(map(printable, lines))
