#!/usr/bin/env python3
"""Help is asked for with success; a command line that is not understood ends with 2.

The command is $SLUICE.
"""
import json
import os
import subprocess
import tempfile
import unittest

# A command line -> the option that is meant.
MISSPELT = {
    "--versoin": "--version",
    "run --trcae x true": "--trace",
    "run --trcae=x true": "--trace",
    "run --behnid=4M true": "--behind",
    "record --oout=x true": "--out",
    "record --ahaed true": "--ahead",
    "info --jsno": "--json",
    "recover --dry-rnu /tmp": "--dry-run",
    "merge-trace --hepl": "--help",
    "simulate --cehck": "--check",
    "explain --patern strided": "--pattern",
    "trace --operatoin 1 x": "--operation",
    "tune --comptue sleep": "--compute",
    "try --bandwith 3M": "--bandwidth",
    "report --txet x": "--text",
    "darshan --ouut x": "--out",
}


def sluice(*words):
    return subprocess.run([os.environ["SLUICE"], *words], text=True, timeout=60,
                          capture_output=True, check=False)


class Usage(unittest.TestCase):
    def test_help_fits_a_terminal(self):
        for words in (["help"], *([name, "--help"] for name in
                                  ("run", "record", "info", "recover", "merge-trace"))):
            lines = sluice(*words).stdout.splitlines()
            self.assertGreater(len(lines), 3)
            self.assertLessEqual(max(map(len, lines)), 80, words)

    def test_help_is_no_fault(self):
        for words in (["help"], ["--help"], ["-h"], ["--version"], ["help", "run"],
                      ["run", "--help"], ["run", "-h"], ["info", "--help"], ["info", "-h"],
                      ["simulate", "--help"], ["explain", "--help"], ["explain", "-h"],
                      *([name, word] for word in ("--help", "-h") for name in
                        ("record", "recover", "merge-trace", "trace", "tune", "try", "check",
                         "report", "darshan"))):
            with self.subTest(words=words):
                result = sluice(*words)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn("sluice", result.stdout)

    def test_bad_usage_ends_with_2(self):
        for words in ([], ["run"], ["run", "--ab", "true"], ["simulate", "--nothing"],
                      ["explain", "--nothing", "1"], ["explain", "--pattern", "nothing"],
                      ["device", "--print", "nothing"], ["help", "nothing"]):
            with self.subTest(words=words):
                result = sluice(*words)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertNotEqual(result.stderr, "")

    def test_a_misspelt_command(self):
        result = sluice("benhc")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no command 'benhc'; did you mean bench?", result.stderr)

    def test_a_misspelt_option(self):
        for words, meant in MISSPELT.items():
            with self.subTest(words=words):
                result = sluice(*words.split())
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertIn(f"; did you mean {meant}?", result.stderr)
                self.assertIn("there is no option '--", result.stderr)

    def test_what_is_no_option_at_all(self):
        for words in ("run --nonsense true", "info --nonsense", "trace --nonsense x"):
            with self.subTest(words=words):
                result = sluice(*words.split())
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn("there is no option '--nonsense'", result.stderr)
                self.assertNotIn("did you mean", result.stderr)

    def test_a_misspelt_pattern(self):
        result = sluice("explain", "--pattern", "e3ms", "--bytes", "1M")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no pattern 'e3ms'; did you mean e3sm", result.stderr)
        result = sluice("explain", "--pattern", "foo")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "there is no pattern 'foo'; there are .*strided, ")

    def test_a_misspelt_key_of_a_description(self):
        result = sluice("simulate", "--set", "pattern.bytse=64K")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no key 'pattern.bytse'; did you mean pattern.bytes?",
                      result.stderr)

    def test_what_is_not_there_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for words in (["recover"], ["explain"], ["report"]):
                with self.subTest(words=words):
                    result = sluice(*words, f"{folder}/nothing")
                    self.assertNotEqual(result.returncode, 0)
                    self.assertIn(f"{folder}/nothing", result.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_what_somebody_else_may_not_do(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o700)
            nobody = 65534
            for words, code in ((["recover", folder], 1), (["explain", folder + "/log"], 2)):
                with self.subTest(words=words):
                    result = subprocess.run([os.environ["SLUICE"], *words], user=nobody, text=True,
                                            capture_output=True, timeout=60, check=False)
                    self.assertEqual(result.returncode, code)
                    self.assertRegex(result.stderr, f"{folder}.*|cannot read")

    def test_facts_for_programs(self):
        """What prints facts has them as JSON."""
        for words in (["info", "--json"], ["simulate", "--set", "pattern.bytes=64K", "--json"]):
            with self.subTest(words=words):
                result = sluice(*words)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIsInstance(json.loads(result.stdout), dict)


if __name__ == "__main__":
    unittest.main()
