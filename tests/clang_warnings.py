#!/usr/bin/env python3
"""Whether clang compiles the library and the programs without a warning.

It needs a clang of version 15 or later, which `make setup` does not install; without one it is
skipped (exit code 77). CLANG names another one than the newest on PATH.
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

# The C++ library of g++ 12 marks as deprecated what its own algorithms use.
LEFT_OUT = ("-Wno-deprecated-declarations",)
OLDEST = 15  # The first one that compiles the ranges of the C++ library of g++ 12.


def newest_clang():
    names = [os.environ.get("CLANG", ""), *(f"clang++-{n}" for n in range(40, OLDEST - 1, -1)),
             "clang++"]
    for path in filter(None, map(shutil.which, filter(None, names))):
        text = subprocess.run([path, "--version"], capture_output=True, text=True,
                              check=False).stdout
        version = re.search(r"clang version (\d+)", text)
        if version and int(version.group(1)) >= OLDEST:
            return path
    return None


def warnings_of(clang, entry):
    """What clang says of one compilation; nothing is written."""
    words = shlex.split(entry["command"])
    begin = next(at for at, word in enumerate(words) if word.startswith("-"))
    words = [word for word in words[begin:] if not word.startswith("-fsanitize")]
    del words[words.index("-o"):words.index("-o") + 2]
    done = subprocess.run([clang, *words, "-fsyntax-only", "-Werror", *LEFT_OUT], text=True,
                          capture_output=True, cwd=entry["directory"], check=False)
    return done.stdout + done.stderr if done.returncode else ""


def main():
    clang = newest_clang()
    if not clang:
        print(f"no clang++ of version {OLDEST} or later is installed")
        return 77
    entries = [entry for entry in write_list(BUILD / "clang")
               if pathlib.Path(entry["file"]).suffix in (".cpp", ".cxx")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(filter(None, pool.map(lambda entry: warnings_of(clang, entry), entries)))
    print("\n".join(said))
    print(f"{clang}: {len(entries)} compilations, {len(said)} with a warning or an error")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
