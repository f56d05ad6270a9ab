"""Cases of delayed writes: what other handles and threads see of them, and what `sluice run`
promises where it starts a script that starts programs."""
import itertools

from case import Case

ALWAYS = {"SLUICE_TEST": "behind=always"}
# Each program of a script is a job of its own, and no rank of the mpiexec around it.
ALONE = "unset $(env | grep -oE '^(PMI|OMPI|PRTE|HYD)[A-Za-z0-9_]*')"


def scripts(behind):
    """(what happens, what the script does, what is checked)"""
    run = f"{{sluice}} run --behind=64M{behind} sh -c"
    return [
        ("a script repairs what a killed rank has written",
         f"{run} '{{program}} kill {{path}} 12 a; LD_PRELOAD= {{program}} plain {{path}} 12 b'", 12,
         "b", ""),
        ("a script starts a program behind another one",
         f"{run} '{{program}} end {{path}} 4 a; {{program}} kill {{path}} 8 b'", 8, "b", ""),
        ("a script starts a killed program again",
         f"{run} '{{program}} kill {{path}} 12 a; {{program}} end {{path}} 12 b'", 12, "b", ""),
        ("a script starts two programs at once",
         f"{run} '{{program}} end {{path}} 12 a & {{program}} end {{path}}2 12 b; wait'",
         12, "b", "2"),
        ("a file has another name when its rank is killed",
         f"{run} '{{program}} moved {{path}} 8 a'", 8, "a", "2"),
        ("a program has a file of its own where the journal was",
         f"{run} '{{program}} stale {{path}} 8 a'", 8, "a", ""),
    ]


def cases_of_handles(mpi):
    slow = {"SLUICE_TEST": "behind=always;device=ssd"}
    yield Case("the hint of write-behind on one handle", "one_hint.c", ["^0 pieces are stale"],
               "{program} {path}", settings=slow, ranks=2)
    if mpi == "mpich":  # It hangs without Sluice as well.
        return
    both = {"SLUICE_WRITE_BEHIND": "64M", "SLUICE_HINTS": "sluice_read_ahead=64M"}
    for (name, value), nodes in itertools.product(both.items(), (1, 3)):
        test = "behind=always" + (";ranks_per_node=1" if nodes > 1 else "")
        yield Case(f"two threads, two files of a communicator, {name}, {nodes} nodes",
                   "two_files.c", ["^0 rounds are wrong"], "{program} {path}", ranks=max(2, nodes),
                   settings={"SLUICE_TEST": test, name: value})


def cases_of_limits(mpi):
    """What the MPI alone takes."""
    settings = ({}, {**ALWAYS, "SLUICE_WRITE_BEHIND": "64M"},
                {"SLUICE_TEST": ALWAYS["SLUICE_TEST"] + ";helper=off",
                 "SLUICE_WRITE_BEHIND": "64M", "SLUICE_HINTS": "sluice_read_ahead=64M"})
    for what in ("descriptors", "communicators", "sync", "unreadable", "nothing", "locks"):
        if what == "sync" and mpi != "mpich":
            continue  # Open MPI waits for the others in MPI_File_sync; with Sluice it does not.
        for how, of_case in zip(("", ", write-behind", ", both, no helper"), settings):
            yield Case(f"limits: {what}{how}", "limits.c", [f"^{what}: as with the MPI alone"],
                       f"{{program}} {what} {{path}}", ranks=2, settings=of_case)


