#!/usr/bin/env python3
"""Whether another compiler compiles the library and the programs without a warning.

    other_compilers.py clang      a clang of version 15 or later, the newest on PATH or what CLANG
                                  names; `make setup` does not install one
    other_compilers.py aarch64    Debian's g++ for 64-bit Arm; nothing is run

Without the compiler it is skipped (exit code 77). Nothing is written.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from clang_tidy import BUILD, write_list

OLDEST = {"clang": 15, "aarch64": 12}  # The first clang that knows the ranges of g++ 12's library.
NAMES = {"clang": "clang++", "aarch64": "aarch64-linux-gnu-g++"}
OPTIONS = {
    # The C++ library of g++ 12 marks as deprecated what its own algorithms use.
    "clang": ("-Wno-deprecated-declarations", "-fsyntax-only"),
    # Headers of libraries are the host's. What the optimiser warns of is left to the host's g++.
    "aarch64": ("-idirafter", "/usr/include", "-O0", "-S", "-o", os.devnull),
}


def newest(kind):
    """The path of the newest compiler of the kind, or None."""
    names = [os.environ.get("CLANG", "")] if kind == "clang" else []
    names += [f"{NAMES[kind]}-{n}" for n in range(40, OLDEST[kind] - 1, -1)] + [NAMES[kind]]
    for path in filter(None, map(shutil.which, filter(None, names))):
        text = subprocess.run([path, "--version"], capture_output=True, text=True,
                              check=False).stdout
        version = re.search(r"(?:clang version |\) )(\d+)\.", text)
        if version and int(version.group(1)) >= OLDEST[kind]:
            return path
    return None


def warnings_of(compiler, options, entry):
    """What the compiler says of one compilation."""
    words = shlex.split(entry["command"])
    begin = next(at for at, word in enumerate(words) if word.startswith("-"))
    words = [word for word in words[begin:] if not word.startswith("-fsanitize")]
    for option in ("-o", "-MT", "-MF"):
        if option in words:
            del words[words.index(option):words.index(option) + 2]
    done = subprocess.run([compiler, *words, "-Werror", *options], text=True, capture_output=True,
                          cwd=entry["directory"], check=False)
    return done.stdout + done.stderr if done.returncode else ""


def main():
    kind = sys.argv[1]
    compiler = newest(kind)
    if not compiler:
        print(f"no {NAMES[kind]} of version {OLDEST[kind]} or later is installed")
        return 77
    entries = [entry for entry in write_list(BUILD / kind)
               if pathlib.Path(entry["file"]).suffix in (".cpp", ".cxx")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(filter(None, pool.map(
            lambda entry: warnings_of(compiler, OPTIONS[kind], entry), entries)))
    print("\n".join(said))
    print(f"{compiler}: {len(entries)} compilations, {len(said)} with a warning or an error")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
