"""The folder of a job whose end is looked at: the file that it writes, what its ranks noted, and
commands for it. Slurm's tests and those of containers have it."""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import jobs
import run as runner
from lot import fresh_seed
from model import faults
from small_programs import compiled

MPIS = ("mpich", "openmpi")
SECONDS = 60
SLOW = 20000  # Microseconds of a write: delayed ones are under way when the job is ended.
# Between nodes Open MPI has a file beside the one that is written, for its shared pointer.
LEFT_BY_MPI = r"left beside the file: \['file-[\d-]+\.lock'\]"


def with_each_mpi(test):
    """A method of a test case that has the MPI as its argument."""
    def each(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                test(self, mpi)
    return each


class JobTests(unittest.TestCase):
    """Tests of jobs in one folder, which all users may enter. What they draw has a seed."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        base = runner.BUILD / "tmp"
        base.mkdir(parents=True, exist_ok=True)
        cls.folder = Path(tempfile.mkdtemp(prefix=f"{cls.__name__.lower()}_", dir=base))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)
        seed = int(os.environ.get("SLUICE_TEST_SEED") or fresh_seed())
        print(f"seed {seed} (SLUICE_TEST_SEED={seed} draws the same again)", flush=True)
        cls.random = random.Random(seed)


class JobFolder:
    """A folder with the file and the notes of a durability_program, and commands for it: `sluice`,
    which makes the device slow for ranks and keepers, and `program`."""

    def __init__(self, base, mpi, scenario, slow=SLOW):
        self.mpi, self.scenario = mpi, scenario
        self.folder = Path(tempfile.mkdtemp(prefix="job_", dir=base))
        jobs.prepare(self.folder)
        disturber = compiled(mpi, jobs.HERE / "kill_at.c", shared=True)
        self.write("sluice", f'[ "$1" != run ] || export LD_PRELOAD={disturber}\n'
                             f'exec {runner.BUILD / mpi / "bin" / "sluice"} "$@"\n')
        program = compiled(mpi, jobs.HERE / "durability_program.cpp")
        self.write("program", " ".join(map(str, (
            "exec", program, self.file, self.folder / "notes", *scenario.steps))))
        self.mark = uuid.uuid4().hex
        self.settings = {**jobs.environment(mpi, scenario, self.folder, self.mark),
                         "SLUICE_TEST_SLOW": str(slow),
                         "SLUICE_TEST_KEEPER_ACTION": str(10**9)}  # None is ended.
        self.put_into_path(self.folder, runner.BUILD / "env" / mpi / "bin")

    def put_into_path(self, *folders):
        self.settings["PATH"] = ":".join(map(str, (*folders, self.settings["PATH"])))

    @property
    def file(self):
        return self.folder / "data" / "file"

    def write(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(0o755)

    def run(self, *words, seconds=SECONDS, **settings):
        """(exit code or None, output) of a command in the folder."""
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            return runner.execute([str(word) for word in words], {**self.settings, **settings},
                                  seconds, self.mark)
        finally:
            os.chdir(here)

    def begin(self, *words):
        """The same as a process, whose output is in `output`."""
        with (self.folder / "output").open("w") as output:
            return subprocess.Popen([str(word) for word in words], env=self.settings,
                                    cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output,
                                    stderr=subprocess.STDOUT)

    @property
    def output(self):
        return (self.folder / "output").read_text(errors="replace")

    def wait_for_steps(self, count):
        """Until ranks have begun or ended so many, all ranks counted."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            notes = (self.folder / "notes").read_text()
            if len(re.findall(r"(?m)^\d+ (?:begin|done) ", notes)) >= count:
                return
            time.sleep(0.01)
        raise RuntimeError(f"the job has not come to {count} steps: {self.output}")

    def wrong(self):
        """What the file holds that it may not, in words, and what was left beside it."""
        return [fault for fault in faults(self.scenario, self.folder)
                if not re.fullmatch(LEFT_BY_MPI, fault)]
