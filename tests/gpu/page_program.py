#!/usr/bin/env python3
"""Compiles the program of docs/start/gpu.md by nvcc, runs it under Sluice, and checks its file.
Ends with 77 where there is no nvcc."""
import argparse
import array
import re
import shutil
import subprocess
import sys
from pathlib import Path

from devices import BUILD, MPIS, ROOT

RANKS = 2
NUMBERS = 1 << 24           # Of a rank and a step.
EXPECTED = (0, 1, 2, 3.5)   # In each number of a step, by the kernel of the page.


def source(folder):
    page = (ROOT / "docs/start/gpu.md").read_text()
    text = re.search(r'^```cpp title="steps.cu"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)[1]
    (folder / "steps.cu").write_text(text)
    return folder / "steps.cu"


def nvcc():
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not Path(found).exists():
        print("skipped: there is no nvcc")
        sys.exit(77)
    return found


def wrong_numbers(path):
    """How many are not what the kernel leaves."""
    wrong = 0
    with open(path, "rb") as file:
        for expected in EXPECTED:
            block = array.array("d", [expected] * NUMBERS).tobytes()
            for _ in range(RANKS):
                wrong += file.read(len(block)) != block
        return wrong + (file.read(1) != b"")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--dir", type=Path, required=True)
    args = parser.parse_args()
    env, program, result = (BUILD / "env" / args.mpi, args.dir / "steps", args.dir / "steps.bin")
    subprocess.run([nvcc(), source(args.dir), "-I", env / "include", "-L", env / "lib", "-lmpi",
                    "-o", program], check=True)
    subprocess.run([MPIS[args.mpi].mpiexec, "-n", str(RANKS),
                    BUILD / MPIS[args.mpi].build / "bin/sluice", "run", program, result],
                   check=True)
    wrong = wrong_numbers(result)
    result.unlink()
    print(f"the program of the page: {wrong} wrong parts of {RANKS * len(EXPECTED)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
