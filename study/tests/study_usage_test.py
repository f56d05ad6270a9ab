#!/usr/bin/env python3
"""What programs of the study say of their command lines, and what `sluice` says where they are not
built. The command is $SLUICE; programs with an MPI are asked where there is a build for MPICH."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MPICH = ROOT / "build" / "mpich"
PROGRAMS = ("exchange", "nvm", "storage", "study", "overhead", "kernels")
MISSPELT = {"exchange --byets 1": "--bytes", "nvm model --profiel x": "--profile"}
MISSPELT_MPI = {"storage --deviec x": "--device", "overhead --repaet 1": "--repeat",
                "study --patern e3sm": "--pattern"}


def sluice(*words, command=os.environ["SLUICE"]):
    return subprocess.run([command, *words], text=True, timeout=60, capture_output=True,
                          check=False)


class Usage(unittest.TestCase):
    def test_help_is_no_fault(self):
        for words in (["exchange", "--help"], ["nvm", "model", "--help"]):
            with self.subTest(words=words):
                result = sluice("bench", *words)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn("sluice", result.stdout)

    def test_bad_usage_ends_with_2(self):
        for words in (["exchange", "--bytes", "-1"], ["nvm", "model", "--x"]):
            with self.subTest(words=words):
                result = sluice("bench", *words)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertNotEqual(result.stderr, "")

    def test_a_misspelt_option(self):
        for words, meant in MISSPELT.items():
            with self.subTest(words=words):
                result = sluice("bench", *words.split())
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertIn(f"; did you mean {meant}?", result.stderr)
                self.assertIn("there is no option '--", result.stderr)

    @unittest.skipUnless((MPICH / "study" / "sluice-collectives").exists(), "no build for MPICH")
    def test_a_misspelt_option_of_a_program_with_an_mpi(self):
        for words, meant in MISSPELT_MPI.items():
            with self.subTest(words=words):
                result = sluice("bench", *words.split(), command=MPICH / "bin" / "sluice")
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stdout + result.stderr,
                                 f"there is no option '--[a-z]+'; did you mean {meant}[?]")

    def test_without_the_study_it_says_how_to_build_it(self):
        with tempfile.TemporaryDirectory() as folder:
            command = pathlib.Path(folder) / "bin" / "sluice"
            command.parent.mkdir()
            shutil.copy(os.environ["SLUICE"], command)
            for name in PROGRAMS:
                with self.subTest(name=name):
                    result = sluice("bench", name, command=command)
                    self.assertNotEqual(result.returncode, 0)
                    self.assertIn("make build TARGETS=study", result.stderr)


if __name__ == "__main__":
    unittest.main()
