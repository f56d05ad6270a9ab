"""The measurements of the study. Each appends lines to a file of JSON lines; report.py reads them."""
import contextlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import emulations
import tools
from lines import ITERATION, SLOW_DISK, STEPS, TRANSFER, rate, read
from paper import (BANDWIDTH, CACHE_GB, DEVICES, FIGURE_11_AGGREGATORS, FIGURE_11_PROCESSES, MEGABYTE,
                   MIB, PAPER_BYTES, PAPER_WINDOW, SCALE, START)


FEWEST = (2, 1)  # hosts, ranks a host


@dataclass(frozen=True)
class Size:
    """How much is measured."""
    cache_bytes: int  # of a rank, in each program of the page cache's sweep
    caches: tuple  # in bytes
    cache_repeats: int
    node_bytes: int  # of a rank, IOR on one node
    bytes: int  # of a rank, IOR across nodes
    repeats: int
    per_host: int  # ranks
    calibration: float  # seconds
    alone: tuple = ((4, 1), FEWEST)  # figure 9, and bandwidths in order
    iterated_bytes: int = 2 * ITERATION  # of a rank: two calls

    @property
    def settings(self):
        """(hosts, ranks a host) across nodes: tables V and VI, figures 9 and 10."""
        return ((4, self.per_host), (2, 2 * self.per_host), *self.alone)


