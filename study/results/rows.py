"""The rows of study/results/papers.md as values: what study/README.md shows as tables, study/results/report shows
on a page. Where a row was measured follows from the commands that it names."""

import re
from typing import NamedTuple

from data import mpi_of

# Name for results/measure -> the file, here or in results, that it appends to.
MEASURED = {"checkpoint": "checkpoint", "choice": "choice", "compare": "compare", "domains": "domains",
            "fabric": "fabric", "network": "network", "nodes": "nodes", "nonblocking": "nonblocking",
            "outstanding": "outstanding-times", "overlap": "overlap", "overlap-devices": "overlap",
            "queue": "queue", "romio": "exchange", "test-calls": "test-calls", "texture": "texture",
            "overhead": "collectives-overhead", "app-kernels": "collectives-kernels"}
# Begin of another command -> the same.
OTHERS = {"python3 tests/mpi/random_programs.py": "random", "tests/mpi/repeat.py": "outstanding",
          "sluice bench nvm": "nvm", "sluice bench exchange": "exchange", "make test-device": "device"}
VERDICTS = {"works": "reproduced", "partly": "partly", "missing": "not reproduced",
            "cannot": "cannot be run here"}


class Row(NamedTuple):
    name: str  # M1
    what: str
    paper: str
    here: str
    measured: str
    verdict: str  # of VERDICTS
    reason: str
    files: tuple  # in results, without the ending


class Section(NamedTuple):
    title: str
    rows: list


def sources(measured, default=()):
    """The files of the commands in a cell, or those of the section."""
    found = []
    for command in re.findall("`([^`]*)`", measured):
        name = command.removeprefix("results/measure ")
        if name in MEASURED:
            found.append(MEASURED[name])
        found += [file for begin, file in OTHERS.items() if command.startswith(begin)]
    return tuple(dict.fromkeys(found)) or default


def row_of(cells, default, earlier):
    title, paper, here, measured, verdict = cells
    name, what = title.split(": ", 1)
    word, reason = re.match(r"(\w+)[:;,]?\s*(.*)", verdict, re.DOTALL).groups()
    files = sources(measured, default)
    if reference := re.match(r"as ([A-Z]\d)", measured):
        files = earlier[reference[1]].files
    return Row(name, what, paper, here, measured, VERDICTS[word], reason, files)


def obstacles(text):
    """Name of a row -> what stands in its way, of the list below the tables."""
    found = {}
    for names, said in re.findall(r"^- ((?:\*\*[A-Z]\d\*\*(?:, )?)+)\. (.*(?:\n  .*)*)", text, re.MULTILINE):
        for name in re.findall(r"[A-Z]\d", names):
            found[name] = " ".join(said.split())
    return found


def sections(text):
    """The tables of the text, by paper. A command in front of a table is that of its rows. A row that
    is not reproduced has what stands in its way in its reason."""
    ways = obstacles(text)
    found, known, default = [], {}, ()
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if line.startswith("## "):
            found.append(Section(line[3:], []))
            default = ()
        elif found and len(cells) == 5 and re.match(r"[A-Z]\d: ", cells[0]):
            row = row_of(cells, default, known)
            if row.verdict != VERDICTS["works"] and row.name in ways:
                row = row._replace(reason=f"{row.reason.rstrip('.')}. {ways[row.name]}")
            known[row.name] = row
            found[-1].rows.append(row)
        elif found and not cells:
            default = sources(line, default)
    return [section for section in found if section.rows]


def names_in(text, pattern):
    """The rows that a list of the papers has, for comparison."""
    return list(dict.fromkeys(re.findall(pattern, text, re.MULTILINE)))


def counts(found):
    """verdict -> number of rows; a row in two lines counts with the one that is worse."""
    order, worst = list(VERDICTS.values()), {}
    for section in found:
        for row in section.rows:
            worst[row.name] = max(worst.get(row.name, 0), order.index(row.verdict))
    return {verdict: list(worst.values()).count(place) for place, verdict in enumerate(order)}


def library_of(line):
    if "mpi_library" in line:
        return mpi_of(line).replace("\0", "").strip()
    return {"mpich": "MPICH", "openmpi": "Open MPI"}.get(line.get("mpi"), "")


def sluice_of(line):
    """Version or commit."""
    return line.get("commit") or line.get("sluice_version") or ""


def hosts_of(lines):
    hosts = sorted({line["nodes"] for line in lines if isinstance(line.get("nodes"), int)} or {1})
    return "one node" if hosts == [1] else f"{', '.join(map(str, hosts))} nodes"


def machine_of(lines):
    """What ran where, in words."""
    if any("machine" in line for line in lines):
        machines = sorted({line["machine"] for line in lines if "machine" in line})
        ranks = max(line["ranks"] for line in lines if "machine" in line)
        return [f"simulated machines: {', '.join(machines)}; up to {ranks:,} ranks"]
    cores = sorted({line[key] for line in lines for key in ("host_cores", "cores") if line.get(key)})
    libraries = sorted(set(filter(None, map(library_of, lines))))
    ranks = sorted({line["ranks"] for line in lines if isinstance(line.get("ranks"), int)})
    return [*([f"{'/'.join(map(str, cores))} cores, {hosts_of(lines)}"] if cores else []),
            *([f"{', '.join(map(str, ranks))} ranks"] if ranks else []), *libraries]


def versions_of(lines):
    dates = sorted(line["date"][:10] for line in lines if line.get("date"))
    sluice = sorted(set(filter(None, map(sluice_of, lines))))
    return [*([f"Sluice {', '.join(sluice)}"] if 0 < len(sluice) <= 3 else []),
            *([dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"] if dates else [])]
