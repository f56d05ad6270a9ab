#!/usr/bin/env python3
"""Runs the MPI test programs across hosts in network namespaces: `make test-nodes`.

    run.py                        all tests: 2 and 4 hosts, MPICH and Open MPI
    run.py --storage-node hdd     the patterns on files of a device that one host more serves
    run.py --hosts 2 --ranks-per-host 2 --mpi mpich -- PROGRAM WORDS...
                                  one program; {files} in a word is the folder that all hosts see

It needs root (or the right to make namespaces), iproute2 and a kernel with veth, bridge and tbf;
where they are missing it says which and ends with exit code 77. hosts.py says what a host is. A run
that takes too long is ended after it has printed where every rank is; ctrl-C ends all.
"""
import argparse
import contextlib
import os
import re
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import hosts as network
import launch  # It puts tests/mpi in front of the modules' path.
import run as runner
import lot
from levels import DEVICE
from small_programs import compiled

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
MOST_WRONG = 5_000_000  # nanoseconds, where cores are shared with other work
sys.path.insert(0, str(ROOT / "tests" / "trace"))
from checks import faults_of  # noqa: E402


@dataclass
class Test:
    """One program on all hosts."""
    name: str
    words: list  # after the folder of the MPI's build
    least_on_wire: int = 0  # bytes that must have crossed, sent and received
    seconds: int = 150
    settings: dict = field(default_factory=dict)  # further environment variables

    def faults(self, hosts, per_host, output):
        """What else is wrong, of what the program said or left in the files."""
        return ""

    def words_for(self, mpi):
        build = BUILD / mpi
        program, *options = self.words
        preload = [] if runner.linked(Path(program).name) else [build / "bin" / "sluice", "run"]
        started = [build / "tests" / program]
        if program.endswith(".py"):
            started = [Path(launch.MPIS[mpi].mpiexec).parent / "python3", HERE.parent / program]
        return [*preload, *started, "--dir", "{files}", *options]


def random_programs(mpi, seed, *options):
    """Between nodes the MPI itself has the shared file pointer, and Open MPI's is wrong there."""
    without = ["--without", "shared"] if mpi == "openmpi" else []
    return ["mpi/random_test", "--seed", seed, *options, *without]


def tests_of(mpi, hosts, per_host):
    ranks = hosts * per_host
    few = ["--only", "/all,/iat_all", "--large-mib", "5"]
    seed = lot.fresh_seed()
    print(f"seed {seed}", flush=True)
    yield Test("places", ["nodes/places_test", hosts, per_host])
    # Of 4 MiB a rank, written once and read once, the part for aggregators on other hosts: half.
    yield Wire("bytes on the wire", ["--bytes", "4M"], ranks * (4 << 20))
    yield Traced("trace", [])
    yield Test("patterns", ["mpi/patterns_test", *(["--large-mib", "5"] if ranks < 8 else few)])
    several = ["--skip", "/large,/eight"] if ranks < 8 else ["--only", "/three,/two_files,freed"]
    yield Test("outstanding", ["mpi/outstanding_test", *several])
    slow = {"SLUICE_TEST": DEVICE}
    yield Test("progress", ["mpi/progress_test"], settings=slow)
    yield Test("progress, no helper", ["mpi/progress_test"],
               settings={"SLUICE_TEST": f"helper=off;{DEVICE}"})
    yield Test("progress, mpi4py", ["mpi/progress_test.py"], settings=slow)
    yield Test("errors", ["mpi/errors_test"])
    yield Test("random programs", random_programs(mpi, seed, "--programs", 25, "--seconds", 20))
    yield Test("collectives", ["mpi/collectives_test", "--seed", seed, "--cases", 20,
                               "--no-messages"],
               settings={"SLUICE": "all"})
    yield Unreached("a network interface that leads to no other host", [],
                    settings={"SLUICE_NETWORK": "fabric:tcp", "FI_TCP_IFACE": "lo"})
    yield from tests_of_networks(mpi, few, seed)
    yield from tests_of_faults(mpi, few, several, seed)
    if hosts > 2 and per_host > 1:
        yield from tests_of_kernels(mpi, seed)


def tests_of_networks(mpi, few, seed):
    """All others use libfabric's best provider here; these another one, and the MPI."""
    for network in ("fabric:tcp;ofi_rxm", "mpi"):
        settings = {"SLUICE_NETWORK": network}
        yield Test(f"patterns, {network}", ["mpi/patterns_test", *few], settings=settings)
        yield Test(f"random programs, {network}",
                   random_programs(mpi, seed + 50, "--programs", 15, "--seconds", 15),
                   settings=settings)
        yield Test(f"collectives, {network}",
                   ["mpi/collectives_test", "--seed", seed + 50, "--cases", 10,
                    *([] if network == "mpi" else ["--no-messages"])],
                   settings={"SLUICE": "all", **settings})


