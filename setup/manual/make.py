#!/usr/bin/env python3
"""Writes the manual pages: make.py COMMAND FOLDER.

No text has a second copy: commands are asked for their help, functions are described as in
include/sluice, settings as in docs/hints.md.
"""
import sys
from pathlib import Path

import commands
import functions
import settings

ROOT = Path(__file__).resolve().parents[2]


def write_all(command, folder):
    said = commands.Commands(command, ROOT / "python" / "sluice" / "commands.txt")
    version = said.said("--version").split()[1]
    for page in commands.pages(said, version):
        page.write(folder)
    for page in settings.pages(ROOT / "docs" / "hints.md", version):
        page.write(folder)
    for page, others in functions.pages(ROOT / "include" / "sluice", version):
        page.write(folder)
        for name in others:
            link = folder / "man3" / f"{name}.3"
            link.unlink(missing_ok=True)
            link.symlink_to(f"{page.name}.3")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write_all(sys.argv[1], Path(sys.argv[2]))
