#!/usr/bin/env python3
"""How the command goes on in Python: an installation with a command of its own is made up for it.

The command is $SLUICE.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "sluice"
MODULE = '''
import os

def main(arguments):
    for _ in range(100000 if arguments == ["many"] else 1):
        print(arguments, os.environ["SLUICE_COMMAND"], "PYTHONPATH" in os.environ)
    return 7
'''


class InPython(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "bin").mkdir()
        self.command = shutil.copy(os.environ["SLUICE"], self.root / "bin" / "sluice")
        package = self.root / "python" / "sluice"
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
        with open(package / "commands.txt", "a", encoding="utf-8") as table:
            table.write("sample | FILE | what a sample does\n")
        (package / "sample.py").write_text(MODULE)
        # A folder of the same name where the user is must not be taken for the package.
        (self.root / "sluice").mkdir()
        (self.root / "sluice" / "__init__.py").write_text("raise SystemExit(99)\n")

    def sluice(self, *words, python=sys.executable):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(words if words[0] == "sh" else [self.command, *words], text=True,
                              timeout=60, capture_output=True, check=False, cwd=self.root,
                              env=environment | {"SLUICE_PYTHON": str(python)})

    def test_arguments_and_exit_code_pass(self):
        result = self.sluice("sample", "a b", "--c")
        self.assertEqual((result.returncode, result.stderr), (7, ""))
        self.assertEqual(result.stdout, f"['a b', '--c'] {self.command} False\n")

    def test_help_lists_it(self):
        for words in (["help"], ["--help"]):
            self.assertRegex(self.sluice(*words).stdout, r"sluice sample FILE\s+what a sample does")
        self.assertIn("--help", self.sluice("help", "sample").stdout)
        self.assertIn("did you mean sample?", self.sluice("sampl").stderr)

    def test_every_command_of_the_table_has_a_module_and_help(self):
        sys.path.insert(0, str(PACKAGE.parent))
        from sluice.__main__ import names
        for name in names():
            with self.subTest(name=name):
                result = self.sluice(name, "--help")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn("usage: sluice " + name, result.stdout)
                self.assertEqual(self.sluice(name, "--no-such-option").returncode, 2)

    def test_no_python_says_what_to_do(self):
        result = self.sluice("sample", python="/nonexistent/python")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot run /nonexistent/python", result.stderr)
        self.assertIn("install Python 3.11 or later, or name one in SLUICE_PYTHON", result.stderr)

    def test_an_old_python_says_what_to_do(self):
        main = self.root / "python" / "sluice" / "__main__.py"
        main.write_text(main.read_text().replace("OLDEST = (3, 11)", "OLDEST = (9, 1)"))
        result = self.sluice("sample")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"is Python 3\.\d+, and this command needs 9\.1 or later: "
                                        "name one in SLUICE_PYTHON")

    def test_no_reader_is_no_trace(self):
        result = self.sluice("sh", "-c", f"{self.command} sample many | head -n 1")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
