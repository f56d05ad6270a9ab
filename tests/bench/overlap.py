#!/usr/bin/env python3
"""Mode overlap of the bench: who takes part, right bytes, also past the page cache and between two
nodes, sane lines, and the table that results/overlapped.py makes of them."""
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
sys.path[:0] = [str(ROOT / "results"), str(ROOT / "tests" / "mpi")]

import overlapped  # noqa: E402
from mpis import BUILD, MPIS  # noqa: E402

CASES = {(pattern, direction, side) for pattern in ("contiguous", "strided")
         for direction in ("write", "read") for side in ("Sluice", "peer", "ideal")}


def table(title, _note, header, rows):
    assert all(len(row) == len(header) for row in rows), title
    return "\n".join(" | ".join(row) for row in rows)


class Overlap(unittest.TestCase):
    mpi = "mpich"

    def bench(self, words, cases=CASES, **settings):
        """Lines of one run. It ends with 1 where bytes are wrong, of the ideal as well."""
        mpi = MPIS[self.mpi]
        with tempfile.TemporaryDirectory(prefix="overlap-", dir=BUILD) as folder:
            into = Path(folder) / "lines.jsonl"
            command = [mpi.mpiexec, "-n", 2, BUILD / mpi.build / "bin" / "sluice", "bench",
                       *f"--mode overlap --pattern contiguous,strided --bytes 3000K --repeat 2 "
                       f"--ideal --device here --dir {folder} --json {into} {words}".split()]
            result = subprocess.run([str(word) for word in command], text=True, timeout=100,
                                    capture_output=True, check=False,
                                    env={**os.environ, **mpi.settings, **settings})
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            lines = [json.loads(text) for text in into.read_text().splitlines()]
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["lines.jsonl"])
        self.assertEqual({(line["pattern"], line["direction"], line["side"]) for line in lines},
                         cases)
        for line in lines:
            self.assertEqual(line["wrong_bytes"], 0, line)
            self.assertLess(line["shorter"]["max"], 1)
            if line["side"] == "ideal":  # Its own threads did the work.
                self.assertGreater(line["processors_threads"]["median"], 0)
        return lines

    def test_one_node(self):
        lines = self.bench(f"--server {os.getpid()}")
        self.assertEqual({line["nodes"] for line in lines}, {1})
        for line in lines:
            self.assertGreaterEqual(line["processors_server"]["median"], 0)
        with (mock.patch.object(overlapped, "lines", lambda _: lines),
              mock.patch.dict(overlapped.PLACES, {("here", 1): "here"})):
            made = overlapped.fast_table(table, str).splitlines()
        self.assertEqual(len(made), len(CASES) // 3)

    def test_a_thread_of_the_program(self):
        cases = CASES | {(*case, "thread") for *case, _ in CASES}
        self.assertEqual({line["thread_level"] for line in self.bench("--in-thread", cases)},
                         {"multiple"})

    def test_past_the_page_cache(self):
        self.bench("--hint sluice_page_cache=direct")

    def test_two_nodes(self):
        if self.mpi != "mpich":
            self.skipTest("only MPICH pretends that there are nodes")
        lines = self.bench("", MPIR_CVAR_NOLOCAL="1")
        self.assertEqual({line["nodes"] for line in lines}, {2})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich", choices=MPIS)
    Overlap.mpi = parser.parse_args().mpi
    unittest.main(argv=[sys.argv[0], "-v"])
