"""What tests/mpi/run.py runs: the levels, each a list of runs for an MPI."""
from dataclasses import dataclass, field
from pathlib import Path

import lot
from mpis import MPIS


@dataclass
class Run:
    """One start of mpiexec."""
    mpi: str
    program: str
    ranks: int
    ranks_per_node: int = 0   # 0: as the machine is
    options: list = field(default_factory=list)
    seconds: int = 150
    # Further environment variables; {work} is the folder of the run's files.
    settings: dict = field(default_factory=dict)
    keeper: bool = True  # False: the library is preloaded, but not by `sluice run`.

    def title(self):
        node = f" {self.ranks_per_node}/node" if self.ranks_per_node else ""
        options = "".join(" " + word for word in self.options)
        settings = "".join(f" {name}={value}" for name, value in self.settings.items())
        keeper = "" if self.keeper else " no keeper"
        return f"{self.mpi} {self.program} {self.ranks} ranks{node}{options}{settings}{keeper}"


# Several runs share these.
SMALL = ["--large-mib", "10"]
SOME = [*SMALL, "--only", "/all,/iat_all"]
NO_HELPER = {"SLUICE_TEST": "helper=off"}
# With few ranks a node the library itself takes one layer.
TWO_LAYER = {"SLUICE_HINTS": "sluice_exchange=data:two-layer"}
ONE_LAYER = {"SLUICE_HINTS": "sluice_exchange=one-layer,data:pairwise,metadata:spread-out,"
                             "metadata:synchronous,throttle:1;cb_nodes=3"}
ALONE = {"SLUICE_TEST": "shared_memory=off"}
OWN_VIEWS = {"SLUICE_TEST": "view_pieces=0"}


def seed():
    """For programs that draw what they do: another one in each run, which the title tells."""
    return str(lot.fresh_seed())


def short_runs(mpi):
    """In each `make test`, with each MPI: what the MPI itself has a part in."""
    return [
        Run(mpi, "abi_test", 3, 2),
        Run(mpi, "abi_persistent_test", 3, 2),
        Run(mpi, "patterns_test", 2, 0, SMALL),
        Run(mpi, "patterns_test", 2, 0, SMALL, 150, OWN_VIEWS),
        Run(mpi, "outstanding_test", 1, 0, ["--skip", "/late,/large"]),
        Run(mpi, "outstanding_test", 2, 0, ["--skip", "/large,/eight"], 150, NO_HELPER),
        Run(mpi, "legal_test", 1),
        Run(mpi, "legal_test", 3, 2, ["--thread-level", "3"]),
        Run(mpi, "requests_test", 2),
        Run(mpi, "requests_test", 1, 0, ["--thread-level", "3"]),
        Run(mpi, "errors_test", 3),
        Run(mpi, "datatypes_test", 2),
        Run(mpi, "large_count_test", 2),
        Run(mpi, "large_view_test", 3, 0, ["--only", "billion,large_etype"]),
        Run(mpi, "shared_test", 2),
        Run(mpi, "shared_test", 4, 0, ["--thread-level", "3"]),
        Run(mpi, "collectives_test", 3, 1, ["--seed", seed(), "--cases", "20"], 150,
            {"SLUICE": "all", "SLUICE_NETWORK": "mpi"}),
        Run(mpi, "collectives_test", 4, 2, ["--thread-level", "3", "--only", "names/"], 300,
            {"SLUICE": "all"}),
        Run(mpi, "collectives_test", 3, 0, ["--only", "results/"], 150, {"SLUICE": "off"}),
        Run(mpi, "behind_test", 2),
        Run(mpi, "behind_test", 3, 0, [], 150, behind_settings("256K,{work}")),
        Run(mpi, "behind_test", 2, 0,
            ["--only", "written_again,opened_at_end,size_is_known,length"], 150,
            behind_settings("1M", SLOW)),
        Run(mpi, "closed_test", 2, 0, [], 150, behind_settings("64M", SLOW)),
        Run(mpi, "progress_test", 2, 0, [], 150, {"SLUICE_TEST": DEVICE}),
        Run(mpi, "progress_test", 2, 0, [], 150, {"SLUICE_TEST": f"helper=off;{DEVICE}"}),
        *([Run(mpi, "progress_test.py", 2, 0, [], 150, {"SLUICE_TEST": DEVICE})]
          if mpi in ("mpich", "openmpi") else []),
    ]


