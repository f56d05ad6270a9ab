#!/usr/bin/env python3
"""The image application of "Design and evaluation of nonblocking collective I/O operations"
(libNBC): twelve Gabor filters, the texture of each written to a file of its own.

The image, of one spectral channel or many, is read collectively. Then, for each filter:

    two distributed FFTs and a convolution, write the texture

At the end the pixels are put into clusters by texture and spectrum, which are written as well.

The program is ordinary MPI and knows nothing of Sluice. With ``--mode nonblocking`` the texture of
one filter is written by MPI_File_iwrite_all while the next ones are computed; ``--tests`` has the
paper's two ways to keep an MPI's own calls going: MPI_Test between transforms, which are black
boxes then, and MPI_Test inside of them as well. ``--mode thread`` is what a program can do without
nonblocking calls: a thread of its own makes the blocking call, which needs MPI_THREAD_MULTIPLE.

    mpiexec -n 4 python examples/texture.py --image build/data/ihc-21x2048x2048.u8 \\
        --channels 21 --size 2048 --mode nonblocking --output /tmp/texture
"""

import argparse
import hashlib
import json
import os
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's; a rank has one core

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

from clusters import clusters_of, feature_of  # noqa: E402
from gabor import filter_settings, serial_texture, texture_of  # noqa: E402
from tissue import parse_size, positive  # noqa: E402
from transform import Slabs  # noqa: E402

IO_PHASES = ("open", "set_view", "write", "test", "wait", "close")
CLUSTERS_FILE = "clusters.u8"


class Stopwatch:
    """Adds up the seconds spent in each named phase. A phase may have another one in it, whose time
    is not its own."""

    def __init__(self):
        self.seconds = dict.fromkeys(("compute",) + IO_PHASES, 0.0)
        self.inner = 0.0

    @contextmanager
    def measuring(self, phase):
        outer, self.inner, start = self.inner, 0.0, time.perf_counter()
        yield
        elapsed = time.perf_counter() - start
        self.seconds[phase] += elapsed - self.inner
        self.inner = outer + elapsed

    def result(self):
        blocked = sum(self.seconds[phase] for phase in IO_PHASES)
        return dict(self.seconds, blocked=blocked)


# ---- Files ------------------------------------------------------------------------------------


def block_view(slabs, element, planes=()):
    """This rank's columns of each plane of a file."""
    mine = slabs.columns
    return element.Create_subarray([*planes, slabs.height, slabs.width],
                                   [*planes, slabs.height, mine.stop - mine.start],
                                   [0] * len(planes) + [0, mine.start]).Commit()


def transfer(slabs, name, mode, array, element, planes=()):
    """Read or write this rank's columns of a file by one blocking collective call."""
    view = block_view(slabs, element, planes)
    handle = MPI.File.Open(slabs.comm, name, mode)
    handle.Set_view(0, element, view)
    (handle.Read_all if mode == MPI.MODE_RDONLY else handle.Write_all)(array)
    handle.Close()
    view.Free()


def read_image(slabs, name, channels):
    """This rank's columns of the image, (channels, height, columns)."""
    image = np.empty((channels, slabs.height, slabs.columns.stop - slabs.columns.start), np.uint8)
    transfer(slabs, name, MPI.MODE_RDONLY, image, MPI.BYTE, [channels])
    return image


class InThread:
    """A blocking call that a thread makes meanwhile, in the place of a request."""

    def __init__(self, call, *arguments):
        self.executor = ThreadPoolExecutor(1)
        self.future = self.executor.submit(call, *arguments)

    def Test(self):  # pylint: disable=invalid-name
        return self.future.done()

    def Wait(self):  # pylint: disable=invalid-name
        self.future.result()
        self.executor.shutdown()


