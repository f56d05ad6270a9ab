#!/usr/bin/env python3
"""Modes overlap and outstanding of the bench: who takes part, right bytes, also past the page cache
and between two nodes, sane lines, and the tables that results/overlapped.py and results/depth.py
make of them."""
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

import depth  # noqa: E402
import overlapped  # noqa: E402
from mpis import BUILD, MPIS  # noqa: E402

CASES = {(pattern, direction, side) for pattern in ("contiguous", "strided")
         for direction in ("write", "read") for side in ("Sluice", "peer", "ideal")}


def table(title, _note, header, rows):
    assert all(len(row) == len(header) for row in rows), title
    return "\n".join(" | ".join(row) for row in rows)


class Bench(unittest.TestCase):
    mpi = "mpich"

    def lines_of(self, words, **settings):
        """Of one run. It ends with 1 where bytes are wrong, and leaves no file."""
        mpi = MPIS[self.mpi]
        with tempfile.TemporaryDirectory(prefix="bench-", dir=BUILD) as folder:
            into = Path(folder) / "lines.jsonl"
            command = [mpi.mpiexec, "-n", 2, BUILD / mpi.build / "bin" / "sluice", "bench",
                       *f"--bytes 3000K --repeat 2 --device here --dir {folder} --json {into} "
                       f"{words}".split()]
            result = subprocess.run([str(word) for word in command], text=True, timeout=100,
                                    capture_output=True, check=False,
                                    env={**os.environ, **mpi.settings, **settings})
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            lines = [json.loads(text) for text in into.read_text().splitlines()]
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["lines.jsonl"])
        return lines


class Outstanding(Bench):
    def test_the_best_hints_of_the_mpi(self):
        """The same ones for any number of operations under way."""
        lines = self.lines_of("--mode outstanding --pattern strided --operations 4 "
                              "--outstanding 1,4 --best-hints")
        self.assertEqual([(line["direction"], line["variant"]) for line in lines],
                         [(direction, variant) for direction in ("write", "read")
                          for variant in ("K=1", "K=4")])
        for first, second in (lines[:2], lines[2:]):
            self.assertEqual(first.get("peer_hints"), second.get("peer_hints"))
            self.assertRegex(first.get("peer_hints", "cb_nodes=1"), "cb_nodes=|ds_write=|buffering")
        made = depth.tables(lines, table, lambda _: self.mpi).splitlines()
        self.assertEqual(len(made), len(lines))


class Overlap(Bench):
    def bench(self, words, cases=CASES, **settings):
        lines = self.lines_of(f"--mode overlap --pattern contiguous,strided --ideal {words}",
                              **settings)
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

    def test_beside_messages_of_the_program(self):
        for line in self.bench("--computation halos --halo 4K"):
            self.assertEqual((line["computation"], line["halo"]), ("halos", 4096))

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
    Bench.mpi = parser.parse_args().mpi
    unittest.main(argv=[sys.argv[0], "-v"])
