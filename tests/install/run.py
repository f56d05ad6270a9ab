#!/usr/bin/env python3
"""Installs the builds for MPICH and Open MPI into one temporary prefix, runs programs from there,
moves the prefix and runs them again. Exit code 1 if a case failed.

The library folder is given when a build is configured. A second configuration of each build stands
for that: it has the same files, by links, so nothing is compiled again.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import run as runner
from small_programs import BUILD, ROOT, compiled

COEXISTENCE = ROOT / "tests" / "coexistence"
CMAKE = BUILD / "env" / "tools" / "bin" / "cmake"
MPIS = ("mpich", "openmpi")
SECONDS = 40
MISSPELT = {"bench --patern e3sm": "--pattern", "calibrate --dri .": "--dir",
            "replay x --dri y": "--dir", "device --profle x": "--profile"}
WHERE = """
from mpi4py import MPI
maps = {line.split()[-1] for line in open("/proc/self/maps") if "libsluice" in line}
if MPI.COMM_WORLD.rank == 0:
    print("ranks", MPI.COMM_WORLD.size, *maps)
"""


def call(*words):
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(mpi, folder, prefix, libdir):
    """As by `cmake -D CMAKE_INSTALL_LIBDIR=...`, a build, and `cmake --install`."""
    build = folder / f"build-{mpi}-{libdir.replace('/', '-')}"
    build.mkdir()
    for known in (BUILD / mpi / "CMakeFiles").glob("[0-9]*"):
        shutil.copytree(known, build / "CMakeFiles" / known.name)
    cache = (BUILD / mpi / "CMakeCache.txt").read_text()
    (build / "CMakeCache.txt").write_text(
        re.sub("(CMAKE_CACHEFILE_DIR:INTERNAL=).*", rf"\g<1>{build}", cache))
    call(CMAKE, "-S", ROOT, "-B", build, "-D", f"CMAKE_INSTALL_LIBDIR={libdir}")
    for built in ("lib", "bin", "libexec"):
        shutil.rmtree(build / built, ignore_errors=True)
        (build / built).symlink_to(BUILD / mpi / built)
    call(CMAKE, "--install", build, "--prefix", prefix)


class Installed:
    """A prefix, and how programs run from there."""
    def __init__(self, prefix, libdir, folder):
        self.prefix, self.private, self.folder = prefix, prefix / libdir / "sluice", folder
        self.packages = prefix / libdir / "pkgconfig"
        self.command = prefix / "bin" / "sluice"

    def run(self, mpi, *words, ranks=2, **settings):
        """Returns what ranks print, of an mpiexec or (ranks=0) of one without; the last line of
        the output is the exit code."""
        start = [BUILD / "env" / mpi / "bin" / "mpiexec", "-n", ranks] if ranks else []
        mark = uuid.uuid4().hex
        environment = runner.environment(runner.Run(mpi, "", ranks, settings=settings), mark, False)
        environment["PATH"] = f"/usr/bin:/bin:{os.environ['PATH']}"
        code, output = runner.execute([str(word) for word in (*start, *words)], environment,
                                      SECONDS, mark)
        runner.end_processes(mark)
        return f"{output}\nexit code {code}"


def expect(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text, re.M), f"no \"{pattern}\" in\n{text}"


def c_program(installed, mpi):
    program = compiled(mpi, COEXISTENCE / "files.c", options=("-rdynamic",))
    path = installed.folder / "file"
    expect(installed.run(mpi, installed.command, "run", program, path, path),
           "^served by sluice", "^exit code 0")


def python(installed, mpi):
    """The interpreter is linked to no MPI: the mpiexec around tells which it will be."""
    where = re.escape(str(installed.private / mpi / "lib"))
    python3 = BUILD / "env" / mpi / "bin" / "python"
    expect(installed.run(mpi, installed.command, "run", python3, "-c", WHERE),
           f"^ranks 2 {where}/libsluice.so", "^exit code 0")


def no_mpiexec(installed, mpi):
    python3 = BUILD / "env" / mpi / "bin" / "python"
    words = (installed.command, "run", python3, "-c", WHERE)
    expect(installed.run(mpi, *words, ranks=0), "Installed are mpich, openmpi", "SLUICE_MPI",
           "^exit code 2")
    expect(installed.run(mpi, *words, ranks=0, SLUICE_MPI="none"),
           "SLUICE_MPI=none: installed are mpich, openmpi", "^exit code 2")
    expect(installed.run(mpi, *words, ranks=0, SLUICE_MPI=mpi),
           f"^ranks 1 .*/sluice/{mpi}/lib/libsluice.so", "^exit code 0")


def bench(installed, mpi):
    expect(installed.run(mpi, installed.command, "bench", "--mode", "blocking", "--pattern",
                         "e3sm", "--bytes", "64K", "--warmup", "0", "--repeat", "1", "--dir",
                         installed.folder, ranks=2), "^exit code 0")


def information(installed, mpi):
    device = "yes" if (BUILD / mpi / "libexec" / "sluice-device").exists() else "no"
    lines = "\n".join(" ".join(line.split()) for line in
                      installed.run(mpi, installed.command, "info", ranks=0).splitlines())
    expect(lines, f"^{mpi}: library {re.escape(str(installed.private / mpi))}/lib/libsluice.so$",
           f"^{mpi}: MPI {'MPICH' if mpi == 'mpich' else 'Open MPI'}", f"^{mpi}: sluice bench yes",
           f"^emulated device .* {device}", "^exit code 0")


def linked(installed, mpi):
    """A program that names the library itself, by what pkg-config says; nothing is preloaded."""
    if not shutil.which("pkg-config"):
        return
    os.environ["PKG_CONFIG_PATH"] = str(installed.packages)
    words = call("pkg-config", "--cflags", "--libs", f"sluice-{mpi}").split()
    program, path = installed.folder / f"linked-{mpi}", installed.folder / "file"
    call(BUILD / "env" / mpi / "bin" / "mpicc", "-D_GNU_SOURCE", "-rdynamic", "-o", program,
         COEXISTENCE / "files.c", "-Wl,--no-as-needed", *words, "-ldl")
    expect(installed.run(mpi, program, path, path), "^served by sluice", "^exit code 0")


def found_by_cmake(installed, mpi):
    """Programs of a user's project, by find_package(Sluice): one in C that sluice run starts, and
    one in C++ that is linked."""
    build, path = installed.folder / f"user-{mpi}", installed.folder / f"user-{mpi}.bin"
    call(CMAKE, "-S", ROOT / "tests" / "packages", "-B", build, "-D", f"SLUICE_TEST_MPI={mpi}",
         "-D", f"Sluice_DIR={installed.private.parent / 'cmake' / 'Sluice'}",
         "-D", f"MPI_C_COMPILER={BUILD / 'env' / mpi / 'bin' / 'mpicc'}")
    call(CMAKE, "--build", build)
    expect(installed.run(mpi, build / "in_cpp", path), "^same bytes", "^exit code 0")
    expect(installed.run(mpi, installed.command, "run", build / "in_c", path, SLUICE_LOG="2"),
           "^same bytes", "2 operations", "^exit code 0")


def tried(installed, mpi):
    """`sluice try` finds the mpiexec by itself. One MPI will do: it takes its time."""
    if mpi == "openmpi" and os.access("/dev/fuse", os.R_OK | os.W_OK):
        expect(installed.run(mpi, installed.command, "try", "--mpi", mpi, "--bandwidth", "200M",
                             ranks=0), "without Sluice +[0-9.]+ s", "^Both runs wrote the same",
               "^exit code 0")


def checked(installed, mpi):
    """`sluice check` with the right launcher, with none, with the other MPI's, and where it may not
    write."""
    def call_it(*words):
        return installed.run(mpi, installed.command, "check", "--mpi", mpi, *words, ranks=0)

    passed = call_it("--dir", installed.folder)
    expect(passed, "^  ok .* a collective write +served by Sluice, all bytes right",
           "^  ok .* their keepers as well +all bytes are in the file", "^Sluice works here",
           "^exit code 0")
    said = call_it("--dir", installed.folder, "--json")
    told = json.loads(said[:said.rindex("exit code")])
    assert told["passed"] and all(one["passed"] for one in told["checks"]), told
    assert not list(Path(installed.folder).glob("sluice-check-*")), "something is left"
    probe = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    if probe.returncode == 0:
        alone = ("mount -t tmpfs shared /dev/shm && touch /dev/shm/another && \"$@\"; "
                 "ls /dev/shm | sed 's/^/left: /'")
        said = installed.run(mpi, "unshare", "--mount", "sh", "-c", alone, "sh", installed.command,
                             "check", "--mpi", mpi, "--dir", installed.folder, ranks=0)
        expect(said, "^Sluice works here")
        assert re.findall(r"(?m)^left: (.*)$", said) == ["another"], said
    expect(call_it("--dir", installed.folder, "--launch", "true"), "^  FAILED .* ranks meet",
           "nothing was said", "^exit code 1")
    other = BUILD / "env" / MPIS[1 - MPIS.index(mpi)] / "bin" / "mpiexec"
    expect(call_it("--dir", installed.folder, "--launch", f"{other} -n 2"),
           "^  FAILED .* ranks meet", "^exit code 1")
    expect(call_it("--dir", "/proc"), "^sluice check: /proc/sluice-check-", "^exit code 1")


def facts(installed, mpi):
    """`sluice info --json` is one object with what is there for each MPI."""
    said = installed.run(mpi, installed.command, "info", "--json", ranks=0)
    found = json.loads(said[:said.rindex("exit code")])["mpis"][mpi]
    assert found["library"] == str(installed.private / mpi / "lib" / "libsluice.so"), found
    assert os.path.samefile(found["mpiexec"], BUILD / "env" / mpi / "bin" / "mpiexec"), found


def exported(installed, mpi):
    """Nothing but functions of MPI and of sluice.h, all with a version."""
    lines = call("readelf", "-W", "--dyn-syms", installed.private / mpi / "lib" / "libsluice.so")
    defined = [line.split()[-1] for line in lines.splitlines()
               if re.search(r" (GLOBAL|WEAK) +DEFAULT +\d+ ", line)]
    assert "sluice_version@@SLUICE_0" in defined, defined
    wrong = [name for name in defined if name != "SLUICE_0" and
             not re.match(r"(MPI|mpi|ompi|sluice)_\w+@@SLUICE_0$", name)]
    assert not wrong, wrong


def run_paths(installed, mpi):
    """What is linked to an MPI finds it; and nothing finds its way back to the build tree."""
    libraries = os.path.realpath(BUILD / "env" / mpi / "lib")
    files = [path for path in (installed.private / mpi).rglob("*") if path.is_file()]
    assert any(path.name == "libsluice.so" for path in files), files
    assert mpi != "mpich" or any(path.name == "libsluice_abi.so" for path in files), files
    for path in files:
        text = call("readelf", "-d", path)
        found = re.search(r"RUNPATH.*\[(.*)\]", text)
        assert found, f"{path}: {text}"
        assert set(map(os.path.realpath, found[1].split(":"))) == {libraries}, f"{path}: {text}"
    for path in (path for path in installed.prefix.rglob("*") if path.is_file()):
        loaded = installed.folder / "loaded"
        shutil.copy(path, loaded)
        if path.read_bytes().startswith(b"\x7fELF"):  # What debuggers read may tell.
            call("strip", "--strip-debug", loaded)
        assert str(BUILD / mpi).encode() + b"/" not in loaded.read_bytes(), path


def other_library(installed, mpi):
    """One that was built for another MPI than the program's, or than that of the mpiexec: Python's
    module takes whatever MPI it finds, so each rank would be alone in a world of its own."""
    other = MPIS[1 - MPIS.index(mpi)]
    preload = ("env", f"LD_PRELOAD={installed.private / other / 'lib' / 'libsluice.so'}")
    program, path = compiled(mpi, COEXISTENCE / "files.c", options=("-rdynamic",)), "nowhere"
    expect(installed.run(mpi, *preload, program, path, path),
           "^sluice: built for .*, but the program uses another MPI", "^exit code [1-9]")
    says = {"mpich": "^sluice: mpiexec .Hydra. started 2 ranks, but each is a job of its own",
            "openmpi": "^sluice: the mpiexec of Open MPI started this rank, but its MPI is another"}
    python3 = BUILD / "env" / mpi / "bin" / "python"
    expect(installed.run(mpi, *preload, python3, "-c", WHERE), says[mpi], "^exit code [1-9]")


def own_programs(installed, mpi):
    """Those of another MPI than the mpiexec's. MPICH ends the ones with no library itself."""
    other = MPIS[1 - MPIS.index(mpi)]
    started = [(("calibrate", "--dir", installed.folder), {})]
    if mpi == "mpich":
        started += [(("bench", "--repeat", "1"), {"SLUICE": "off"})]
    for words, settings in started:
        said = installed.run(mpi, installed.command, *words, SLUICE_MPI=other, **settings)
        expect(said, "^sluice: .*(a job of its own|but its MPI is another one)", "^exit code [1-9]")


