"""A report as one HTML page that needs nothing else."""
from __future__ import annotations

from html import escape

from sluice import timeline
from sluice.report import figures, parts, pictures
from sluice.report.job import Job
from sluice.report.pictures import seconds_text

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#1b1b1b;background:#fff;margin:0 auto;max-width:60rem;
padding:1.5rem}
h1{font-size:1.6rem;margin:0 0 .5rem}h2{font-size:1.2rem;margin:2.2rem 0 .4rem}
p{margin:.4rem 0 .8rem;max-width:46rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
th,td{text-align:right;padding:.25rem .6rem;border-bottom:1px solid #ddd;white-space:nowrap}
th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere;
min-width:9rem}
.scroll{overflow-x:auto}.scroll svg{min-width:40rem}
.more{display:none}
@media(max-width:43rem){body{padding:1rem .8rem}dl{grid-template-columns:1fr}
dt{margin-top:.3rem}th,td{white-space:normal;padding:.2rem .25rem;font-size:.78rem}
th:first-child,td:first-child{min-width:4.5rem}
.picture{border-right:3px dotted #0072B2}.more{display:block;color:#0072B2;font-size:.85rem}}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}
dt{color:#555}dd{margin:0;overflow-wrap:anywhere}
svg{width:100%;height:auto;display:block}svg text{font-size:13px;fill:#333}
.axis{stroke:#777}.frame{fill:none;stroke:#999}
.advice{border-left:4px solid #0072B2;padding:.2rem 1rem;margin:.8rem 0;background:#f5f8fb}
.advice b{display:block}
pre{background:#f5f5f5;padding:.8rem;white-space:pre-wrap;font-size:.85rem}
footer{margin-top:3rem;color:#555;font-size:.85rem}
"""


def _table(table: parts.Table) -> str:
    heads = "".join(f"<th>{escape(one)}</th>" for one in table.heads)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
                   for row in table.rows)
    return (f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>")


def _picture(svg: str) -> str:
    """Too wide for a telephone: there words say that it goes on."""
    return ('<p class="more">The picture goes on to the right: scroll it.</p>'
            f'<div class="scroll picture">{svg}</div>')


def _section(title: str, words: str, body: str) -> str:
    shown = _picture(body) if body.startswith("<svg") else body
    return f"<h2>{escape(title)}</h2><p>{words}</p>{shown}" if body else ""


def _advice(job: Job) -> str:
    found = "".join(
        f'<div class="advice"><b>{escape(one.title)} '
        f"(at most {seconds_text(one.seconds or 0.0)})</b>{escape(one.text)}</div>"
        for one in parts.advised(job))
    return found or "<p>Nothing here would save 2 % of the run.</p>"


def _slowest(job: Job) -> str:
    """From the inside where there is a trace, else as the program saw it."""
    found = timeline.operations(job.trace) if job.trace else []
    if found and job.trace:
        operation = max(found, key=lambda one: one.slowest.seconds)
        words = (f"Operation {operation.number} of {escape(operation.file)}: a {operation.kind} "
                 f"of {parts.size_text(operation.bytes)} by all ranks, "
                 f"{seconds_text(operation.slowest.seconds)} on rank {operation.slowest.rank}.")
        return _section("The slowest operation", words,
                        pictures.operation_timeline(job.trace, operation))
    access = figures.slowest(job)
    if access is None:
        return ""
    words = (f"{escape(access.function)} of {escape(access.file)}: "
             f"{parts.size_text(access.bytes)} of rank {access.rank}, which waited "
             f"{seconds_text(access.blocked)}.")
    return _section("The slowest access", words,
                    pictures.access_timeline(figures.together(job, access)))


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
        _section("Waited and hidden, by file", "Of the rank with most. <i>Waited</i> is the time "
                 "in calls for accesses to the file, <i>under way</i> from the call that begins "
                 "an access to its completion; what is under way and not waited for is hidden "
                 "behind computation. <i>MiB/s</i> are the bytes of all ranks by the time in which "
                 "any were on their way. " + escape(parts.delayed_note(job)),
                 _picture(pictures.blocked_bars(parts.bars(job))) + _table(parts.files(job))),
        _section("By call", "Opens, views and closes included. The wait for a nonblocking access "
                 "counts as its.", _table(parts.calls(job))),
        _section("Ranks against time", "How much of each moment a rank, or a group of "
                 "neighbouring ones, spent in calls on files.", pictures.heat_map(cells, job)),
        _section("Sizes", "What one call of one rank asks for.", _table(parts.sizes(job))),
        _section("What calls waited for", "As the trace has it, of the rank with most.",
                 _table(waits) if waits.rows else ""),
        _slowest(job),
        _section("What the library decides", "For the collective access that took longest in all, "
                 "as <code>sluice explain</code> says it.",
                 f"<pre>{escape(chr(10).join(plan))}</pre>" if plan else ""),
    ]
    return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>Sluice: {escape(job.program or job.source)}</title>"
            f"<style>{STYLE}</style></head><body><h1>File I/O of a job</h1><dl>{about}</dl>"
            f'{"".join(sections)}<footer>sluice report, {escape(version)}</footer>'
            "</body></html>\n")
