"""What the MPIs' own calls, or another peer, showed in the same runs as Sluice: for the rows of
study/results/papers.md that have a peer. Figures have their names in braces, as there."""

import comparison
from data import MPIS, between, lines, newest, of_mpi, percent

OF_ROWS = {
    "M2": "default hints: {peer_default_hints} times the time of Sluice, the best hints of a grid: "
          "{peer_best_hints}",
    "M4": "MPICH's own calls hide {fast_peer} on fast devices, run {fast_shorter_peer} shorter; a plain "
          "thread without any MPI {fast_ideal}",
    "M5": "MPICH {waited_mpich}, Open MPI {waited_openmpi}",
    "M6": "MPICH {depth_far_mpich}, and on the other devices {depth_mpich}",
    "M7": "MPICH's own call takes {behind_wire} times as long as the library's choice, with the device "
          "behind the wire",
    "L4": "first call over later ones {peer_first_later}",
    "L5": "MPICH {waited_mpich}, Open MPI {waited_openmpi}",
    "L7": "MPICH, tests inside {texture_inside_mpich} less I/O time, between {texture_between_mpich}; "
          "Open MPI {texture_inside_openmpi} and {texture_between_openmpi}; MPICH's blocking "
          "calls in a thread of the program {texture_thread_mpich}, in a run where Sluice has "
          "{texture_thread_sluice_mpich}, and {texture_thread_behind_mpich} behind",
    "N4": "`mpi-` ways are MPICH's own calls, the others Sluice's: {nvm_worst_on_nvm}",
    "N5": "ROMIO's own calls: {nvm_shuffle_is_half}",
    "A6": "ROMIO's own write takes {romio_1024_measured_choice} times as long as the library's choice, "
          "{romio_fewer}",
    "I2": "the figures are ratios to the MPI's own messages in the same run",
    "I6": "blocking calls, and the MPI's nonblocking ones with tests at several distances, are the contenders",
    "I7": "less time in calls, with the better of tests and none: MPICH, compression "
          "{peer_compression_mpich}, slabs {peer_slab_mpich}, pencils {peer_pencil_mpich}; Open MPI "
          "{peer_compression_openmpi}, {peer_slab_openmpi}, {peer_pencil_openmpi}",
}


def hints():
    """M2: geometric means over scattered accesses, of the faster MPI."""
    data = comparison.Comparison()
    means = [(what, value.split()[0]) for ranks in comparison.SCATTERED for mpi in data.mpis(ranks)
             for what, value in comparison.rows(data, ranks, mpi)]
    for name in ("default", "best"):
        yield f"peer_{name}_hints", between(float(value) for what, value in means
                                            if what.startswith(f"repeated, against {name} hints"))


def plans():
    """L4."""
    rows = newest([row for row in lines("checkpoint") if row["side"] == "peer"], "mpi", "ranks", "pattern",
                  "direction", "variant").values()
    yield "peer_first_later", between(row["first_over_later"] for row in rows)


def short_kernel(row):
    """compression, slab or pencil."""
    return row["kernel"].split()[0].replace("fft-", "")


def kernels():
    """I7: by the MPI's own nonblocking calls, with tests or without, whichever is better."""
    rows = newest([row for row in lines("collectives-kernels") if row.get("while") == "asleep"
                   and row["nodes"] == 1], "mpi", "kernel").values()
    for mpi in MPIS:
        for row in of_mpi(rows, mpi):
            yield f"peer_{short_kernel(row)}_{mpi}", percent(max(
                way["reduction_in_calls"] for name, way in row["ways"].items()
                if name.startswith("mpi") and "reduction_in_calls" in way))


GROUPS = (hints, plans, kernels)
