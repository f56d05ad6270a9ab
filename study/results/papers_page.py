"""The page of the papers' rows as one text of HTML that needs nothing else: see study/results/report."""

import html
import posixpath
import re

import rows
from figures import PLACE

STYLE = """
:root { --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #fff; --shade: #f3f5f7; --blue: #0072b2 }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1rem; max-width: 90rem; color: var(--ink); background: var(--paper);
       font: 15px/1.45 system-ui, sans-serif; overflow-wrap: break-word }
h1 { margin: .2rem 0; font-size: 1.6rem } h2 { margin: 1.8rem 0 .4rem; font-size: 1.2rem }
p { max-width: 60rem; margin: .4rem 0 } code { font-size: .88em; background: var(--shade) }
figure { margin: 1rem 0; max-width: 56rem } .drawing { overflow-x: auto }
figure svg { width: 100%; min-width: 36rem; height: auto; display: block }
figcaption { color: var(--soft); font-size: .9rem }
.filters { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; padding: 0; border: 0;
           position: sticky; top: 0; background: var(--paper); padding-block: .4rem }
.filters button { font: inherit; padding: .3rem .8rem; border: 1px solid var(--line); border-radius: 1rem;
                  background: var(--paper); color: inherit; cursor: pointer }
.filters button[aria-pressed=true] { border-color: var(--blue); background: var(--blue); color: #fff }
.filters b { font-variant-numeric: tabular-nums }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; border-bottom: 1px solid var(--line) }
thead th { font-size: .85rem; color: var(--soft); border-bottom-width: 2px }
td { font-size: .9rem } td p { margin: 0 0 .3rem } td small, td ul { color: var(--soft); font-size: .8rem }
td ul { margin: .2rem 0; padding: 0; list-style: none } .what b { font-size: 1rem } .none { color: var(--soft) }
.verdict { display: block; width: max-content; max-width: 100%; margin-bottom: .2rem; padding: .05rem .5rem;
           border: 2px solid; border-radius: .3rem; font-weight: 600 }
.reproduced .verdict { color: #00543d; background: #dff3ec; border-color: #009e73 }
.partly .verdict { color: #5b4300; background: #fdf1d3; border-color: #e69f00; border-style: dashed }
.not .verdict { color: #7a2e00; background: #fbe3d6; border-color: #d55e00; border-style: dotted }
.cannot .verdict { color: #333; background: #eee; border-color: #666; border-style: double }
.new { border-left: .25rem solid var(--blue); padding-left: .5rem; margin-top: .4rem }
details summary { cursor: pointer; color: var(--soft); font-size: .8rem }
[hidden] { display: none }
@media (max-width: 60rem) {
  thead { display: none } table, tbody, tr, td { display: block; width: auto }
  tr { border: 1px solid var(--line); border-radius: .4rem; margin: .7rem 0; padding: .3rem }
  td { border: 0; padding: .2rem .4rem } td[data-label]::before { content: attr(data-label); display: block;
       font-size: .75rem; color: var(--soft); font-weight: 600 }
  tr[hidden] { display: none }
}
@media print { .filters { display: none } }
"""
SCRIPT = """
document.querySelectorAll('.filters button').forEach(button => button.onclick = () => {
  document.querySelectorAll('.filters button').forEach(b => b.setAttribute('aria-pressed', b === button));
  document.querySelectorAll('tbody tr').forEach(row =>
    row.hidden = button.value !== 'all' && row.className !== button.value);
  document.querySelectorAll('section').forEach(part =>
    part.hidden = !part.querySelector('tbody tr:not([hidden])'));
});
// papers.html#partly opens with that filter.
document.querySelector(`.filters button[value="${CSS.escape(location.hash.slice(1))}"]`)?.click();
"""
COLUMNS = (("what", 15), ("the paper", 12), ("Sluice", 22), ("the MPIs, in the same run", 15),
           ("measured by, and where", 20), ("verdict", 16))
LEGEND = """<p><b>reproduced</b>: the feature is there and tested; where the paper has a figure, ours is as
good by that measure on that ground. <b>partly</b>: measured on easier ground than the paper's, or it falls short;
the row says of what. <b>not reproduced</b>: it is not there. <b>cannot be run here</b>: it needs what this machine
has not.</p>"""
NO_PEER = '<span class="none">no peer has it, or none was run</span>'
BY_TESTS = "<ul><li>shown by tests, in <code>make test</code></li></ul>"


def linked(words, target):
    """A link of study/README.md; to itself it says nothing."""
    path = posixpath.normpath(posixpath.join("study", target))
    return f"{words} (<code>{path}</code>)" if target else words


