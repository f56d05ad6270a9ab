#!/usr/bin/env python3
"""Ends one rank on one of several hosts by SIGKILL, again and again, and judges all the others.

    kills.py --mpi mpich --kills 200 --seed 1     so many kills, on 2 and 4 hosts
    kills.py --mpi mpich --seed 1 --only 17 -v    kill 17 of them again, with all that was said

The victim, the place and the moment are drawn, with network, thread level and settings. In some of
them the launcher hears of it, as usual: it has to end the job in time. In the others it does not,
so every other rank has to get an error of MPI in time. No rank may crash, hang, or be told success
for a wrong byte; the file holds what said success, and nothing that nobody wrote; no process, no
memory, no file, no mount and no namespace is left behind. kills_program.cpp is the program. Where
hosts cannot be made it ends with exit code 77. Exit code 1 if one kill failed.
"""
import argparse
import contextlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import hosts as network
import launch  # It puts tests/mpi in front of the modules' path.
import run as runner
import lot

PEER_SECONDS = 10  # The word peer_timeout of SLUICE_TEST.
MARGIN_SECONDS = 5
START_SECONDS = 40
RECORD = struct.Struct("<qqqqiiiiii32s")
STATES = ("absent", "starting", "running", "failed", "crashed")
SHAPES = ((2, 1), (2, 2), (4, 1), (4, 2))  # Hosts, ranks of each.
# Where a victim comes to, and how many times at most before it ends.
PLACES = {"beginning": 1, "writing": 12, "waiting": 12, "splitting": 12, "exchanging": 12,
          "reading": 12, "computing": 12, "storage": 60, "message": 150}
IN_THE_MPI = {"opening": 6, "closing": 5}
FABRICS = ("fabric:tcp", "fabric:tcp;ofi_rxm")
LIBRARIES_OF_MPIS = ("libmpi", "libuc", "libopen-pal", "libpmix", "mca_")
# Memory and files that the MPIs' own killed ranks leave, without Sluice as well.
OF_MPIS = ("mpich_", "hydra_", "ompi", "prte", "pmix", "ucx", "vader", "sm_segment")


@dataclass
class Kill:
    """One job, and how one of its ranks ends."""
    number: int
    hosts: int
    per_host: int
    victim: int
    moment: str
    is_noticed: bool
    level: int
    settings: dict

    @property
    def ranks(self):
        return self.hosts * self.per_host

    def title(self):
        settings = " ".join(f"{name}={value}" for name, value in self.settings.items())
        return (f"{self.number}: {self.hosts} hosts x {self.per_host}, rank {self.victim} at "
                f"{self.moment}, {'noticed' if self.is_noticed else 'unnoticed'}, thread level "
                f"{self.level}, {settings}")


@dataclass
class Record:
    """What a rank noted; kills_record.hpp has the fields."""
    started: int
    done: int
    failed_at: int
    killed_at: int
    state: int
    error_class: int
    signal: int
    wrong: int
    rounds: int
    exit_status: int
    where: bytes

    @classmethod
    def read(cls, path):
        return cls(*RECORD.unpack(path.read_bytes()))

    def place(self):
        return self.where.split(bytes(1))[0].decode()

    def text(self):
        return (f"{STATES[self.state]} in {self.place()}, "
                f"{self.rounds} rounds, {self.done} of {self.started} writes, class "
                f"{self.error_class}, signal {self.signal}, exit status {self.exit_status}")


def drawn(seed, mpi, number):
    """The kill of this number, the same each time."""
    lot = random.Random(f"{seed}/{mpi}/{number}")
    hosts, per_host = lot.choices(SHAPES, weights=(4, 4, 4, 1))[0]
    is_noticed = lot.random() < 0.5
    places = {**PLACES, **(IN_THE_MPI if is_noticed else {})}
    place = lot.choice(list(places))
    times = lot.randint(1, places[place])
    delay = lot.choice((0, lot.randint(1, 300), lot.randint(300, 3000)))
    if place == "beginning":  # By time.
        delay = lot.randint(0, 400_000)
    settings = {"SLUICE_NETWORK": lot.choice((*FABRICS, "mpi") if is_noticed else FABRICS)}
    if lot.random() < 0.4:
        settings["SLUICE_HINTS"] = "cb_buffer_size=65536"
    if is_noticed and lot.random() < 0.3:
        settings["SLUICE_WRITE_BEHIND"] = "16M"
        settings["SLUICE_TEST"] = "behind=always"
    return Kill(number, hosts, per_host, lot.randrange(hosts * per_host),
                f"{place}:{times}:{delay}", is_noticed, lot.choice((0, 3)), settings)


