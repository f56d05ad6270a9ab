#!/usr/bin/env python3
"""Texture of a tissue picture: twelve Gabor filters, each written to a file of its own.

This is the image application of "Design and evaluation of nonblocking
collective I/O operations" (libNBC).  Its loop, for every filter:

    build the filter, two distributed FFTs and a convolution, write the texture

The program is ordinary MPI: it knows nothing of Sluice, and it never calls
MPI_Test.  With ``--mode nonblocking`` the texture of one filter is written by
MPI_File_iwrite_all while the next filters are computed.

    mpiexec -n 4 python examples/texture.py --picture build/data/ihc.png \\
        --size 2048 --mode nonblocking --output /tmp/texture
"""

import argparse
import hashlib
import json
import os
import sys
import time
import traceback
from contextlib import contextmanager

import numpy as np
from mpi4py import MPI
from PIL import Image

IO_PHASES = ("open", "set_view", "write", "wait", "close")
ORIENTATIONS = 4
SHORTEST_WAVELENGTH = 5.0  # pixels; about the thickness of a cell's wall


class Stopwatch:
    """Adds up the seconds spent in each named phase."""

    def __init__(self):
        self.seconds = dict.fromkeys(("compute",) + IO_PHASES, 0.0)

    @contextmanager
    def measuring(self, phase):
        start = time.perf_counter()
        yield
        self.seconds[phase] += time.perf_counter() - start

    def result(self):
        blocked = sum(self.seconds[phase] for phase in IO_PHASES)
        return dict(self.seconds, blocked=blocked)


class Slabs:
    """A height x width grid dealt to the ranks by columns, and by rows.

    A *column slab* is kept transposed, as (my columns, height), and a *row
    slab* as (my rows, width): either way the direction to be transformed is
    contiguous.
    """

    def __init__(self, comm, height, width):
        self.comm, self.height, self.width = comm, height, width
        self.row_bounds = even_bounds(height, comm.size)
        self.column_bounds = even_bounds(width, comm.size)
        self.rows = slice(*self.row_bounds[comm.rank:comm.rank + 2])
        self.columns = slice(*self.column_bounds[comm.rank:comm.rank + 2])

    def to_rows(self, column_slab):
        """Column slab to row slab."""
        return self._transpose(column_slab, self.row_bounds, self.column_bounds)

    def to_columns(self, row_slab):
        """Row slab to column slab."""
        return self._transpose(row_slab, self.column_bounds, self.row_bounds)

    def _transpose(self, mine, split_bounds, stack_bounds):
        """Deal the second axis of `mine` to the ranks; stack what arrives on the first."""
        pieces = np.split(mine, split_bounds[1:-1], axis=1)
        outgoing = np.concatenate([piece.ravel() for piece in pieces])
        depth = pieces[self.comm.rank].shape[1]
        incoming = np.empty((stack_bounds[-1], depth), mine.dtype)
        received = [depth * extent for extent in np.diff(stack_bounds)]
        self.comm.Alltoallv([outgoing, [piece.size for piece in pieces], MPI.C_FLOAT_COMPLEX],
                            [incoming, received, MPI.C_FLOAT_COMPLEX])
        return np.ascontiguousarray(incoming.T)

    def forward(self, column_slab):
        """2-D FFT from column slab to row slab."""
        return np.fft.fft(self.to_rows(np.fft.fft(column_slab)))

    def inverse(self, row_slab):
        """Inverse 2-D FFT from row slab to column slab."""
        return np.fft.ifft(self.to_columns(np.fft.ifft(row_slab)))


