#!/usr/bin/env python3
"""Damaged and made-up journals for `sluice recover`: it must end by itself and in time, with 0 or
1, write to no file but those that its records name, and do so again when it is run again.

The command is $SLUICE. Each run draws new ones; --seed does the same again.
"""
import argparse
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import lot
from recover_test import HEAD, RECORDS, SLUICE, birth_of, crc32c, journal

SECONDS = 20
ODD = (0, 1, -1, 7, 64, 4096, 1 << 20, 1 << 31, 1 << 40, 1 << 45, 1 << 61, 1 << 62, 2**63 - 1,
       -2**63)


class Case:
    def __init__(self, seed, folder):
        self.random = random.Random(seed)
        self.journals, self.file, self.other = (folder / name for name in ("j", "data", "other"))
        self.journals.mkdir()
        self.file.write_bytes(b"." * 4096)
        self.other.write_bytes(b"innocent")

    def number(self, usual):
        """Mostly what it should be."""
        draw = self.random.random()
        if draw < 0.7:
            return usual
        return self.random.choice(ODD) if draw < 0.9 else self.random.randrange(-2**63, 2**63)

    def record(self, number):
        data = self.random.randbytes(self.random.choice((0, 1, 64, 1000)))
        runs = [[self.number(usual) for usual in (0, 16, 32, 4)]
                for _ in range(self.random.choice((0, 0, 1, 3)))]
        about, name = self.file.stat(), str(self.file).encode()
        born, generation = birth_of(self.file)
        signed = [self.number(value) for value in (0, 128 if runs else 0, 0, len(data))]
        unsigned = [self.number(value) % 2**64 for value in (len(name), len(runs))]
        head = [0x32304A6563756C53, number, self.number(number), about.st_dev, about.st_ino,
                *signed, *unsigned, born, generation, 0]
        body = name + b"".join(struct.pack("<qqqq", *run) for run in runs)
        body += bytes(-(struct.calcsize(HEAD) + len(body)) % 64) + data
        right = self.random.random() < 0.9
        head[-1] = crc32c(struct.pack(HEAD, *head) + body) if right else 0
        return struct.pack(HEAD, *head) + body

    def made(self):
        """A journal; some of its bytes are changed where no checksum is of them, and elsewhere."""
        records = [self.record(n) for n in range(1, self.random.choice((1, 2, 5)) + 1)]
        made = bytearray(journal(records))
        for _ in range(self.random.choice((0, 0, 1, 4, 30))):
            end = self.random.choice((64, 4096, RECORDS, RECORDS + 1000))
            made[self.random.randrange(end)] = self.random.choice((0, 1, 255, 64))
        keeps = len(made) if self.random.random() < 0.9 else self.random.randrange(len(made))
        return bytes(made[:keeps])

    def recover(self):
        options = [word for word in ("--force", "--dry-run") if self.random.random() < 0.3]
        done = subprocess.run([SLUICE, "recover", *options, self.journals], text=True,
                              errors="replace", capture_output=True, timeout=SECONDS, check=False)
        said = done.stdout + done.stderr
        if done.returncode not in (0, 1) or "Sanitizer" in said or "runtime error" in said:
            return f"exit code {done.returncode}: {said[-2000:]}"
        return ""

    def fault(self):
        for number in range(self.random.choice((1, 1, 3))):
            (self.journals / f"{number}.sluice-journal").write_bytes(self.made())
        for _ in range(2):
            try:
                if why := self.recover():
                    return why
            except subprocess.TimeoutExpired:
                return f"did not end in {SECONDS} s"
        return "" if self.other.read_bytes() == b"innocent" else "another file was written to"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    lot.add_arguments(parser)
    drawn = lot.Lot(parser.parse_args())
    tried = 0
    while not tried or not drawn.is_over():
        seed = drawn.random.randrange(2**62)
        with tempfile.TemporaryDirectory(prefix="sluice_test_") as folder:
            if why := Case(seed, Path(folder)).fault():
                print(f"FAILED seed {drawn.seed}, journal {tried}: {why}")
                return 1
        tried += 1
        if not drawn.seconds:
            break
    print(f"seed {drawn.seed}: {tried} sets of journals")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=1")
    sys.exit(main())
