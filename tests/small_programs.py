"""Compiles the small programs of the tests that are not built by CMake: those that stand for what
others preload or run, each with the MPI's own compiler wrapper."""
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")


def compiled(mpi, source, shared=False, options=(), name=None, beside=(), compiler=None):
    """The program or shared library made from a source; made again only when that, or a header
    beside it, is newer. `name`: of one that is made with other options than the source's own.
    `beside`: further sources in its folder. `compiler`: another than the MPI's wrapper."""
    source = Path(source)
    sources = [source, *(source.parent / other for other in beside)]
    folder = BUILD / mpi / source.parent.relative_to(ROOT)
    name = name or source.stem
    target = folder / (f"{name}.so" if shared and ".so" not in name else name)
    needed = max(path.stat().st_mtime for path in (*sources, *source.parent.glob("*.h*")))
    if target.exists() and target.stat().st_mtime > needed:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    wrapper, standard = ("mpicc", "gnu11") if source.suffix == ".c" else ("mpicxx", "c++20")
    kind = ("-shared", "-fPIC") if shared else ()
    subprocess.run([compiler or BUILD / "env" / mpi / "bin" / wrapper, f"-std={standard}", "-O2",
                    "-g", *WARNINGS, *kind, "-D_GNU_SOURCE", "-I", ROOT / "include", *options,
                    "-o", target, *sources, "-ldl", "-pthread"], check=True)
    return target
