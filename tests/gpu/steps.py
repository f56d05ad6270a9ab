"""The steps of `card.py run`, the most important first."""
import sys

from devices import HERE, ROOT, driver, driver_settings
from session import Step, started


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