class TextureWriter:
    """Writes column blocks collectively, a file for each filter."""

    def __init__(self, slabs, arguments, watch):
        self.slabs, self.arguments, self.watch = slabs, arguments, watch
        self.block = block_view(slabs, MPI.FLOAT)
        self.in_flight = []  # (file, request or None)

    def write(self, index, texture):
        """Write, or start to write while at most as many as asked for are in flight. The texture
        must stay as it is until `finish`."""
        blocking = self.arguments.mode == "blocking"
        if not blocking and len(self.in_flight) == self.arguments.outstanding:
            self._finish_oldest()
        handle = self._open(file_name(self.arguments.output, index))
        with self.watch.measuring("write"):
            request = self._start(handle, texture)
        self.in_flight.append((handle, request))
        if self.arguments.close_at_once and blocking:
            self._finish_oldest()

    def test(self):
        """Let the MPI make progress."""
        with self.watch.measuring("test"):
            for _, request in self.in_flight:
                if request:
                    request.Test()

    def finish(self):
        """Wait for everything in flight."""
        while self.in_flight:
            self._finish_oldest()
        self.block.Free()

    def _start(self, handle, texture):
        """What to wait for; nothing if the texture is written already."""
        if self.arguments.mode == "nonblocking":
            return handle.Iwrite_all(texture)
        if self.arguments.mode == "thread":
            return InThread(handle.Write_all, texture)
        handle.Write_all(texture)
        return None

    def _open(self, name):
        with self.watch.measuring("open"):
            handle = MPI.File.Open(self.slabs.comm, name, MPI.MODE_CREATE | MPI.MODE_WRONLY)
        with self.watch.measuring("set_view"):
            handle.Set_view(0, MPI.FLOAT, self.block)
        return handle

    def _finish_oldest(self):
        handle, request = self.in_flight.pop(0)
        if request:
            with self.watch.measuring("wait"):
                request.Wait()
        with self.watch.measuring("close"):
            handle.Close()


def file_name(directory, index):
    return os.path.join(directory, f"texture-{index:02d}.f32")


def names_of_all(arguments):
    return [*(file_name(arguments.output, index) for index in range(arguments.filters)),
            os.path.join(arguments.output, CLUSTERS_FILE)]


def remove_files(comm, arguments):
    """Start from no files, so that no run finds the bytes of another."""
    if comm.rank == 0:
        os.makedirs(arguments.output, exist_ok=True)
        for name in filter(os.path.exists, names_of_all(arguments)):
            os.remove(name)
    comm.Barrier()


# ---- The steps --------------------------------------------------------------------------------


def intensity_of(image, comm):
    """The mean of all channels, 0 to 1, less the mean of all pixels: filters see only texture."""
    sums = image.sum(axis=0, dtype=np.int64)
    whole, pixels = comm.allreduce(int(sums.sum())), comm.allreduce(sums.size)
    return ((sums - whole / pixels) / (255 * len(image))).astype(np.float32)


def spectrum_of(intensity, slabs):
    return slabs.forward(np.ascontiguousarray(intensity.T).astype(np.complex64))


def filter_loop(spectrum, slabs, arguments):
    """The measured part: filter, write, filter, write ...; the textures, this rank's times."""
    watch, textures = Stopwatch(), []
    slabs.comm.Barrier()
    start = time.perf_counter()
    writer = TextureWriter(slabs, arguments, watch)
    tests = {"between_transforms": writer.test} if arguments.tests != "none" else {}
    if arguments.tests == "inside":
        slabs.between_batches = writer.test
    for index, setting in enumerate(filter_settings(arguments.filters)):
        show_progress(slabs.comm, f"filter {index + 1} of {arguments.filters}")
        with watch.measuring("compute"):
            textures.append(texture_of(spectrum, setting, slabs, **tests))
        writer.write(index, textures[-1])
    writer.finish()
    slabs.comm.Barrier()
    show_progress(slabs.comm, "")
    return textures, dict(watch.result(), total=time.perf_counter() - start)


def show_progress(comm, text):
    """One line that is written over, and only where someone can see it."""
    if comm.rank == 0 and sys.stderr.isatty():
        print(f"\r{text:<40}", end="\r" if not text else "", file=sys.stderr, flush=True)


def cluster(image, textures, slabs):
    """The cluster of each of this rank's pixels."""
    features = [feature_of(texture, slabs.comm)[None] for texture in textures]
    return clusters_of(np.concatenate([*features, image]), slabs)


# ---- What is checked and told -----------------------------------------------------------------


def digests_of(arguments):
    """SHA-256 of each file."""
    digests = {}
    for name in names_of_all(arguments):
        with open(name, "rb") as stream:
            digests[os.path.basename(name)] = hashlib.file_digest(stream, "sha256").hexdigest()
    return digests


