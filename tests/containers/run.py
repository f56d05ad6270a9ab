#!/usr/bin/env python3
"""Runs jobs in containers (engine.py): what `sluice check` says there, and what is in the file when
a container was stopped. The commands are those of docs/start/containers.md. Ends with 77 where no
container can be started.

    run.py [-v] [Containers.test_NAME ...]
"""
import json
import re
import signal
import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name)
                for name in ("mpi", "durability", ".")]
import engine
import run as runner
from job_folder import JobFolder, JobTests, SECONDS, SLOW, with_each_mpi
from model import STEPS, Notes, Scenario
from small_programs import ROOT

PAGE = ROOT / "docs" / "start" / "containers.md"
RANKS = 4
SLOWER = 600000  # Microseconds of a write.
TRIES = 8  # Until a moment comes at which something is left to recover.
SKIPPED = 77
SCENARIO = Scenario("a container", RANKS, tuple(STEPS), delayed=True)
BEHIND = Scenario("a container", RANKS, tuple(STEPS), delayed=True, journals="kept")


class Job(JobFolder):
    """One that runs in containers."""

    def __init__(self, tests, mpi, scenario=BEHIND, slow=SLOW):
        super().__init__(tests.folder, mpi, scenario, slow)
        self.name, self.engine = self.folder.name, tests.engine
        self.put_into_path(self.engine)

    def script(self, title, first=False):
        """A script of the page, or its first command; the container has a name of its own."""
        text = PAGE.read_text()
        script = re.search(rf'```sh title="{title}"\n(.*?)```', text, re.DOTALL).group(1)
        script = script.replace("--name job", f"--name {self.name}")
        return ("sh", "-c", script.split("\ndocker")[0] if first else script)

    def docker(self, *words):
        return engine.docker(self.engine, *words)

    def recover(self):
        """The second command of the page; returns how many writes it has written."""
        code, said = self.run("sh", "-c", "docker" + self.script("behind.sh")[2]
                              .split("\ndocker")[1])
        if code != 0:
            raise RuntimeError(f"sluice recover: {said}")
        return sum(map(int, re.findall(r"(?m)^(\d+) writes, .* in their files$", said)))

    def journals(self):
        return sorted((self.folder / "journals").glob("*.sluice-journal"))


class Containers(JobTests):
    def check(self, mpi, *options):
        """What `sluice check` says in a container with these options."""
        job = Job(self, mpi)
        for folder in (job.folder, job.folder / "tmp"):
            folder.chmod(0o777)
        code, said = job.run("docker", "run", "--rm", "--volume", f"{job.folder}:{job.folder}",
                             "--workdir", job.folder, *options, "image",
                             runner.BUILD / mpi / "bin" / "sluice", "check", "--json")
        self.assertEqual(code, 0, said)
        facts = json.loads(said[said.index("{"):])
        self.assertTrue(all(check["passed"] for check in facts["checks"]), said)
        return facts

    @with_each_mpi
    def test_check(self, mpi):
        lacks = str(self.check(mpi)["lacks"])
        self.assertIn("/dev/fuse", lacks)
        self.assertIn("--shm-size", lacks)
        self.assertNotIn("--shm-size", str(self.check(mpi, "--shm-size", "1g")["lacks"]))

    @with_each_mpi
    def test_a_user_without_rights(self, mpi):
        self.check(mpi, "--user", "1234:1234", "--cap-drop", "all", "--security-opt",
                   "no-new-privileges", "--shm-size", "1g")

    @with_each_mpi
    def test_a_program(self, mpi):
        job = Job(self, mpi, SCENARIO)
        code, said = job.run(*job.script("run.sh"))
        self.assertEqual(code, 0, said)
        self.assertEqual(job.wrong(), [])

    @with_each_mpi
    def test_write_behind(self, mpi):
        job = Job(self, mpi)
        code, said = job.run(*job.script("behind.sh"))
        self.assertEqual(code, 0, said)
        self.assertEqual(job.wrong(), [])
        self.assertEqual(job.journals(), [])

    def stopped(self, mpi, *how):
        """At a drawn moment; returns how many writes were left to recover."""
        job = Job(self, mpi, slow=SLOWER)
        container = job.begin(*job.script("behind.sh", first=True))
        job.wait_for_steps(self.random.randrange(RANKS, RANKS * 6))
        job.docker(*how, job.name)
        container.wait(SECONDS)
        recovered = job.recover()
        self.assertEqual(job.wrong(), [], job.output)
        self.assertEqual(job.journals(), [])
        return recovered

    @with_each_mpi
    def test_a_stopped_container(self, mpi):
        for how in (("stop", "--time", "1"), ("kill",)):
            if not any(self.stopped(mpi, *how) for _ in range(TRIES)):
                self.fail(f"{how}: nothing was left to recover, so nothing is tested")

    @with_each_mpi
    def test_a_killed_rank(self, mpi):
        """The container ends with it, and its keepers."""
        job = Job(self, mpi)
        job.settings |= {"SLUICE_TEST_KILL_RANK": "1", "SLUICE_TEST_KILL_ACTION": "4",
                         "SLUICE_TEST_KILL_MOMENT": "before"}
        job.run(*job.script("behind.sh"))
        self.assertTrue(Notes((job.folder / "notes").read_text()).kills)
        self.assertEqual(job.wrong(), [])
        self.assertEqual(job.journals(), [])

    def test_a_recovery_beside_a_job(self):
        """Containers number their processes alike; the journals of one that runs are left alone."""
        job = Job(self, "mpich", slow=SLOWER)
        container = job.begin(*job.script("behind.sh", first=True))
        job.wait_for_steps(2 * RANKS)
        before = job.journals()
        self.assertEqual(job.recover(), 0)
        self.assertIsNone(container.poll(), job.output)
        self.assertEqual((job.journals(), len(before)), (before, RANKS))
        self.assertEqual(container.wait(SECONDS), 0, job.output)
        self.assertEqual(job.wrong(), [])


def main():
    """At its time limit, too, no container stays."""
    Containers.engine = engine.make()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if why := engine.missing(Containers.engine):
            print(f"skipped: {why}")
            return SKIPPED
        return 0 if unittest.main(exit=False).result.wasSuccessful() else 1
    finally:
        engine.remove(Containers.engine)


if __name__ == "__main__":
    sys.exit(main())