FULL = Size(32 * MIB, tuple(gb * 1024 * MIB // SCALE for gb in CACHE_GB), 2, 16 * MIB, 8 * MIB, 3, 4,
            12)
QUICK = Size(8 * MIB, tuple(gb * 256 * MIB // SCALE for gb in (1, 3, 11)), 1, 2 * MIB, 2 * MIB, 1, 2,
             1, (), ITERATION)

SMALL_TRANSFER = MIB // 4
# Bytes of a call of figure 7, and by how much less a rank transfers with calls of this length.
CALLS = ((TRANSFER, 1), (MIB // 16, 2), (4096, 8))
AS_MEMORY = (emulations.LOOP, emulations.TMPFS)
PROCESSES = 4  # of the page cache's sweep
MEMORY_CALLS = (TRANSFER, MIB // 16, 4096, 512)
EMULATED_BYTES = 1 << 30  # of a loop device, a tmpfs
RATE = "1gbit"
ALL_WAYS = ("posix", "mpi-individual", "individual", "mpi-collective", "collective", "auto")


class Study:
    def __init__(self, json_file, folder, quick, progress):
        self.json, self.folder, self.progress = Path(json_file), Path(folder), progress
        self.size = QUICK if quick else FULL

    def record(self, line):
        with open(self.json, "a") as file:
            file.write(json.dumps(line) + "\n")

    def app(self, folder, device, *options):
        """Words of a run of sluice-study."""
        return [tools.command(), "bench", "study", "--mode", "app", "--dir", folder, "--device", device,
                "--json", self.json, "--thread-level", "multiple", *options]


# ---- Page cache -----------------------------------------------------------------------------


@contextlib.contextmanager
def cgroup():
    """One of this run's own; no process may be left in it at the end."""
    tools.need_cgroup()
    folder = tools.CGROUPS / f"nvm-study-{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        remove(folder)


def remove(group, patience=5):
    """Processes that were ended leave it a little later."""
    end = time.monotonic() + patience
    while True:
        try:
            return group.rmdir()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def let_it_hold_dirty_pages(folder):
    """FUSE may by default hold a hundredth of the machine's dirty pages: writers would wait for
    the device long before the cache is full. A local file system's share is what this mount gets."""
    device = os.stat(folder).st_dev
    settings = Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}")
    for name, value in (("strict_limit", "0"), ("max_ratio", "100")):
        try:
            (settings / name).write_text(value)
        except OSError as why:
            raise tools.Missing(f"{settings / name} of the kernel (Linux 6.2) and root") from why


def mounts(study, stack, *options):
    """The folder of each device and each emulation of NVM that there can be here, by name."""
    folders = {}
    for name in dict.fromkeys((*DEVICES, *emulations.ALL)):
        try:
            folders[name] = stack.enter_context(
                emulations.mounted(name, EMULATED_BYTES, *options))
        except tools.Missing as what:
            study.progress.note(f"{name} left out, this is missing: {what}")
    tools.need(folders, "a device")
    return folders


def cached_runs(device):
    """(processes, options) of the runs with each size of the cache. On a tmpfs a file's memory is
    its storage: what the limited processes take first would be theirs, so it is there before. One
    process leaves a core to whoever writes back."""
    programs = ["--application", "hacc,madbench,s3asim"]
    reserve = ["--reserve"] if device == emulations.TMPFS else []
    yield PROCESSES, [*programs, "--way", "mpi-individual", *reserve]
    if device in ("nvm", emulations.LOOP):
        yield PROCESSES, [*programs, "--way", "individual,direct"]
        yield PROCESSES, ["--application", "hacc,madbench", "--way", "individual,direct", "--sync"]
        yield 1, ["--application", "hacc", "--way", "mpi-individual"]


def caches(study):
    """Figures 4 to 6: 4 processes of one node with less and less page cache. Device after device
    with each size, so that other work on the machine meets all of them."""
    size = study.size
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(cgroup())
        folders = mounts(study, stack, "--page-cache", "on")
        for device in set(folders) & set(DEVICES):
            let_it_hold_dirty_pages(folders[device])
        for limit in size.caches:
            (group / "memory.limit_in_bytes").write_text(str(limit))
            for device, folder in folders.items():
                study.progress.step(f"page cache: {limit // MIB} MiB, {device}")
                # What is as fast as memory is soon done, and differs more from run to run.
                repeats = size.cache_repeats + (device in AS_MEMORY)
                for ranks, options in cached_runs(device):
                    bytes_of_rank = size.cache_bytes * PROCESSES // ranks
                    tools.run([tools.mpiexec(), "-n", ranks, *study.app(
                        folder, device, "--bytes", bytes_of_rank, "--transfer", SMALL_TRANSFER,
                        "--warmup", 0, "--repeat", repeats, "--cgroup", group,
                        "--cache", limit, *options)], 300)


# ---- One node -------------------------------------------------------------------------------


def one_node(study):
    """Figure 7: IOR with 4 processes, with long and short calls; the devices of `sluice device`
    without page cache, the others after them."""
    for device in DEVICES:
        study.progress.step(f"one node: {device}")
        with tools.mounted(device) as folder:
            for transfer, less in CALLS:
                ways = ALL_WAYS[:3] if transfer == TRANSFER else ALL_WAYS[:2]
                tools.run([tools.mpiexec(), "-n", PROCESSES, *study.app(
                    folder, device, "--way", ",".join(ways), "--bytes",
                    study.size.node_bytes // less, "--transfer", transfer, "--warmup", 1,
                    "--repeat", 2 * study.size.repeats + 1)], 600)
    in_memory(study)


def in_memory(study):
    """The same where a call is a copy in memory, with a process a core and files that have their
    pages already: else the processes that wait for a core, and the kernel that clears pages, are
    all that can be seen."""
    for device in AS_MEMORY:
        study.progress.step(f"one node: {device}")
        try:
            with emulations.mounted(device, EMULATED_BYTES) as folder:
                for transfer in MEMORY_CALLS:
                    tools.run([tools.mpiexec(), "-n", 2, *study.app(
                        folder, device, "--way", ",".join(ALL_WAYS[:2]), "--bytes",
                        min(study.size.node_bytes * 2, 32768 * transfer), "--transfer", transfer,
                        "--warmup", 1, "--repeat", 6 * study.size.repeats + 3, "--reserve")], 600)
        except tools.Missing as what:
            study.progress.note(f"{device} left out, this is missing: {what}")


# ---- Across nodes ---------------------------------------------------------------------------


def across(hosts, per_host, device, program, seconds, settings=None):
    return tools.run(["python3", tools.NODES, "--hosts", hosts, "--ranks-per-host", per_host,
                      "--rate", RATE, "--mpi", tools.mpi(), "--storage-node", device, "--seconds",
                      seconds, "--", *program], seconds + 60, settings=settings or {})


def profile_of(study, hosts, per_host, device):
    return (study.folder / "profiles" / f"{hosts}x{per_host}-{device}.toml").resolve()


def calibrate(study, hosts, per_host, device):
    """A profile of this setting, as the library reads it; whether there is one."""
    out = profile_of(study, hosts, per_host, device)
    if not tools.has_program("sluice-calibrate"):
        return False
    study.progress.step(f"calibrate: {hosts} hosts x {per_host}, {device}")
    out.parent.mkdir(parents=True, exist_ok=True)
    across(hosts, per_host, device, [tools.command(), "calibrate", "--dir", "{files}", "--out", out,
                                     "--seconds", study.size.calibration], 300)
    return True


def setting(study, hosts, per_host, device):
    """Figures 8 to 10, tables II, V, VI: IOR on hosts whose storage is on one host more."""
    # One process a host: the same machine as with several.
    calibrated = per_host > 1 and calibrate(study, hosts, per_host, device)
    profile = profile_of(study, hosts, study.size.per_host if per_host == 1 else per_host, device)
    study.progress.step(f"across nodes: {hosts} hosts x {per_host}, {device}")
    hints = f"cb_nodes={hosts},cb_config_list=*:1,cb_buffer_size={TRANSFER}"
    ways = ALL_WAYS[:1] if (hosts, per_host) == FEWEST else ALL_WAYS
    across(hosts, per_host, device, study.app(
        "{files}", device, "--link", RATE, "--bytes", study.size.bytes, "--transfer", TRANSFER,
        "--way", ",".join(ways), "--warmup", 0, "--repeat", study.size.repeats, "--collective-hint",
        hints), 600, {"SLUICE_PROFILE": str(profile)} if profile.exists() else {})
    if calibrated:
        model(study, hosts, hosts * per_host, device, "here")


def equations(study, line, words):
    """Records what the paper's equations say."""
    study.record(json.loads(tools.run([tools.command(), "bench", "nvm", "model", *words], 60)) | line)


def model(study, hosts, ranks, device, source, bandwidths=None):
    """Of a setting, with what was calibrated in it; the bandwidths by direction, if they are given."""
    for direction in STEPS:
        words = ["--profile", profile_of(study, hosts, ranks // hosts, device), "--direction",
                 direction, "--ranks", ranks, "--aggregators", hosts, "--bytes",
                 study.size.bytes * ranks, "--window", TRANSFER, "--transfer", TRANSFER]
        if bandwidths:
            sequential, random = bandwidths[direction]
            words += ["--sequential", sequential, "--random", random]
        equations(study, {"mode": "model", "source": source, "device": device, "nodes": hosts}, words)


def model_by_ior(study):
    """The paper's way: bandwidths are those of IOR; in order with a process for each aggregator."""
    lines = read(study.json)
    for setting in filter(None, (lines.many(), lines.fewer())):
        hosts, ranks = setting
        for device in lines.devices(setting):
            rows = {step: [lines.app(one, device, step, "posix") for one in ((hosts, hosts), setting)]
                    for step in STEPS}
            if all(all(pair) for pair in rows.values()) and profile_of(
                    study, hosts, ranks // hosts, device).exists():
                model(study, hosts, ranks, device, "ior",
                      {step: [rate(row) for row in pair] for step, pair in rows.items()})


def tradeoff(study):
    """Figure 11 with the paper's own parameters."""
    for device, (sequential, random) in BANDWIDTH.items():
        equations(study, {"mode": "model", "source": "paper", "device": device, "nodes": 4}, [
            "--start", START, "--megabyte", MEGABYTE, "--sequential", sequential, "--random", random,
            "--ranks", FIGURE_11_PROCESSES, "--aggregators", FIGURE_11_AGGREGATORS, "--bytes",
            PAPER_BYTES, "--window", PAPER_WINDOW])


def iterations(study):
    """Table II: calls of 16 MiB by 16 processes, iterations as long. ROMIO's own calls without
    Sluice, with timers around what it calls, then Sluice's."""
    tools.need_hosts()
    hosts, per_host = study.size.settings[0]
    hints = f"cb_nodes={hosts},cb_config_list=*:1,cb_buffer_size={ITERATION}"
    for device in (*DEVICES, SLOW_DISK):
        emulated = Path(__file__).with_name(f"{SLOW_DISK}.toml") if device == SLOW_DISK else device
        for way, program in (("mpi-collective", tools.timed_romio()),
                             ("collective", [tools.command(), "bench"])):
            study.progress.step(f"iterations of 16 MiB: {device}, {way}")
            words = study.app("{files}", device, "--link", RATE, "--bytes",
                              study.size.iterated_bytes, "--transfer", ITERATION, "--way", way,
                              "--warmup", 0, "--repeat", study.size.repeats,
                              "--collective-hint", hints)
            across(hosts, per_host, emulated, [*program, *words[2:]], 600)


def settings_of(parts, size):
    """Which settings the parts need, by part."""
    many, halved = size.settings[:2]
    wanted = {"posix": {many}, "collective": {many, *size.alone[:1]},
              "model": {many, halved, *size.alone}, "tradeoff": {many}}
    return [one for one in size.settings if any(one in wanted.get(part, ()) for part in parts)]


def settings(study, parts):
    tools.need_hosts()
    for hosts, per_host in settings_of(parts, study.size):
        for device in DEVICES:
            setting(study, hosts, per_host, device)
    model_by_ior(study)


def steps_of(parts, size):
    """How many there will be, for the progress."""
    calibrates = tools.has_program("sluice-calibrate")
    across_nodes = sum(1 + (calibrates and per_host > 1)
                       for _, per_host in settings_of(parts, size))
    on_node = len({*DEVICES, *emulations.ALL})
    return on_node * (len(size.caches) * ("cache" in parts) + ("posix" in parts)) + \
        len(DEVICES) * across_nodes + 2 * (len(DEVICES) + 1) * ("profile" in parts)
