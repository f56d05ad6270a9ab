#!/usr/bin/env python3
"""Modes choice and skew of the bench, on a small access in memory: who takes part, their bytes, a
verdict, and the tables that study/results makes of their lines. Part of `make test-all`."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "results"), str(ROOT / "study" / "results"),
                str(ROOT / "tests" / "mpi")]

import choice  # noqa: E402
import skew  # noqa: E402
from mpis import BUILD, MPIS  # noqa: E402

FORCED = {f"even {count}x{window}" for count in (1, 2) for window in ("256K", "1M")}


def table(title, _note, header, rows):
    rows = list(rows)
    assert all(len(row) == len(header) for row in rows), title
    return "\n".join(" | ".join(row) for row in rows)


class Mode:
    """One run of a mode, whose lines the tests look at."""
    mpi = "mpich"
    words = ""  # Of the command line.

    @classmethod
    def setUpClass(cls):
        mpi = MPIS[Mode.mpi]
        with tempfile.TemporaryDirectory(prefix="mode-") as folder:
            into = Path(folder) / "lines.jsonl"
            words = [mpi.mpiexec, "-n", "2", BUILD / mpi.build / "bin" / "sluice", "bench", "study",
                     *f"{cls.words} --dir {folder} --json {into}".split()]
            cls.result = subprocess.run([str(word) for word in words], text=True, timeout=100,
                                        capture_output=True, check=False,
                                        env={**os.environ, **mpi.settings})
            cls.lines = [json.loads(text) for text in into.read_text().splitlines()]

    def test_it_ends_well(self):
        self.assertEqual(self.result.returncode, 0, self.result.stdout + self.result.stderr)


class Skew(Mode, unittest.TestCase):
    words = ("--mode skew --pattern strided --direction write --bytes 64K --steps 5 "
             "--compute 0.01 --outstanding 1,4 --repeat 2 --device memory")

    def test_ways(self):
        """All ways are tried, and no step is shorter than its sleep."""
        of = {line["way"]: line for line in self.lines}
        self.assertEqual(set(of), {"no call", "MPI_Barrier", *skew.WAYS})
        for line in self.lines:
            self.assertEqual((line["wrong_bytes"], line["steps"]), (0, 5))
            self.assertGreaterEqual(line["seconds"]["min"], 5 * 0.01 * 0.5)

    def test_table(self):
        with mock.patch.object(skew, "lines", lambda _: self.lines):
            self.assertEqual(len(skew.tables(table, str).splitlines()), 1)


class Choice(Mode, unittest.TestCase):
    words = ("--mode choice --no-peer --pattern strided,random --piece 4K --bytes 512K "
             "--window 256K,1M --repeat 3")

    def test_contenders(self):
        for pattern in ("strided", "random"):
            for direction in ("write", "read"):
                lines = {line["candidate"]: line for line in self.lines if line["mode"] == "choice"
                         and (line["pattern"], line["direction"]) == (pattern, direction)}
                self.assertEqual(set(lines), FORCED | {"auto", "collective", "independent"})
                for name, line in lines.items():
                    self.assertEqual(line["wrong_bytes"], 0, name)
                    self.assertIn("independent" if name == "independent" else
                                  "two-phase" if name != "auto" else direction, line["plan"])
                    if name in FORCED:
                        self.assertIn(f"{name[5]} aggregators", line["plan"])
                        window = 2**18 if name.endswith("256K") else 2**20
                        self.assertIn(f"windows of {window} bytes", line["plan"])

    def test_verdicts(self):
        verdicts = [line for line in self.lines if line["mode"] == "choice verdict"]
        self.assertEqual(len(verdicts), 4)
        for verdict in verdicts:
            medians = {line["candidate"]: line["total"]["median"] for line in self.lines
                       if line["mode"] == "choice" and line["candidate"] != "auto"
                       and line["pattern"] == verdict["pattern"]
                       and line["direction"] == verdict["direction"]}
            self.assertEqual(verdict["best"], min(medians, key=medians.get))
            self.assertRegex(verdict["chosen"], r"^(independent|(even|balanced) \d+x\d+[KM])$")

    def test_tables(self):
        text = choice.tables(self.lines, table, str, str, lambda line: line["mpi_library"])
        self.assertIn("of 4", text)
        for verdict in self.lines:
            if verdict["mode"] == "choice verdict":
                self.assertIn(f"{verdict['chosen_over_best']:.2f}", text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich", choices=MPIS)
    Mode.mpi = parser.parse_args().mpi
    unittest.main(argv=[sys.argv[0], "-v"])
