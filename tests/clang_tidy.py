#!/usr/bin/env python3
"""Runs clang-tidy on the library and the programs, once for each compilation.

    clang_tidy.py [--deep] [--share 1/3]   on all, or a share of them
    clang_tidy.py --changed                on those that read a file that has changed since all
                                           passed; where that is not known, on some by lot

A build compiles many sources together (CMAKE_UNITY_BUILD), and clang-tidy reads them together: so
it reads their headers once. It gets a list of the compilations of its own: without those of tests,
without the second one for the standard ABI, and as clang understands it. Each has a time limit, and
a line when it has ended.

The analyzer follows calls into small functions only, which takes a fifth of its time; with --deep
it follows all.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import time

import lot
import selection
import shares
from reach import included_by, name_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
TOOLS = BUILD / "env" / "tools" / "bin"
# What clang does not know.
UNKNOWN = ("-Winvalid-pch", "-Wno-stringop-overflow", "-Wno-stringop-overread", "-Wno-restrict")
LIMIT = 600  # Seconds of one compilation.
DRAWN = 8
FOLDERS = tuple(f"{ROOT}/{folder}/" for folder in
                ("src", "simulate", "tools", "bench", "device", "study"))
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
            if word not in UNKNOWN and "cmake_pch" not in word
            and not (word == "-include" and "cmake_pch" in words[at + 1])]
    return {**entry, "command": shlex.join(kept)}


def write_list(folder):
    """Writes the list of compilations for a tool of clang into a folder of the build."""
    folder.mkdir(exist_ok=True)
    entries = [without_precompiled(entry) for entry in compilations("no-mpi", "mpich")]
    (folder / "compile_commands.json").write_text(json.dumps(entries, indent=1))
    return entries


def needs_check(entry, changed):
    """Whether a compilation reads one of these files."""
    return any(name_of(path) in changed for source in sources_of(entry)
               for path in included_by(pathlib.Path(source)))


def changed_entries(entries):
    """(those to check, why these)."""
    commit = selection.last_passes().get("lint")
    changed = selection.changed_since(commit) if commit else None
    if changed is None:
        seed = lot.fresh_seed()
        return random.Random(seed).sample(entries, min(DRAWN, len(entries))), f"drawn, seed {seed}"
    return ([entry for entry in entries if needs_check(entry, changed)],
            f"of what has changed since {commit[:7]}")


def check(entry, folder, words):
    """Returns what clang-tidy says of a compilation where it finds fault with it."""
    began = time.monotonic()
    try:
        done = subprocess.run([TOOLS / "clang-tidy", "-quiet", "-p", folder, *words, entry["file"]],
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        said = done.stdout + done.stderr if done.returncode else ""
    except subprocess.TimeoutExpired:
        said = f"clang-tidy has not ended within {LIMIT} s: {entry['file']}\n"
    print(f"{time.monotonic() - began:6.1f} s  {entry['file'].removeprefix(str(ROOT) + '/')}",
          flush=True)
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--changed", action="store_true")
    shares.add_argument(parser)
    args = parser.parse_args()
    folder = BUILD / "tidy"
    entries, why = shares.share_of(write_list(folder), args), "all"
    if args.changed:
        entries, why = changed_entries(entries)
    words = [*TOGETHER, *([] if args.deep else SHALLOW)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(filter(None, pool.map(lambda entry: check(entry, folder, words), entries)))
    print("".join(said) + f"{len(entries)} compilations ({why}), {len(said)} with a fault")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
