#!/usr/bin/env python3
"""Whether clang compiles the library and the programs without a warning: a clang of version 15 or
later, the newest on PATH or what CLANG names. `make setup` does not install one; without it this is
skipped (exit code 77). Nothing is written.
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

OLDEST = 15  # The first that knows the ranges of g++ 12's library.
# That library marks as deprecated what its own algorithms use. Names that hide others are left to
# g++: clang counts those of unnamed namespaces of all files that are compiled together, too.
OPTIONS = ("-Wno-deprecated-declarations", "-Wno-shadow", "-fsyntax-only")


def newest():
    """The path of the newest clang, or None."""
    names = [os.environ.get("CLANG", ""), *(f"clang++-{n}" for n in range(40, OLDEST - 1, -1)),
             "clang++"]
    for path in filter(None, map(shutil.which, filter(None, names))):
        text = subprocess.run([path, "--version"], capture_output=True, text=True,
                              check=False).stdout
        version = re.search(r"clang version (\d+)\.", text)
        if version and int(version.group(1)) >= OLDEST:
            return path
    return None


def warnings_of(compiler, entry):
    """What the compiler says of one compilation."""
    words = shlex.split(entry["command"])
    begin = next(at for at, word in enumerate(words) if word.startswith("-"))
    words = [word for word in words[begin:] if not word.startswith("-fsanitize")]
    for option in ("-o", "-MT", "-MF"):
        if option in words:
            del words[words.index(option):words.index(option) + 2]
    done = subprocess.run([compiler, *words, "-Werror", *OPTIONS], text=True, capture_output=True,
                          cwd=entry["directory"], check=False)
    return done.stdout + done.stderr if done.returncode else ""


def main():
    compiler = newest()
    if not compiler:
        print(f"no clang++ of version {OLDEST} or later is installed")
        return 77
    entries = [entry for entry in write_list(BUILD / "clang")
               if pathlib.Path(entry["file"]).suffix in (".cpp", ".cxx")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(filter(None, pool.map(lambda entry: warnings_of(compiler, entry), entries)))
    print("\n".join(said))
    print(f"{compiler}: {len(entries)} compilations, {len(said)} with a warning or an error")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
