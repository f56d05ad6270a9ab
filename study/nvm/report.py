"""The page of the study: what was measured beside the paper's numbers, and each finding."""
import emulation_report
import emulations
import findings
import lines as study
import model
from lines import rate, read  # noqa: F401: read is the caller's
from paper import (DEVICES, HACC_LOSS, MEAN_ERROR, MIB, NAME, NVM_LOSS, POSIX_GAIN, SCALE,
                   VALIDATION, WORST_ERROR)
from tables import percent, section, table

HEAD = f"""# NVM and collective I/O: the study of a paper, again

Made by `sluice bench nvm` (`study/nvm`), which measures, draws and writes this page; nothing here was typed by hand.
The paper: {NAME}.

- **Devices** are [emulated](device.md): a disk, flash, and memory behind a file system, each with the bandwidth and latency that its
  profile states. The paper's NVM is emulated too (PMBD), but at the speed of its DRAM, without the 80 us that a trip through FUSE takes. So parts cache and
  posix emulate NVM in two more ways, *nvm-loop* (ext4 on a loop device on memory) and *nvm-tmpfs*, as fast as this machine's memory, the latter without a page
  cache in front of it. They are in the tables below where a run has recorded them.
- **Hosts** are network namespaces of one machine, each link shaped ([nodes](nodes.md)); one more serves the device. The paper's are five
  machines with 1 Gb Ethernet and NFS. All processes share the cores of one machine here.
- **Programs** are written from their descriptions in the paper (`bench/patterns/applications.hpp`), and run by `sluice bench study --mode app`. Sizes are scaled
  down; ratios of data to cache and of blocks to transfers are kept where they matter.
- *individual* and *collective* are Sluice's own calls without and with an exchange, forced by hints, *auto* what the library chooses; *mpi-* is the
  MPI's own. Times are medians, from the first process's begin to the last one's end. Figures of the paper have no numbers in its text; where
  "paper" is empty there is none.

<!-- not run: half an hour; tests/command/nvm_test.py runs small parts -->
```sh
sluice bench nvm                      # all of it: half an hour on 2 cores; as root
sluice bench nvm --quick              # small sizes, in two minutes: only to see that it works
sluice bench nvm --part cache,model   # parts: cache, posix, collective, profile, model, tradeoff
results/measure nvm                   # all of it, into this page and study/results/nvm.jsonl
```

Each part can be repeated; the newest line of each figure counts. A part that needs what the machine does not have (root, FUSE, a cgroup v1 memory controller, network
namespaces, matplotlib) says so, and the others are done.
"""

TITLES = {"hacc": "HACC-IO", "madbench": "MADBench2", "s3asim": "S3aSim"}
CACHED = (("hacc", "write"), ("madbench", "S"), ("madbench", "W"), ("madbench", "C"),
          ("s3asim", "read"))


# ---- Page cache -----------------------------------------------------------------------------


def page_cache(lines):
    caches = lines.caches("hacc", "write")
    if not caches:
        return ""
    rows = []
    for application, step in CACHED:
        for device in dict.fromkeys((*DEVICES, *emulations.ALL)):
            rates = [lines.cached_rate(application, step, device, cache) for cache in caches]
            if any(rates):
                rows.append([f"{TITLES[application]} {step}", device,
                             *(f"{one:.0f}" if one else "" for one in rates),
                             percent(lines.loss(application, step, device, caches[-1], caches[0])),
                             percent(HACC_LOSS[device.split("-")[0]]) if application == "hacc" else ""])
    heads = [f"{cache // MIB} MiB" for cache in caches]
    data = next(row["bytes"] for key, row in lines.cached.items() if key[0] == "hacc") / MIB
    note = f"""Four processes on one node, individual calls, files on a device behind the kernel's page cache, whose size a cgroup limits. {data:.0f} MiB of
data for HACC-IO and S3aSim and twice as much for MADBench2 stand for the paper's 2 and 4 GB, so {1024 // SCALE} MiB of cache for 1 GB.
MB/s of all processes; *loss*: from the largest cache to the smallest. S writes the matrices, W reads them and writes results, C reads results.

The page cache is that of a FUSE mount, with the kernel's own limit on a mount's dirty pages lifted (`strict_limit`, `max_ratio` of its backing device), as a
local file system has it. Each process joins the cgroup when its memory is set up, so the limit is the cache's; the device's server, and the memory of the loop device and of the tmpfs, are outside.
On *nvm-loop* the cache is that of an ext4; on *nvm-tmpfs* there is none, since files are in memory already.
A write is done when the page cache has it. S3aSim's file is written back and dropped from the cache before each measurement: a database is read once.

![bandwidth against the size of the page cache](images/nvm-page-cache.png)"""
    return section("Page cache (figures 4 to 6)", note,
                   table(["program", "device", *heads, "loss", "paper"], rows), drops(lines, caches))


