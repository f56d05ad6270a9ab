#!/usr/bin/env python3
"""Runs a fuzz program for some seconds on inputs that it draws from a corpus, with a new seed.

libFuzzer prints the seed. An input that fails is kept in the folder `failed` beside the program,
and its path is printed. The corpus is copied into the working folder, where it grows.
"""
import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import json_lines
import machine


def note(arguments, done):
    """libFuzzer says at its end how many inputs it has tried; not where one has crashed."""
    runs = re.search(r"stat::number_of_executed_units: *(\d+)", done.stderr)
    json_lines.append(arguments.json, {
        "target": arguments.program.name.removesuffix("_fuzz"),
        "runs": int(runs.group(1)) if runs else 0, "failed": int(done.returncode != 0),
        "seconds": arguments.seconds, "date": time.strftime("%Y-%m-%d"),
        "machine": machine.machine(), "command": "make test-all PART=fuzz"})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("program", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--json", type=Path, help="append one line to this file")
    arguments = parser.parse_args()
    shutil.rmtree("corpus", ignore_errors=True)
    shutil.copytree(arguments.corpus, "corpus")
    failed = arguments.program.resolve().parent / "failed"
    failed.mkdir(exist_ok=True)
    prefix = failed / f"{arguments.program.name}-"
    done = subprocess.run(
        [arguments.program, f"-max_total_time={arguments.seconds}", "-timeout=10",
         "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={prefix}", "corpus"],
        check=False, stderr=subprocess.PIPE, text=True, errors="replace")
    print(done.stderr, end="")
    if arguments.json:
        note(arguments, done)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