def misspelt(installed, mpi):
    """What is a program of its own, by CLI11, names the option that is meant as well."""
    for words, meant in MISSPELT.items():
        if words.startswith("device") and not (BUILD / mpi / "libexec" / "sluice-device").exists():
            continue
        said = installed.run(mpi, installed.command, *words.split(), ranks=1)
        expect(said, f"there is no option '--[a-z]+'; did you mean {meant}[?]$", "^exit code 2")


CASES = (run_paths, c_program, python, bench, information, no_mpiexec, linked, found_by_cmake,
         facts, misspelt, exported, tried, checked, other_library, own_programs)


def check(case, mpi, installed):
    began, reason = time.monotonic(), ""
    try:
        case(installed, mpi)
    except (AssertionError, OSError) as error:
        reason = str(error)
    print(f"{'FAILED' if reason else 'ok    '} {time.monotonic() - began:6.1f} s  {mpi} "
          f"{case.__name__}, {installed.prefix.name}")
    for line in reason.splitlines()[-25:]:
        print(f"  | {line}")
    sys.stdout.flush()
    return not reason


def test(folder):
    prefix = folder / "prefix"
    for mpi in MPIS:
        install(mpi, folder, prefix, "lib64")
    first = Installed(prefix, "lib64", folder)
    yield from (check(case, mpi, first) for mpi in MPIS for case in CASES)
    moved = Installed(prefix.rename(folder / "moved"), "lib64", folder)
    yield from (check(case, mpi, moved) for mpi in MPIS for case in (c_program, python))
    install("mpich", folder, folder / "multiarch", "lib/x86_64-linux-gnu")
    multiarch = Installed(folder / "multiarch", "lib/x86_64-linux-gnu", folder)
    yield from (check(case, "mpich", multiarch) for case in (c_program, linked))


def main():
    (BUILD / "tmp").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="install_", dir=BUILD / "tmp"))
    try:
        return runner.exit_code_of("install", list(test(folder)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
