#!/usr/bin/env python3
"""Runs small programs under Sluice together with what else is found in real jobs: other preloaded
tools, child processes, drivers' names, all thread levels, sessions.

Each case is one start of mpiexec: it must end in time with the expected exit code and lines, and
leave no process behind. Exit code 1 if one failed.
"""
import contextlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import uuid
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import run as runner
from case import Case
from cases import ALWAYS, all_cases
from lot import Lot
from small_programs import compiled

HERE = Path(__file__).resolve().parent
SECONDS = 40


def library(mpi, name):
    """As it is in LD_PRELOAD."""
    if name == "sluice":
        return runner.BUILD / mpi / "lib" / "libsluice.so"
    if name == "wait_tool":
        return compiled(mpi, HERE / "wrapping.c", shared=True, options=("-DWRAP_WAIT",), name=name)
    return compiled(mpi, HERE / name, shared=True) if name.endswith(".c") else name


def words_of(mpi, case, path):
    """The command line of a case, run by a shell in each rank."""
    libraries = [library(mpi, name) for name in case.preload if name != "run"]
    program = compiled(mpi, HERE / case.program, options=("-rdynamic", *case.defines),
                       name=case.called or "".join([Path(case.program).stem, *case.defines]))
    run = [runner.BUILD / mpi / "bin" / "sluice", "run"] if "run" in case.preload else []
    preload = [f"LD_PRELOAD={':'.join(map(str, libraries))}"] if libraries else []
    return [str(word) for word in (
        runner.BUILD / "env" / mpi / "bin" / "mpiexec", "-n", case.ranks, "env", *preload, *run,
        *split(case.words.format(program=program, path=path,
                                 mpiexec=runner.BUILD / "env" / mpi / "bin" / "mpiexec",
                                 sluice=runner.BUILD / mpi / "bin" / "sluice")))]


def split(words):
    """At spaces, but not within quotation marks."""
    return [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', words)]


def start(mpi, case, folder):
    """Returns (exit code or None, output, processes left)."""
    mark = uuid.uuid4().hex
    path = folder / "file"
    settings = {name: value.replace("{path}", str(path)) for name, value in case.settings.items()}
    run = runner.Run(mpi, case.program, case.ranks, settings=settings)
    code, output = runner.execute(words_of(mpi, case, path),
                                  runner.environment(run, mark, False), SECONDS, mark)
    left = runner.leftover_processes(mark)
    runner.end_processes(mark)
    return code, output, left


def idle(mpi, preload, folder):
    """What an idle program says of its threads and maps."""
    code, output, _ = start(mpi, Case("idle", "idle.c", [], preload=preload), folder)
    said = re.search(r"idle: .*", output)
    return said.group() if code == 0 and said else output


def killed_rank_cases():
    """The last rank is killed amid collectives; the launcher has to end the others."""
    base = {"SLUICE": "all"}
    for name, expected, settings in (
            ("", "killed: shared memory", {}),
            (", several nodes", "killed: ", {"SLUICE_TEST": "ranks_per_node=2"}),
            (", no shared memory", "killed: no shared memory",
             {"SLUICE_TEST": "shared_memory=off"})):
        yield Case(f"a rank is killed amid collectives{name}", "killed.c", [expected],
                   settings={**base, **settings}, fails=True)


def unmapped_of_mpich(before):
    """Memory that MPICH's own killed ranks left: named after them, new, and mapped by nobody."""
    new = {f"/dev/shm/{name}" for name in os.listdir("/dev/shm")
           if name.startswith("mpich_shm")} - before
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            text = maps.read_text(errors="replace")
            new = {name for name in new if name not in text}
    return new


def run_killed(mpi, case, folder):
    """Nothing of Sluice's is left behind in memory or in the temporary folder."""
    began = time.monotonic()
    memory = {f"/dev/shm/{name}" for name in os.listdir("/dev/shm")}
    temporary = folder / "temporary"
    temporary.mkdir()
    case.settings["TMPDIR"] = str(temporary)
    code, output, left = start(mpi, case, folder)
    reasons = [f'no "{line}"' for line in case.expected if not re.search(line, output)]
    if not code:
        reasons.append("out of time" if code is None else "exit code 0")
    if left:
        reasons.append(f"processes left: {left}")
    for place in (temporary, Path("/dev/shm")):
        files = [str(path) for path in place.rglob("*")
                 if "sluice" in path.name.lower() and str(path) not in memory
                 and not path.name.startswith("sluice-marks-")]  # Of all programs of the user.
        if files:
            reasons.append(f"files left: {files}")
    for name in unmapped_of_mpich(memory):
        os.unlink(name)
    return report(mpi, case.name, reasons, output, began)


def report(mpi, name, reasons, output, began):
    print(f"{'FAILED' if reasons else 'ok    '} {time.monotonic() - began:6.1f} s  {mpi} {name}"
          + (f"  ({'; '.join(reasons)})" if reasons else ""))
    if reasons:
        print("\n".join(f"  | {line}" for line in output.splitlines()[-25:]))
    sys.stdout.flush()
    return not reasons


def run_case(mpi, case, folder):
    began = time.monotonic()
    code, output, left = start(mpi, case, folder)
    reasons = [f'no "{line}"' for line in case.expected if not re.search(line, output, re.M)]
    if code is None or case.fails not in (None, code != 0):
        reasons.append("out of time" if code is None else f"exit code {code}")
    if left:
        reasons.append(f"processes left: {left}")
    return report(mpi, case.name, reasons, output, began)


def run_idle(mpi, folder):
    """A program without files has the same threads and maps with and without Sluice."""
    began = time.monotonic()
    plain, ours = (idle(mpi, preload, folder) for preload in ((), ("run",)))
    reasons = [] if plain == ours else [f"{ours}; without Sluice {plain}"]
    return report(mpi, "no file: no thread, no memory", reasons, "", began)


def main():
    args = runner.parse_for_cases(__doc__)
    results = []
    drawn = Lot(args)
    for mpi in args.mpi.split(","):
        cases = all_cases(mpi)
        tests = [(case.name, run_case, case) for case in cases]
        tests += [(case.name, run_killed, case) for case in killed_rank_cases()]
        tests = [test for test in [*tests, ("no file", run_idle)] if args.only in test[0]]
        for _, test, *what in drawn.cases(tests, lambda test: test[0] in ALWAYS):
            folder = Path(tempfile.mkdtemp(prefix="coexistence_", dir=args.dir))
            try:
                results.append(test(mpi, *what, folder))
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    return runner.exit_code_of("coexistence", results)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
