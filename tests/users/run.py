#!/usr/bin/env python3
"""Runs jobs of two users at the same time on one node, in one folder: what each writes is right,
and what one has in memory and in journals the other cannot read. As root; ends with 77 elsewhere.

    run.py [-v] [Users.test_NAME ...]
"""
import os
import shutil
import stat
import subprocess
import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name)
                for name in ("mpi", "durability", ".")]
import run as runner
from job_folder import JobFolder, JobTests, SECONDS, with_each_mpi
from model import OVER, STEPS, Scenario

USERS = (61234, 61235)  # No names are needed.
RANKS = 2
SHM = Path("/dev/shm")
SLOWER = 200000  # Microseconds of a write.
SKIPPED = 77
PLAIN = Scenario("two users", RANKS, tuple(STEPS))
BEHIND = Scenario("two users", RANKS, tuple(OVER), delayed=True)
FOLDER = Scenario("two users", RANKS, tuple(STEPS), delayed=True, journals="kept")


def as_user(user, *words):
    return ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *words)


def missing():
    """Why there can be no two users here; empty if there can."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return "another user's jobs can be started by root, with setpriv, only"
    reaches = subprocess.run(as_user(USERS[0], "test", "-r", runner.BUILD / "mpich" / "bin"),
                             check=False).returncode == 0
    return "" if reaches else f"others than root do not reach {runner.BUILD}"


class Job(JobFolder):
    """One of a user."""

    def __init__(self, base, mpi, user, scenario, slow=SLOWER):
        super().__init__(base, mpi, scenario, slow)
        self.user = user
        self.settings |= {"HOME": str(self.folder)}
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, user, user)

    def start(self, *behind):
        return self.begin(*as_user(self.user, "mpiexec", "-n", RANKS, "sluice", "run", *behind,
                                   "./program"))


class Users(JobTests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder.chmod(0o1777)

    def jobs(self, mpi, scenario, *behind):
        """Of both users, under way."""
        jobs = [Job(self.folder, mpi, user, scenario) for user in USERS]
        return jobs, [job.start(*behind) for job in jobs]

    def end(self, jobs, processes):
        for job, process in zip(jobs, processes):
            self.assertEqual(process.wait(SECONDS), 0, job.output)
            self.assertEqual(job.wrong(), [], job.output)

    def readable_by_the_other(self, paths):
        """Those of one user that the other may open."""
        found = []
        for path in paths:
            with_other = as_user(USERS[0] if path.stat().st_uid == USERS[1] else USERS[1],
                                 "test", "-r", path)
            if subprocess.run(with_other, check=False).returncode == 0:
                found.append(f"{path} {stat.filemode(path.stat().st_mode)}")
        return found

    def of_sluice(self, *folders):
        """What lies there under a name of Sluice's and is of one of the users."""
        return [path for folder in folders for path in folder.iterdir()
                if "sluice" in path.name and path.stat().st_uid in USERS]

    @with_each_mpi
    def test_two_at_once(self, mpi):
        self.end(*self.jobs(mpi, PLAIN))

    @with_each_mpi
    def test_write_behind(self, mpi):
        jobs, processes = self.jobs(mpi, BEHIND, "--behind=64M")
        for job in jobs:
            job.wait_for_steps(RANKS + 1)
        held = self.of_sluice(SHM)  # Marks.
        self.assertEqual(sorted({path.stat().st_uid for path in held}), list(USERS))
        self.assertEqual(self.readable_by_the_other(held), [])
        self.end(jobs, processes)
        self.assertEqual(self.of_sluice(SHM), [])

    @with_each_mpi
    def test_journals_in_one_folder(self, mpi):
        """Each user's recovery leaves the other's alone, whose job runs."""
        journals = self.folder / f"journals_{mpi}"
        journals.mkdir()
        journals.chmod(0o1777)
        jobs, processes = self.jobs(mpi, FOLDER, f"--behind=64M,{journals}")
        for job in jobs:
            job.wait_for_steps(RANKS + 1)
        held = self.of_sluice(journals)
        self.assertEqual(sorted({path.stat().st_uid for path in held}), list(USERS))
        self.assertEqual(self.readable_by_the_other([*held, *self.of_sluice(SHM)]), [])
        _, said = jobs[0].run(*as_user(USERS[0], "sluice", "recover", journals))
        self.assertEqual(said.count("left alone"), len(held), said)
        self.assertEqual(self.of_sluice(journals), held)
        self.end(jobs, processes)
        self.assertEqual(list(journals.iterdir()), [])


def main():
    if why := missing():
        print(f"skipped: {why}")
        return SKIPPED
    return 0 if unittest.main(exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
