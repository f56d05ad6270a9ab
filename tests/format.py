#!/usr/bin/env python3
"""Whether all sources have the format of .clang-format."""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "simulate", "include", "tests", "tools", "bench", "device", "study", "examples")

files = sorted(path for folder in FOLDERS for end in ("cpp", "hpp", "c", "h")
               for path in (ROOT / folder).glob(f"**/*.{end}"))
words = [ROOT / "build/env/tools/bin/clang-format", "--dry-run", "-Werror", *files]
os.execv(words[0], [str(word) for word in words])
