#!/usr/bin/env python3
"""Runs the MPI test programs: programs x MPIs x ranks x ranks per node, with or without Sluice.

Each run has a time limit. When it is over, the runner prints where every process is, then ends the
processes of that run and no others (they carry a mark of the run in their environment). After each
run it checks that no process and no shared memory is left. Exit code 1 if anything failed.
"""
import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import lot
import shares
from levels import LEVELS, Run
from mpis import BUILD, MPIS, PASSED_THROUGH_SKIP, PLAIN_SKIP

HERE = Path(__file__).resolve().parent
MARK = "SLUICE_TEST_RUN"


def with_test_words(env, *words):
    """With words of SLUICE_TEST in front of those that are there, which win."""
    return {**env, "SLUICE_TEST": ";".join([*words, *filter(None, [env.get("SLUICE_TEST")])])}


def environment(run, mark, plain):
    env = dict(os.environ)
    env[MARK] = mark
    if not plain:
        env.update(run.settings)
    if run.ranks_per_node and not plain:
        others = env.get("SLUICE_TEST")
        env["SLUICE_TEST"] = (f"{others};" if others else "") + (
            f"ranks_per_node={run.ranks_per_node}")
    env = with_test_words(env, "stall=10")
    env.update(MPIS[run.mpi].settings)
    return env


def preload(mpi, keeper=True):
    """The words before a program. Under `sluice run` a keeper outlives each rank, and delayed
    writes never overlap."""
    build = BUILD / MPIS[mpi].build
    emulator = MPIS[mpi].emulator
    name = "libsluice_abi.so" if MPIS[mpi].programs == "mpi_abi" else "libsluice.so"
    if emulator:  # An emulated `sluice run` could not start the program.
        return [*emulator, "-E", f"LD_PRELOAD={build / 'lib' / name}"]
    if keeper:
        return [str(build / "bin" / "sluice"), "run"]
    return ["env", f"LD_PRELOAD={build / 'lib' / name}"]


def command(run, args, work, full):
    mpi = MPIS[run.mpi]
    words = [str(mpi.mpiexec), "-n", str(run.ranks)]
    if not args.plain and not linked(run.program):
        words += preload(run.mpi, run.keeper)
    else:
        words += mpi.emulator
    if run.program.endswith(".py"):
        words += [str(Path(mpi.mpiexec).parent / "python3"), str(HERE / run.program)]
    else:
        folder = Path(args.programs or BUILD / mpi.build / "tests" / mpi.programs)
        words.append(str(folder / run.program))
    words += ["--dir", str(work), *options_of(run, args), *args.program_options]
    if full and run.program == "errors_test":
        words += ["--full", str(full)]
    return words


def linked(program):
    """Programs that are linked to the library use its own functions."""
    return program.startswith("abi_") or program == "collectives_test"


def options_of(run, args):
    """The run's options, its skipped sub-tests joined with those that the MPI gets wrong."""
    table = PLAIN_SKIP if args.plain else PASSED_THROUGH_SKIP
    options = list(run.options)
    skipped = [table.get(MPIS[run.mpi].faults, {}).get(run.program, "")]
    if "--skip" in options:
        at = options.index("--skip")
        skipped.append(options[at + 1])
        del options[at:at + 2]
    skipped = ",".join(word for word in skipped if word)
    # Below this level MPICH spins in its barriers, and ranks that share cores wait long for each
    # other. Runs with few ranks, and all of Open MPI, have no level.
    shares_cores = run.ranks > 2 and MPIS[run.mpi].faults == "mpich"
    if shares_cores and "--thread-level" not in options and not run.program.endswith(".py"):
        options += ["--thread-level", "3"]
    return options + (["--plain"] if args.plain else []) + (["--skip", skipped] if skipped else [])


def processes_of(mark):
    """The processes of one run, wherever they have been moved to, but not those that have ended."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return sorted(found)


def read_proc(path):
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return "?"


LAUNCHERS = ("mpiexec", "hydra", "prte", "orted", "run ")


def show_places(mark):
    """Prints where each process of a run is: by gdb where there is one, else by the kernel."""
    for pid in processes_of(mark):
        base = Path(f"/proc/{pid}")
        arguments = read_proc(base / "cmdline").replace("\0", " ")
        if not arguments or any(word in arguments for word in LAUNCHERS):
            continue
        print(f"  -- process {pid}: {arguments}")
        with contextlib.suppress(OSError):
            for task in sorted((base / "task").iterdir()):
                print(f"     {task.name} {read_proc(task / 'comm')}: {read_proc(task / 'wchan')}, "
                      f"system call {read_proc(task / 'syscall').split(' ')[0]}")
        if shutil.which("gdb"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                trace = subprocess.run(
                    ["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"],
                    capture_output=True, text=True, timeout=30, check=False).stdout
                for line in trace.splitlines():
                    if line.startswith(("#", "Thread")):
                        print("     " + line[:160])
    sys.stdout.flush()


def end_processes(mark):
    for name in (signal.SIGTERM, signal.SIGKILL):
        for pid in processes_of(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, name)
        until = time.monotonic() + 3
        while processes_of(mark) and time.monotonic() < until:
            time.sleep(0.05)


def leftover_processes(mark):
    """Waits a moment: daemons of the MPI may end a little after mpiexec."""
    until = time.monotonic() + 5
    while (left := processes_of(mark)) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def shared_memory():
    """Names in /dev/shm that can be ours; other jobs' MPIs leave theirs there as well. All programs
    of a user have one file of marks, and a `sluice bench` may run beside the tests."""
    return {name for name in os.listdir("/dev/shm")
            if "sluice" in name.lower()
            and not name.startswith(("sluice-marks-", "sluice-bench-"))}


def execute(words, env, seconds, mark):
    """Returns (exit code or None when out of time, output)."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        child = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = child.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
            print(f"  out of time after {seconds} s; the ranks are at:")
            show_places(mark)
            end_processes(mark)
            child.wait()
        except BaseException:
            end_processes(mark)
            raise
        output.seek(0)
        return code, output.read()


