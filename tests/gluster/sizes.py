#!/usr/bin/env python3
"""Shows without Sluice and without MPI what GlusterFS does to the size of a sharded file while
writes are under way together: tests/gluster/run.py -- python3 tests/gluster/sizes.py {files}"""
import mmap
import os
import sys
import threading

PARTS, PART_BYTES, TIMES = 4, 1 << 20, 60


def write_part(fd, number):
    memory = mmap.mmap(-1, PART_BYTES)  # Aligned, as direct I/O demands.
    if os.pwritev(fd, [memory], number * PART_BYTES) != PART_BYTES:
        raise OSError("a short write")


def size_of_one(path):
    """Of a file of a few bytes after direct writes of several threads."""
    with open(path, "wb") as file:
        file.write(b"0123456789")
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    threads = [threading.Thread(target=write_part, args=(fd, number)) for number in range(PARTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.close(fd)
    size = os.stat(path).st_size
    os.unlink(path)
    return size


def main():
    right = PARTS * PART_BYTES
    sizes = [size_of_one(os.path.join(sys.argv[1], "sizes")) for _ in range(TIMES)]
    wrong = [size for size in sizes if size != right]
    print(f"{len(wrong)} of {TIMES} files of {right} bytes have a wrong size {wrong[:4]}")


if __name__ == "__main__":
    main()