def drops(lines, caches):
    """From 3 GB to 1 GB, which the paper tells of NVM."""
    three = 3 * caches[0]
    if three not in caches:
        return ""
    rows = [[TITLES[application], device,
             percent(lines.loss(application, step, device, three, caches[0])),
             percent(NVM_LOSS[application]) if device == "nvm" else ""]
            for application, step in (("madbench", "W"), ("s3asim", "read")) for device in DEVICES]
    return f"From {three // MIB} MiB to {caches[0] // MIB} MiB, for the paper's 3 GB to 1 GB:\n\n" + \
        table(["program", "device", "loss", "paper"], rows)


# ---- IOR ------------------------------------------------------------------------------------


def setting_text(setting):
    nodes, ranks = setting
    return f"{nodes} x {ranks // nodes}"


def rates_table(lines, settings, ways, ratio_heads, ratios):
    """A row for each setting, device and step; ratios are pairs of ways."""
    rows = []
    for setting in settings:
        for device in lines.devices(setting):
            for step in study.STEPS:
                found = [lines.app(setting, device, step, way) for way in ways]
                rows.append([setting_text(setting), device, step,
                             *(f"{rate(row):.1f}" if row else "" for row in found),
                             *(difference(lines, setting, device, step, *pair) for pair in ratios)])
    return table(["nodes x processes", "device", "", *ways, *ratio_heads], rows)


def difference(lines, setting, device, step, way, other):
    """How much faster `way` is than `other`, in per cent of bandwidth."""
    ratio = lines.ratio(setting, device, step, other, way)
    return "" if ratio is None else f"{100 * (ratio - 1):+.1f} %"


def individual(lines):
    settings = [setting for setting in ((1, 4), lines.many()) if setting and lines.devices(setting)]
    if not settings:
        return ""
    note = f"""IOR: two segments of a block of each process, 1 MiB a call, blocks dealt out at random; no page cache. MB/s of all processes, and how much faster POSIX is
than the MPI's individual calls. The paper: POSIX is {percent(POSIX_GAIN, 2)} faster on NVM on one node, and no different otherwise.

![POSIX and individual I/O](images/nvm-individual.png)"""
    return section("POSIX and individual I/O (figures 7 and 8)", note, rates_table(
        lines, settings, study.WAYS[:3], ["POSIX faster"], [("posix", "mpi-individual")]))


def collective(lines):
    settings = lines.by_processes()
    if not settings:
        return ""
    note = """The same, with a storage node behind a link of its own, one aggregator a node, windows of 1 MiB as long as a call. MB/s of all processes, and how much faster
collective I/O is than individual calls: Sluice's (than the MPI's individual calls, and than its own calls without an exchange, which meet as well), and the MPI's own.

![collective and individual I/O](images/nvm-collective.png)"""
    return section("Collective and individual I/O (figures 9 and 10)", note, rates_table(
        lines, settings, study.WAYS[1:], ["collective faster", "than individual", "the MPI's own"],
        [("collective", "mpi-individual"), ("collective", "individual"),
         ("mpi-collective", "mpi-individual")]))


# ---- Model ----------------------------------------------------------------------------------


