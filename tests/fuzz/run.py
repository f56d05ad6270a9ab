#!/usr/bin/env python3
"""Runs a fuzz program for some seconds on inputs that it draws from a corpus, with a new seed.

libFuzzer prints the seed. An input that fails is kept in the folder `failed` beside the program,
and its path is printed. The corpus is copied into the working folder, where it grows.
"""
import argparse
import shutil
import subprocess
import sys
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("program", type=Path)
    parser.add_argument("corpus", type=Path)
    arguments = parser.parse_args()
    shutil.rmtree("corpus", ignore_errors=True)
    shutil.copytree(arguments.corpus, "corpus")
    failed = arguments.program.resolve().parent / "failed"
    failed.mkdir(exist_ok=True)
    prefix = failed / f"{arguments.program.name}-"
    done = subprocess.run(
        [arguments.program, f"-max_total_time={arguments.seconds}", "-timeout=10",
         "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={prefix}", "corpus"],
        check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
