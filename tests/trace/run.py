#!/usr/bin/env python3
"""Traces a small program in several ways and reads what comes out: events nest, arrows meet, all
kinds are there; a rank that is killed, a folder that cannot be written, a full disk and a ring that
overflows do the job no harm and are told in one line.

    tests/trace/run.py --mpi mpich [--only NAME]

Exit code 1 if a case failed.
"""
import argparse
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))
import run as runner  # noqa: E402  tests/mpi/run.py
from checks import faults_of  # noqa: E402
from mpis import ENV  # noqa: E402

SECONDS = 90
KINDS = {"call", "program", "wait", "copy", "operation", "stage", "round", "transfer", "request"}
OF_AGGREGATORS = {"transfer"}
CALLS = {"MPI_File_open", "MPI_File_set_view", "MPI_File_close", "MPI_Finalize", "MPI_Wait"}
STAGES = {"exchange of summaries", "claims", "exchange", "agreement"}


class Place:
    """A folder for the files of a case, and the ways to run things there."""

    def __init__(self, mpi, folder):
        self.mpi, self.folder = mpi, folder
        self.known = runner.MPIS[mpi]
        self.sluice = runner.BUILD / self.known.build / "bin" / "sluice"
        self.trace = folder / "t.json"

    def job(self, *words, ranks=2, options=(), **settings):
        """Returns (exit code, output, what the library said)."""
        mark = uuid.uuid4().hex
        run = runner.Run(self.mpi, "trace", ranks, settings=settings)
        python = ENV / self.known.build / "bin" / "python"
        command = [self.known.mpiexec, "-n", ranks, self.sluice, "run", *options, python,
                   HERE / "program.py", self.folder / "data.bin", *words]
        code, output = runner.execute([str(word) for word in command],
                                      runner.environment(run, mark, False), SECONDS, mark)
        left = runner.leftover_processes(mark)
        runner.end_processes(mark)
        said = [line for line in output.splitlines() if line.startswith("sluice: ")]
        return (code if not left else f"processes left: {left}"), output, said

    def command(self, *words, python=sys.executable):
        """`sluice trace`: returns (exit code, output)."""
        result = subprocess.run([str(word) for word in (self.sluice, "trace", *words)], text=True,
                                check=False, timeout=60, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT,
                                env=runner.os.environ | {"SLUICE_PYTHON": str(python)})
        return result.returncode, result.stdout


def traced(place, faults, *words, ranks=2, more="", **settings):
    """A job that must end well and say one line, which is returned."""
    code, output, said = place.job(*words, ranks=ranks,
                                   options=("--trace", f"{place.trace}{more}"), **settings)
    if code != 0 or len(said) != 1:
        faults.append(f"exit code {code}, {len(said)} lines: {output}")
    return said[0] if said else ""


def missing(what, wanted, found):
    return [f"{what}: {sorted(wanted - found)} are missing"] if wanted - found else []


def all_kinds(place):
    """On one node: what threads did and waited for, operations with their stages."""
    faults = []
    said = traced(place, faults)
    if "is in" not in said or "lost" in said or "cut off" in said:
        faults.append(f"said: {said}")
    found, trace = faults_of(place.trace, [0, 1])
    faults += found
    for rank in trace.ranks:
        mine = [one for one in trace.slices if one.rank == rank]
        faults += missing(f"rank {rank}", KINDS - OF_AGGREGATORS, {one.category for one in mine})
        faults += missing(f"rank {rank}", CALLS, {one.name for one in mine})
        faults += missing(f"rank {rank}", STAGES,
                          {one.name for one in mine if one.category == "stage"})
    faults += missing("the trace", KINDS, {one.category for one in trace.slices})
    if Path(f"{place.trace}.parts").exists():
        faults.append("the folder of the parts is left")
    return faults + faults_of_command(place, trace)


def faults_of_command(place, trace):
    """The summary, a cut and OTF2 of a trace."""
    faults = []
    code, text = place.command(place.trace)
    for word in ("2 ranks on 1 hosts", "in calls of MPI I/O", "hidden", "slowest operations",
                 "longest waits", "data.bin"):
        if code != 0 or word not in text:
            faults.append(f"sluice trace ({code}) does not say '{word}': {text}")
    cut = place.folder / "cut.json"
    code, text = place.command(place.trace, "--operation", 2, "--file", "data.bin", "--out", cut)
    if code != 0:
        return [*faults, text]
    found, part = faults_of(cut, [0, 1], is_whole=False)
    numbers = {one.operation[1] for one in part.slices if one.operation}
    if numbers != {2} or len(part.slices) >= len(trace.slices):
        faults.append(f"operations {numbers} were cut out")
    code, text = place.command(place.trace, "--operation", 99)
    if code != 1 or "there is no operation 99" not in text:
        faults.append(f"operation 99: {code}, {text}")
    return faults + found + faults_of_otf2(place, trace)


