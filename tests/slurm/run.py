#!/usr/bin/env python3
"""Runs jobs under Slurm, on a cluster of its own (cluster.py): what srun tells ranks, both MPIs on
one node and on two, and what is in the file when Slurm has ended a step or a job. The batch scripts
are those of docs/start/slurm.md. Ends with 77 where there can be no cluster.

    run.py [-v] [Slurm.test_NAME ...]
"""
import dataclasses
import json
import re
import sys
import time
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name)
                for name in ("mpi", "durability", "nodes", ".")]
import hosts
import launch
import run as runner
from cluster import Cluster, missing
from job_folder import JobFolder, JobTests, SECONDS, SLOW, with_each_mpi
from model import STEPS, Notes, Scenario

PMI = {"mpich": "pmi2", "openmpi": "pmix"}
PAGE = hosts.ROOT / "docs" / "start" / "slurm.md"
RANKS = 4
OVER_TIME = 150  # Slurm looks at the limits, of whole minutes, now and then.
SHM = "/dev/shm"
TRIES = 8  # Until a moment comes at which something is left to recover.
FEW = ("--only", "/all,/iat_all", "--large-mib", "5")
ONE_NODE = Scenario("one node", RANKS, tuple(STEPS), delayed=True, journals="kept")
TWO_NODES = Scenario("two nodes", RANKS, tuple(STEPS), (("SLUICE_TEST", "ranks_per_node=2"),),
                     delayed=True, journals="kept")
SLOWER, FOREVER = 600000, 10000000  # Microseconds of a write.


class Job(JobFolder):
    """One that Slurm runs."""

    def __init__(self, cluster, mpi, scenario, slow=SLOW):
        super().__init__(cluster.folder, mpi, scenario, slow)
        self.cluster = cluster
        self.settings |= {**launch.environment(mpi), **cluster.settings}

    def step(self, *words, nodes=1, pmi=None):
        """The command for a step of all ranks, as many of them on each node."""
        return ("srun", f"-N{nodes}", f"--ntasks-per-node={RANKS // nodes}",
                f"--mpi={pmi or PMI[self.mpi]}", *words)

    def batch(self, title, *options):
        """Queues a script of the page; returns its number."""
        text = PAGE.read_text()
        script = re.search(rf'```sh title="{title}"\n(.*?)```', text, re.DOTALL).group(1)
        script = script.replace("--mpi=pmi2", f"--mpi={PMI[self.mpi]}").replace("=4G", "=256M")
        (self.folder / title).write_text(script)
        code, said = self.run("sbatch", "--parsable", f"--output={self.folder}/output", *options,
                              title)
        if code != 0:
            raise RuntimeError(f"sbatch: {said}")
        return said.strip().splitlines()[-1]

    def wait_for_queue(self, seconds=SECONDS):
        """Until no job is in it."""
        until = time.monotonic() + seconds
        while queued := self.cluster.ask("squeue", "--noheader").strip():
            if time.monotonic() > until:
                runner.show_places(self.mark)
                raise RuntimeError(f"still queued or running: {queued}; {self.output}")
            time.sleep(0.1)


