#!/usr/bin/env python3
"""What of recorded logs is in Python: the reader, candidates and halving of `sluice tune` against
times that are made up, and logs of Darshan; one that its package brings by the command, $SLUICE.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from sluice import darshan, record, tune  # noqa: E402

DARSHANS = ROOT / "build" / "env" / "tools" / "bin" / "python"
TEXT = """sluice-record 1
rank 1 ranks=2 start=5 program=a%20b sluice=off
type 0 size=8 extent=8 pieces=1 maker=element
type 1 size=16 extent=64 pieces=2 maker=vector ints=2,1,4 parts=0
group 0 ranks=0,1
open 0 10 5 group=0 name=/a%3db mode=create+wronly hint.cb_nodes=2
iwrite_at_all 0 20 5 n=3 t=1 at=7 r=0
waitall -1 30 5 r=0 tests=4
end 40
"""


class Reader(unittest.TestCase):
    def test_calls(self):
        log = record.parse(TEXT)
        rank, = log.ranks
        opened, write, wait = rank.calls
        self.assertEqual((rank.rank, log.expected, rank.head["program"]), (1, 2, "a b"))
        self.assertEqual((opened.hints(), rank.file_name(write)), ({"cb_nodes": "2"}, "/a=b"))
        self.assertEqual((rank.bytes_of(write), rank.pieces_of(write)), (48, 6))
        self.assertTrue(write.collective and write.writes and write.moves_bytes)
        self.assertEqual((wait.numbers("r"), wait.number("tests"), wait.end), ([0], 4, 35))
        self.assertEqual(log.missing(), "1 of 2 ranks are missing")

    def test_cut_off_anywhere(self):
        for length in range(TEXT.index("type"), len(TEXT) - 1):
            rank, = record.parse(TEXT[:length]).ranks
            self.assertEqual(len(rank.calls), sum(
                TEXT[:length].count(f"\n{name} ") and TEXT.index("\n", TEXT.index(name)) < length
                for name in ("open", "iwrite_at_all", "waitall")))
            self.assertIsNone(rank.end)

    def test_damage_and_other_files(self):
        damaged = TEXT.replace("iwrite_at_all 0", "\0\0\0\0") + TEXT.replace("rank 1", "rank 0")
        first, second = record.parse(damaged).ranks
        self.assertEqual((len(first.calls), len(second.calls), second.end), (3, 1, None))
        for text in ("", "[machine]\n", "sluice-record 2\n"):
            with self.assertRaises(record.NotALog):
                record.parse(text)


# Four ranks whose parts interleave in the file.
STRIDED = """sluice-record 1
rank {rank} ranks=4 start=5 node=n program=a{cores} sluice=0
group 0 ranks=0,1,2,3
type 0 size=1 extent=1 pieces=1 maker=element element=1
type 1 size=1048576 extent=4194304 pieces=1024 maker=vector ints=1024,1024,4096 parts=0
open 0 10 5 group=0 name=/f mode=create
set_view 0 20 5 at={at} etype=0 filetype=1 rep=native
write_all 0 30 50000 n=1048576 t=0
end 90000
"""


class Plan(unittest.TestCase):
    """What the library decides depends on the cores of a rank, which logs have."""

    def run_on(self, text, command, *more):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.record"
            path.write_text(text)
            return subprocess.run([os.environ["SLUICE"], command, path, *more], text=True,
                                  env=os.environ | {"SLUICE_PYTHON": sys.executable},
                                  capture_output=True, timeout=60, check=False)

    def told(self, command, cores, *more):
        text = "".join(STRIDED.format(rank=rank, at=1024 * rank, cores=of_rank)
                       for rank, of_rank in enumerate(cores))
        said = self.run_on(text, command, *more)
        self.assertEqual(said.returncode, 0, said.stderr)
        return " ".join(said.stdout.split())

    def test_aggregators_are_those_of_the_rank_with_fewest_cores(self):
        for command, more in (("explain", ()), ("report", ("--text",))):
            said = self.told(command, [" cores=3", " cores=2", " cores=16", " cores=3"], *more)
            self.assertIn("only 2 aggregators write the file; the other ranks", said)
            self.assertIn("Each rank has 2 cores", said)
            said = self.told(command, [" cores=1"] * 4, *more)
            self.assertIn("only 1 aggregator writes the file", said)

    def test_a_log_without_cores_is_read_and_the_lack_is_said(self):
        for command, more in (("explain", ()), ("report", ("--text",))):
            for cores in ([""] * 4, [" cores=2", "", " cores=2", " cores=2"], [" cores=-7"] * 4):
                said = self.told(command, cores, *more)
                self.assertIn("The log does not say how many cores a rank had", said)
                self.assertIn("each rank writes a part of the file as an aggregator", said)
        self.assertIn("only 2 aggregators", self.told("explain", [""] * 4, "--cores", "2"))

    def test_a_name_in_a_log_is_only_text(self):
        name = "f%22%0asluice:%20well%1b]0;t%07"
        text = "".join(STRIDED.format(rank=rank, at=1024 * rank, cores=" cores=2")
                       for rank in range(4)).replace("name=/f", f"name={name}")
        self.assertIn(name, text)
        for command, more in (("explain", ()), ("explain", ("--json",)), ("report", ("--text",))):
            said = self.run_on(text, command, *more)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertNotRegex(said.stdout, r"[\x00-\x09\x0b-\x1f]")
            self.assertNotRegex(said.stdout, "(?m)^sluice: well")
            if "--json" in more:
                self.assertEqual(json.loads(said.stdout)["file"],
                                 'f"\nsluice: well\x1b]0;t\x07')

    def test_a_datatype_that_lost_its_bytes_is_no_division_by_zero(self):
        text = "".join(STRIDED.format(rank=rank, at=0, cores="") for rank in range(4))
        for ints in ("0,1024,4096", f"{2**64},1024,4096", "1024,0,4096"):
            filetype = text.replace("ints=1024,1024,4096", f"ints={ints}")
            memory = (filetype.replace("filetype=1", "filetype=0")
                      .replace("n=1048576 t=0", "n=1 t=1"))
            for damaged in (filetype, memory):
                said = self.run_on(damaged, "explain")
                self.assertIn(said.returncode, (0, 1, 2), said.stderr)


class MadeUp(tune.Tuner):
    """Each replay takes a second, and each candidate what is said of it."""

    def __init__(self, seconds):
        options = argparse.Namespace(log="none", dir="none", time=60, machine=None, seed=1)
        super().__init__(options, record.Log([], 4))
        self.now, self.seconds = 0.0, seconds

    def elapsed(self):
        return self.now

    def say(self, text):
        pass

    def play(self, candidate):
        self.now += 1
        self.runs += 1
        noise = 1 + 0.01 * self.draw.uniform(-1, 1)
        return noise * self.seconds.get(candidate.hints, 1.2)


class Tune(unittest.TestCase):
    def test_the_best_is_found_in_the_time(self):
        for hints in ("cb_nodes=2;cb_buffer_size=4M", "sluice_page_cache=direct"):
            tuner = MadeUp({"": 1.0, "sluice_page_cache=direct": 0.9, hints: 0.8})
            found = tune.candidates(4, True, False)
            self.assertEqual(tuner.tune(found).hints, hints)
            self.assertLessEqual(tuner.now, 62)
            best = next(one for one in found if one.hints == hints)
            self.assertGreater(len(best.ratios), 5)
            self.assertIn(f"SLUICE_HINTS='{hints}'", "\n".join(tune.report(found, best)))

    def test_what_is_good_together_is_found_in_less_than_a_third_of_a_grid(self):
        exchange, storage = "cb_nodes=1;cb_buffer_size=4M", "sluice_page_cache=direct"
        tuner = MadeUp({"": 1.0, exchange: 0.9, storage: 0.95, f"{exchange};{storage}": 0.7})
        tuner.options.time = 0.3 * 5 * len(tune.grid(2, True))
        self.assertEqual(tuner.tune(tune.candidates(2, True, False)).hints,
                         f"{exchange};{storage}")
        self.assertLessEqual(tuner.now, tuner.options.time + 1)

    def test_the_default_stays_where_nothing_is_surely_better(self):
        tuner = MadeUp({"": 1.0, "cb_nodes=1;cb_buffer_size=1M": 0.995})
        found = tune.candidates(4, True, False)
        self.assertEqual(tuner.tune(found).hints, "")
        self.assertIn("leave SLUICE_HINTS unset", "\n".join(tune.report(found, found[0])))

    def test_little_time(self):
        tuner = MadeUp({"": 1.0})
        tuner.options.time = 3
        self.assertEqual(tuner.tune(tune.candidates(4, True, True)).hints, "")
        self.assertLessEqual(tuner.runs, 4)


class Darshan(unittest.TestCase):
    def test_requests_become_calls(self):
        requests = [darshan.Segment(1, "/in put", False, 10, 20, 300, 5),
                    darshan.Segment(0, "/out", True, 0, 100, 100, 50),
                    darshan.Segment(0, "/out", True, 100, 100, 200, 50)]
        log = record.parse(darshan.text_of(requests, 2, 7, "a program"))
        self.assertEqual(log.missing(), "")
        writer, reader = log.ranks
        self.assertEqual([call.name for call in writer.calls],
                         ["open", "write_at", "write_at", "close"])
        self.assertEqual([call.number("at") for call in writer.calls[1:3]], [0, 100])
        self.assertEqual(writer.bytes_of(writer.calls[1]), 100)
        self.assertEqual(writer.calls[0].fields["mode"], "create+rdwr")
        self.assertEqual((reader.calls[0].fields["mode"], reader.file_name(reader.calls[1])),
                         ("rdwr", "/in put"))

    @unittest.skipUnless(DARSHANS.exists(), "there is no build/env/tools: setup/environment")
    def test_a_log_of_its_package(self):
        """By the command, in the environment of the tools, which has the package."""
        found = subprocess.run([DARSHANS, "-c", "import darshan; print(*darshan.__path__)"],
                               text=True, capture_output=True, timeout=60, check=True).stdout
        path = next(pathlib.Path(found.strip()).rglob("ior_hdf5_example.darshan"))
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "ior.record"
            said = subprocess.run([os.environ["SLUICE"], "darshan", path, "--out", made], text=True,
                                  env=os.environ | {"SLUICE_PYTHON": str(DARSHANS)},
                                  capture_output=True, timeout=60, check=False)
            self.assertEqual((said.returncode, said.stdout.strip()), (0, str(made)), said.stderr)
            log = record.read(made)
        self.assertEqual((log.expected, log.missing()), (4, ""))
        self.assertEqual(sum(call.name == "write_at" for call in log.ranks[0].calls), 7)


if __name__ == "__main__":
    unittest.main()
