"""Which tests of `make test` a change can break.

results/tests.jsonl says on which commit each part of `make test-all` last passed. What has changed
since then, in commits or in the working tree, is compared with what a test reaches (tests.cmake:
SOURCE and REACH). Where nothing is known, the test runs.
"""
import functools
import subprocess
from dataclasses import dataclass, field

from json_lines import lines_of
from reach import ROOT, included_by, name_of, read_below, rooms_of

RECORD = ROOT / "results" / "tests.jsonl"
# Who changes one of these may have changed any test.
FOR_ALL = ("CMakeLists.txt", "CMakePresets.json", "setup/", "tests/tests.cmake",
           "tests/mpi_tests.cmake", "tests/run.py", "tests/selection.py", "tests/parts.py",
           "tests/timed.py", "tests/unit/unit.cmake", "tests/unit/main.cpp")


@dataclass
class Test:
    """A test of CTest, with what tests.cmake says of it."""
    name: str
    variant: str  # The build that it is in.
    part: str = ""
    tiers: list = field(default_factory=list)
    sources: list = field(default_factory=list)
    reach: list = field(default_factory=list)
    targets: list = field(default_factory=list)

    @property
    def proven_by(self):
        """The part of test-all that does at least as much."""
        return self.part or self.variant


def test_of(entry, variant):
    """From what CTest says of it."""
    test = Test(entry["name"], variant)
    labels = next((one["value"] for one in entry["properties"] if one["name"] == "LABELS"), [])
    for label in labels:
        kind, _, value = label.partition(" ")
        if kind == "part":
            test.part = value
        else:
            {"tier": test.tiers, "source": test.sources, "reach": test.reach,
             "targets": test.targets}[kind].append(value)
    return test


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False,
                          errors="surrogateescape")  # A file may have any name.
    return done.stdout.split("\0" if "-z" in words else "\n") if done.returncode == 0 else None


@functools.cache
def last_passes():
    """Part -> the newest commit on which it passed, of those that this one comes after."""
    ancestors = {}
    passes = {}
    for line in lines_of(RECORD):
        commit = line["commit"]
        if commit not in ancestors:
            ancestors[commit] = git("merge-base", "--is-ancestor", commit, "HEAD") is not None
        if line["failed"] == 0 and ancestors[commit]:
            passes[line["part"]] = commit
    return passes


def changed_files(commit):
    """Those that are not as they were, or None where that cannot be known."""
    tracked = git("diff", "--name-only", "-z", commit)
    new = git("ls-files", "--others", "--exclude-standard", "-z")
    if tracked is None or new is None:
        return None
    return frozenset(filter(None, tracked + new))


changed_since = functools.cache(changed_files)  # For one choice of tests.


def lies_in(file, path):
    return file == path or file.startswith(path.rstrip("/") + "/")


@functools.cache
def reached_by(source):
    """A test of a file's rooms, or a build of a folder: (files, rooms)."""
    path = ROOT / source
    if path.is_dir():
        return read_below(path), frozenset()
    return frozenset(map(name_of, included_by(path))), frozenset(rooms_of(path))


def breaks(test, file):
    """Whether a change of the file can break the test."""
    if file.startswith(FOR_ALL) or any(lies_in(file, path) for path in test.reach):
        return True
    for files, rooms in map(reached_by, test.sources):
        if file in files or file.rpartition("/")[0] in rooms:
            return True
    return False


def not_needed(test):
    """Why a test need not run; nothing where it must."""
    commit = last_passes().get(test.proven_by)
    changed = changed_since(commit) if commit else None
    if changed is None and "changed" in test.tiers:
        return f"{test.proven_by} has not passed yet, so it is not known whether it is reached"
    if changed is None or not (test.sources or test.reach):
        return ""
    if any(breaks(test, file) for file in changed):
        return ""
    return f"nothing that it reaches has changed since {test.proven_by} passed on {commit[:7]}"
