#!/usr/bin/env python3
"""Help is asked for with success; a command line that is not understood ends with 2.

The command is $SLUICE.
"""
import os
import subprocess
import unittest


def sluice(*words):
    return subprocess.run([os.environ["SLUICE"], *words], text=True, timeout=60,
                          capture_output=True, check=False)


class Usage(unittest.TestCase):
    def test_help_is_no_fault(self):
        for words in (["help"], ["--help"], ["-h"], ["--version"], ["help", "run"],
                      ["run", "--help"], ["run", "-h"], ["info", "--help"], ["info", "-h"],
                      ["simulate", "--help"], ["explain", "--help"], ["explain", "-h"],
                      ["bench", "exchange", "--help"], ["bench", "nvm", "model", "--help"]):
            with self.subTest(words=words):
                result = sluice(*words)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn("sluice", result.stdout)

    def test_bad_usage_ends_with_2(self):
        for words in ([], ["run"], ["run", "--ab", "true"], ["simulate", "--nothing"],
                      ["explain", "--nothing", "1"], ["explain", "--pattern", "nothing"],
                      ["bench", "exchange", "--bytes", "-1"], ["bench", "nvm", "model", "--x"],
                      ["device", "--print", "nothing"], ["help", "nothing"]):
            with self.subTest(words=words):
                result = sluice(*words)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertNotEqual(result.stderr, "")

    def test_a_misspelt_command(self):
        result = sluice("benhc")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no command 'benhc'; did you mean bench?", result.stderr)


if __name__ == "__main__":
    unittest.main()
