"""Compiles the small programs of the tests that are not built by CMake: those that stand for what
others preload or run, each with the MPI's own compiler wrapper."""
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")


def compiled(mpi, source, shared=False, options=()):
    """The program or shared library made from a source; made again only when that is newer."""
    source = Path(source)
    folder = BUILD / mpi / source.parent.relative_to(ROOT)
    target = folder / (f"{source.stem}.so" if shared else source.stem)
    if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    wrapper, standard = ("mpicc", "gnu11") if source.suffix == ".c" else ("mpicxx", "c++20")
    kind = ("-shared", "-fPIC") if shared else ()
    subprocess.run([BUILD / "env" / mpi / "bin" / wrapper, f"-std={standard}", "-O2", "-g",
                    *WARNINGS, *kind, *options, "-o", target, source, "-ldl", "-pthread"],
                   check=True)
    return target