def cases_of_promises():
    behind = {**ALWAYS, "SLUICE_WRITE_BEHIND": "64M"}
    folder = {**ALWAYS, "SLUICE_WRITE_BEHIND": "64M,{path}.journals"}
    between = {**folder, "SLUICE_TEST": "behind=always;ranks_per_node=1"}
    two_phase = {"SLUICE_HINTS": "romio_cb_write=enable"}
    for what, how, settings in (
            ("signals", "", {}), ("signals", ", write-behind", behind), ("dumps", "", two_phase),
            ("durable", " between nodes", between), ("plain", " on one node", folder),
            ("plain", ", no folder", {})):
        run = f"exec {{sluice}} run {{program}} {what} {{path}}"
        yield Case(f"promises: {what}{how}", "promises.c", [f"^{what}: as promised"],
                   f'sh -c "mkdir -p {{path}}.journals; {run}"', preload=(), ranks=2,
                   settings=settings)
    counts = "unset MPI_LOCALNRANKS OMPI_COMM_WORLD_LOCAL_SIZE"
    runs = {"": ":", ", which the launcher does not count": counts}
    for (what, unset), keeper in itertools.product(runs.items(), ("", "{sluice} run ")):
        yield Case(f"promises: memory is shared by the ranks of a node{what}"
                   + (", with keepers" if keeper else ""), "promises.c", ["^shared: as promised"],
                   f'sh -c "mkdir -p {{path}}.journals; {unset}; '
                   f'exec {keeper}{{program}} shared {{path}}"',
                   preload=() if keeper else ("sluice",), ranks=3, settings=folder)


def survivor(name, calls, what, pieces=12, behind="64M", ranks=2, said=(), **settings):
    """Settings are of survivor.c and slow_writes.c."""
    launch = f"{{mpiexec}} --allow-run-as-root --enable-recovery --map-by :oversubscribe -n {ranks}"
    return Case(name, "survivor.c",
                [rf"^the survivor is done with {pieces} of {pieces} pieces",
                 rf"^{pieces} of {pieces} pieces are right in the end", *said],
                f'sh -c "{ALONE}; mkdir -p {{path}}.journals; {launch} {{sluice}} run '
                f'--behind={behind} {{program}} {calls} {what} {{path}} {pieces}; '
                f'{{program}} check {what} {{path}} {pieces}"',
                preload=("slow_writes.c",), ranks=1, settings={**ALWAYS, **settings})


def cases_of_survivors(mpi):
    """With MPICH the survivor ends as well, as soon as it calls MPI."""
    if mpi != "openmpi":
        return
    for calls, what in itertools.product(("alone", "together", "collective"), ("read", "write")):
        for kind, behind in (("memory", "64M"), ("a folder", "64M,{path}.journals")):
            yield survivor(f"a survivor {what}s what a killed rank wrote, {calls}, {kind}", calls,
                           what, behind=behind)
    yield from cases_of_late_bytes()


def cases_of_late_bytes():
    """Older bytes came last, or too late for who reads them."""
    for what in ("read", "write"):
        yield survivor(f"a survivor {what}s what another one wrote together with a killed rank",
                       "collective", what, behind="192M", ranks=3, SLOW_0="0", SLOW_2="150000")
    # Rank 1 is killed when only rank 0 is not done with its part. Rank 0 knows the calls to be
    # complete before it notices that rank 1 has ended, and before a keeper has written.
    late = {"SLOW_0": "100000", "SLOW_1": "0", "SLOW_KEEPERS": "500000"}
    killed = "a survivor writes what a killed rank wrote"
    yield survivor("a failed collective write of a killed rank does not come back", "collective",
                   "write", 4, said=["ENOSPC"], FULL_AT=str(7 << 20), **late)
    yield survivor(f"{killed}, the survivor's keeper was killed too", "collective", "write", 4,
                   KEEPER_OF_0="{path}.keeper", **late)
    yield survivor(f"{killed}, with more than 256 handles", "collective", "write", 1,
                   HANDLES="256", **late)
    yield survivor("a rank is killed when its mark is released", "together", "write",
                   said=["the keeper of rank 1 has written them"], KILL_AT_MARK="1", SLOW_0="0",
                   SLOW_1="300000", SLOW_KEEPERS="100000")


def all_cases(mpi):
    yield from cases_of_handles(mpi)
    yield from cases_of_limits(mpi)
    yield from cases_of_promises()
    yield from cases_of_survivors(mpi)
    for kind, behind in (("memory", ""), ("a folder", ",{path}.journals")):
        for what, script, pieces, letter, more in scripts(behind):
            check = f"{{program}} check {{path}}{more} {pieces} {letter}"
            yield Case(f"{what}, {kind}", "kept.c", [f"^{pieces} of {pieces} pieces of {letter}"],
                       f'sh -c "{ALONE}; mkdir -p {{path}}.journals; {script}; {check}"',
                       preload=("slow_writes.c",), settings=ALWAYS, ranks=1)