def validation(lines):
    cases = model.cases(lines)
    if not cases:
        return ""
    rows = []
    for case in cases:
        paper = VALIDATION.get((case.nodes, case.way, case.device)) if case.direction == "write" else None
        rows.append([f"{case.nodes} x {case.ranks // case.nodes}", case.way, case.device,
                     case.direction, f"{case.measured:.3f}", number(case.equations),
                     percent(case.error_of_equations()), number(case.calibrated),
                     percent(case.error_of_calibrated()), number(case.priced), number(case.estimate),
                     percent(case.error_of_estimate()),
                     f"{paper[0]:.2f} / {paper[1]:.2f} ({percent(paper[2])})" if paper else ""])
    note = """Estimated and measured seconds of Sluice's collective calls and the MPI's individual ones. *Equations*: those of the paper as they are printed, with T_s and T_w
from a profile that `sluice calibrate` made in the same setting. *IOR*: bdw_seq and bdw_ran measured as the paper does, by the same program (POSIX calls), in order with a process for each
aggregator, and with all processes; *calibrated*: those of the profile, whose random requests are spread over a scratch file that may be small enough for a disk to find neighbours. *Library*: what the library itself expects of each of its operations,
with an exchange or without ([model](model.md)), beside what these took.

![estimated and measured](images/nvm-model.png)"""
    return section("The models against what was measured (tables V and VI)", note, table(
        ["nodes x processes", "way", "device", "", "measured", "equations, IOR", "error", "calibrated", "error", "operations",
         "library", "error", "paper: estimated / measured"], rows), mean_errors(cases), remark())


def number(value):
    return "" if value is None else f"{value:.3f}"


def mean_errors(cases):
    rows = []
    for direction in study.STEPS:
        some = [case for case in cases if case.direction == direction]
        for name, of in model.ESTIMATES.items():
            found = model.errors(some, of)
            if found:
                rows.append([f"{name}, {direction}s", str(found[0]), percent(found[1]),
                             percent(found[2])])
    rows.append(["the paper", "12", percent(MEAN_ERROR, 2), percent(WORST_ERROR)])
    return table(["error", "cases", "mean", "worst"], rows)


def remark():
    return """The paper's estimates come out of its equations with 16,384 MB in total, T_s and T_w as printed and tau = 1, where its text has tau = 0.75 (4 nodes) and
0.875 (2 nodes): a shuffle of 4,096 MB in 256 iterations on 4 nodes, and of 2,048 MB in 64 on 2 nodes, though half as many aggregators have twice
as much to shuffle each. The estimate for HDD on 4 nodes would so be 420.5 s, 9.0 % away, not 411.78. Individual I/O on NVM is
estimated there with bdw_seq (16,384 / 112.31 = 145.88); that is 0.32 % away from 146.35, where the table says 3.2 %; bdw_ran gives 148.26, 1.3 % away. For collective I/O on NVM on 4 nodes the table's 14.4 % is of the estimate; of the measured time, as in its other cases, it is 17.3 %.
"""


def tradeoff(lines):
    parts = [("the paper's cluster", model.paper_tradeoff(lines)), ("here", model.own_tradeoff(lines))]
    rows = []
    for where, curves in parts:
        for device, points in curves.items():
            wins = [point.bytes for point in points if point.benefit > point.cost]
            rows.append([where, device, *(f"{1e3 * point.cost:.2f} / {1e3 * point.benefit:.2f}"
                                          for point in (points[0], points[6], points[-1])),
                         f"{min(wins) // 1024} KiB" if wins else "never"])
    if not rows:
        return ""
    note = """One iteration in which each of 4 aggregators moves a message's worth: cost of the shuffle (equation 2) and benefit (individual - collective), by the paper's equations with its own parameters
and with those measured here (writes). Milliseconds: cost / benefit.

![cost of the shuffle against its benefit](images/nvm-tradeoff.png)"""
    return section("What the shuffle costs and brings (figure 11)", note, table(
        ["where", "device", "32 KiB", "2 MiB", "16 MiB", "benefit > cost from"], rows))


def found(lines):
    rows = [[finding.what, finding.verdict, finding.paper, finding.ours, finding.why]
            for finding in findings.all_of(lines)]
    return section("The paper's findings", "Each as far as it was measured here.", table(
        ["finding", "seen?", "the paper", "here", "why"], rows)) if rows else ""


def origin(lines):
    """Which machine and versions; the newest line's."""
    rows = [row for row in lines.rows if "date" in row and row["sluice_version"]]
    if not rows:
        return ""
    last = max(rows, key=lambda row: row["date"])
    return (f"\nLast measured {last['date'][:10]} with {last['mpi_library']}, Sluice {last['sluice_version']}, "
            f"{last['host_cores']} cores.\n")


def page(lines):
    return HEAD + origin(lines) + found(lines) + page_cache(lines) + \
        emulation_report.emulations_table(lines) + emulation_report.direct_io(lines) + \
        individual(lines) + emulation_report.short_calls(lines) + collective(lines) + \
        emulation_report.profile(lines) + validation(lines) + tradeoff(lines)
