"""What the ways of installing share: commands, and what a program shows that Sluice served."""
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
CMAKE = BUILD / "env" / "tools" / "bin" / "cmake"
PROGRAMS = Path(__file__).resolve().parent  # A project of a user, with a program in each language.
APP = PROGRAMS / "app.py"
OPEN_MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Skipped(Exception):
    """Why a way cannot be tested here."""


def call(*words, environment=None, seconds=1800, folder=BUILD, code=0):
    """The output of a command that has to end with this exit code."""
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True,
                          cwd=folder, env={**os.environ, **OPEN_MPI_AS_ROOT, **(environment or {})},
                          timeout=seconds, check=False)
    assert done.returncode == code, \
        f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def need(*programs):
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        raise Skipped(f"{', '.join(missing)} not installed")


def expect_overlap(output):
    """What the programs and SLUICE_LOG=2 print where Sluice served."""
    assert re.search(r"^same bytes", output, re.MULTILINE), output
    assert re.search(r"[1-9]\d* operations", output), output


def left_in(folder, found_before):
    """Files that an installation left behind."""
    return sorted(set(folder.rglob("*")) - found_before)


def version():
    return re.search(r"project\(Sluice VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def copy_of_sources(target):
    """The sources as they lie here, changes and new files included."""
    listed = call("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
                  folder=ROOT)
    for name in listed.split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    return target
