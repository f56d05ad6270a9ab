"""The image application (examples/texture.py): its files have the right bytes, and what it writes
reaches the files while it computes, so that it hardly waits.

SLUICE_TEST names a storage device that takes a while. After the write of each texture has begun
each rank transforms lines until the texture is in its file, and a little longer; on a busy machine
that takes its time, and changes nothing. What is left to wait for is then a small part of what the
device takes for the bytes, and blocking calls wait for most of that. With helper=off there
bytes must be missing. With SLUICE_WRITE_BEHIND the program calls blocking functions, and does not
wait for the device either.
"""
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import texture  # noqa: E402
from gabor import filter_settings, texture_of  # noqa: E402
from transform import Slabs  # noqa: E402

HEIGHT, WIDTH, CHANNELS, FILTERS = 768, 1024, 3, 4
ATTEMPTS = 5  # one that nothing disturbs is enough
LONGEST, IN_VAIN, AFTERWARDS = 30, 0.3, 0.1  # seconds
BANDWIDTH = 60e6  # of slow.toml, in bytes a second; a process may have a device of its own
SMALL, MOST = 0.25, 0.5  # parts of the device's time for the bytes
ALONE = "helper=off" not in os.environ["SLUICE_TEST"]
BEHIND = "SLUICE_WRITE_BEHIND" in os.environ
comm = MPI.COMM_WORLD


def check(condition, what):
    if not condition:
        print(f"rank {comm.rank}: {what}: does not hold", file=sys.stderr, flush=True)
        comm.Abort(1)


def arguments_for(folder, *words):
    return texture.parse_arguments(
        ["--image", os.path.join(folder, "image.u8"), "--channels", str(CHANNELS), "--size",
         f"{HEIGHT}x{WIDTH}", "--filters", str(FILTERS), "--output", folder, *words])


def make_image(arguments):
    """Noise that is smooth enough to have texture at all scales."""
    if comm.rank == 0:
        noise = np.random.default_rng(1).random((CHANNELS, HEIGHT, WIDTH)).cumsum(axis=1) % 1
        (255 * noise).astype(np.uint8).tofile(arguments.image)
    comm.Barrier()


def check_runs(folder):
    """Every way of the program writes what a serial program computes."""
    digests = []
    for words in (["--mode", "blocking"], ["--mode", "blocking", "--close-at-once"],
                  ["--mode", "thread"], ["--mode", "nonblocking"],
                  ["--mode", "nonblocking", "--tests", "between"],
                  ["--mode", "nonblocking", "--tests", "inside", "--outstanding", "3"]):
        arguments = arguments_for(folder, *words, "--report", os.path.join(folder, "report.json"),
                                  *([] if digests else ["--check"]))
        texture.run(comm, arguments)
        if comm.rank == 0:
            digests.append(json.loads(Path(arguments.report).read_text())["digests"])
            check(digests[-1] == digests[0], f"{words}: the same bytes as by blocking calls")
        comm.Barrier()


def transform_lines(slabs, seconds, is_done=lambda: False):
    """Whether something came true while this rank computed, and called nothing of MPI."""
    end = time.monotonic() + seconds
    lines = np.ones((slabs.columns.stop - slabs.columns.start, HEIGHT), np.complex64)
    while not is_done():
        if time.monotonic() > end:
            return False
        slabs.transform_lines(lines, "FORWARD")
    return True


def check_progress(slabs, name, whole):
    """The texture reaches its file without a call, or, without a helper, does not."""
    moved = transform_lines(slabs, LONGEST if ALONE else IN_VAIN, lambda: in_file(name, whole))
    check(moved == ALONE, f"{name} gets its bytes without a call: {ALONE}")
    if ALONE:
        transform_lines(slabs, AFTERWARDS)  # for the ranks to agree that all is complete


def in_file(name, whole):
    return np.array_equal(np.fromfile(name, np.float32), whole.ravel())


def waited(slabs, spectrum, arguments):
    """The most seconds that a rank was held up in writes and waits."""
    texture.remove_files(comm, arguments)
    watch, whole = texture.Stopwatch(), {}
    writer, textures = texture.TextureWriter(slabs, arguments, watch), []
    for index, setting in enumerate(filter_settings(FILTERS)):
        name = texture.file_name(arguments.output, index)
        textures.append(texture_of(spectrum, setting, slabs))
        whole[name] = np.concatenate(comm.allgather(textures[-1]), axis=1)
        writer.write(index, textures[-1])
        if arguments.mode == "nonblocking":
            check_progress(slabs, name, whole[name])
        comm.Barrier()
    writer.finish()
    check(all(in_file(*item) for item in whole.items()), "bytes in the files")
    comm.Barrier()
    return comm.allreduce(watch.seconds["write"] + watch.seconds["wait"], MPI.MAX)


def check_waiting(folder, slabs, spectrum):
    """Of several attempts one must be undisturbed."""
    least = 4 * FILTERS * HEIGHT * WIDTH / (BANDWIDTH * comm.size)
    if not BEHIND:
        share = waited(slabs, spectrum, arguments_for(folder)) / least
        check(share > MOST, f"blocking calls wait for more than {MOST} of the device's time: "
                            f"{share:.3f}")
    arguments = arguments_for(folder, "--mode", "blocking" if BEHIND else "nonblocking")
    shares = []
    while len(shares) < ATTEMPTS and (not shares or shares[-1] >= SMALL):
        shares.append(waited(slabs, spectrum, arguments) / least)
        if not ALONE:
            return  # the calls of the transforms and barriers took the time
    shown = ", ".join(f"{share:.3f}" for share in shares)
    if comm.rank == 0:
        print(f"waited, as parts of what the device takes: {shown}", flush=True)
    check(shares[-1] < SMALL, f"waits take less than {SMALL} of it: {shown}")


def main():
    folder = sys.argv[sys.argv.index("--dir") + 1]
    arguments = arguments_for(folder)
    make_image(arguments)
    if ALONE:
        check_runs(folder)
    slabs = Slabs(comm, HEIGHT, WIDTH)
    image = texture.read_image(slabs, arguments.image, CHANNELS)
    check_waiting(folder, slabs, texture.spectrum_of(texture.intensity_of(image, comm), slabs))


main()