def engine_runs(mpi):
    """In each `make test`, with one of the MPIs: what goes on below src/mpi, where all MPIs run the
    same code."""
    # Windows of several stripes; windows that are a part of one.
    striped = "striping_unit=4096;striping_factor=3;cb_nodes=3;cb_buffer_size=16384"
    stripes = "sluice_domains=cyclic;striping_unit=65536;cb_nodes=3;cb_buffer_size=16384"
    balanced = "sluice_domains=balanced;cb_nodes=3;cb_buffer_size=16384"
    groups = "sluice_domains=groups;cb_buffer_size=16384"
    own_groups = {"SLUICE_HINTS": "sluice_domains=groups;sluice_exchange=groups:2;cb_nodes=4"}
    placed = "sluice_aggregators=3,1;cb_nodes=2"
    measured = {"SLUICE_PROFILE": str(Path(__file__).resolve().parent / "nvm.toml")}
    few = ["--only", "/iall", "--large-mib", "4"]
    return [
        Run(mpi, "patterns_test", 3, 1, SMALL),
        Run(mpi, "patterns_test", 4, 2, SOME, 150, TWO_LAYER),
        Run(mpi, "patterns_test", 4, 1, SOME, 150, ONE_LAYER),
        Run(mpi, "patterns_test", 4, 0, SOME, 150, ALONE),
        Run(mpi, "patterns_test", 4, 0, SOME, 150, measured),
        Run(mpi, "patterns_test", 4, 2, [*SOME, "--hints", striped]),
        Run(mpi, "patterns_test", 3, 0, [*SMALL, "--only", "/iall,/at_all", "--hints", stripes]),
        Run(mpi, "patterns_test", 4, 2, [*SOME, "--hints", placed]),
        Run(mpi, "patterns_test", 3, 2, [*SOME, "--hints", balanced]),
        Run(mpi, "patterns_test", 4, 2, [*SMALL, "--only", "/all,/iall", "--hints", groups]),
        Run(mpi, "patterns_test", 2, 0, [*SMALL, "--only", "/iat_all,/begin"], 150,
            {**NO_HELPER, "SLUICE_STORAGE_THREADS": "0"}),
        Run(mpi, "patterns_test", 2, 0, few, 150, DIRECT),
        Run(mpi, "outstanding_test", 4, 2, ["--only", "/three,/two_files"], 150, own_groups),
        Run(mpi, "outstanding_test", 4, 2, ["--skip", "/large,/late"], 150, TWO_LAYER),
        Run(mpi, "outstanding_test", 3, 0, ["--only", "/three,/two_files,freed"], 150, ALONE),
        Run(mpi, "outstanding_test", 3, 1, ["--only", "/three,/two_files,freed"], 150,
            {"SLUICE_NETWORK": f"fabric:{MPIS[mpi].provider}"}),
        Run(mpi, "errors_test", 4, 2, [], 150, TWO_LAYER),
        Run(mpi, "datatypes_test", 3, 2, ["--thread-level", "3"], 150, {"SLUICE_TEST": "cache=0"}),
        Run(mpi, "threads_test", 2),
        Run(mpi, "shared_test", 3, 0, [], 150, OWN_VIEWS),
        Run(mpi, "collectives_test", 4, 0, ["--seed", seed(), "--cases", "24",
                                            "--no-messages"], 300, {"SLUICE": "all"}),
        Run(mpi, "behind_test", 2, 0, [], 150, behind_settings("1M,{work}"), keeper=False),
        Run(mpi, "behind_test", 4, 0, [], 150, behind_settings("64M")),
        Run(mpi, "behind_test", 4, 0, [], 150,
            behind_settings("64K", "behind=always;ranks_per_node=2")),
        Run(mpi, "behind_groups_test", 3, 0, [], 150, behind_settings("64K")),
        Run(mpi, "closed_test", 3, 0, [], 150, behind_settings("1M,{work}")),
        Run(mpi, "patterns_test", 2, 0, ["--large-mib", "2", "--only", "/all,/at_all,/begin"],
            150, behind_settings("1M,{work}")),
    ]


