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
    """Of planted faults, by kind."""
    faults = lines("faults")
    short = [line for line in faults if line["run"] == "make test"]
    whole = {(line["seed"], line["number"]): line for line in faults if line["run"] == "whole"}
    if not short:
        return ""
    rows = []
    for kind in sorted({line["kind"] for line in short}):
        of_kind = [line for line in short if line["kind"] == kind]
        missed = [line for line in of_kind if not line["found"]]
        tried = [whole[key] for line in missed if (key := (line["seed"], line["number"])) in whole]
        rows.append([kind, str(len(of_kind)), str(len(of_kind) - len(missed)),
                     f"{sum(bool(line['found']) for line in tried)} of {len(tried)} tried"])
    return table(["kind", "planted", "found by `make test`", "of the rest found by the whole"], rows)


def page():
    text = PAGE.read_text()
    for name, inside in (("times", times()), ("parts", parts()), ("planted", planted())):
        text = between_marks(text, BEGIN.format(name), END.format(name), inside)
    return text