class Machine:
    """The hosts, of which a kill uses some, and what is in places where things could be left."""

    def __init__(self, hosts):
        self.hosts = hosts
        self.agent, self.files = hosts.agent, hosts.files
        self.addresses = []
        # The launcher's own, seen by this program and what it starts: what is left is taken away.
        network.run("mount", "-t", "tmpfs", "-o", "mode=1777", "none", "/dev/shm")
        self.temporary = hosts.folder / "tmp.launcher"
        self.temporary.mkdir()

    def use(self, count):
        self.addresses = self.hosts.addresses[:count]
        return self

    def places(self):
        yield Path("/dev/shm")
        yield self.temporary
        for host in self.hosts.hosts:
            yield Path(f"/proc/{host.first}/root/dev/shm")
            yield self.hosts.folder / f"tmp.{host.address}"
        yield self.files

    def names(self):
        return {path for place in self.places() for path in place.iterdir()}

    def mounts(self):
        return {line for first in ("self", *(host.first for host in self.hosts.hosts))
                for line in Path(f"/proc/{first}/mounts").read_text().splitlines()}

    @staticmethod
    def namespaces():
        found = set()
        for path in Path("/proc").glob("[0-9]*/ns/*"):
            with contextlib.suppress(OSError):  # The process has ended.
                found.add(os.readlink(path))
        return found

    def seen(self):
        return self.names(), self.mounts(), self.namespaces()

    def left(self, before):
        """What is there now and was not before, in words; files are taken away."""
        names, mounts, namespaces = (now - then for now, then in zip(self.seen(), before,
                                                                     strict=True))
        ours = sorted(str(path) for path in names if not path.name.startswith(OF_MPIS))
        for path in names:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        return [f"{what} left: {found}" for what, found in (
            ("files", ours), ("mounts", sorted(mounts)), ("namespaces", sorted(namespaces)))
            if found]


def command(kill, mpi, machine, folder):
    build = runner.BUILD / mpi
    program = [build / "bin" / "sluice", "run", build / "tests" / "nodes" / "kills_program", folder,
               kill.victim, kill.moment, "noticed" if kill.is_noticed else "unnoticed", kill.level]
    return launch.command(mpi, machine.use(kill.hosts), kill.per_host, program)


def environment(kill, mpi, machine, mark):
    settings = {"SLUICE": "all", "TMPDIR": str(machine.temporary), "SLUICE_TEST": "",
                **kill.settings}
    settings = runner.with_test_words(settings, f"peer_timeout={PEER_SECONDS}", "stall=5")
    return {**os.environ, runner.MARK: mark, **launch.MPIS[mpi].settings, **settings}


def limit():
    return PEER_SECONDS + MARGIN_SECONDS


def crashed_in_the_mpi(record):
    """MPICH does, in some of its own calls, when a process to which it is connected has ended."""
    return STATES[record.state] == "crashed" and record.place().startswith(LIBRARIES_OF_MPIS)


def faults_of_rank(kill, rank, record, killed_at):
    """What is wrong with one that was not killed."""
    if STATES[record.state] == "crashed" and not crashed_in_the_mpi(record):
        yield f"rank {rank} crashed by signal {record.signal} in {record.place()}"
    if record.wrong:
        yield f"rank {rank} was told success for {record.wrong} wrong bytes or blocks"
    if record.failed_at and (seconds := (record.failed_at - killed_at) / 1e9) > limit():
        yield f"rank {rank} had its error after {seconds:.1f} s"


def other_ranks(kill, records):
    return [(rank, record) for rank, record in enumerate(records) if rank != kill.victim]


def is_ended(kill, records):
    """Whether ranks without an error were ended: by the launcher, or because the MPI saw a
    connection close and gave up the job, as Open MPI does, or crashed."""
    return kill.is_noticed or not all(record.failed_at for _, record in other_ranks(kill, records))


def faults_of_job(kill, code, ended, records):
    """What is wrong with the ranks."""
    if code is None:
        yield "out of time"
    if code == 0:
        yield "the launcher says that all is well"
    killed_at = records[kill.victim].killed_at
    if not killed_at:
        yield f"rank {kill.victim} was not killed: {records[kill.victim].text()}"
        return
    for rank, record in other_ranks(kill, records):
        yield from faults_of_rank(kill, rank, record, killed_at)
    if is_ended(kill, records) and (seconds := (ended - killed_at) / 1e9) > limit():
        yield f"the job ended after {seconds:.1f} s"


def seconds_of(kill, ended, records):
    """From the kill until all others had an error or were ended."""
    killed_at = records[kill.victim].killed_at
    if not killed_at:
        return 0.0
    if is_ended(kill, records):
        return (ended - killed_at) / 1e9
    return max(record.failed_at - killed_at for _, record in other_ranks(kill, records)) / 1e9


