"""When each part of `make test-all` last passed, for docs/tests.md. results/table writes it between
two marks of the page; tests/run.py writes the data, a line for each part that it has run."""

import sys

from data import ROOT, between_marks, lines

sys.path.append(str(ROOT / "tests"))
from parts import PARTS

BEGIN, END = "<!-- results/table: parts -->", "<!-- results/table: end -->"
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


def page():
    rows = {part: [row for row in lines("tests") if row["part"] == part] for part in PARTS}
    cells = [row_of(part, rows[part]) for part in PARTS if rows[part]]
    missing = [part for part in PARTS if not rows[part]]
    text = "\n" + "\n".join(["| part | last passed | newest run | minutes | alone |", "|---|---|---|---|---|",
                      *("| " + " | ".join(row) + " |" for row in cells)]) + "\n"
    if missing:
        text += f"\nNot run since these are noted: {', '.join(missing)}.\n"
    return between_marks(PAGE.read_text(), BEGIN, END, text)