def quick_runs(mpi):
    """Every program, with few ranks and the corners of the rest: about eight minutes an MPI."""
    few_large = "any/large,some/large,all/large,reverse/large,rotated/large,statuses/large"
    first = [*short_runs(mpi), *engine_runs(mpi)]
    more = [
        Run(mpi, "abi_test", 1),
        Run(mpi, "abi_persistent_test", 1),
        Run(mpi, "abi_persistent_test", 4),
        Run(mpi, "patterns_test", 1, 0, SMALL),
        Run(mpi, "patterns_test", 2, 0, ["--large-mib", "24"]),
        Run(mpi, "patterns_test", 4, 2, SMALL, 150, TWO_LAYER),
        Run(mpi, "patterns_test", 5, 0, ["--only", "/all,/iat_all", "--large-mib", "5"]),
        Run(mpi, "patterns_test", 2, 1, [*SMALL, "--only", "/all,/iall,/at_begin"], 150, NO_HELPER),
        Run(mpi, "outstanding_test", 4, 2, ["--skip", "/large,/eight,/late"], 150, ONE_LAYER),
        Run(mpi, "outstanding_test", 2, 1, ["--skip", few_large]),
        Run(mpi, "outstanding_test", 3, 0, ["--skip", "/large,/eight"]),
        Run(mpi, "legal_test", 2, 0, [], 150, NO_HELPER),
        Run(mpi, "legal_test", 2, 1),
        Run(mpi, "legal_test", 4, 0, ["--thread-level", "0"]),
        # These wait by the clock; where the threads run is nothing that differs between MPIs.
        *([Run(mpi, "threads_test", 3, 2, [], 150, {"SLUICE_AFFINITY": "spread"}),
           Run(mpi, "threads_test", 2, 0, [], 150,
               {"SLUICE_AFFINITY": "0", "SLUICE_STORAGE_THREADS": "8"})]
          if mpi == "mpich" else []),
        Run(mpi, "requests_test", 2, 1, ["--thread-level", "3"], 150, NO_HELPER),
        Run(mpi, "errors_test", 1),
        Run(mpi, "errors_test", 4, 2),
        Run(mpi, "large_count_test", 3, 1),
        Run(mpi, "large_view_test", 2, 0,
            ["--large-mib", "2100" if mpi == "mpich" else "200", "--only", "iat_all"]),
        *shared_runs(mpi),
        *network_runs(mpi, SMALL),
        *collective_runs(mpi, 24, (1, 2, 3, 4, 7)),
        *behind_runs(mpi),
        *progress_runs(mpi),
        *texture_runs(mpi),
    ]
    return first + [run for run in more if run not in first]


# Transfers take a while, so that what is written behind is not yet there when others look.
DEVICE = f"device={Path(__file__).resolve().parent / 'slow.toml'}"
SLOW = f"behind=always;{DEVICE}"