def faults_of_otf2(place, trace):
    """Read back by OTF2's own reader. Where the package is not installed, that must be said."""
    python, folder = ENV / "tools" / "bin" / "python", place.folder / "otf2"
    has_otf2 = subprocess.run([str(python), "-c", "import otf2"], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0
    code, text = place.command(place.trace, "--otf2", folder, python=python)
    if not has_otf2:
        return [] if code == 1 and "pip install otf2" in text else [f"without otf2: {text}"]
    shutil.rmtree(place.folder / "again", ignore_errors=True)
    counted = subprocess.run([str(python), "-c", OTF2_COUNTS, str(folder / "traces.otf2")],
                             capture_output=True, text=True, check=False).stdout.split()
    expected = [str(len(trace.slices)), str(len(trace.slices)), str(len(trace.rows))]
    return [] if code == 0 and counted == expected else [f"OTF2: {counted}, {expected}: {text}"]


OTF2_COUNTS = """
import sys, otf2
with otf2.reader.open(sys.argv[1]) as trace:
    kinds = [type(event).__name__ for _, event in trace.events]
    print(kinds.count("Enter"), kinds.count("Leave"), len(list(trace.definitions.locations)))
"""


def arrows(place):
    """Between pretended nodes: each message has two ends."""
    faults = []
    traced(place, faults, ranks=4, SLUICE_TEST="ranks_per_node=2")
    found, trace = faults_of(place.trace, [0, 1, 2, 3])
    if not any(event["ph"] == "s" for event in trace.others):
        faults.append("no message was sent")
    return faults + found


def behind(place):
    """Bytes are copied in the call, and written behind it."""
    faults = []
    traced(place, faults, SLUICE_WRITE_BEHIND="16M", SLUICE_TEST="behind=always")
    found, trace = faults_of(place.trace, [0, 1])
    if "copy to write behind" not in {one.name for one in trace.slices}:
        faults.append("no copy was recorded")
    if max((event["args"]["value"] for event in trace.others
            if event.get("name") == "bytes behind"), default=0) <= 0:
        faults.append("no bytes were behind")
    return faults + found


def overflow(place):
    """Of more events than fit the newest are kept."""
    faults = []
    said = traced(place, faults, "--long", more=",8K")
    if " events are lost" not in said:
        faults.append(f"said: {said}")
    found, trace = faults_of(place.trace, [0, 1], is_whole=False)
    last = max((one.operation[1] for one in trace.slices if one.operation), default=0)
    if last < 200:
        faults.append(f"the last operation is {last}")
    return faults + found


def some_ranks(place):
    """The others take part, and record nothing."""
    faults = []
    traced(place, faults, ranks=3, more=",ranks=1-2")
    return faults + faults_of(place.trace, [1, 2], is_whole=False)[0]


def paused(place):
    """What begins in between is not recorded."""
    faults = []
    traced(place, faults, "--pause")
    found, trace = faults_of(place.trace, [0, 1])
    names = {one.name for one in trace.slices if one.category == "call"}
    if any("write" in name for name in names) or not any("read_all" in name for name in names):
        faults.append(f"calls: {sorted(names)}")
    return faults + found


def killed(place):
    """What ranks had done is in their parts, which the command merges."""
    code, output, _ = place.job("--die", options=("--trace", place.trace))
    if code in (0, None) or not Path(f"{place.trace}.parts").is_dir():
        return [f"exit code {code}: {output}"]
    code, text = place.command(place.trace)
    if code != 0 or "cut off, as these ranks did not end: 0, 1" not in text:
        return [f"sluice trace ({code}): {text}"]
    found, trace = faults_of(place.trace, [0, 1], is_whole=False)
    operations = {one.operation[1] for one in trace.slices if one.operation}
    return found + missing("operations", {0, 1, 2, 3, 4}, operations)


def no_folder(place):
    """Nothing is recorded, and the job does not mind."""
    (place.folder / "file").write_text("in the way")
    code, output, said = place.job(options=("--trace", place.folder / "file" / "t.json"))
    told = len(said) == 1 and "no trace is written: cannot make the folder" in said[0]
    return [] if code == 0 and told else [f"exit code {code}: {output}"]


def full_disk(place):
    """The trace ends, and the job goes on."""
    code, output, said = place.job("--limit", 200_000, options=("--trace", place.trace))
    told = (len(said) == 1 and "the trace ends here: cannot write " in said[0]
            and ".parts/0: File too large" in said[0])
    return [] if code == 0 and told else [f"exit code {code}: {output}"]


CASES = (all_kinds, arrows, behind, overflow, some_ranks, paused, killed, no_folder, full_disk)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    failed = 0
    for case in CASES:
        if arguments.only not in (None, case.__name__):
            continue
        with tempfile.TemporaryDirectory(prefix="trace_") as folder:
            faults = case(Place(arguments.mpi, Path(folder)))
        print("ok  " if not faults else "FAIL", case.__name__, flush=True)
        for fault in faults[:8]:
            print("   ", fault)
        failed += bool(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