def check_files(arguments):
    """Stop if the first or the last texture, or the clusters, are not what one process computes."""
    height, width = arguments.size
    image = np.fromfile(arguments.image, np.uint8).reshape(-1, height, width)
    intensity = intensity_of(image, MPI.COMM_SELF)
    textures = [np.fromfile(name, np.float32).reshape(height, width)
                for name in names_of_all(arguments)[:-1]]
    for index in {0, arguments.filters - 1}:
        expected = serial_texture(intensity, filter_settings(index + 1)[index])
        error = np.abs(textures[index] - expected).max() / expected.max()
        if not error < 1e-4:  # also true of NaN; single precision gives about 1e-6
            raise ValueError(f"{file_name(arguments.output, index)}: wrong by {error:.2g}")
    clusters = cluster(image, textures, Slabs(MPI.COMM_SELF, height, width))
    if clusters.tobytes() != np.fromfile(names_of_all(arguments)[-1], np.uint8).tobytes():
        raise ValueError("the clusters are not those of one process")


def parse_arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--image", required=True, metavar="FILE", help="made by tissue.py")
    parser.add_argument("--channels", type=positive, default=21, metavar="N", help="of the image")
    parser.add_argument("--size", type=parse_size, default=[2048, 2048], metavar="N|HxW")
    parser.add_argument("--mode", choices=("blocking", "nonblocking", "thread"), default="blocking")
    parser.add_argument("--tests", choices=("none", "between", "inside"), default="none",
                        help="MPI_Test between the transforms, or inside of them as well")
    parser.add_argument("--outstanding", type=positive, default=1, metavar="N",
                        help="files in flight at most, when not blocking (default 1)")
    parser.add_argument("--close-at-once", action="store_true",
                        help="when blocking, close a file after its write, not at the end")
    parser.add_argument("--filters", type=positive, default=12, metavar="N")
    parser.add_argument("--output", required=True, metavar="DIR", help="where the files go")
    parser.add_argument("--check", action="store_true",
                        help="compare files with a computation without MPI")
    parser.add_argument("--report", metavar="FILE", help="JSON with times and digests")
    return parser.parse_args(words)


def slowest(comm, times):
    """The largest time of any rank for each phase, at rank 0."""
    of_ranks = comm.gather(times)
    return of_ranks and {key: max(one[key] for one in of_ranks) for key in times}


def report_of(arguments, comm, times):
    """What is known at the end (times are the largest over the ranks)."""
    return {"mode": arguments.mode, "tests": arguments.tests, "ranks": comm.size,
            "size": arguments.size, "channels": arguments.channels,
            "outstanding": 0 if arguments.mode == "blocking" else arguments.outstanding,
            "filters": arguments.filters, "library": MPI.Get_library_version().split("\n")[0],
            "bytes": 4 * arguments.filters * arguments.size[0] * arguments.size[1],
            "times": times, "digests": digests_of(arguments)}


def write_report(arguments, report):
    times = report["times"]
    print(f"{arguments.mode}: {times['total']:.2f} s, of which {times['compute']:.2f} s computing "
          f"and {times['blocked']:.2f} s blocked in I/O")
    if arguments.report:
        with open(arguments.report, "w", encoding="utf-8") as stream:
            json.dump(report, stream, indent=1)


def application(slabs, arguments):
    """From the image to the clusters; this rank's times."""
    began = time.perf_counter()
    image = read_image(slabs, arguments.image, arguments.channels)
    read = time.perf_counter() - began
    spectrum = spectrum_of(intensity_of(image, slabs.comm), slabs)
    textures, times = filter_loop(spectrum, slabs, arguments)
    clusters, start = cluster(image, textures, slabs), time.perf_counter()
    transfer(slabs, os.path.join(arguments.output, CLUSTERS_FILE),
             MPI.MODE_CREATE | MPI.MODE_WRONLY, clusters, MPI.BYTE)
    now = time.perf_counter()
    return dict(times, read=read, write_clusters=now - start, whole=now - began)


def run(comm, arguments):
    """Everything between reading the arguments and the report."""
    slabs = Slabs(comm, *arguments.size)
    remove_files(comm, arguments)
    times = slowest(comm, application(slabs, arguments))
    if comm.rank == 0:
        if arguments.check:
            check_files(arguments)
        write_report(arguments, report_of(arguments, comm, times))


def main():
    arguments = parse_arguments()
    try:
        run(MPI.COMM_WORLD, arguments)
    except BaseException as problem:  # whatever it is, the other ranks must not wait for this one
        print("".join(traceback.format_exception(problem)), file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)


if __name__ == "__main__":
    main()