def tests_of_faults(mpi, few, several, seed):
    """With a libfabric that is busier and slower than it would be on one machine."""
    file = BUILD / mpi / "tests" / "fabric" / "faulty_libfabric.so"
    if not file.exists():
        return  # This build has no libfabric.
    for network in ("fabric:tcp", "fabric:tcp;ofi_rxm"):
        settings = {"SLUICE_NETWORK": network, "SLUICE_TEST": f"libfabric={file}"}
        for name, words in (
                ("patterns", ["mpi/patterns_test", *few]),
                ("outstanding", ["mpi/outstanding_test", *several]),
                ("errors", ["mpi/errors_test"]),
                ("random programs", random_programs(mpi, seed + 70, "--programs", 15,
                                                    "--seconds", 20)),
                ("collectives", ["mpi/collectives_test", "--seed", seed + 70, "--cases", 10,
                                 "--no-messages"])):
            more = {"collectives": {"SLUICE": "all"}}
            yield Faulty(f"{name}, faults of {network}", words, seconds=300,
                         settings={**settings, **more.get(name, {})})
        yield Refused(f"memory refused, {network}", ["nodes/refused_test.py"],
                      settings={**settings, "SLUICE_TEST_FAULTS": "registrations"})


def tests_of_storage(*_):
    """Bytes, and what they cost, on files that are a network away."""
    yield Test("patterns", ["mpi/patterns_test", "--large-mib", "5"])


def tests_of_kernels(mpi, seed):
    """The hints that tests/mpi/run.py tries on one node."""
    for run in runner.LEVELS["kernels"](mpi):
        seed += 100
        hints = run.settings["SLUICE_HINTS"]
        yield Test(f"random programs, {hints}",
                   random_programs(mpi, seed, "--programs", 10, "--seconds", 20),
                   settings=run.settings)


class Wire(Test):
    """Sluice moves bytes between hosts, not through memory that hosts cannot have in common."""

    def words_for(self, mpi):
        return [BUILD / mpi / "bin" / "sluice", "bench", "--mode", "blocking", "--pattern",
                "strided", "--no-peer", "--repeat", "1", "--warmup", "0", "--dir", "{files}",
                *self.words]


def counts_of_faults(output):
    """Of each kind that tests/fabric/faulty_libfabric.cpp counts, in all ranks."""
    counts = {}
    for line in re.findall(r"faults of libfabric: (.*)", output):
        for count, kind in re.findall(r"(\d+) ([^,]*)", line):
            counts[kind] = counts.get(kind, 0) + int(count)
    return counts


class Faulty(Test):
    """All is as without the faults; and there were some."""
    kinds = ("calls refused", "completions late")

    def faults(self, hosts, per_host, output):
        counts = counts_of_faults(output)
        return ", ".join(f"no {kind}" for kind in self.kinds if not counts.get(kind))


class Refused(Faulty):
    """The cause is told, once by each rank whose memory was refused, in each operation."""
    kinds = ("registrations refused",)

    def faults(self, hosts, per_host, output):
        told = output.count("refuses to register memory")
        most = 4 * per_host * len(hosts.hosts)
        return (super().faults(hosts, per_host, output) or
                ("" if 0 < told <= most else f"the cause is told {told} times"))


class Unreached(Test):
    """The network interface is the user's choice: each rank says that it leads nowhere, and the MPI
    serves the file."""

    def words_for(self, mpi):
        program = compiled(mpi, HERE.parent / "coexistence" / "files.c", options=("-rdynamic",))
        return [BUILD / mpi / "bin" / "sluice", "run", program, "{files}/unreached",
                "{files}/unreached"]

    def faults(self, hosts, per_host, output):
        told = set(re.findall(r"rank (\d+) on \S+ \(lo, 127\.0\.0\.1, port \d+\) gets no message "
                              "to or from another node over the fabric; FI_TCP_IFACE", output))
        if len(told) < per_host * len(hosts.hosts):
            return f"only ranks {sorted(told)} say that they are not reached"
        return "" if "served by the MPI" in output else "who serves is not said"


class Traced(Test):
    """Hosts whose clocks are a thousand seconds apart give one trace, in which no message arrives
    before it was sent."""

    # node2's monotonic clock is 2000 s further than the machine's.
    apart = ('exec unshare --time --monotonic "$(hostname | tr -dc 0-9)000" -- "$@"')

    def words_for(self, mpi):
        return ["sh", "-c", self.apart, "sh", BUILD / mpi / "bin" / "sluice", "run", "--trace",
                "{files}/t.json", BUILD / "env" / mpi / "bin" / "python",
                ROOT / "tests" / "trace" / "program.py", "{files}/traced.bin"]

    def faults(self, hosts, per_host, output):
        count = len(hosts.hosts)
        found, trace = faults_of(hosts.files / "t.json", list(range(count * per_host)))
        arrows = sum(event["ph"] == "s" for event in trace.others)
        names = {part["host"] for part in trace.parts}
        error = max(part["clock_error_ns"] for part in trace.parts)
        began = min(one.begin for one in trace.slices)
        lasted = max(one.end for one in trace.slices) - began
        if len(names) != count or not arrows:
            found.append(f"{len(names)} hosts, {arrows} messages")
        if not 0 < error < MOST_WRONG or lasted > 500e9:
            found.append(f"clocks agree to {error} ns, the trace lasts {lasted / 1e9:.3f} s")
        return "; ".join(found[:3])