def do_run(run, args, full):
    """Runs one; returns the reasons for which it failed."""
    mark = uuid.uuid4().hex
    memory_before = shared_memory()
    base = Path(args.dir)
    base.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="mpi_", dir=base))
    started = time.monotonic()
    limit = int(run.seconds * args.patience)
    env = {name: value.replace("{work}", str(work))
           for name, value in environment(run, mark, args.plain).items()}
    code, output = execute(command(run, args, work, full), env, limit, mark)
    seconds = time.monotonic() - started
    reasons = []
    if code is None:
        reasons.append("out of time")
    elif code != 0:
        reasons.append(f"exit code {code}")
    if left := leftover_processes(mark):
        reasons.append(f"processes left: {left}")
        end_processes(mark)
    if new := shared_memory() - memory_before:
        reasons.append(f"left in /dev/shm: {sorted(new)}")
    if journals := [path.name for path in work.glob("*.sluice-journal*")]:
        reasons.append(f"journals left: {journals}")
    shutil.rmtree(work, ignore_errors=True)
    print(f"{'FAILED' if reasons else 'ok    '} {seconds:6.1f} s  {run.title()}"
          + (f"  ({'; '.join(reasons)})" if reasons else ""))
    if reasons or args.verbose:
        shown = output.splitlines()
        shown = shown if args.verbose else shown[:15] + shown[15:][-args.lines:]
        print("\n".join("  | " + line for line in shown))
    sys.stdout.flush()
    return reasons


@contextlib.contextmanager
def full_file_system(base):
    """A tmpfs of 4 MiB for the tests of a full disk; None where it cannot be mounted."""
    if os.geteuid() != 0:
        yield None
        return
    Path(base).mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="full_", dir=base))
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "sluice-test", str(place)],
                             capture_output=True, check=False).returncode == 0
    try:
        yield place if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], check=False)
        place.rmdir()


def chosen_runs(args):
    runs = []
    for mpi in args.mpi.split(","):
        runs += LEVELS[args.level](mpi)
    programs = [p if p.endswith("_test") else p + "_test" for p in args.program.split(",") if p]
    ranks = [int(n) for n in args.ranks.split(",") if n]
    nodes = [int(n) for n in args.nodes.split(",") if n]
    runs = [r for r in runs
            if (not programs or Path(r.program).stem in programs)
            and (not ranks or r.ranks in ranks)
            and (not nodes or r.ranks_per_node in nodes)
            and not (args.plain and (r.ranks_per_node or r.settings or linked(r.program)))
            and (r.program != "large_count_test" or MPIS[r.mpi].large_counts)
            and r.ranks <= MPIS[r.mpi].most_ranks]
    return shares.share_of(runs, args)


def parse_for_cases(description, add=lambda parser: None):
    """The command line of other runners that have cases for both MPIs; `add` adds theirs."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--only", default="", help="only cases with this in their name")
    parser.add_argument("--dir", type=Path, default=BUILD / "tmp")
    lot.add_arguments(parser)
    add(parser)
    args = parser.parse_args()
    args.dir.mkdir(parents=True, exist_ok=True)
    return args


def exit_code_of(name, results):
    """Prints how many of their cases passed."""
    print(f"{name}: {results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


def parse_arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich,openmpi", help="of " + ",".join(MPIS))
    parser.add_argument("--level", choices=tuple(LEVELS), default="quick")
    parser.add_argument("--program", default="", help="only these, for example patterns,legal")
    parser.add_argument("--ranks", default="", help="only runs with these numbers of ranks")
    parser.add_argument("--nodes", default="", help="only these ranks per node; 0: unset")
    shares.add_argument(parser)
    parser.add_argument("--plain", action="store_true", help="without Sluice and the known faults")
    parser.add_argument("--dir", default=str(BUILD / "tmp"), help="where test files go")
    parser.add_argument("--programs", default="", help="folder of the programs")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on all time limits")
    parser.add_argument("--lines", type=int, default=40, help="shown of a failed run's output")
    parser.add_argument("--keep-going", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("program_options", nargs="*", help="after --: for the programs")
    args = parser.parse_args(words)
    if unknown := set(args.mpi.split(",")) - set(MPIS):
        parser.error(f"no such MPI: {', '.join(sorted(unknown))}")
    if args.verbose:
        args.program_options.append("-v")
    return args


def main():
    args = parse_arguments()
    runs = chosen_runs(args)
    started = time.monotonic()
    failed = []
    done = 0
    with full_file_system(args.dir) as full:
        for run in runs:
            done += 1
            if do_run(run, args, full):
                failed.append(run.title())
                if not args.keep_going:
                    break
    for title in failed:
        print(f"failed: {title}")
    print(f"mpi tests: {done - len(failed)} passed, {len(failed)} failed, "
          f"{time.monotonic() - started:.0f} s")
    if not done:
        print(f"{args.program}: no run of the level {args.level} for {args.mpi}")
        return 77  # Skipped.
    return 1 if failed else 0


if __name__ == "__main__":
    # Ctrl-C and a stopped job both end the running processes and unmount.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
