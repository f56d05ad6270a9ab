"""What study/results/report measures anew: the parts, in the order in which they run, each with the seconds
that it takes on 2 cores."""

from typing import NamedTuple


class Part(NamedTuple):
    name: str
    what: str
    seconds: int
    command: list


def measured(name, what, seconds, *options):
    return Part(name, what, seconds, ["results/measure", *options, name])


def random_programs(count, seconds, *options):
    script = 'exec python3 tests/mpi/random_programs.py --json "$RESULTS/random.jsonl" "$@"'
    return Part("random-programs", "bytes against a serial model: M1", seconds,
                ["sh", "-c", script, "sh", "--programs", str(count), "--no-shrink", "--keep-going",
                 *options])


def quick(name, what, seconds):
    return measured(name, what, seconds, "--quick")


QUICK = (
    quick("texture", "the image application: the picture, L7", 60),
    quick("overlap", "hidden behind computation: M4, L6", 115),
    quick("nonblocking", "against blocking calls: M5, L5", 5),
    quick("outstanding", "several under way: M6", 40),
    quick("checkpoint", "plans that serve again: L4", 20),
    quick("test-calls", "tests a cycle: L8", 40),
    quick("queue", "price of a queued request: A2, A6", 30),
    quick("network", "messages between two hosts, as root: I2, I4", 40),
    random_programs(500, 60, "--mpi", "mpich"),
    quick("app-kernels", "compression and FFT, as root: I7", 180),
)
FULL = (
    measured("texture", "the image application: the picture, L7", 1800),
    measured("overlap", "hidden behind computation, as root: M4, L6", 1500),
    measured("nonblocking", "against blocking calls: M5, L5", 300),
    measured("outstanding", "several under way: M6", 900),
    measured("checkpoint", "plans that serve again: L4", 300),
    measured("test-calls", "tests a cycle, as root: L8", 600),
    measured("queue", "price of a queued request: A2, A6", 120),
    measured("network", "messages between two hosts, as root: I2, I4", 900),
    random_programs(10000, 2400),
    measured("app-kernels", "compression and FFT, as root: I7", 600),
    measured("overhead", "time in nonblocking collectives, as root: I6", 300),
    measured("choice", "the library's choice: N6, N7", 600),
    measured("domains", "two-phase and dynamic segmentation, as root: M7", 1800),
    measured("nvm", "the study of the NVM paper, as root: N1 to N5", 1800),
    measured("compare", "against the MPIs' best hints: M2", 5400),
    measured("nodes", "kernels on several hosts, as root: A7", 5400),
    measured("romio", "ROMIO's own exchange, simulated: A6", 4200),
)