def faults_of_file(mpi, folder, kill):
    program = runner.BUILD / mpi / "tests" / "nodes" / "kills_program"
    done = subprocess.run([program, "--check", folder, str(kill.ranks)], capture_output=True,
                          text=True, check=False)
    return [] if done.returncode == 0 else [f"wrong bytes in the file: {done.stdout.strip()}"]


def do_kill(kill, mpi, machine, args):
    """Returns a line of results: reasons why it failed, seconds, how each rank ended."""
    folder = machine.files / "kill"
    before = machine.seen()
    folder.mkdir()
    mark = uuid.uuid4().hex
    begin = time.monotonic()
    code, output = runner.execute(
        command(kill, mpi, machine, folder), environment(kill, mpi, machine, mark),
        START_SECONDS + limit(), mark)
    ended = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    reasons, seconds, records = [], 0.0, []
    if runner.leftover_processes(mark):
        reasons.append("processes left: " + ", ".join(
            runner.read_proc(Path(f"/proc/{pid}/cmdline")).replace("\0", " ")
            for pid in runner.processes_of(mark)))
        runner.end_processes(mark)
    try:
        records = [Record.read(folder / f"rank.{rank}") for rank in range(kill.ranks)]
        reasons += faults_of_job(kill, code, ended, records)
        seconds = seconds_of(kill, ended, records)
    except (OSError, struct.error) as error:
        reasons.append(f"the job did not begin: {error}")
    reasons += faults_of_file(mpi, folder, kill)
    shutil.rmtree(folder)
    reasons += machine.left(before)
    show(kill, mpi, reasons, seconds, time.monotonic() - begin, output, records, args)
    return {"reasons": reasons, "seconds": seconds, "records": records, "kill": kill}


def show(kill, mpi, reasons, seconds, taken, output, records, args):
    if reasons or args.verbose:
        print(f"{'FAILED' if reasons else 'ok    '} {seconds:6.2f} s of {taken:5.1f} s  {mpi} "
              f"{kill.title()}" + "".join(f"\n  {reason}" for reason in reasons))
    if reasons:
        print(f"  again: python3 tests/nodes/kills.py --mpi {mpi} --seed {args.seed} "
              f"--only {kill.number}")
        print("\n".join(f"  rank {rank}: {record.text()}" for rank, record in enumerate(records)))
        print("\n".join(f"  | {line}" for line in output.splitlines()[-80:]))
    sys.stdout.flush()


def summary(mpi, args, results, seconds):
    """One line of figures of the kills with one MPI."""
    line = {"test": "kills", "mpi": mpi, "seed": args.seed, "kills": len(results),
            "failed": sum(bool(result["reasons"]) for result in results),
            "seconds": round(seconds, 1)}
    times = {"ended": [], "errors": []}
    for result in results:
        ended = is_ended(result["kill"], result["records"])
        times["ended" if ended else "errors"].append(result["seconds"])
    for name, taken in times.items():
        line |= {name: len(taken), f"{name}_longest_seconds": round(max(taken, default=0), 2)}
    records = [record for result in results for record in result["records"]]
    line["unnoticed"] = sum(not result["kill"].is_noticed for result in results)
    line["ranks_with_an_error"] = sum(bool(record.failed_at) for record in records)
    line["crashes_in_the_mpi"] = sum(crashed_in_the_mpi(record) for record in records)
    return line


def run_kills(args):
    hosts = network.Hosts(max(count for count, _ in SHAPES), "")
    lines = []
    try:
        machine = Machine(hosts)
        for mpi in args.mpi.split(","):
            begin = time.monotonic()
            numbers = args.only or range(1, args.kills + 1)
            results = [do_kill(drawn(args.seed, mpi, number), mpi, machine, args)
                       for number in numbers]
            lines.append(summary(mpi, args, results, time.monotonic() - begin))
            print(json.dumps(lines[-1]), flush=True)
    finally:
        hosts.close()
    if args.json:
        with args.json.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    failed = sum(line["failed"] for line in lines)
    print(f"kills: {sum(line['kills'] for line in lines) - failed} passed, {failed} failed")
    return 1 if failed else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich,openmpi", help="of " + ",".join(launch.LAUNCHERS))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="0: a new one")
    parser.add_argument("--only", type=lambda words: [int(word) for word in words.split(",")],
                        help="the kills with these numbers")
    parser.add_argument("--json", type=Path, help="file to which a line for each MPI is added")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each kill")
    args = parser.parse_args()
    args.seed = args.seed or lot.fresh_seed()
    return args


def main():
    args = parse_arguments()
    network.enter()
    return run_kills(args)


if __name__ == "__main__":
    sys.exit(main())
