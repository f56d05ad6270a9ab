#!/usr/bin/env python3
"""Checks the models of the protocols that lie below the simulated ports, with spin: all orders of
their steps, first without a fault, then with each fault that a model names. A fault that is not
found means that the model, or the property, says nothing about it. Ends with 77 without spin.

    run.py [--only NAME] [--large] [--json FILE]
"""
import argparse
import datetime
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path.insert(0, str(FOLDER.parent))
import json_lines

MEMORY_MIB, SECONDS, SECONDS_LARGE, DEPTH = 1500, 300, 1800, 1000000
WHAT = {"assertion violated": "assertion", "invalid end state": "end state"}


@dataclass
class Constant:
    """A number of the code, by the text that it stands in. `model`: what a model takes in its
    place, where all orders of the steps would be too many; `large`: the same with --large."""
    header: str
    text: str
    model: int = 0
    large: int = 0
    times: int = 1  # The number in the header's text, in the unit of the model.

    def true(self):
        found = re.findall(self.text, (ROOT / self.header).read_text())
        if len(found) != 1:
            sys.exit(f"{self.header}: {len(found)} places like '{self.text}', 1 is expected")
        return int(found[0]) * self.times


@dataclass
class Model:
    name: str
    constants: dict
    large: dict = field(default_factory=dict)  # Other names, for --large.

    def path(self):
        return FOLDER / f"{self.name}.pml"

    def faults(self):
        """Number -> which error it must lead to, as the model's first comment says."""
        text = self.path().read_text()
        named = re.findall(r"^ \* fault (\d+) \((assertion|end state)\): \S", text, re.MULTILINE)
        used = set(re.findall(r"FAULT [=!]= (\d+)", text))
        if not named or {number for number, _ in named} != used:
            sys.exit(f"{self.path().name}: the faults that it names are not those that it has")
        return {int(number): kind for number, kind in named}

    def bounds(self, values):
        """All numbers of the model, those that have no name in the code, too."""
        own = re.findall(r"^#ifndef (\w+).*\n#define \1 +(\d+)", self.path().read_text(),
                         re.MULTILINE)
        return {**{name: int(value) for name, value in own if name != "FAULT"}, **values}

    def values(self, is_large):
        values = {name: self.value(one, is_large) for name, one in self.constants.items()}
        return {**values, **(self.large if is_large else {})}

    @staticmethod
    def value(constant, is_large):
        return (is_large and constant.large) or constant.model or constant.true()

    def constants_in_words(self, is_large):
        def words(name, value):
            true = self.constants[name].true() if name in self.constants else value
            return f"{name} {value}" + ("" if value == true else f" (in the code {true})")
        bounds = self.bounds(self.values(is_large))
        return ", ".join(words(name, value) for name, value in bounds.items())


