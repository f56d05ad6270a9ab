#!/usr/bin/env python3
"""Each command, each function of the headers and each setting has its manual page, and mandoc finds
no fault in any.

The command is $SLUICE. Exit code 77, and why, where mandoc is not installed.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ["SLUICE_SOURCE_DIR"])
MAKE = ROOT / "setup" / "manual" / "make.py"


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.scratch.name)
        subprocess.run([sys.executable, "-B", MAKE, os.environ["SLUICE"], cls.folder], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def text(self, page):
        return (self.folder / page).read_text().replace("\\-", "-")

    def test_each_command(self):
        usage = subprocess.run([os.environ["SLUICE"], "help"], capture_output=True, text=True,
                               check=True).stdout
        names = re.findall(r"^  sluice ([a-z-]+)", usage, re.MULTILINE)
        self.assertIn("run", names)
        for name in names:
            self.assertIn(f"sluice {name}", self.text(f"man1/sluice-{name}.1"))
            self.assertIn(f"sluice-{name}", self.text("man1/sluice.1"))

    def test_options_and_their_meaning(self):
        page = self.text("man1/sluice-run.1")
        self.assertRegex(page, r"\.TP\n\.B --behind\nBlocking writes return at once")

    def test_each_function(self):
        declared = set()
        for header in (ROOT / "include" / "sluice").glob("*.h"):
            code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
            declared |= set(re.findall(r"\b(sluice_\w+)\s*\(", code))
        pages = {path.stem for path in (self.folder / "man3").iterdir()}
        self.assertGreater(len(declared), 50)
        self.assertLessEqual(declared, pages)
        page = self.text("man3/sluice_wait.3")
        for field in ("Collective", "Blocks", "Lifetime", "Errors"):
            self.assertIn(f".TP\n.B {field}\n", page)

    def test_each_setting(self):
        rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "hints.md").read_text(),
                          re.MULTILINE)
        pages = self.text("man7/sluice-environment.7") + self.text("man7/sluice-hints.7")
        self.assertIn("SLUICE_LOG", rows)
        for name in rows:
            self.assertIn(f".B {name} (", pages)

    def test_no_fault_is_found(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        pages = sorted(path for path in self.folder.rglob("*.[1-9]") if not path.is_symlink())
        done = subprocess.run(["mandoc", "-T", "lint", *pages], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    if result.wasSuccessful() and result.skipped:
        print("; ".join(reason for _, reason in result.skipped))
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() else 1)
