#!/usr/bin/env python3
"""What setup/environment says of an MPI that it does not know: at once, with nothing fetched; and
what it says at its end, with commands in the place of those that would fetch something.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# `python3 -m venv FOLDER` makes a python there that ends as pip would with this code.
PYTHON = """#!/bin/sh
[ "$2" = venv ] || exit 0
for folder; do :; done
mkdir -p "$folder/bin"
printf '#!/bin/sh\\nexit %s\\n' "$PIP_ENDS_WITH" > "$folder/bin/python"
chmod +x "$folder/bin/python"
"""


def copied_to(root):
    """A copy of the script in an otherwise empty folder."""
    (root / "setup").mkdir()
    shutil.copy(ROOT / "setup" / "environment", root / "setup")
    shutil.copy(ROOT / "CMakePresets.json", root)
    return root / "setup" / "environment"


class Setup(unittest.TestCase):
    def set_up(self, *words, pip):
        """Its exit code and its words, where pip ends with this code."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            script = copied_to(root)
            for name in ("mpich", "tools"):
                (root / "setup" / f"requirements-{name}.txt").write_text("nothing\n")
            (root / "bin").mkdir()
            for name, text in (("python3", PYTHON), ("apt-get", "#!/bin/sh\n"),
                               ("apt-cache", "#!/bin/sh\n")):
                (root / "bin" / name).write_text(text)
                (root / "bin" / name).chmod(0o755)
            path = f"{root}/bin:{os.environ['PATH']}"
            result = subprocess.run([script, *words], text=True, timeout=60, check=False,
                                    capture_output=True,
                                    env={**os.environ, "PATH": path, "PIP_ENDS_WITH": str(pip)})
            return result.returncode, result.stdout, result.stderr

    def test_what_comes_next_is_said_at_the_end(self):
        code, out, words = self.set_up("--install", "mpich", pip=0)
        self.assertEqual(code, 0, words)
        self.assertIn("setup: ready. Next: `make demo`", out.splitlines()[-1])
        self.assertNotIn("ready", self.set_up("mpich", pip=0)[1], "a build goes on by itself")

    def test_a_download_that_fails_names_the_way_without_one(self):
        code, out, words = self.set_up("--install", "mpich", pip=1)
        self.assertEqual(code, 1)
        self.assertNotIn("ready", out)
        self.assertIn("setup: failed: ", words)
        self.assertIn("no network? Sluice itself is built without one, by cmake alone: "
                      "docs/install.md", words.splitlines()[-1])

    def refused(self, name):
        """The words of a copy that lies in an otherwise empty folder, and what it made there."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            # Without requirements an older copy that goes on fails soon, and fetches nothing.
            result = subprocess.run([copied_to(root), name], text=True, timeout=60,
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
