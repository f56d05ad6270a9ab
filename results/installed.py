"""From nothing to the first program under Sluice, for docs/install.md. results/table writes it
between two marks of the page; tests/packages/run.py --record wheel writes the data."""

from data import MPIS, ROOT, between_marks, lines, newest

BEGIN, END = "<!-- results/table: seconds -->", "<!-- results/table: end -->"
PAGE = ROOT / "docs" / "install.md"


def seconds():
    rows = newest(lines("install"), "way", "mpi_library").values()
    found = [(row["seconds"], *row["mpi_library"].split()) for row in rows]
    return " and ".join(f"{taken:.1f} s with {MPIS[mpi]} {version}" for taken, mpi, version in found)


def page():
    return between_marks(PAGE.read_text(), BEGIN, END, (
        f"From no environment to the end of the first program: {seconds()}, on 2 cores and with a "
        "mirror of PyPI nearby. pip's downloads are in it, without its cache."))
