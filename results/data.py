"""The lines of results/*.jsonl and study/results/*.jsonl, and how tables and texts pick and print what they need of them."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STUDY = ROOT / "study" / "results"  # Data of the papers' rows, and the modules that read them.
sys.path.append(str(STUDY))
MPIS = {"mpich": "MPICH", "openmpi": "Open MPI"}
RECORDED = ROOT / "results"
folders = [RECORDED]  # The last one is read.


@contextlib.contextmanager
def read_from(folder):
    """The lines of another run (results/report) in the place of the recorded ones."""
    folders.append(pathlib.Path(folder))
    try:
        yield
    finally:
        folders.pop()


def path_of(name):
    """Recorded lines lie in results, or those that only the study needs in study/results."""
    path = folders[-1] / f"{name}.jsonl"
    return STUDY / path.name if folders[-1] == RECORDED and not path.exists() else path


def lines(name):
    path = path_of(name)
    return [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []


def about(command):
    """What each line says of the run that it comes from."""
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"],
                            capture_output=True, text=True, check=False).stdout.strip()
    return {"command": command, "commit": commit, "cores": os.cpu_count(),
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def mpi_of(line):
    name = line["mpi_library"]
    return "MPICH 5.0.2" if name.startswith("MPICH") else name.split(",")[0].replace("MPI v", "MPI ")


def of_mpi(rows, mpi):
    """Those of an MPI, whatever its version."""
    return [row for row in rows if mpi_of(row).startswith(MPIS[mpi])]


def newest(rows, *keys):
    """The last line for each combination of keys; `mpi` is a key of all lines."""
    return {tuple(mpi_of(row) if key == "mpi" else row.setdefault(key, "") for key in keys): row
            for row in rows}


def between_marks(text, begin, end, inside):
    """The text of a page with what a script writes between two marks of it."""
    return re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n{inside}\n{end}", text, flags=re.DOTALL)


def percent(value):
    return f"{100 * value:.0f} %"


def between(values, text="{:.2f}"):
    """The least and the largest; one where they are written alike."""
    values = list(values)
    least, largest = text.format(min(values)), text.format(max(values))
    return least if least == largest else f"{least} to {largest}"