class Slurm(JobTests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = cls.enterClassContext(Cluster(cls.folder))

    def journals(self):
        """Those in the memory of the nodes."""
        return [name for host in self.cluster.hosts.hosts
                for name in host.do("ls", SHM).split() if "sluice-journal" in name]

    def recovered(self, output):
        """How many writes `sluice recover` has written."""
        return sum(map(int, re.findall(r"(?m)^(\d+) writes, .* in their files$", output)))

    def test_what_srun_tells(self):
        job = Job(self.cluster, "mpich", ONE_NODE)
        code, said = job.run("srun", "--quiet", "-n3", "-N2", "--output=said.%t", "sluice", "info",
                             "--json")
        self.assertEqual((code, said), (0, ""))
        for rank, local in enumerate(("0 of 2", "1 of 2", "0 of 1")):
            facts = json.loads((job.folder / f"said.{rank}").read_text())["launcher"]
            self.assertEqual(facts, {"launcher": "srun", "rank": f"{rank} of 3",
                                     "rank on this node": local})

    @with_each_mpi
    def test_programs(self, mpi):
        for nodes in (1, 2):
            job = Job(self.cluster, mpi, ONE_NODE)
            program = runner.BUILD / mpi / "tests" / "mpi" / "patterns_test"
            code, said = job.run(*job.step("sluice", "run", program, "--dir", job.folder, *FEW,
                                           nodes=nodes), seconds=300)
            self.assertEqual(code, 0, said)
            self.assertIn("0 failed", said)

    @with_each_mpi
    def test_check(self, mpi):
        """`sluice check` with srun, also with the --mpi of another MPI."""
        job = Job(self.cluster, mpi, ONE_NODE)
        code, said = job.run("sluice", "check", "--launch", f"srun -n2 --mpi={PMI[mpi]}")
        self.assertEqual(code, 0, said)
        self.assertIn("Sluice works here", said)
        code, said = job.run("sluice", "check", "--launch", "srun -n2 --mpi=none")
        self.assertEqual(code, 1, said)
        self.assertIn("MPI_COMM_WORLD has one rank in each", said)

    @with_each_mpi
    def test_allocations(self, mpi):
        """The MPI's own mpiexec. MPICH's starts its helpers by srun; Open MPI's, of its Python
        package, knows nothing of Slurm: all ranks are where salloc was called."""
        scenario = TWO_NODES if mpi == "mpich" else ONE_NODE
        job = Job(self.cluster, mpi, scenario)
        code, said = job.run("salloc", "-N2", "--ntasks-per-node=2", "mpiexec", "-n", RANKS,
                             "sluice", "run", "program")
        self.assertEqual(code, 0, said)
        self.assertEqual(job.wrong(), [])

    @with_each_mpi
    def test_a_world_for_each_task(self, mpi):
        job = Job(self.cluster, mpi, dataclasses.replace(ONE_NODE, ranks=1))
        code, said = job.run(*job.step("sluice", "run", "./program", pmi="none"))
        self.assertEqual(code, 0, said)
        self.assertEqual(said.count(f"srun started {RANKS} tasks, and MPI_COMM_WORLD has one "
                                    "rank in each"), 1, said)

    @with_each_mpi
    def test_ranks_share_the_memory(self, mpi):
        for nodes in (1, 2):
            job = Job(self.cluster, mpi, TWO_NODES if nodes == 2 else ONE_NODE)
            journals = job.folder / "journals"
            step = job.begin(*job.step("sluice", "run", f"--behind=64M,{journals}", "./program",
                                       nodes=nodes))
            job.wait_for_steps(RANKS)
            sizes = [path.stat().st_size for path in journals.glob("*.sluice-journal")]
            step.wait(SECONDS)
            self.assertEqual(len(sizes), RANKS)
            share = (64 << 20) * nodes // RANKS
            self.assertTrue(all(share < size < share + (1 << 20) for size in sizes), sizes)
            self.assertEqual(step.returncode, 0, job.output)
            self.assertEqual(job.wrong(), [])

    def cancelled_step(self, mpi, signal):
        """At a drawn moment; returns how many writes were left to recover."""
        job = Job(self.cluster, mpi, ONE_NODE, slow=SLOWER)
        step = job.begin(*job.step("sluice", "run", f"--behind=64M,{SHM}", "./program"))
        job.wait_for_steps(self.random.randrange(RANKS, RANKS * 6))
        job.run("scancel", f"--signal={signal}", "--user=root")
        step.wait(SECONDS)
        job.wait_for_queue()
        code, said = job.run("srun", "-N2", "--ntasks-per-node=1", "sluice", "recover", SHM)
        self.assertEqual(code, 0, said)
        self.assertEqual(job.wrong(), [], f"{job.output}{said}")
        self.assertEqual(self.journals(), [])
        return self.recovered(said)

    @with_each_mpi
    def test_a_cancelled_step(self, mpi):
        """Slurm ends it at once or as a user would."""
        for signal in ("TERM", "KILL"):
            if not any(self.cancelled_step(mpi, signal) for _ in range(TRIES)):
                self.fail(f"{signal}: nothing was left to recover, so nothing is tested")

    def cancelled(self, mpi, title, scenario):
        """At a drawn moment; returns how many writes were left to recover."""
        job = Job(self.cluster, mpi, scenario, slow=SLOWER)
        number = job.batch(title)
        job.wait_for_steps(self.random.randrange(RANKS, RANKS * 6))
        job.run("scancel", number)
        job.wait_for_queue()
        said = job.output + "".join(path.read_text() for path in job.folder.glob("slurm-*.out"))
        self.assertEqual(job.wrong(), [], said)
        self.assertEqual(self.journals(), [], said)
        return self.recovered(said)

    @with_each_mpi
    def test_a_cancelled_script(self, mpi):
        for title, scenario in (("one-node.sh", ONE_NODE), ("nodes.sh", TWO_NODES)):
            if not any(self.cancelled(mpi, title, scenario) for _ in range(TRIES)):
                self.fail(f"{title}: nothing was left to recover, so nothing is tested")

    @with_each_mpi
    def test_a_script_that_ends_well(self, mpi):
        for title, scenario in (("one-node.sh", ONE_NODE), ("nodes.sh", TWO_NODES)):
            job = Job(self.cluster, mpi, scenario)
            job.batch(title)
            job.wait_for_queue()
            notes = Notes((job.folder / "notes").read_text())
            ended = {rank for step, rank in notes.done_by if step == len(STEPS) - 1}
            self.assertEqual(len(ended), RANKS, job.output)
            self.assertEqual(job.wrong(), [], job.output)
            self.assertEqual(self.journals(), [], job.output)

    def test_the_time_is_over(self):
        job = Job(self.cluster, "mpich", ONE_NODE, slow=FOREVER)
        job.batch("one-node.sh", "--time=1")
        job.wait_for_queue(OVER_TIME)
        self.assertIn("DUE TO TIME LIMIT", job.output)
        self.assertGreater(self.recovered(job.output), 0, job.output)
        self.assertEqual(job.wrong(), [], job.output)
        self.assertEqual(self.journals(), [])

    @with_each_mpi
    def test_a_killed_rank(self, mpi):
        """Slurm ends the others with it, and all keepers."""
        job = Job(self.cluster, mpi, ONE_NODE)
        job.settings |= {"SLUICE_TEST_KILL_RANK": "1", "SLUICE_TEST_KILL_ACTION": "4",
                         "SLUICE_TEST_KILL_MOMENT": "before"}
        job.batch("one-node.sh")
        job.wait_for_queue()
        self.assertTrue(Notes((job.folder / "notes").read_text()).kills, job.output)
        self.assertEqual(job.wrong(), [], job.output)
        self.assertEqual(self.journals(), [], job.output)

    def test_an_array_on_one_folder(self):
        """One of its jobs is cancelled and recovered while the others run."""
        all_jobs = [Job(self.cluster, "mpich", ONE_NODE) for _ in range(3)]
        numbers = [job.batch("one-node.sh", "--overcommit", "--ntasks=4") for job in all_jobs]
        all_jobs[1].wait_for_steps(2 * RANKS)
        all_jobs[1].run("scancel", numbers[1])
        all_jobs[0].wait_for_queue(2 * SECONDS)
        for job in all_jobs:
            self.assertEqual(job.wrong(), [], job.output)
        self.assertEqual(self.journals(), [])


if __name__ == "__main__":
    hosts.enter(missing)
    unittest.main()