def inline(text):
    """Markdown of a table's cell: code, and links, whose targets are files of the repository."""
    text = html.escape(text, quote=False)
    text = re.sub(r"\[([^]]*)\]\(([^)#]*)[^)]*\)", lambda match: linked(*match.groups()), text)
    return re.sub("`([^`]*)`", r"<code>\1</code>", text)


def class_of(verdict):
    return verdict.split()[0]


def filled(text, known):
    """A cell with the figures of a run; None if it measured none of them."""
    names = PLACE.findall(text)
    if names and not any(name in known for name in names):
        return None
    return inline(PLACE.sub(lambda match: known.get(match[1], "(not measured)"), text))


def newly(text, known):
    """The same cell by the new run, where that has a figure of it."""
    new = filled(text, known) if PLACE.search(text) else None
    return f'<div class="new"><small>measured anew</small><br>{new}</div>' if new else ""


def provenance(row, lines_of):
    """Machine and versions from the lines of the row, and the command of the newest one."""
    found = []
    for file in row.files:
        lines = lines_of(file)
        if not lines:
            continue
        words = [*rows.machine_of(lines), *rows.versions_of(lines)]
        command = next((line["command"] for line in reversed(lines) if line.get("command")), "")
        newest = ("<details><summary>newest line's command</summary>"
                  f"<code>{html.escape(command)}</code></details>")
        found.append(f"<li><code>results/{file}.jsonl</code>: {html.escape('; '.join(words) or 'counts')}"
                     f"{newest if command else ''}</li>")
    if found:
        return f"<ul>{''.join(found)}</ul>"
    return BY_TESTS if re.search("test|simulation", row.measured) else ""


def row_of(row, peer, recorded, new, lines_of):
    cells = (f"<b>{row.name}</b><br>{inline(row.what)}", inline(row.paper),
             filled(row.here, recorded) + newly(row.here, new),
             filled(peer, recorded) + newly(peer, new) if peer else NO_PEER,
             f"<p>{filled(row.measured, recorded)}</p>{provenance(row, lines_of)}",
             f'<span class="verdict">{row.verdict}</span> {filled(row.reason, recorded)}')
    drawn = "".join(f'<td data-label="{label}"{" class=what" if label == "what" else ""}>{cell}</td>'
                    for (label, _), cell in zip(COLUMNS, cells))
    return f'<tr class="{class_of(row.verdict)}">{drawn}</tr>'


def section_of(section, peers, recorded, new, lines_of):
    head = "".join(f'<th style="width:{width}%">{label}</th>' for label, width in COLUMNS)
    body = "\n".join(row_of(row, peers.get(row.name), recorded, new, lines_of) for row in section.rows)
    return (f"<section><h2>{html.escape(section.title)}</h2>\n<table><thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{body}\n</tbody></table></section>")


def filters(counts):
    buttons = [("all", "all", sum(counts.values())),
               *((class_of(verdict), verdict, count) for verdict, count in counts.items())]
    return '<div class="filters" role="group" aria-label="verdict">' + "".join(
        f'<button value="{value}" aria-pressed="{str(value == "all").lower()}"><b>{count}</b> {label}</button>'
        for value, label, count in buttons) + "</div>"


def anew(about, failed):
    """What a new run measured, on what."""
    if not about:
        return ("<p>All figures are recorded ones, from <code>results/*.jsonl</code>; <code>study/results/report --quick"
                "</code> measures some of them anew, and shows both.</p>")
    faults = f" Failed: {html.escape(', '.join(failed))}." if failed else ""
    return (f"<p>Recorded figures come from <code>results/*.jsonl</code>. <b>Measured anew</b>, with a blue bar: "
            f"{html.escape(about)}.{faults}</p>")


def page(found, peers, recorded, new, lines_of, pictures, about="", failed=()):
    """`found`: the sections of study/results/papers.md; `recorded` and `new`: figures by name; `lines_of`: the
    lines of a file; `pictures`: (SVG, caption) each; `about`: when and where the new ones were measured."""
    counts = rows.counts(found)
    total = sum(counts.values())
    figures = "".join(f'<figure><div class="drawing">{svg}</div>'
                      f"<figcaption>{inline(caption)}</figcaption></figure>"
                      for svg, caption in pictures)
    body = "\n".join(section_of(section, peers, recorded, new, lines_of) for section in found)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice: the papers' rows</title><style>{STYLE}</style></head><body>
<h1>Sluice beside five papers</h1>
<p>{total} rows of five papers: the paper's figure, Sluice's by the same measure, that of the MPIs in the same
run, how and where it was measured, and whether the paper's result is reproduced.</p>
{anew(about, failed)}
{figures}
{filters(counts)}
{LEGEND}
{body}
<script>{SCRIPT}</script></body></html>
"""
