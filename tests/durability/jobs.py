"""How the jobs of these tests are started, and what the file holds that they write. The regions and
values are those of durability_program.cpp."""
import argparse
import itertools
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import lot
import run as runner
from small_programs import compiled

HERE = Path(__file__).resolve().parent
PREFIX = "sluice_test_"  # Of our own folders.
FILL = 255  # What the file holds at the start; no value is that.
SIZE = 9500000
OWN = "SLUICE_TEST_OWN_PLACES"
# When a rank is killed; the last one is Sluice's own, where its keeper was killed, too.
MPI_LEAVES = r"mpich_sh(m|ar)_|hydra_|(ompi|prte|pmix)|sm_segment\.|sluice-marks-"


def parse_arguments(description):
    """The options that both runners have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--level", choices=("quick", "long"), default="quick")
    parser.add_argument("--scenario", default="", help="only those with this in their name")
    parser.add_argument("--dir", type=Path, default=runner.BUILD / "tmp")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on all time limits")
    lot.add_arguments(parser)
    return parser.parse_args()


def run_scenarios(tests, args, scenarios):
    """Those that are asked for, with each MPI; returns the seconds that they took. Which kills or
    failures the quick level tries in each is drawn."""
    started = time.monotonic()
    drawn = lot.Lot(args)
    asked = [scenario for scenario in scenarios if args.scenario in scenario.name]
    for mpi, scenario in drawn.cases(itertools.product(args.mpi.split(","), asked)):
        tests.run_scenario(mpi, scenario, drawn.random.randrange(10**6))
    return time.monotonic() - started


def value_of(step, rank, piece):
    return 1 + (step * 67 + rank * 29 + piece * 7) % 250


def cells(ranks, step, number):
    """The pieces of a step that writes: (offset, bytes, value, rank)."""
    begin, size, pieces, gap, *turn = map(int, step.split(":")[1].split(","))
    for rank, piece in itertools.product(range(ranks), range(pieces)):
        place = (rank + sum(turn)) % ranks
        offset = begin + piece * (ranks * size + gap) + place * size
        yield offset, size, value_of(number, rank, piece), rank


def wrong_bytes(data, allowed):
    """Says where the file is not as it may be."""
    position = 0
    for offset in sorted(allowed):
        size, values = allowed[offset]
        yield from wrong_gap(data, position, offset)
        cell = data[offset:offset + size].ljust(size, b"\0")
        if not set(cell) <= values:
            yield f"[{offset}, {offset + size}): {sorted(set(cell) - values)}, not {values}"
        position = offset + size
    yield from wrong_gap(data, position, max(len(data), SIZE))


def wrong_gap(data, begin, end):
    """Bytes that nobody asked to write: as they were, or holes."""
    for first, last, value in ((begin, min(end, SIZE), FILL), (max(begin, SIZE), end, 0)):
        gap = data[first:last]
        if first < last and gap.count(value) != len(gap):
            yield f"[{first}, {last}): changed, though nobody writes there"


def use_own_places(args):
    """Goes on with a /dev/shm and a /tmp of its own, where that is allowed: killed ranks of MPICH
    leave files there, which others would find, and others leave theirs."""
    if os.environ.get(OWN) or subprocess.run(
            ["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        return
    needed = [HERE, runner.BUILD, args.dir.resolve(), Path(sys.executable)]
    places = [place for place in ("/dev/shm", "/tmp")
              if not any(path.is_relative_to(place) for path in needed)]
    os.environ[OWN] = ":".join(places)
    mount = " && ".join(f"mount -t tmpfs tmpfs {place}" for place in places)
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh",
                          sys.executable, *sys.argv])


def names_left(folder):
    """What is where files outlive their process, but for what the MPIs leave themselves."""
    places = [*os.environ.get(OWN, "").split(":"), folder / "tmp"]
    return {f"{place}/{name}" for place in places if place for name in os.listdir(place)
            if not re.match(MPI_LEAVES, name)}


def prepare(folder):
    for name in ("data", "tmp", "journals"):
        (folder / name).mkdir()
    (folder / "data" / "file").write_bytes(bytes([FILL]) * SIZE)
    (folder / "notes").touch()


def command(mpi, scenario, folder, disturber):
    """`disturber` is what is preloaded beside the library. Without a keeper that is by hand."""
    build = runner.BUILD
    preloaded = str(compiled(mpi, HERE / disturber, shared=True))
    starter = [build / mpi / "bin" / "sluice", "run"]
    if not scenario.has_keepers:
        preloaded += f":{build / mpi / 'lib' / 'libsluice.so'}"
        starter = []
    return [str(word) for word in (
        build / "env" / mpi / "bin" / "mpiexec", "-n", scenario.ranks, "env",
        f"LD_PRELOAD={preloaded}", *starter, compiled(mpi, HERE / "durability_program.cpp"),
        folder / "data" / "file", folder / "notes", *scenario.steps)]


def environment(mpi, scenario, folder, mark):
    settings = {name: text.format(journals=folder / "journals")
                for name, text in scenario.settings}
    run = runner.Run(mpi, "durability_program", scenario.ranks, settings=settings)
    env = runner.environment(run, mark, False)
    env.update(TMPDIR=str(folder / "tmp"), SLUICE_TEST_FILE=str(folder / "data" / "file"),
               SLUICE_TEST_NOTES=str(folder / "notes"))
    return env
