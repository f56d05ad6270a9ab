"""Cases of delayed writes: what other handles and threads see of them, and what `sluice run`
promises where it starts a script that starts programs."""
from case import Case

ALWAYS = {"SLUICE_TEST": "behind=always"}
# Each program of a script is a job of its own, and no rank of the mpiexec around it.
ALONE = "unset $(env | grep -oE '^(PMI|OMPI|PRTE|HYD)[A-Za-z0-9_]*')"


def scripts(behind):
    """(what happens, what the script does, what is checked)"""
    run = f"{{sluice}} run --behind=64M{behind} sh -c"
    return [
        ("a script repairs what a killed rank has written",
         f"{run} '{{program}} kill {{path}} 12 a; {{program}} plain {{path}} 12 b'", 12, "b", ""),
        ("a script starts a program behind another one",
         f"{run} '{{program}} end {{path}} 4 a; {{program}} kill {{path}} 8 b'", 8, "b", ""),
        ("a script starts a killed program again",
         f"{run} '{{program}} kill {{path}} 12 a; {{program}} end {{path}} 12 b'", 12, "b", ""),
        ("a script starts two programs at once",
         f"{run} '{{program}} end {{path}} 12 a & {{program}} end {{path}}2 12 b; wait'",
         12, "b", "2"),
        ("a program has a file of its own where the journal was",
         f"{run} '{{program}} stale {{path}} 8 a'", 8, "a", ""),
    ]


def cases_of_handles(mpi):
    slow = {"SLUICE_TEST": "behind=always;device=ssd"}
    yield Case("the hint of write-behind on one handle", "one_hint.c", ["^0 pieces are stale"],
               "{program} {path}", settings=slow, ranks=2)
    if mpi == "mpich":  # It hangs without Sluice as well.
        return
    for name in ("SLUICE_WRITE_BEHIND", "SLUICE_READ_AHEAD"):
        yield Case(f"two threads, two files of a communicator, {name}", "two_files.c",
                   ["^0 rounds are wrong"], "{program} {path}", ranks=2,
                   settings={"SLUICE_TEST": "behind=always", name: "64M"})


def all_cases(mpi):
    yield from cases_of_handles(mpi)
    for kind, behind in (("memory", ""), ("a folder", ",{path}.journals")):
        for what, script, pieces, letter, more in scripts(behind):
            check = f"{{program}} check {{path}}{more} {pieces} {letter}"
            yield Case(f"{what}, {kind}", "kept.c", [f"^{pieces} of {pieces} pieces of {letter}"],
                       f'sh -c "{ALONE}; mkdir -p {{path}}.journals; {script}; {check}"',
                       preload=(), settings=ALWAYS, ranks=1)
