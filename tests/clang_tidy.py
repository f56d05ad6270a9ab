#!/usr/bin/env python3
"""Runs clang-tidy on the library and the programs, once for each compilation.

A build compiles many sources together (CMAKE_UNITY_BUILD), and clang-tidy reads them together: so
it reads their headers once. It gets a list of the compilations of its own: without those of tests,
without the second one for the standard ABI, and as clang understands it.

The analyzer follows calls into small functions only, which takes a fifth of its time; with --deep,
in `make test-long`, it follows all.
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
FOLDERS = tuple(f"{ROOT}/{folder}/" for folder in ("src", "tools", "bench", "device"))
# What is compiled together looks like headers: the analyzer leaves their functions out unless told,
# and the include of a source is no mistake there.
TOGETHER = ("-checks=-bugprone-suspicious-include", "-extra-arg=-Xclang",
            "-extra-arg=-analyzer-opt-analyze-headers")


SHALLOW = [f"-extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang",
                                             "mode=shallow")]


def sources_of(entry):
    """The sources that a compilation reads."""
    file = pathlib.Path(entry["file"])
    if "/Unity/" not in entry["file"]:
        return (str(file),)
    return tuple(re.findall(r'#include "(.*)"', file.read_text()))


def compilations(*variants):
    first = {}
    for variant in variants:
        for entry in json.loads((BUILD / variant / "compile_commands.json").read_text()):
            sources = sources_of(entry)
            if all(source.startswith(FOLDERS) for source in sources):
                first.setdefault(sources, entry)
    return list(first.values())


def without_precompiled(entry):
    """Precompiled headers of g++ mean nothing to clang."""
    words = shlex.split(entry["command"])
    kept = [word for at, word in enumerate(words)
            if word != "-Winvalid-pch" and "cmake_pch" not in word
            and not (word == "-include" and "cmake_pch" in words[at + 1])]
    return {**entry, "command": shlex.join(kept)}


def write_list(folder):
    """Writes the list of compilations for a tool of clang into a folder of the build."""
    folder.mkdir(exist_ok=True)
    entries = [without_precompiled(entry) for entry in compilations("no-mpi", "mpich")]
    (folder / "compile_commands.json").write_text(json.dumps(entries, indent=1))
    return entries


def main():
    folder = BUILD / "tidy"
    write_list(folder)
    arguments = sys.argv[1:]
    depth = [] if "--deep" in arguments else SHALLOW
    arguments = [word for word in arguments if word != "--deep"]
    words = [TOOLS / "python", TOOLS / "run-clang-tidy.py", "-quiet", "-j", os.cpu_count() or 1,
             "-clang-tidy-binary", TOOLS / "clang-tidy", "-p", folder, *TOGETHER, *depth,
             *arguments]
    os.execv(words[0], [str(word) for word in words])


if __name__ == "__main__":
    main()
