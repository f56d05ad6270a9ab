#!/usr/bin/env python3
"""How traces are read: the moments that intervals share, files that are cut off or another
program's, and what the command says of them. tests/trace reads those of real jobs.

The command is $SLUICE.
"""
import contextlib
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

from sluice import timeline, trace  # noqa: E402

GOLDEN = ROOT / "tests" / "golden" / "trace.json"


class Intervals(unittest.TestCase):
    def test_those_that_touch_are_one(self):
        self.assertEqual(timeline.union([(5, 9), (0, 2), (2, 3), (6, 7)]), [(0, 3), (5, 9)])

    def test_what_two_have_in_common(self):
        one, other = [(0, 10), (20, 30)], [(5, 22), (29, 40)]
        self.assertEqual(timeline.common(one, other), [(5, 10), (20, 22), (29, 30)])
        self.assertEqual(timeline.common(one, []), [])


class Reading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "t.json"

    def sluice(self, *words):
        result = subprocess.run([os.environ["SLUICE"], "trace", *map(str, words)], text=True,
                                timeout=60, capture_output=True, check=False,
                                env=os.environ | {"SLUICE_PYTHON": sys.executable})
        return result.returncode, result.stdout + result.stderr

    def test_a_trace_has_its_ranks_rows_and_slices(self):
        found = timeline.read(GOLDEN)
        self.assertEqual((found.ranks, found.rows[2, 1]), ([2], "program"))
        call = next(one for one in found.slices if one.category == "call")
        self.assertEqual((call.name, call.begin, call.end, call.arguments["file"]),
                         ("MPI_File_write_all", 1000, 9500, '/tmp/"a"\n\xff'))
        self.assertEqual(found.parts[0]["lost"], 5)
        self.assertFalse(found.cut_off)

    def test_one_that_is_cut_off_is_read_up_to_there(self):
        text = GOLDEN.read_text()
        whole = len(timeline.read(GOLDEN).slices)
        for end in range(0, len(text), 97):
            self.path.write_text(text[:end])
            if end > text.index("\n"):
                found = timeline.read(self.path)
                self.assertLessEqual(len(found.slices), whole)
        self.path.write_text(text[:text.index("pwritev") + 3])
        self.assertTrue(timeline.read(self.path).cut_off)
        code, said = self.sluice(self.path)
        self.assertEqual(code, 0, said)
        self.assertIn("cut off: the end of the file is missing", said)

    def test_the_summary_tells_what_is_lost_and_how_long(self):
        code, said = self.sluice(GOLDEN)
        self.assertEqual(code, 0, said)
        self.assertIn("5 older events are lost", said)
        self.assertRegex(said, r"waits for a message +0\.000")

    def test_what_is_no_trace_is_refused_in_one_line(self):
        for text in ("", "no JSON", "[]", '{"traceEvents":[{"name":"a"}]}', json.dumps({"a": 1})):
            self.path.write_text(text)
            code, said = self.sluice(self.path)
            if text == "[]":
                self.assertIn("0 ranks", said)
                continue
            self.assertEqual((code, said.count("\n")), (1, 1), said)
            self.assertIn(f"{self.path} is no trace that SLUICE_TRACE wrote", said)

    def test_another_kind_of_file_is_told_in_words(self):
        for data in (b"import sys\n", b"", b"\x7fELF\xff\xfe\n"):
            self.path.write_bytes(data)
            self.assertEqual(self.sluice(self.path), (
                1, f"sluice trace: {self.path} is no trace that SLUICE_TRACE wrote: it holds no "
                "JSON\n"))

    def test_whatever_is_in_it_is_read_or_refused(self):
        seed = random.SystemRandom().randrange(1, 2**31)
        lot, text = random.Random(seed), GOLDEN.read_text()
        numbers = [one.span() for one in re.finditer(r"-?\d+(\.\d+)?", text)]
        for _ in range(200):
            begin, end = lot.choice(numbers)
            other = lot.choice(("0", "-1", "1e400", "NaN", '"a"', "[]", "{}", "null", str(2**70)))
            self.path.write_text(text[:begin] + other + text[end:])
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                self.assertIn(trace.main([str(self.path)]), (0, 1), f"seed {seed}")

    def test_of_many_ranks_the_least_the_median_and_the_most_are_shown(self):
        lines = trace.table("seconds", list(range(20)), {"a": {rank: rank for rank in range(20)}},
                            "s")
        self.assertEqual(lines[0].split(), ["seconds", "least", "median", "most"])
        self.assertEqual(lines[1].split(), ["a", "0.000", "9.500", "19.000"])

    def test_parts_that_are_damaged_are_told(self):
        parts = pathlib.Path(f"{self.path}.parts")
        parts.mkdir()
        (parts / "0").write_bytes(b"SLUTRACE" + bytes(100))
        code, said = self.sluice(self.path)
        self.assertEqual(code, 1)
        self.assertIn("could not be merged", said)


if __name__ == "__main__":
    unittest.main()
