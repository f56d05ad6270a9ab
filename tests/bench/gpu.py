#!/usr/bin/env python3
"""The bench with buffers on a GPU, by the pretended driver of CUDA: who takes part, right bytes,
sane lines, and what it says where there is no GPU or the options do not go together."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / name) for name in (".", "gpu", "mpi")]

from mpis import BUILD, MPIS  # noqa: E402
from pretended import driver  # noqa: E402

CONTENDERS = {"sluice", "host", "pinned", "pageable", "default-pinned", "limit"}


class Gpu(unittest.TestCase):
    mpi = "mpich"

    def run_bench(self, words, orders="devices=2,delay=200"):
        """(what ran, lines of JSON). With wrong bytes it would end with 1."""
        mpi = MPIS[self.mpi]
        with tempfile.TemporaryDirectory(prefix="bench-gpu-", dir=BUILD) as folder:
            into = Path(folder) / "lines.jsonl"
            command = [mpi.mpiexec, "-n", 2, BUILD / mpi.build / "bin" / "sluice", "bench",
                       *f"--bytes 300K --repeat 2 --piece 512 --dir {folder} --json {into} "
                       f"{words}".split()]
            environment = {**os.environ, **mpi.settings, "PRETENDED_GPU": orders,
                           "LD_LIBRARY_PATH": str(driver(self.mpi).parent)}
            result = subprocess.run([str(word) for word in command], text=True, timeout=100,
                                    capture_output=True, check=False, env=environment)
            lines = into.read_text().splitlines() if into.exists() else []
            self.assertEqual([path.name for path in Path(folder).iterdir()],
                             ["lines.jsonl"] if lines else [])
        return result, [json.loads(line) for line in lines]

    def lines_of(self, words, wrong="wrong_bytes"):
        result, lines = self.run_bench(f"--memory device {words}")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertTrue(lines)
        for line in lines:
            self.assertEqual(line[wrong], 0, line)
            self.assertEqual((line["memory"], line["gpu"]), ("device", "Pretended device 0"))
        return lines

    def assert_refused(self, code, message, words, orders="devices=2"):
        result, lines = self.run_bench(words, orders)
        self.assertEqual((result.returncode, lines), (code, []), result.stdout)
        self.assertIn(message, result.stderr)

    def check_contenders(self, words):
        lines = self.lines_of(f"--mode compare --pattern strided,flash --first 2 {words}")
        for pattern, missing in (("strided", set()), ("flash", {"limit"})):  # Memory has gaps.
            of_pattern = [line for line in lines if line["pattern"] == pattern]
            self.assertEqual({line["contender"] for line in of_pattern}, CONTENDERS - missing)
        for line in lines:
            self.assertGreater(line["repeated"]["min"], 0)
            self.assertEqual("share_of_limit" in line, line["pattern"] == "strided")
            self.assertEqual("repeated_over_sluice" in line, line["contender"] != "sluice")

    def test_contenders(self):
        self.check_contenders("")

    def test_contenders_with_write_behind(self):
        self.check_contenders("--direction write --hint sluice_write_behind=64M")

    def test_modes(self):
        lines = self.lines_of("--mode blocking,independent,outstanding --outstanding 2 "
                              "--pattern strided,flash", "sluice_wrong_bytes")
        self.assertEqual({(line["mode"], line["direction"]) for line in lines},
                         {(mode, direction) for mode in ("blocking", "independent", "outstanding")
                          for direction in ("write", "read")})
        self.lines_of("--mode nonblocking --pattern strided")

    def test_overlap(self):
        for computation in ("host", "device"):
            lines = self.lines_of(f"--mode overlap --pattern strided --computation {computation}")
            self.assertEqual([line["direction"] for line in lines], ["write", "read"])
            for line in lines:
                self.assertEqual((line["side"], line["computation"]), ("Sluice", computation))
                self.assertGreater(line["compute_alone"]["min"], 0)
                self.assertGreater(line["slower"]["min"], -1)

    def test_no_gpu(self):
        self.assert_refused(1, "cuInit: CUDA_ERROR_NO_DEVICE", "--memory device", "devices=0")

    def test_failure_of_the_driver(self):
        self.assert_refused(1, "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY", "--memory device",
                            "fail=cuMemAlloc:1:2")

    def test_options_apart(self):
        for words, message in (("--mode steps", "mode steps has its buffers on the host"),
                               ("--mode overlap --ideal", "--ideal has its buffers on the host"),
                               ("--mode compare --contenders best", "best is none of those")):
            self.assert_refused(2, message, f"--memory device {words}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich", choices=MPIS)
    Gpu.mpi = parser.parse_args().mpi
    unittest.main(argv=[sys.argv[0], "-v"])