def network_runs(mpi, small):
    """Several nodes use libfabric's best provider here; this is another one, where the MPI's
    libfabric has one, and the MPI."""
    each = [*small, "--only", "/all,/iat_all"]
    for network in (f"fabric:{MPIS[mpi].provider}", "mpi"):
        settings = {"SLUICE_NETWORK": network}
        yield Run(mpi, "patterns_test", 4, 2, each, 150, settings)
        yield Run(mpi, "outstanding_test", 3, 1, ["--only", "/three,/two_files,freed"], 150,
                  settings)
        yield Run(mpi, "errors_test", 2, 1, [], 150, settings)
        ways = [] if network == "mpi" else ["--no-messages"]
        yield Run(mpi, "collectives_test", 3, 1,
                  ["--seed", seed(), "--cases", "20", *ways], 150,
                  {"SLUICE": "all", **settings})


def progress_runs(mpi):
    """Operations move while all ranks compute; without a helper they must not."""
    slow, alone = {"SLUICE_TEST": DEVICE}, {"SLUICE_TEST": f"helper=off;{DEVICE}"}
    return [
        Run(mpi, "progress_test", 2, 0, [], 150, slow),
        Run(mpi, "progress_test", 3, 1, [], 150, slow),
        *([Run(mpi, "progress_test", 4, 2, [], 150, slow)] if mpi == "mpich" else []),
        Run(mpi, "progress_test", 2, 0, [], 150, alone),
        Run(mpi, "progress_test", 3, 1, [], 150, alone),
        *(Run(mpi, "progress_test.py", 2, 0, [], 150, settings)
          for settings in (slow, alone) if mpi in ("mpich", "openmpi")),
    ]


def texture_runs(mpi):
    """The image application, by nonblocking calls, without a helper, and with write-behind."""
    if mpi not in ("mpich", "openmpi"):  # the others have no FFTW for Python
        return []
    return [Run(mpi, "texture_test.py", 2, 0, [], 150, settings)
            for settings in ({"SLUICE_TEST": DEVICE}, {"SLUICE_TEST": f"helper=off;{DEVICE}"},
                             behind_settings("64M", SLOW))]


def behind_settings(size, test="behind=always"):
    ahead = size.split(",", maxsplit=1)[0]
    return {"SLUICE_WRITE_BEHIND": size, "SLUICE_HINTS": f"sluice_read_ahead={ahead}",
            "SLUICE_TEST": test}


def behind_runs(mpi):
    """Tests of all kinds with write-behind and read-ahead."""
    nodes = "behind=always;ranks_per_node=2"
    return [
        Run(mpi, "behind_test", 2),
        Run(mpi, "behind_test", 3, 0, [], 150, behind_settings("64K")),
        Run(mpi, "behind_test", 4, 0, [], 150, behind_settings("64M")),
        Run(mpi, "behind_test", 4, 0, [], 150, behind_settings("64K", nodes)),
        Run(mpi, "behind_test", 2, 0, [], 150, behind_settings("1M,{work}"), keeper=False),
        Run(mpi, "closed_test", 3),
        Run(mpi, "closed_test", 4, 0, [], 150, behind_settings("64K")),
        Run(mpi, "closed_test", 4, 0, [], 150, behind_settings("64M", nodes)),
        Run(mpi, "closed_test", 3, 0, [], 150, behind_settings("1M,{work}"), keeper=False),
        Run(mpi, "behind_groups_test", 4, 0, [], 150, behind_settings("64M", SLOW)),
        Run(mpi, "behind_groups_test", 3, 0, [], 150, behind_settings("64K")),
        Run(mpi, "behind_groups_test", 4, 0, [], 150, behind_settings("1M,{work}")),
        Run(mpi, "behind_test", 3, 0, [], 150, behind_settings("256K,{work}")),
        Run(mpi, "behind_test", 4, 0, [], 150, behind_settings("64M,{work}", nodes)),
        Run(mpi, "patterns_test", 2, 0, ["--large-mib", "2", "--only", "/all,/at_all,/begin"],
            150, behind_settings("1M,{work}")),
        Run(mpi, "patterns_test", 2, 0, ["--large-mib", "2"], 150, behind_settings("1M")),
        Run(mpi, "patterns_test", 3, 0, ["--large-mib", "2", "--only", "/all,/at_all,/begin"],
            150, behind_settings("64K")),
        Run(mpi, "outstanding_test", 2, 0, ["--skip", "/large,/eight,/late"], 150,
            behind_settings("1M")),
        # One file is looked at while it is open, and one sub-test has ranks of which one reads
        # back what it wrote before the others have written.
        Run(mpi, "legal_test", 2, 0, ["--skip", "left_open,returns_with_own"], 150,
            behind_settings("256M")),
        Run(mpi, "datatypes_test", 2, 0, [], 150, behind_settings("256M")),
    ]


