#!/usr/bin/env python3
"""Runs clang-tidy on the library and the programs, once for each file.

A source may be compiled several times (for an MPI's own ABI and for the standard one, or into two
programs), and clang-tidy reads it as often as the list of compilations has it. So it gets a list
of its own, of the first compilation of each, as clang understands it.
"""
import json
import os
import pathlib
import re
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
TOOLS = BUILD / "env" / "tools" / "bin"


def compilations(variant):
    everything = json.loads((BUILD / variant / "compile_commands.json").read_text())
    first = {}
    for entry in everything:
        if pathlib.Path(entry["file"]).is_relative_to(ROOT / "src"):
            first.setdefault(entry["file"], entry)
    return list(first.values())


def without_precompiled(entry):
    """Precompiled headers of g++ mean nothing to clang."""
    words = shlex.split(entry["command"])
    kept = [word for at, word in enumerate(words)
            if word != "-Winvalid-pch" and "cmake_pch" not in word
            and not (word == "-include" and "cmake_pch" in words[at + 1])]
    return {**entry, "command": shlex.join(kept)}


def main():
    folder = BUILD / "tidy"
    folder.mkdir(exist_ok=True)
    entries = [without_precompiled(entry) for entry in compilations("mpich")]
    (folder / "compile_commands.json").write_text(json.dumps(entries, indent=1))
    words = [TOOLS / "python", TOOLS / "run-clang-tidy.py", "-quiet", "-j", os.cpu_count() or 1,
             "-clang-tidy-binary", TOOLS / "clang-tidy", "-p", folder,
             *(sys.argv[1:] or [f"^{re.escape(str(ROOT / 'src'))}/"])]
    os.execv(words[0], [str(word) for word in words])


if __name__ == "__main__":
    main()