def sent(hosts):
    return sum(sent_by_host for sent_by_host, _ in hosts.bytes_on_wire())


def start(hosts, per_host, mpi, words, seconds, settings=None):
    """Returns (exit code or None when out of time, output, seconds, bytes sent by all hosts)."""
    mark = uuid.uuid4().hex
    environment = {**os.environ, runner.MARK: mark, **launch.MPIS[mpi].settings, **(settings or {})}
    environment = runner.with_test_words(environment, "stall=10")
    before, begin = sent(hosts), time.monotonic()
    code, output = runner.execute(launch.command(mpi, hosts, per_host, words), environment,
                                  seconds, mark)
    taken = time.monotonic() - begin
    if runner.leftover_processes(mark):
        output += "\nprocesses were left behind"
        code = code or 1
        runner.end_processes(mark)
    return code, output, taken, sent(hosts) - before


def do_test(test, hosts, per_host, mpi, args):
    """Runs one; returns whether it passed."""
    code, output, taken, on_wire = start(hosts, per_host, mpi, test.words_for(mpi),
                                         test.seconds * args.patience, test.settings)
    why = "out of time" if code is None else f"exit code {code}" if code else ""
    if not why and on_wire < test.least_on_wire:
        why = f"only {on_wire} bytes crossed the wire; {test.least_on_wire} have to"
    why = why or test.faults(hosts, per_host, output)
    print(f"{'FAILED' if why else 'ok    '} {taken:6.1f} s {on_wire / 2 ** 20:8.1f} MiB sent  "
          f"{mpi} {len(hosts.hosts)} hosts x {per_host}: {test.name}"
          + (f"  ({why})" if why else ""))
    if why or args.verbose:
        print("\n".join("  | " + line for line in output.splitlines()[-80:]))
    sys.stdout.flush()
    return not why


@contextlib.contextmanager
def made_hosts(count, args):
    hosts = network.Hosts(count, args.rate, args.storage_node)
    try:
        where = (f"on the device {args.storage_node}, which {hosts.storage.address} serves"
                 if hosts.storage else
                 "a tmpfs that was mounted before the hosts were made, so all see it")
        print(f"{count} hosts, each link {args.rate or 'not shaped'}; files in {hosts.files}: "
              f"{where}", flush=True)
        yield hosts
    finally:
        hosts.close()


def run_tests(args):
    passed = failed = 0
    begin = time.monotonic()
    shapes = ((2, 2),) if args.storage_node else ((2, 2), (4, 1), (4, 2))
    tests = tests_of_storage if args.storage_node else tests_of
    for count, per_host in shapes:
        with made_hosts(count, args) as hosts:
            for mpi in args.mpi.split(","):
                for test in tests(mpi, count, per_host):
                    if args.only not in test.name:
                        continue
                    if do_test(test, hosts, per_host, mpi, args):
                        passed += 1
                    else:
                        failed += 1
    print(f"tests on several hosts: {passed} passed, {failed} failed, "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


def run_program(args):
    with made_hosts(args.hosts, args) as hosts:
        code, output, taken, on_wire = start(hosts, args.ranks_per_host, args.mpi, args.program,
                                             args.seconds)
        print(output, end="")
        print(f"{taken:.1f} s, {on_wire / 2 ** 20:.1f} MiB sent", flush=True)
    return 124 if code is None else code


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich,openmpi", help="of " + ",".join(launch.LAUNCHERS))
    parser.add_argument("--rate", default="1gbit",
                        help="of each link, as tc reads it; empty: not shaped")
    parser.add_argument("--storage-node", default="", metavar="PROFILE",
                        help="files on a device that one host more serves: hdd, ssd, nvm, a file")
    parser.add_argument("--only", default="", help="tests with this in their name")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on all time limits")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--hosts", type=int, default=2, help="for one program")
    parser.add_argument("--ranks-per-host", type=int, default=2, help="for one program")
    parser.add_argument("--seconds", type=float, default=600, help="limit of one program")
    parser.add_argument("program", nargs="*", help="after --: run this and no tests")
    args = parser.parse_args()
    if unknown := set(args.mpi.split(",")) - set(launch.LAUNCHERS):
        parser.error(f"no such MPI: {', '.join(sorted(unknown))}")
    return args


def main():
    args = parse_arguments()
    network.enter()
    return run_program(args) if args.program else run_tests(args)


if __name__ == "__main__":
    sys.exit(main())