def shared_runs(mpi):
    """The shared file pointer: the library's on one node, else the MPI's."""
    runs = [Run(mpi, "shared_test", ranks, 0, [], 150) for ranks in (1, 2, 3)]
    return runs + [
        Run(mpi, "shared_test", 4, 0, ["--thread-level", "3"], 150),
        Run(mpi, "shared_test", 3, 0, [], 150, OWN_VIEWS),
        Run(mpi, "shared_test", 4, 0, ["--thread-level", "3"], 150, behind_settings("1M")),
        Run(mpi, "shared_test", 3, 0, [], 150, behind_settings("64K", SLOW)),
        # The MPI serves, with the faults that it has.
        Run(mpi, "shared_test", 4, 2, ["--skip", "errors,too_far,threads,seeks"], 150),
    ]


def collective_runs(mpi, cases, all_ranks, seeds=1, sleepers=(2, 4)):
    """Collectives between memories, by the functions of sluice.h and by those of MPI.

    One test waits two seconds: with few cases only `sleepers`, some numbers of ranks, do it.
    """
    served = {"SLUICE": "all"}
    awake = ["--skip", "needs_no_calls"]
    runs = [Run(mpi, "collectives_test", ranks, 0,
                ["--seed", seed(), "--cases", str(cases), "--no-messages",
                 *([] if ranks in sleepers else awake)], 300, served)
            for ranks in all_ranks for _ in range(seeds)]
    few = ["--seed", seed(), "--cases", str(cases // 4)]
    return runs + [
        # Those that are built for the standard ABI.
        *([Run("abi", "collectives_test", 3, 0, few, 300, served)] if mpi == "mpich" else []),
        Run(mpi, "collectives_test", 4, 2, few, 300, served),  # Between nodes, too.
        Run(mpi, "collectives_test", 3, 1, [*few, *awake], 300, served),
        Run(mpi, "collectives_test", 3, 0, few, 300,
            {**served, "SLUICE_TEST": "shared_memory=off"}),
        Run(mpi, "collectives_test", 2, 0, [*few, *awake], 300, {**served, **NO_HELPER}),
        # MPI's are not served; Open MPI's own hang where ranks have different datatypes.
        Run(mpi, "collectives_test", 3, 0, [*few, "--only", "/sluice_"], 300),
        Run(mpi, "collectives_test", 3, 0, ["--only", "results/"], 150, {"SLUICE": "off"}),
        Run(mpi, "collectives_test", 3, 0, [*few, *awake, "--thread-level", "3"], 300, served),
        Run(mpi, "collectives_test", 4, 2, ["--thread-level", "3", "--only", "names/"], 300,
            served),
    ]


DIRECT = {"SLUICE_HINTS": "sluice_page_cache=direct"}


def storage_runs(mpi):
    """Through the page cache and past it, by 4 ranks; with many threads as well."""
    runs = []
    for settings in ({}, DIRECT, {"SLUICE_STORAGE_THREADS": "8"}):
        runs += [
            Run(mpi, "patterns_test", 4, 0, ["--large-mib", "10"], 400, settings),
            Run(mpi, "outstanding_test", 4, 0, ["--skip", "/large,/eight"], 300, settings),
            Run(mpi, "errors_test", 4, 0, [], 300, settings),
        ]
    return runs


def kernel_runs(mpi):
    """Every kernel, in one layer and in two, on 8 ranks of several nodes."""
    runs = []
    for kernel in ("ascending", "pairwise", "spread-out", "balanced", "even", "balanced,stride:3",
                   "ascending,synchronous"):
        for layers in ("one-layer", "two-layer"):
            other = "two-layer" if layers == "one-layer" else "one-layer"
            words = [kernel, f"data:{layers}",
                     f"metadata:{other if len(runs) % 4 else layers}",
                     f"throttle:{('0', '1', '3,batches', '32')[len(runs) % 4]}"]
            hints = ["sluice_exchange=" + ",".join(words), "cb_nodes=5"]
            runs.append(Run(mpi, "patterns_test", 8, (2, 3, 1)[len(runs) % 3],
                            ["--only", "/all,/iat_all", "--large-mib", "5"], 400,
                            {"SLUICE_HINTS": ";".join(hints)}))
    return runs


def long_runs(mpi):
    """All combinations, with repetition where order and time matter."""
    runs = kernel_runs(mpi) + storage_runs(mpi)
    runs += collective_runs(mpi, 400, range(1, 17), 2, range(1, 17))
    runs += behind_runs(mpi) + progress_runs(mpi) + texture_runs(mpi)
    runs += [Run(mpi, program, ranks, 0, [], 300)
             for program in ("abi_test", "abi_persistent_test") for ranks in (1, 2, 8)]
    for ranks in (1, 2, 3, 4, 8):
        for ranks_per_node in (0, 1, 2):
            for program in ("patterns_test", "outstanding_test", "legal_test", "errors_test",
                            "large_count_test", "datatypes_test"):
                repeat = ["--repeat", "3"] if program == "outstanding_test" else []
                runs.append(Run(mpi, program, ranks, ranks_per_node, repeat, 900))
    runs += [Run(mpi, "large_view_test", ranks, 0, ["--large-mib", "2100"], 600)
             for ranks in (1, 2, 4)]
    for level in ("0", "1", "2", "3"):
        runs.append(Run(mpi, "legal_test", 3, 0, ["--thread-level", level], 300))
        runs.append(Run(mpi, "outstanding_test", 3, 0, ["--thread-level", level], 300))
    return runs


def sanitized_runs(mpi):
    """What a sanitizer should see of each program, some ten times slower than without one."""
    small = ["--large-mib", "5"]
    some = [*small, "--only", "/iall,/begin"]
    runs = [
        Run(mpi, "patterns_test", 1, 0, small),
        Run(mpi, "patterns_test", 3, 0, small),
        Run(mpi, "patterns_test", 4, 2, some, 150, TWO_LAYER),
        Run(mpi, "patterns_test", 3, 1, some),
        Run(mpi, "patterns_test", 3, 0, some, 150, ALONE),
        Run(mpi, "patterns_test", 3, 0, some, 150, DIRECT),
        Run(mpi, "outstanding_test", 1, 0, ["--skip", "/large"]),
        Run(mpi, "outstanding_test", 4, 2, ["--skip", "/large,/eight"]),
        Run(mpi, "outstanding_test", 3, 0, ["--skip", "/large,/eight"]),
        Run(mpi, "legal_test", 3, 0, ["--thread-level", "3"]),
        Run(mpi, "legal_test", 3, 2),
        Run(mpi, "requests_test", 1, 0, ["--thread-level", "3"]),
        Run(mpi, "errors_test", 3),
        Run(mpi, "errors_test", 4, 2),
        *collective_runs(mpi, 16, (1, 2, 3, 4, 5)),
    ]
    for run in runs:
        run.seconds *= 2
    return runs


LEVELS = {"short": short_runs, "engine": engine_runs, "quick": quick_runs, "long": long_runs,
          "kernels": kernel_runs,
          "storage": storage_runs, "sanitized": sanitized_runs}
