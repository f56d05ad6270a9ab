"""The table of the README: what an unchanged program gains, what it does not, and where that was
measured. results/table writes it between two marks of the README."""


import applied
import blocking_programs
import comparison
import overlapped
from behind_figures import ALONE, BEHIND, CLOSED
from data import ROOT, between, between_marks, lines

BEGIN, END = "<!-- results/table: figures -->", "<!-- results/table: end -->"
# Program and function in results/behind.jsonl -> what a reader calls them.
NEW_FILE_KERNELS = ("s3d", "hacc", "lattice")
PROGRAMS = {("mpiio", "write_all"): "C, MPI_File_write_all",
            ("fortran", "write_all"): "Fortran, MPI_File_write_all",
            ("pnetcdf", "put_vara_all"): "PnetCDF, put_vara_all",
            ("hdf5", "write_collective"): "HDF5, collective writes",
            ("netcdf4", "put_vara"): "NetCDF-4, put_vara",
            ("h5py", "write_collective"): "h5py, collective writes"}


def steps_of(mpi="Open MPI", ranks=2):
    """(program, way) -> the newest line of its writes, with this MPI and number of ranks."""
    return {key[1:3]: row for key, row in blocking_programs.newest(lines("behind")).items()
            if key[0] == "write" and key[3].startswith(mpi) and key[4] == ranks}


def seconds(row, variant, part):
    return row["variants"][variant][part]["median"]


def both(rows, variant):
    """For the whole run and for the calls: the seconds of the MPI alone, and of a variant."""
    return [[[seconds(row, which, part) for row in rows] for which in (ALONE, variant)]
            for part in ("total", "calls")]


def on_device(row, mpi):
    return f"device of {row['bandwidth'][:-1]} MiB/s, {row['ranks']} ranks, {mpi}"


def range_of(values, text="{:.1f}"):
    """One figure where all look alike."""
    low, _, high = between(values, text).partition(" to ")
    return f"{low} to {high}" if high else low


def behind():
    rows = [row for key, row in steps_of().items() if key in PROGRAMS]
    whole, calls = both(rows, BEHIND)
    one = rows[0]
    size = one["bytes_per_rank"] * one["ranks"] >> 20
    what = (f"{one['steps']} steps, each of computation and a blocking write of {size} MiB, in C, Fortran, "
            "PnetCDF, HDF5, NetCDF-4, h5py; with `--behind`")
    where = on_device(one, blocking_programs.mpi_of(one))
    yield [what + ": whole run", where, f"{range_of(whole[0])} s", f"{range_of(whole[1])} s"]
    yield ["the same: waiting in writes, without the close", where, f"{range_of(calls[0])} s",
           f"{range_of(calls[1], '{:.2f}')} s"]


def new_files():
    """Kernels that write a new file in each step."""
    rows = [row for row in applied.newest_kernels(lines("behind"))
            if row["way"] in NEW_FILE_KERNELS and row["ranks"] == 2]
    whole, calls = both(rows, CLOSED)
    where = on_device(rows[-1], blocking_programs.mpi_of(rows[-1]))
    yield [f"a new file in each of {rows[-1]['steps']} steps (kernels of S3D-IO, HACC-IO, a 4-D lattice); with "
           "`--behind --close=behind`: whole run", where, f"{range_of(whole[0])} s", f"{range_of(whole[1])} s"]
    yield ["the same: waiting in open, writes and close", where, f"{range_of(calls[0])} s",
           f"{range_of(calls[1], '{:.2f}')} s"]


def hidden_at(place, ranks):
    """Part of the I/O that costs a program no time: by the MPI's nonblocking calls, and by Sluice."""
    cases = [sides for case, sides in overlapped.fast().items()
             if overlapped.place(case) == place and case[3] == ranks]
    return [range_of((100 * overlapped.hidden(sides[side]) for sides in cases), "{:.0f}") + " %"
            for side in ("peer", "Sluice")]


def overlap():
    yield ["nonblocking calls, and computation as long as the I/O: part of it that costs no time",
           "emulated SSD, 2 ranks, MPICH 5.0.2", *hidden_at("ssd, emulated", 2)]


def compared(ranks, name):
    """A figure of results/compare, of Sluice under each MPI against the best of both."""
    data = comparison.Comparison()
    found = [value for mpi in data.mpis(ranks) for what, value in comparison.rows(data, ranks, mpi)
             if what.startswith(name)]
    return range_of((float(value.split()[0]) for value in found), "{:.2f}")


def scattered():
    for name, hints in (("default", "default hints"), ("best", "the best hints of a grid")):
        yield [f"speed of blocking calls on scattered data, against the faster MPI with {hints}",
               "page cache, 4 ranks, both MPIs", "1",
               f"{compared(4, f'repeated, against {name} hints')} times"]


def applications():
    rows = [row for row in applied.newest(lines("applications")) if row["ranks"] == 2]
    names = sorted({row["application"] for row in rows})
    where = on_device(rows[-1], "Open MPI 4.1.4")
    yield [f"little gain, or a loss: {len(names)} programs that people run ({', '.join(names)}), small inputs; with "
           "`--behind --close=behind`: speed of the whole run", where, "1",
           f"{range_of(applied.gains(rows), '{:.2f}')} times"]
    yield ["the same: speed of MPI's calls on files, of which `MPI_File_sync` and reads still wait", where, "1",
           f"{range_of(applied.gains(rows, 'calls'))} times"]


def losses():
    yield ["a loss: speed of contiguous reads by blocking calls", "page cache, 2 ranks, both MPIs", "1",
           f"{compared(2, 'contiguous and flash')} times"]
    yield ["a loss: nonblocking calls where 4 ranks compute on the 2 cores: part that costs no time",
           "local disk, 4 ranks, MPICH 5.0.2", *hidden_at("disk of the machine", 4)]


def wrong():
    programs = lines("random")
    yield ["random programs whose bytes differ from a serial model", "memory, 1 to 8 ranks, both MPIs", "",
           f"{sum(row['failed'] for row in programs)} of {sum(row['programs'] for row in programs):,}"]


def table():
    rows = [*behind(), *new_files(), *overlap(), *scattered(), *applications(), *losses(), *wrong()]
    head = ["| what | where | the MPI alone | with Sluice |", "|---|---|---|---|"]
    return "\n".join(head + ["| " + " | ".join(row) + " |" for row in rows])


def readme():
    """The README with the table as the data have it."""
    return between_marks((ROOT / "README.md").read_text(), BEGIN, END, f"\n{table()}\n")
