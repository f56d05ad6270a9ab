#!/usr/bin/env python3
"""Plants faults in src, one at a time, and notes whether `make test` finds each.

    planted.py [--faults 40] [--seed N]      so many, of a seed; those that are noted are left out
    planted.py --whole [--seed N]            those that make test missed: does test-all find them?
    planted.py --again [--seed N]            the same, after tests were written for them
    planted.py --same NUMBER=REASON...       faults that a reader takes for none, as nothing that
                                             anybody may rely on is another: they are not tried

A fault is an operator, a bound, a call that is left out, a condition turned round, or an early
return, in a line that is drawn by lot. Each is built and tried in a checkout of its own, of the
last commit, below build/planted; its records say that all parts have passed on that commit, so
tests are selected as for any change. Lines go to results/faults.jsonl.
"""
import argparse
import json
import random
import re
import subprocess
import sys
import time

from json_lines import append, lines_of
from parts import PARTS
from reach import ROOT

RECORD = ROOT / "results" / "faults.jsonl"
TREE = ROOT / "build" / "planted" / "tree"
LOG = ROOT / "build" / "planted" / "log"
SECONDS = 2400  # Of one run of tests.
WHOLE = ("no-mpi", "asan", "tsan", "mpich", "openmpi")  # What make test was before the parts.
# (kind, what a line has, what it becomes). Blanks around operators keep templates out.
KINDS = [
    ("operator", r" < (?!<)", " <= "), ("operator", r" <= ", " < "), ("operator", r" > ", " >= "),
    ("operator", r" >= ", " > "), ("operator", r" == ", " != "), ("operator", r" != ", " == "),
    ("operator", r" && ", " || "), ("operator", r" \|\| ", " && "), ("operator", r" \+ ", " - "),
    ("operator", r" - ", " + "), ("operator", r" \+= ", " -= "),
    ("bound", r"(?<=[ (])([0-9]+)(?=[;,)])", lambda m: str(int(m.group(1)) + 1)),
    ("condition", r"\bif \((?!constexpr)(.*)\)(?= [^)]*$)", r"if (!(\1))"),
    ("missing call", r"^    +[\w.>-]+\([^()]*\);$", "    ;"),
    ("early return", r"^(void [\w:]+\(.*\)(?: const)?(?: noexcept)? \{)$", r"\1 return;"),
]


def is_code(line):
    text = line.strip()
    return text and not text.startswith(("//", "#", "static_assert", "case ", "namespace")) and (
        "assert(" not in text and '"' not in text)


def drawn(lot, files):
    """A fault: (file, number of the line, kind, before, after)."""
    while True:
        file = lot.choice(files)
        lines = (ROOT / file).read_text().splitlines()
        number = lot.randrange(len(lines))
        line, (kind, pattern, after) = lines[number], lot.choice(KINDS)
        if not is_code(line):
            continue
        code = line.partition("//")[0].rstrip()
        places = list(re.finditer(pattern, code))
        if places:
            place = lot.choice(places)
            new = after(place) if callable(after) else place.expand(after)
            changed = code[:place.start()] + new + code[place.end():]
            if changed != code:
                return {"file": file, "line": number + 1, "kind": kind, "before": code.strip(),
                        "after": changed.strip()}


def run(*words, check=False, **options):
    return subprocess.run([str(word) for word in words], cwd=TREE, check=check, text=True,
                          capture_output=True, **options)


def prepare():
    """A checkout of the last commit, in which all has passed."""
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True,
                            text=True, check=True).stdout.strip()
    if not TREE.exists():
        subprocess.run(["git", "clone", "-q", ROOT, TREE], check=True)
        (TREE / "build").mkdir()
        (TREE / "build" / "env").symlink_to(ROOT / "build" / "env")
    run("git", "fetch", "-q", "origin", check=True)
    run("git", "checkout", "-q", "-f", commit, check=True)
    run("git", "clean", "-q", "-f", "-d", "results", "src", "docs", check=True)
    passed = {"commit": commit, "date": "2000-01-01", "machine": "assumed", "passed": 1,
              "failed": 0, "skipped": 0, "seconds": 0}
    lines = [json.dumps({"part": part, **passed}) for part in PARTS]
    (TREE / "results" / "tests.jsonl").write_text("\n".join(lines) + "\n")
    # The documents say what the records do.
    run(sys.executable, "-B", "results/table", check=True)
    LOG.mkdir(exist_ok=True)
    return commit


def is_built():
    """Whether the fault compiles at all: a compiler's error is no finding of a test."""
    return all(run("make", "--no-print-directory", "build", f"MPI={variant}", f"TARGETS={target}",
                   timeout=SECONDS).returncode == 0
               for variant, target in (("no-mpi", "sluice_tools"), ("mpich", "sluice")))


def tried(words, log):
    """Which tests find it; the run stops at the first that does."""
    try:
        done = run(sys.executable, "tests/run.py", "--stop", *words, timeout=SECONDS)
        output = done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return ["out of time"]
    log.write_text(output)
    return list(dict.fromkeys(re.findall(r"^failed: (.*)", output, re.MULTILINE)))