STAGING, REGION = "src/file/plan/staging.hpp", "src/file/run/shared_region.hpp"
QUEUE, PEER = "src/transport/node_queue.cpp", "src/transport/node_peer.cpp"
CHANNEL, ENDPOINT = "src/transport/fabric_channel.cpp", "src/transport/libfabric_endpoint.cpp"
MODELS = [
    Model("boards", {
        "UNDER_WAY": Constant(REGION, r"operations_under_way = (\d+);", 1),
        "BOARDS_BY_UNDER_WAY": Constant(REGION, r"board_count = (\d+) \* operations_under_way;")},
        {"OPERATIONS": 5}),
    Model("cb_buffers", {
        "SLOTS": Constant(STAGING, r"cb_buffers_per_aggregator = (\d+);", 1, 2),
        "BUFFERS": Constant(STAGING, r"cb_buffers_most = (\d+);", 2, 3)}, {"ROUNDS": 3}),
    Model("doorbell", {}, {"MESSAGES": 2}),
    Model("node_queue", {
        "CELLS": Constant(QUEUE, r"cells_min = (\d+);", 4),
        "POOL": Constant(QUEUE, r"pool_min = (\d+) \* 1024,", 8, times=1024 // 64),
        "QUARTER": Constant(QUEUE, r"taken_ - told_ >= shape_.cells / (\d+);")},
        {"MESSAGES": 12}),
    Model("node_peer", {"COPY_MAX": Constant(PEER, r"copy_max = (\d+) \* 1024;", 3, times=1024)},
          {"LENGTH": 10, "ROOM": 2}),
    Model("fabric", {
        "SLOTS": Constant(ENDPOINT, r"slots_of_peer_least = (\d+),", 0, 3),
        "CREDITED_AT": Constant(CHANNEL, r"receiver.slots / (\d+), 1\)")}, {"SHORT": 4}),
    Model("journal_claim", {}, {"PROGRAMS": 4}),
    Model("keeper", {}, {"CALLS": 3}),
    Model("marks", {}, {"WRITES": 4}),
]


def run(words, folder, seconds):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=seconds,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def verify(model, values, is_large, optimized):
    """What the verifier says of the model with these names defined. Most faults are found sooner
    than a compiler optimizes."""
    defines = [f"-D{name}={value}" for name, value in values.items()]
    with tempfile.TemporaryDirectory() as folder:
        code, said = run(["spin", *defines, "-a", str(model.path())], folder, SECONDS)
        if code != 0 or not (Path(folder) / "pan.c").exists():
            sys.exit(f"{model.name}: spin: {said}")
        memory = 8 * MEMORY_MIB if is_large else MEMORY_MIB
        how = ["-O2" if optimized else "-O0", "-w", "-DSAFETY", f"-DMEMLIM={memory}",
               "-DCOLLAPSE", "-DVECTORSZ=2048"]
        code, said = run(["cc", *how, "-o", "pan", "pan.c"], folder, SECONDS)
        if code != 0:
            sys.exit(f"{model.name}: cc: {said}")
        return run(["./pan", f"-m{DEPTH}", "-n"], folder,
                   SECONDS_LARGE if is_large else SECONDS)[1]


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def number(pattern, said):
    found = re.search(pattern, said)
    return float(found.group(1)) if found else 0


def outcome(said):
    """None: no error, and all states were seen. Else what was found, or why not all were."""
    for text, kind in WHAT.items():
        if f"pan:1: {text}" in said:
            return kind
    if "errors: 0" not in said:
        return "another error: " + said.strip()[-300:]
    if re.search(r"max search depth too small|reached -DMEMLIM|out of memory|incomplete", said):
        return "not all states were seen"
    return None


def check(model, is_large):
    """One line of results, and whether all is as it has to be."""
    began = processor_seconds()
    values = model.values(is_large)
    said = verify(model, values, is_large, True)
    right = outcome(said)
    faults = model.faults()
    found = {}
    for fault, kind in faults.items():
        found[fault] = outcome(verify(model, {**values, "FAULT": fault}, is_large, False))
        if found[fault] != kind:
            print(f"{model.name}: fault {fault}: expected: {kind}; found: {found[fault]}")
    if right is not None:
        print(f"{model.name}: without a fault: {right}")
    of_code = {name: one.true() for name, one in model.constants.items()}
    line = {"model": model.name,
            "errors": int(right is not None),
            "states": int(number(r"(\d[\d.e+]*) states, stored", said)),
            "transitions": int(number(r"(\d[\d.e+]*) transitions", said)),
            "seconds": round(processor_seconds() - began, 1),
            "memory_mb": round(number(r"([\d.]+)\s+total actual memory usage", said)),
            "faults": len(faults),
            "found": sum(found[fault] == kind for fault, kind in faults.items()),
            "constants": model.bounds(values), "in the code": of_code}
    return line, right is None and line["found"] == line["faults"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--only", choices=[model.name for model in MODELS])
    parser.add_argument("--large", action="store_true", help="with larger numbers, by hand")
    parser.add_argument("--json", type=Path, metavar="FILE", help="appends a line for each model")
    options = parser.parse_args()
    if not shutil.which("spin"):
        print("spin is not installed: `setup/environment --install models`")
        return 77
    version = subprocess.run(["spin", "-V"], capture_output=True, text=True, check=True).stdout
    all_well = True
    for model in MODELS:
        if options.only not in (None, model.name):
            continue
        line, is_well = check(model, options.large)
        all_well &= is_well
        print(f"{model.name}: {line['states']} states, {line['seconds']} s, {line['memory_mb']} "
              f"MB, {line['found']} of {line['faults']} faults found; "
              f"{model.constants_in_words(options.large)}", flush=True)
        line |= {"date": datetime.date.today().isoformat(),
                 "spin": version.split("--")[0].removeprefix("Spin Version").strip(),
                 "cores": os.cpu_count()}
        if options.json:
            json_lines.append(options.json, line)
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())
