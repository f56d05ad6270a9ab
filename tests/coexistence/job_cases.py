"""Cases of how ranks are started: by whom, with what settings and thread levels, beside others that
are started in another way, and the processes that they start themselves."""
import re
from pathlib import Path

import run as runner
from case import BY_MPI, BY_SLUICE, Case, once
from small_programs import compiled

HERE = Path(__file__).resolve().parent


def cases_of_settings():
    """Ranks with other settings than the first, where these would communicate."""
    for given in ("--behind=64M,{path}.folder", "--trace {path}.json", "SLUICE_LOG=2"):
        run = f"{{sluice}} run {given}" if given[0] == "-" else f"env {given} {{sluice}} run"
        for name, first, last in (("first", run, "{sluice} run"), ("last", "{sluice} run", run)):
            yield Case(f"the {name} rank alone has {given.split('=')[0].split(' ')[0]}", "files.c",
                       [BY_MPI, once("the MPI serves its files itself")],
                       f"{first} {{program}} {{path}} {{path}} : -n 1 {last} "
                       "{program} {path} {path}", ranks=1, preload=())


def cases_of_nodes(mpi):
    """The launcher says that some ranks are on other nodes, whose marks cannot be seen."""
    there = {"mpich": "MPI_LOCALNRANKS", "openmpi": "OMPI_COMM_WORLD_LOCAL_SIZE"}[mpi]
    yield Case("ranks on nodes that cannot be seen", "files.c", [BY_SLUICE],
               f"env {there}=2 {{sluice}} run {{program}} {{path}} {{path}}", preload=())


def cases_of_jobs(mpi):
    """Ranks that do not run under Sluice beside some that do."""
    said = "the MPI serves its files itself"
    # A spawned process is under Sluice when it says that it serves its own world's file.
    return [
        Case("spawned processes", "spawned.c", ["4 ranks wrote together", said, "serves .*2$"],
             "{program} {path} {path}2", settings={"SLUICE_LOG": "3"}, ranks=2),
        Case("spawned processes with = in their name", "spawned.c",
             ["4 ranks wrote together", said], "{program} {path} {path}2", ranks=2,
             called="spawned=named"),
        Case("a name that gives a terminal orders", "files.c",
             [BY_SLUICE, r"serves .*\\x1b\[31m", r"\A[^\x1b]*\Z", "(?m)^  aggregator 0: ",
              "(?m)^  last plan: "], "{program} {path}\x1b[31m {path}\x1b[31m", ranks=2,
             settings={"SLUICE_LOG": "3"}),
        Case("a rank without Sluice", "files.c", [BY_MPI, said],
             "{program} {path} {path} : -n 1 {program} {path} {path}", ranks=2),
        Case("a rank without Sluice, collectives", "files.c", [BY_MPI, said],
             "{program} {path} {path} : -n 1 {program} {path} {path}", ranks=2,
             settings={"SLUICE": "all"}),
        Case("calls by Fortran's names", "fortran_names.c", ["all names were there"],
             "{program} {path}", ranks=2, settings={"SLUICE": "all"}),
    ]


def cases_of_levels(mpi):
    for level in range(4):
        for per_node in ("0", "1"):
            yield Case(f"thread level {level}, {per_node} ranks per node", "files.c", [BY_SLUICE],
                       settings={"LEVEL": str(level), "SLUICE_TEST": f"ranks_per_node={per_node}"})
    # MPICH refuses: "MPI not initialized. Call MPI_Init or MPI_Init_thread first".
    refused = mpi == "mpich"
    for per_node in ("0", "1"):
        yield Case(f"session, {per_node} ranks per node", "session.c",
                   ["failed: MPI_File_open"] if refused else [BY_SLUICE],
                   settings={"SLUICE_TEST": f"ranks_per_node={per_node}"}, fails=refused)


def cases_of_processes(mpi):
    def ways(preloaded):
        return ["this program is preloaded",
                *(rf"{way} preloads \[{preloaded}\], maps 0"
                  for way in ("system", "popen", "posix_spawn"))]

    other = re.escape(str(compiled(mpi, HERE / "counter.c", shared=True)))
    return [
        Case("children", "children.c", ways("")),
        Case("children, another tool", "children.c", ways(other), preload=("run", "counter.c")),
        Case("children, others around", "children.c", ways("libm.so.6:libdl.so.2"),
             preload=("libm.so.6", "sluice", "libdl.so.2")),
        Case("children, Sluice found by its name", "children.c", ways(""),
             preload=("libsluice.so",),
             settings={"LD_LIBRARY_PATH": str(runner.BUILD / mpi / "lib")}),
        Case("a shell that becomes the program", "files.c", [BY_SLUICE],
             'sh -c "exec {program} {path} {path}"'),
        Case("a shell that starts the program", "files.c", [BY_SLUICE],
             'sh -c "{program} {path} {path}; true"'),
        Case("fork", "forked.c", ["the children ended"]),
        Case("fork, several nodes", "forked.c", ["the children ended"],
             settings={"SLUICE_TEST": "ranks_per_node=1"}),
    ]


def all_cases(mpi):
    return [*cases_of_jobs(mpi), *cases_of_settings(), *cases_of_nodes(mpi),
            *cases_of_levels(mpi), *cases_of_processes(mpi)]
