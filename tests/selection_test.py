#!/usr/bin/env python3
"""Tests of the choice of tests: what a change can break is run, and no file of the sources is
reached by nothing."""
import json
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

import report
import selection
from parts import PARTS
from reach import CODE, ROOT, name_of
from selection import Test, breaks

PLAN = Test("plan_test", "asan", sources=["tests/unit/plan_test.cpp"])
JOURNAL = Test("journal_test", "asan", sources=["tests/unit/journal_test.cpp"])
PATTERNS = Test("patterns_test", "mpich", reach=["src/file", "src/mpi", "tests/mpi"])
BENCH = Test("sluice-bench starts", "mpich", sources=["bench/file"])


class Breaks(unittest.TestCase):
    def test_rooms_behind_the_includes(self):
        for file in ("src/file/plan/plan.cpp", "src/file/plan/domains.cpp", "src/base/extent.cpp",
                     "tests/unit/plan_test.cpp"):
            self.assertTrue(breaks(PLAN, file), file)
        for file in ("src/mpi/file/file.cpp", "src/storage/batch.cpp", "docs/index.md",
                     "tests/unit/journal_test.cpp", "tests/mpi/run.py"):
            self.assertFalse(breaks(PLAN, file), file)
        beside = Test("delivery_test", "asan", sources=["tests/unit/delivery_test.cpp"])
        self.assertTrue(breaks(beside, "tests/unit/whole_world.hpp"))
        self.assertTrue(breaks(JOURNAL, "src/behind/journal_format.cpp"))
        self.assertFalse(breaks(JOURNAL, "src/storage/batch.cpp"))
        self.assertTrue(breaks(JOURNAL, "src/system/descriptor.hpp"))

    def test_paths(self):
        self.assertTrue(breaks(PATTERNS, "src/mpi/file/file.cpp"))
        self.assertTrue(breaks(PATTERNS, "tests/mpi/levels.py"))
        self.assertFalse(breaks(PATTERNS, "src/filesystem.cpp"), "src/file is a folder")
        self.assertFalse(breaks(PATTERNS, "bench/file/main.cpp"))

    def test_what_a_folder_reads(self):
        self.assertTrue(breaks(BENCH, "src/base/extent.hpp"))
        self.assertFalse(breaks(BENCH, "src/base/extent.cpp"), "it builds as before")

    def test_what_all_depend_on(self):
        for test in (PLAN, PATTERNS, BENCH):
            for file in ("CMakeLists.txt", "setup/parts.cmake", "tests/tests.cmake"):
                self.assertTrue(breaks(test, file), file)


def is_current(configured):
    """A build that was configured before a CMake file changed lists the tests of then."""
    files = (ROOT / "CMakeLists.txt",
             *(file for file in ROOT.glob("*/*.cmake") if file.parent.name != "build"))
    return configured.exists() and all(
        file.stat().st_mtime < configured.stat().st_mtime for file in files)


class Configured(unittest.TestCase):
    """The tests of the build, as CTest lists them."""

    def setUp(self):
        ctest = ROOT / "build/env/tools/bin/ctest"
        self.tests = []
        for variant in ("no-mpi", "asan", "tsan", "mpich", "openmpi"):
            folder = ROOT / "build" / variant
            if not is_current(folder / "build.ninja"):
                continue
            listed = subprocess.run([ctest, "--test-dir", folder, "--show-only=json-v1"],
                                    capture_output=True, text=True, check=True).stdout
            self.tests += [selection.test_of(entry, variant)
                           for entry in json.loads(listed)["tests"]]

    def test_each_source_is_reached(self):
        short = [test for test in self.tests if test.tiers]
        if not {"asan", "mpich"} <= {test.variant for test in short}:
            self.skipTest("asan and mpich are not configured")
        for path in sorted((ROOT / "src").rglob("*")):
            if path.suffix in CODE:
                self.assertTrue(any(breaks(test, name_of(path)) for test in short), path)

    def test_paths_are_there(self):
        for test in self.tests:
            for path in test.reach + test.sources:
                self.assertTrue((ROOT / path).exists(), f"{test.name}: {path}")

    def test_parts_are_listed(self):
        for test in self.tests:
            if test.part:
                self.assertIn(test.part, PARTS, test.name)

    def test_parts_have_tests(self):
        variants = {test.variant for test in self.tests}
        parts = {test.part for test in self.tests}
        for name, part in PARTS.items():
            if set(part.builds) <= variants:
                self.assertIn(name, parts)


class NotNeeded(unittest.TestCase):
    """By a record of its own."""

    def ask(self, line, test=PLAN):
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "tests.jsonl"
            record.write_text(json.dumps(line) + "\n")
            with unittest.mock.patch.object(selection, "RECORD", record):
                selection.last_passes.cache_clear()
                try:
                    return selection.not_needed(test)
                finally:
                    selection.last_passes.cache_clear()

    def line(self, **other):
        return {"part": "asan", "commit": "HEAD", "failed": 0, **other}

    def test_nothing_is_known(self):
        self.assertEqual(self.ask(self.line(part="lint")), "")
        self.assertEqual(self.ask(self.line(commit="0" * 40)), "", "a commit of nowhere")
        self.assertEqual(self.ask(self.line(failed=1)), "")

    def test_what_runs_where_a_change_is_known(self):
        bench = Test("starts", "mpich", tiers=["changed"], sources=["bench/file"])
        self.assertIn("mpich has not passed yet", self.ask(self.line(), bench))
        with unittest.mock.patch.object(selection, "changed_since",
                                        lambda _: {"bench/file/main.cpp"}):
            self.assertEqual(self.ask(self.line(part="mpich"), bench), "")

    def test_nothing_has_changed(self):
        with unittest.mock.patch.object(selection, "changed_since", lambda _: frozenset()):
            self.assertIn("nothing that it reaches has changed", self.ask(self.line()))

    def test_something_has_changed(self):
        with unittest.mock.patch.object(selection, "changed_since",
                                        lambda _: {"src/base/extent.cpp"}):
            self.assertEqual(self.ask(self.line()), "")
        with unittest.mock.patch.object(selection, "changed_since", lambda _: None):
            self.assertEqual(self.ask(self.line()), "")


class Report(unittest.TestCase):
    @staticmethod
    def case(name, status="run"):
        return xml.etree.ElementTree.Element("testcase", name=name, status=status)

    def test_what_ctest_did_not_come_to_has_failed(self):
        some = report.count([self.case("a")], {"mpich": True}, ["a", "b"])
        self.assertEqual((some.passed, some.failed), (2, ["b"]))
        self.assertEqual(report.count([], {"mpich": True}, ["a"]).failed, ["a"])

    def test_behind_a_failure_it_has_not(self):
        stopped = report.count([self.case("a", "fail")], {}, ["a", "b"])
        self.assertEqual(stopped.failed, ["a"])


if __name__ == "__main__":
    unittest.main()
