"""For docs/trust.md: what was tried so that nobody has to hope, with figures. The data are written by
tests/swarm/run.py, tests/models/run.py, tests/mpi/random_programs.py and tests/run.py."""

from data import ROOT, between_marks, lines
from test_parts import table

BEGIN, END = "<!-- results/table: trust -->", "<!-- results/table: end trust -->"
PAGE = ROOT / "docs" / "trust.md"


def number(value):
    return f"{value:,}"


def hours(seconds):
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"


def swarm():
    """All worlds that were noted, with those of commits whose faults have been mended since."""
    runs = lines("swarm")
    if not runs:
        return []
    total = {key: sum(run[key] for run in runs)
             for key in ("worlds", "failed", "calls", "storage_faults", "ended_ranks", "bad_calls",
                         "crashed_nodes", "seconds")}
    what = (f"{number(total['calls'])} collective calls; {number(total['storage_faults'])} worlds met "
            f"errors of storage, {number(total['ended_ranks'])} a rank that ended, "
            f"{number(total['crashed_nodes'])} the crash of a node with a durable journal; "
            f"{number(total['bad_calls'])} calls had bad arguments on one rank or differed")
    return [["simulated worlds, drawn", number(total["worlds"]), number(total["failed"]), what,
             f"`tests/swarm/run.py`, {hours(total['seconds'])}", runs[-1]["date"]]]


def models():
    newest = {run["model"]: run for run in lines("models")}
    if not newest:
        return []
    states = sum(run["states"] for run in newest.values())
    found, planted = (sum(run[key] for run in newest.values()) for key in ("found", "faults"))
    wrong = sum(run["errors"] for run in newest.values())
    return [["models of protocols (spin)", f"{len(newest)}, {number(int(states))} states", number(wrong),
             f"{', '.join(sorted(newest))}; of {planted} planted faults {found} are found",
             f"`tests/models/run.py`, {hours(sum(run['seconds'] for run in newest.values()))}",
             max(run["date"] for run in newest.values())]]


def programs():
    rows = []
    for mpi in ("mpich", "openmpi"):
        runs = [run for run in lines("drawn") if run["mpi"] == mpi]
        if runs:
            total = {key: sum(run[key] for run in runs) for key in ("programs", "failed", "seconds")}
            rows.append([f"random programs, settings by lot, {mpi}", number(total["programs"]),
                         number(total["failed"]), "1 to 16 ranks; each byte compared with a serial model",
                         f"`make test-all PART=drawn-{mpi}`, {hours(total['seconds'])}",
                         runs[-1]["date"]])
    return rows


def soaked():
    rows = []
    for mpi in ("mpich", "openmpi"):
        runs = [run for run in lines("soak") if run["mpi"] == mpi]
        if runs:
            last = runs[-1]
            before, after = last["growth"]["resident_kib"]
            grown = ", ".join(last["failed"]) or "nothing"
            rows.append([f"one long job, {mpi}", f"{number(last['programs'])} programs",
                         number(len(last["failed"])),
                         f"{last['ranks']} ranks; resident memory of the largest {before / 1024:.0f} "
                         f"MiB early, {after / 1024:.0f} at the end; of {', '.join(last['growth'])}"
                         f" {grown} grew; the job ends with an error where a thread of the library "
                         "is awake",
                         f"`{last['command']}`, {hours(last['seconds'])}", last["date"]])
    return rows


def of_parts(part, name, what):
    """The newest run of a part of the whole run."""
    runs = [run for run in lines("tests") if run["part"] == part]
    if not runs:
        return []
    last = runs[-1]
    return [[name, f"{last['passed'] + last['failed']} tests", number(last["failed"]), what,
             f"`{last['command']}`, {hours(last['seconds'])}", last["date"]]]


def fuzzers():
    newest = {run["target"]: run for run in lines("fuzz")}
    if not newest:
        return []
    runs = sum(run["runs"] for run in newest.values())
    return [["fuzzers of what comes from outside", f"{len(newest)}, {number(runs)} inputs",
             number(sum(run["failed"] for run in newest.values())), ", ".join(sorted(newest)),
             "`make test-all PART=fuzz`", max(run["date"] for run in newest.values())]]


def shown():
    rows = [*swarm(), *programs(), *soaked(), *models(), *fuzzers(),
            *of_parts("aarch64", "unit tests on 64-bit Arm",
                      "emulated by QEMU, which keeps the memory order of x86"),
            *of_parts("aarch64-mpich-1", "MPI programs on 64-bit Arm", "the same, with MPICH"),
            *of_parts("aarch64-mpich-2", "the other MPI programs", "the same")]
    return table(["what", "tried", "failed", "of it", "command, time", "last"], rows)


def page():
    return between_marks(PAGE.read_text(), BEGIN, END, shown())