def even_bounds(extent, parts):
    """Bounds of `parts` consecutive ranges that cover `extent` as evenly as can be."""
    return [extent * part // parts for part in range(parts + 1)]


def load_grey(path):
    """The picture's brightness, with mean zero so that filters see only texture."""
    grey = np.asarray(Image.open(path).convert("L"), np.float32) / 255
    return grey - grey.mean(dtype=np.float64).astype(np.float32)


def mirrored(positions, extent):
    """Positions folded into a picture that is tiled in mirror image, so without seams."""
    folded = positions % (2 * extent)
    return np.where(folded < extent, folded, 2 * extent - 1 - folded)


def column_slab_of(picture, slabs):
    """This rank's columns of the picture enlarged by tiling."""
    columns = mirrored(np.arange(slabs.columns.start, slabs.columns.stop), picture.shape[1])
    rows = mirrored(np.arange(slabs.height), picture.shape[0])
    return picture.T[np.ix_(columns, rows)].astype(np.complex64)


def filter_settings(count):
    """(wavelength, angle) of each filter: four angles, wavelengths an octave apart."""
    return [(SHORTEST_WAVELENGTH * 2 ** (index // ORIENTATIONS),
             np.pi * (index % ORIENTATIONS) / ORIENTATIONS) for index in range(count)]


def gabor_factor(extent, wave_number, sigma):
    """One direction of a Gabor filter, centred at 0 and wrapped around."""
    position = np.arange(extent)
    position = np.where(position > extent // 2, position - extent, position)
    envelope = np.exp(-0.5 * (position / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
    return (envelope * np.exp(1j * wave_number * position)).astype(np.complex64)


def gabor_factors(height, width, setting):
    """A round Gabor filter is the outer product of these two vectors (down, across)."""
    wavelength, angle = setting
    wave_number, sigma = 2 * np.pi / wavelength, 0.56 * wavelength  # one octave wide
    return (gabor_factor(height, wave_number * np.sin(angle), sigma),
            gabor_factor(width, wave_number * np.cos(angle), sigma))


def texture_of(spectrum, setting, slabs):
    """This rank's column block of the filter's texture: the local magnitude, (height, columns)."""
    down, across = gabor_factors(slabs.height, slabs.width, setting)
    kernel = np.multiply.outer(across[slabs.columns], down)
    response = slabs.inverse(slabs.forward(kernel) * spectrum)
    # Squares and root rather than abs(): each step is rounded as IEEE 754
    # says, so the bytes do not depend on how a loop was vectorised.
    magnitude = np.sqrt(response.real ** 2 + response.imag ** 2)
    return np.ascontiguousarray(magnitude.T)


class TextureWriter:
    """Writes column blocks collectively, a file for each filter."""

    def __init__(self, slabs, directory, outstanding, watch):
        self.slabs, self.directory = slabs, directory
        self.outstanding, self.watch = outstanding, watch
        self.in_flight = []
        mine = slabs.columns
        self.block = MPI.FLOAT.Create_subarray([slabs.height, slabs.width],
                                               [slabs.height, mine.stop - mine.start],
                                               [0, mine.start]).Commit()

    def write(self, index, texture):
        """Write (outstanding = 0), or start to write while at most `outstanding` are in flight."""
        if self.outstanding and len(self.in_flight) == self.outstanding:
            self._finish_oldest()
        handle = self._open(file_name(self.directory, index))
        with self.watch.measuring("write"):
            if self.outstanding:
                request = handle.Iwrite_all(texture)
            else:
                request = None
                handle.Write_all(texture)
        # MPI reads a texture until the wait, so it stays referenced here. A blocking write has read
        # it; its file is closed at the end, with the others.
        self.in_flight.append((handle, request, texture if request else None))

    def finish(self):
        """Wait for everything in flight."""
        while self.in_flight:
            self._finish_oldest()
        self.block.Free()

    def _open(self, name):
        with self.watch.measuring("open"):
            handle = MPI.File.Open(self.slabs.comm, name, MPI.MODE_CREATE | MPI.MODE_WRONLY)
        with self.watch.measuring("set_view"):
            handle.Set_view(0, MPI.FLOAT, self.block)
        return handle

    def _finish_oldest(self):
        handle, request, _texture = self.in_flight.pop(0)
        if request is not None:
            with self.watch.measuring("wait"):
                request.Wait()
        with self.watch.measuring("close"):
            handle.Close()


def file_name(directory, index):
    return os.path.join(directory, f"texture-{index:02d}.f32")


def filter_loop(spectrum, slabs, arguments):
    """The measured part: filter, write, filter, write ...; the times of this rank."""
    watch = Stopwatch()
    outstanding = arguments.outstanding if arguments.mode == "nonblocking" else 0
    slabs.comm.Barrier()
    start = time.perf_counter()
    writer = TextureWriter(slabs, arguments.output, outstanding, watch)
    for index, setting in enumerate(filter_settings(arguments.filters)):
        show_progress(slabs.comm, f"filter {index + 1} of {arguments.filters}")
        with watch.measuring("compute"):
            texture = texture_of(spectrum, setting, slabs)
        writer.write(index, texture)
    writer.finish()
    slabs.comm.Barrier()
    show_progress(slabs.comm, "")
    return dict(watch.result(), total=time.perf_counter() - start)


def show_progress(comm, text):
    """One line that is written over, and only where someone can see it."""
    if comm.rank == 0 and sys.stderr.isatty():
        print(f"\r{text:<40}", end="\r" if not text else "", file=sys.stderr, flush=True)


def remove_files(comm, arguments):
    """Start from no files, so that no run finds the bytes of another."""
    if comm.rank == 0:
        os.makedirs(arguments.output, exist_ok=True)
        for index in range(arguments.filters):
            if os.path.exists(file_name(arguments.output, index)):
                os.remove(file_name(arguments.output, index))
    comm.Barrier()


def digests_of(arguments):
    """SHA-256 of each file."""
    digests = {}
    for index in range(arguments.filters):
        name = file_name(arguments.output, index)
        with open(name, "rb") as stream:
            digests[os.path.basename(name)] = hashlib.file_digest(stream, "sha256").hexdigest()
    return digests


def largest_error(picture, arguments, index):
    """Compare a file with the same filter computed by one process without MPI."""
    height, width = arguments.size
    rows, columns = (mirrored(np.arange(extent), have)
                     for extent, have in zip(arguments.size, picture.shape))
    kernel = np.multiply.outer(*gabor_factors(height, width, filter_settings(index + 1)[index]))
    spectrum = np.fft.fft2(picture[np.ix_(rows, columns)].astype(np.complex128))
    expected = np.abs(np.fft.ifft2(np.fft.fft2(kernel.astype(np.complex128)) * spectrum))
    written = np.fromfile(file_name(arguments.output, index), np.float32).reshape(height, width)
    return float(np.abs(written - expected).max() / expected.max())


def check_files(picture, arguments):
    """Stop if the first or the last file is not what a serial program computes."""
    for index in {0, arguments.filters - 1}:
        error = largest_error(picture, arguments, index)
        if not error < 1e-4:  # also true of NaN; single precision gives about 1e-6
            raise ValueError(f"{file_name(arguments.output, index)}: wrong by {error:.2g}")


def parse_size(text):
    """'2048' or '1536x2048' (height x width)."""
    extents = [int(part) for part in text.lower().split("x")]
    if len(extents) > 2 or min(extents) < 1:
        raise argparse.ArgumentTypeError("want N or HxW")
    return extents * 2 if len(extents) == 1 else extents


def positive(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--picture", required=True, help="PNG or JPEG to take the texture of")
    parser.add_argument("--size", type=parse_size, default=[2048, 2048], metavar="N|HxW",
                        help="enlarge the picture to this by tiling (default 2048)")
    parser.add_argument("--mode", choices=("blocking", "nonblocking"), default="blocking")
    parser.add_argument("--outstanding", type=positive, default=2, metavar="N",
                        help="files in flight at most, when nonblocking (default 2)")
    parser.add_argument("--filters", type=positive, default=12, metavar="N")
    parser.add_argument("--output", required=True, metavar="DIR", help="where the files go")
    parser.add_argument("--repeat", type=positive, default=1, metavar="N",
                        help="run the loop so often; the report is of the median run")
    parser.add_argument("--check", action="store_true",
                        help="compare two of the files with a computation without MPI")
    parser.add_argument("--report", metavar="FILE", help="JSON with times and digests")
    return parser.parse_args()


def slowest(comm, times):
    """The largest time of any rank for each phase, at rank 0."""
    of_ranks = comm.gather(times)
    return of_ranks and {key: max(one[key] for one in of_ranks) for key in times}


def report_of(arguments, comm, setup, runs, digests):
    """What is known after the last run (times are the largest over the ranks)."""
    median = sorted(runs, key=lambda run: run["total"])[len(runs) // 2]
    return {"mode": arguments.mode, "ranks": comm.size, "size": arguments.size,
            "outstanding": arguments.outstanding if arguments.mode == "nonblocking" else 0,
            "filters": arguments.filters, "library": MPI.Get_library_version().split("\n")[0],
            "bytes": 4 * arguments.filters * arguments.size[0] * arguments.size[1],
            "setup": setup, "times": median, "runs": runs, "digests": digests}


def write_report(arguments, report):
    times = report["times"]
    print(f"{arguments.mode}: {times['total']:.2f} s, of which {times['compute']:.2f} s computing "
          f"and {times['blocked']:.2f} s blocked in I/O")
    if arguments.report:
        with open(arguments.report, "w", encoding="utf-8") as stream:
            json.dump(report, stream, indent=1)


def run(comm, arguments):
    """Everything between reading the arguments and the report."""
    if min(arguments.size) < comm.size:
        raise ValueError("the picture must have at least a row and a column for each rank")
    start = time.perf_counter()
    picture = comm.bcast(load_grey(arguments.picture) if comm.rank == 0 else None)
    slabs = Slabs(comm, *arguments.size)
    spectrum = slabs.forward(column_slab_of(picture, slabs))
    setup = time.perf_counter() - start
    runs, digests = [], None
    for _ in range(arguments.repeat):
        remove_files(comm, arguments)
        runs.append(slowest(comm, filter_loop(spectrum, slabs, arguments)))
        if comm.rank == 0:
            before, digests = digests, digests_of(arguments)
            if before not in (None, digests):
                raise ValueError("two repeats wrote different bytes")
    if comm.rank == 0:
        if arguments.check:
            check_files(picture, arguments)
        write_report(arguments, report_of(arguments, comm, setup, runs, digests))


def main():
    arguments = parse_arguments()
    try:
        run(MPI.COMM_WORLD, arguments)
    except BaseException as problem:  # whatever it is, the other ranks must not wait for this one
        print("".join(traceback.format_exception(problem)), file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)


if __name__ == "__main__":
    main()
