#!/usr/bin/env python3
"""What setup/environment says of an MPI that it does not know: at once, with nothing fetched."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Setup(unittest.TestCase):
    def refused(self, name):
        """The words of a copy that lies in an otherwise empty folder, and what it made there."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "setup").mkdir()
            shutil.copy(ROOT / "setup" / "environment", root / "setup")
            shutil.copy(ROOT / "CMakePresets.json", root)
            # Without requirements an older copy that goes on fails soon, and fetches nothing.
            result = subprocess.run([root / "setup" / "environment", name], text=True, timeout=60,
                                    capture_output=True, check=False)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertFalse((root / "build").exists())
            return result.stderr

    def test_a_misspelt_name(self):
        words = self.refused("opnmpi")
        self.assertIn("there is no MPI 'opnmpi'; is openmpi meant?", words)
        self.assertIn("debian-openmpi", words)

    def test_a_wrapper_that_is_not_there(self):
        self.assertIn("'/nonexistent/mpicc'", self.refused("/nonexistent/mpicc"))


if __name__ == "__main__":
    unittest.main()
