#!/usr/bin/env python3
"""Shows without Sluice and without MPI that reads through the page cache of a CephFS that is
mounted by FUSE do not see what was written with O_DIRECT before:
tests/ceph/run.py -- python3 tests/ceph/direct.py {files}"""
import mmap
import os
import random
import sys

PAGE, FILES, WRITES = 4096, 100, 12


def is_right(path, lot):
    """Writes by two descriptors, one after the other, and reads all by both behind each."""
    plain = os.open(path, os.O_RDWR | os.O_CREAT)
    direct = os.open(path, os.O_RDWR | os.O_DIRECT)
    memory, model = mmap.mmap(-1, 16 * PAGE), bytearray()
    right = True
    for _ in range(WRITES):
        at, length = lot.randrange(8) * PAGE, lot.randrange(1, 4) * PAGE
        data = bytes([lot.randrange(1, 256)]) * length
        if lot.random() < 0.5:
            memory[:length] = data
            os.pwritev(direct, [memoryview(memory)[:length]], at)
        else:
            os.pwrite(plain, data, at)
        model.extend(bytes(max(0, at + length - len(model))))
        model[at:at + length] = data
        count = os.preadv(direct, [memory], 0)
        right = right and os.pread(plain, len(memory), 0) == memory[:count] == bytes(model)
    for fd in (plain, direct):
        os.close(fd)
    os.unlink(path)
    return right


def main():
    path = os.path.join(sys.argv[1], "direct")
    wrong = sum(not is_right(path, random.Random(seed)) for seed in range(FILES))
    print(f"{wrong} of {FILES} files are read wrongly")


if __name__ == "__main__":
    main()
