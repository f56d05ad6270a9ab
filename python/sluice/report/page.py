"""A report as one HTML page that needs nothing else."""
from __future__ import annotations

from collections.abc import Callable
from html import escape

from sluice import timeline
from sluice.report import figures, parts, pictures
from sluice.report.job import Job
from sluice.report.pictures import seconds_text

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#1b1b1b;background:#fff;margin:0 auto;max-width:60rem;
padding:1.5rem}
h1{font-size:1.6rem;margin:0 0 .5rem}h2{font-size:1.2rem;margin:2.2rem 0 .4rem}
p{margin:.4rem 0 .8rem;max-width:46rem;overflow-wrap:anywhere}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
th,td{text-align:right;padding:.25rem .6rem;border-bottom:1px solid #ddd;white-space:nowrap}
th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere;
min-width:9rem}
.scroll{overflow-x:auto}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}
dt{color:#555}dd{margin:0;overflow-wrap:anywhere}
svg{width:100%;height:auto;display:block}svg text{font-size:13px;fill:#333}
.narrow{display:none;max-width:30rem}
.axis{stroke:#777}.frame{fill:none;stroke:#999}
.advice{border-left:4px solid #0072B2;padding:.2rem 1rem;margin:.8rem 0;background:#f5f8fb}
.advice b{display:block}
.plan{background:#f5f5f5;padding:.8rem .8rem .8rem 2rem;margin:0;max-width:46rem}
footer{margin-top:3rem;color:#555;font-size:.85rem}
@media(max-width:59rem){th,td{padding:.25rem .35rem;font-size:.9rem}}
@media(max-width:50rem){body{padding:1rem .8rem}
dl{display:block}dt{margin-top:.4rem;font-size:.85rem}
th,td{padding:.2rem .25rem;font-size:.8rem}th{white-space:normal}
th:first-child,td:first-child{min-width:4.5rem}
.wide{display:none}.narrow{display:block}
.many,.many tbody{display:block}.many thead{display:none}
.many tr{display:grid;grid-template-columns:repeat(4,1fr);padding:.4rem 0;
border-bottom:1px solid #ddd}
.many td{border:0;text-align:left;font-size:.85rem}
.many td:first-child{grid-column:1/-1;font-weight:bold}
.many td+td::before{content:attr(data-head);display:block;color:#555;font-size:.75rem}}
@media(max-width:22rem){th,td{padding:.2rem .1rem;font-size:.7rem}
th:first-child,td:first-child{min-width:3.5rem}}
"""
WORDS_OF_FILES = """Calls and bytes are of all ranks, times of the rank with most. <i>Waited</i> is
the time in calls for accesses to the file, <i>in close</i> that in MPI_File_close, where ranks wait
for each other as well; <i>under way</i> lasts from the call that begins an access to its
completion, and what is under way and not waited for is <i>hidden</i> behind computation.
<i>MiB/s</i> are the bytes, divided by the time in which any were on their way.
"""
COLUMNS_MOST = 6  # Of a table that a telephone shows as one; of others each row has lines there.


def _table(table: parts.Table) -> str:
    heads = "".join(f"<th>{escape(one)}</th>" for one in table.heads)
    rows = "".join("<tr>" + "".join(f'<td data-head="{escape(head)}">{escape(cell)}</td>'
                                    for head, cell in zip(table.heads, row)) + "</tr>"
                   for row in table.rows)
    kind = ' class="many"' if len(table.heads) > COLUMNS_MOST else ""
    return (f'<div class="scroll"><table{kind}><thead><tr>{heads}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>")


def _picture(draw: Callable[[pictures.Canvas], str]) -> str:
    """Drawn twice: letters of a wide one would be too small on a telephone."""
    return (f'<div class="wide">{draw(pictures.WIDE)}</div>'
            f'<div class="narrow">{draw(pictures.NARROW)}</div>')


def _plan(lines: list[str]) -> str:
    """One item for each statement: each ends with a full stop, and may have several lines."""
    statements: list[str] = []
    for line in lines:
        if statements and not statements[-1].endswith("."):
            statements[-1] += f" {line}"
        else:
            statements.append(line)
    items = "".join(f"<li>{escape(one)}</li>" for one in statements)
    return f'<ul class="plan">{items}</ul>' if items else ""


def _section(title: str, words: str, body: str) -> str:
    return f"<h2>{escape(title)}</h2><p>{words}</p>{body}" if body else ""


def _advice(job: Job) -> str:
    found = "".join(
        f'<div class="advice"><b>{escape(one.title)} '
        f"(at most {seconds_text(one.seconds or 0.0)})</b>{escape(one.text)}</div>"
        for one in parts.advised(job))
    return found or f"<p>{escape(parts.no_advice(job))}</p>"


def _slowest(job: Job) -> str:
    """From the inside where there is a trace, else as the program saw it."""
    trace = job.trace
    found = timeline.operations(trace) if trace else []
    if found and trace:
        operation = max(found, key=lambda one: one.slowest.seconds)
        words = (f"Operation {operation.number} of {operation.file}: a {operation.kind} "
                 f"of {parts.size_text(operation.bytes)} by all ranks, "
                 f"{seconds_text(operation.slowest.seconds)} on rank {operation.slowest.rank}.")
        return _section("The slowest operation", escape(words),
                        _picture(lambda canvas: pictures.operation_timeline(
                            trace, operation, canvas)))
    access = figures.slowest(job)
    if access is None:
        return ""
    words = (f"{access.function} of {access.file}: "
             f"{parts.size_text(access.bytes)} of rank {access.rank}, which waited "
             f"{seconds_text(access.blocked)}.")
    return _section("The slowest access", escape(words),
                    _picture(lambda canvas: pictures.access_timeline(
                        figures.together(job, access), canvas)))


def page(job: Job, plan: list[str], version: str) -> str:
    """The whole page."""
    about = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
                    for name, value in parts.head(job))
    cells = figures.heat(job, columns=220, rows_most=180)
    waits = parts.waits(job)
    sections = [
        _section("Advice", "Seconds are what each could save at most on the rank that gains most; "
                 "they come from the times between the job's calls. <code>sluice tune</code> "
                 "tries hints on a recorded job.", _advice(job)),
        _section("Waited and hidden, by file", WORDS_OF_FILES + escape(parts.notes(job))
                 + " Each bar is of the rank that waited longest, the close included.",
                 _picture(lambda canvas: pictures.blocked_bars(parts.bars(job), canvas))
                 + _table(parts.files(job))),
        _section("By call", "Opens, views and closes included; what completes a nonblocking access "
                 "counts with it. Calls and bytes are of all ranks, times of the rank with most.",
                 _table(parts.calls(job))),
        _section("Ranks against time", "How much of each moment a rank, or a group of "
                 "neighbouring ones, spent in calls on files.",
                 _picture(lambda canvas: pictures.heat_map(cells, job, canvas))),
        _section("Sizes", "What one call of one rank asks for, and how long the contiguous pieces "
                 "of the file in it are on average.", _table(parts.sizes(job))),
        _section("What calls waited for", "From the trace; each time is of the rank that "
                 "waited longest for it.",
                 _table(waits) if waits.rows else ""),
        _slowest(job),
        _section("What the library decides", "For the collective access that took longest in all, "
                 "as <code>sluice explain</code> says it.",
                 _plan(plan)),
    ]
    return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>Sluice: {escape(job.program or job.source)}</title>"
            f"<style>{STYLE}</style></head><body><h1>File I/O of a job</h1><dl>{about}</dl>"
            f'{"".join(sections)}<footer>sluice report, {escape(version)}</footer>'
            "</body></html>\n")