def plant(fault):
    """In the line that is as it was when the fault was drawn: the nearest one, if it has moved.
    False where there is none any more."""
    path = TREE / fault["file"]
    lines = path.read_text().splitlines() if path.exists() else []
    same = [at for at, line in enumerate(lines) if line.partition("//")[0].strip() ==
            fault["before"]]
    if not same:
        print(f"no such line any more in {fault['file']}: {fault['before']}", flush=True)
        return False
    at = min(same, key=lambda at: abs(at + 1 - fault["line"]))
    lines[at] = lines[at].replace(fault["before"], fault["after"])
    path.write_text("\n".join(lines) + "\n")
    # What the format of a line betrays is no finding.
    run(ROOT / "build" / "env" / "tools" / "bin" / "clang-format", "-i", path, check=True)
    return True


def tried_by_build(args, number):
    """By `make test`: build by build, those first that are quick to make. All unit tests without a
    sanitizer come before: what they find those of `make test` find with one, more slowly."""
    log = LOG / f"{args.seed}-{number}.log"
    if found := tried(["--parts", "no-mpi"], log):
        return found
    for build in ("no-mpi", "mpich", "asan", "openmpi", "tsan"):
        if found := tried(["--only", f" {build}", "--mpi", "mpich"], log):
            return found
    return []


def try_fault(fault, number, args, commit, run_name):
    prepare()
    if not plant(fault) or not is_built():
        return False
    begin = time.monotonic()
    found = tried_by_build(args, number)
    line = {"seed": args.seed, "number": number, "commit": commit, "run": run_name,
            **fault, "found": found, "seconds": round(time.monotonic() - begin)}
    append(RECORD, line)
    print(f"{number}: {fault['file']}:{fault['line']} {fault['kind']}: {fault['before']} -> "
          f"{fault['after']}: {', '.join(found) or 'NOT FOUND'}, {line['seconds']} s", flush=True)
    return True


def faults_of(seed):
    """All faults of a seed, one after the other."""
    lot = random.Random(seed)
    files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.cpp"))
    while True:
        yield drawn(lot, files)


def note_same(args):
    reasons = dict(word.split("=", 1) for word in args.same)
    for at, fault in zip(range(max(map(int, reasons)) + 1), faults_of(args.seed)):
        if str(at) in reasons:
            append(RECORD, {"seed": args.seed, "number": at, "run": "read", **fault,
                            "same": reasons[str(at)]})
    return 0


def key_of(fault):
    """Lines move where others are written above them."""
    return tuple(fault[name] for name in ("file", "kind", "before", "after"))


def recorded(args, run_name):
    """Fault -> its line."""
    return {key_of(line): line for line in lines_of(RECORD)
            if line["seed"] == args.seed and line["run"] == run_name}


def fault_in(line):
    return {name: line[name] for name in ("file", "line", "kind", "before", "after")}


def try_new(args, commit):
    """Those that come behind the last one which is noted: where files have come since, a seed draws
    other faults, also in the places of those."""
    begin = time.monotonic()
    known, same = recorded(args, "make test"), recorded(args, "read")
    planted, last = len(known), max((line["number"] for line in known.values()), default=-1)
    for at, fault in enumerate(faults_of(args.seed)):
        late = args.minutes and time.monotonic() - begin > 60 * args.minutes
        if planted == args.faults or late:
            return
        if at > last and key_of(fault) not in same:
            planted += try_fault(fault, at, args, commit, "make test")


def try_missed(args, commit):
    """With the parts, or again with `make test`: those that were not found either way yet."""
    again, whole = recorded(args, "again"), recorded(args, "whole")
    for line in recorded(args, "make test").values():
        key = key_of(line)
        known = again.get(key, line)["found"] or (args.whole and key in whole)
        if line["found"] or known or line["number"] not in (args.numbers or [line["number"]]):
            continue
        if args.again:
            try_fault(fault_in(line), line["number"], args, commit, "again")
            continue
        prepare()
        if not plant(fault_in(line)):
            continue
        found = tried(["--parts", *WHOLE], LOG / f"{args.seed}-{line['number']}-whole.log")
        append(RECORD, {**line, "commit": commit, "run": "whole", "found": found})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="begin none after so many")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--numbers", type=int, nargs="+",
                        help="with --again and --whole: only these")
    parser.add_argument("--same", nargs="+", default=[], metavar="NUMBER=REASON")
    args = parser.parse_args()
    if args.same:
        return note_same(args)
    commit = prepare()
    if found := tried([], LOG / "nothing.log"):
        sys.exit(f"fails with nothing planted: {', '.join(found)}")
    (try_missed if args.whole or args.again else try_new)(args, commit)
    for run_name in ("make test", "whole", "again"):
        lines = recorded(args, run_name).values()
        print(f"seed {args.seed}, {run_name}: {sum(bool(line['found']) for line in lines)} of "
              f"{len(lines)} found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
