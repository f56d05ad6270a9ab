"""Figures that texts quote, each worked out from the lines that the tables are drawn from. A text has
{name} in its place; a name that is none fails, and so does a figure whose lines are gone."""

import contextlib
import re

import data  # noqa: F401  First: it finds study/results.
import paper_figures
import reported
import traced_figures

PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


GROUPS = (reported.figures, traced_figures.figures, *paper_figures.GROUPS)


def all_figures():
    found = {}
    for group in GROUPS:
        found.update(group())
    return found


def figures_that_are_there():
    """Of a run that measured a part only: a group ends at the first figure that has no lines."""
    found = {}
    for group in GROUPS:
        with contextlib.suppress(KeyError, ValueError, IndexError, ZeroDivisionError):
            for name, figure in group():
                if figure not in ("", "0 of 0"):
                    found[name] = figure
    return found


def typed_by_hand(text):
    """Cells of the column `here` that have a figure which does not come from the data."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 5 or cells[2] in ("here", "---"):
            continue
        bare = PLACE.sub("", re.sub(r"`[^`]*`|\]\([^)]*\)", "", cells[2]))
        for bound in ("at least 0.97", "within 10 %", "within 1.1", "power9"):
            bare = bare.replace(bound, "")
        if re.search(r"\d", bare):
            yield f"{cells[0]}: {cells[2]}"


def filled(text, known=None):
    """The text with its figures: the recorded ones, if no others are given."""
    known = all_figures() if known is None else known

    def figure(match):
        if match[1] not in known:
            raise KeyError(f"results/figures.py has no figure {match[1]}")
        return known[match[1]]

    return PLACE.sub(figure, text)
