"""For docs/tests.md: where the time of `make test` goes, when each part of `make test-all` last passed,
and how many planted faults are found. results/table writes each between two marks of the page. The
data are written by tests/run.py, a line for each part that it has run, and by tests/planted.py."""

import sys

from data import ROOT, between_marks, lines

sys.path.append(str(ROOT / "tests"))
from parts import PARTS

BEGIN, END = "<!-- results/table: {} -->", "<!-- results/table: end {} -->"
PAGE = ROOT / "docs" / "tests.md"


def minutes(row):
    return f"{row['seconds'] / 60:.1f}"


def row_of(part, rows):
    """The newest run, and the newest that passed where that is another one."""
    last = rows[-1]
    ending = f"{last['passed']} passed, {last['failed']} failed, {last['skipped']} skipped"
    passed = [row for row in rows if not row["failed"]]
    on = f"{passed[-1]['date']}, {passed[-1]['commit'][:7]}" if passed else "never"
    return [part, on, ending, minutes(last), f"`make test-all PART={part}`"]


def table(head, rows):
    return "\n" + "\n".join("| " + " | ".join(row) + " |" for row in
                            (head, ["---"] * len(head), *rows)) + "\n"


def parts():
    rows = {part: [row for row in lines("tests") if row["part"] == part] for part in PARTS}
    text = table(["part", "last passed", "newest run", "minutes", "alone"],
                 [row_of(part, rows[part]) for part in PARTS if rows[part]])
    missing = [part for part in PARTS if not rows[part]]
    return text + (f"\nNot run since these are noted: {', '.join(missing)}.\n" if missing else "")


def times():
    """The first recorded run and the newest, by kind."""
    runs = lines("make-test")
    if len(runs) < 2:
        return ""
    first, last = runs[0], runs[-1]
    kinds = [kind for kind in first["by_kind"] if kind != "all"]
    kinds += [kind for kind in last["by_kind"] if kind not in (*kinds, "all")]

    def cells(run, kind):
        seconds, processor, entries = run["by_kind"].get(kind, [0, 0, 0])
        return [f"{seconds:.0f}", f"{processor:.0f}", str(entries)]

    head = ["kind"]
    for run in (first, last):
        head += [f"{run['commit'][:7]}: seconds", "of processors", "entries"]
    whole = "".join(f"- {run['seconds'] / 60:.1f} min on {run['commit'][:7]}"
                    + (f", {run['note']}" if "note" in run else "") + "\n" for run in runs)
    return (f"\nWhole runs ({last['machine']}), each from a clean clone:\n\n{whole}\n"
            "The first and the last of them by kind. What runs beside other work counts in full.\n"
            + table(head, [[kind, *cells(first, kind), *cells(last, kind)] for kind in kinds]))


def planted():
    """Of planted faults, by kind, and those that nothing found."""
    faults = lines("faults")
    by_run = {run: {(line["seed"], line["number"]): line for line in faults if line["run"] == run}
              for run in ("make test", "whole", "again", "read")}
    short = by_run["make test"]
    if not short:
        return ""

    def found(run, keys):
        tried = [by_run[run][key] for key in keys if key in by_run[run]]
        return f"{sum(bool(line['found']) for line in tried)} of {len(tried)} tried"

    def row(kind, keys):
        missed = [key for key in keys if not short[key]["found"]]
        return [kind, str(len(keys)), str(len(keys) - len(missed)), found("whole", missed),
                found("again", missed)]

    kinds = sorted({line["kind"] for line in short.values()})
    rows = [row(kind, [key for key, line in short.items() if line["kind"] == kind])
            for kind in kinds]
    head = ["kind", "planted", "found by `make test`", "of the rest found by the whole",
            "of the rest found by tests that were written for them"]
    text = table(head, [*rows, row("all", list(short))])
    same = by_run["read"].values()
    if same:
        text += "\nNot tried, as nobody could notice them by what he may rely on:\n\n" + "".join(
            f"- `{line['file']}`: `{line['before']}` became `{line['after']}`: {line['same']}\n"
            for line in same)
    return text


def page():
    text = PAGE.read_text()
    for name, inside in (("times", times()), ("parts", parts()), ("planted", planted())):
        text = between_marks(text, BEGIN.format(name), END.format(name), inside)
    return text
