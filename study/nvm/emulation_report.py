"""Sections of the page on what emulates NVM, on going past the page cache, on short calls, and on the
time inside of a collective call. See report.py."""
import emulation_findings as of_emulations
import emulations
import findings
import lines as study
from lines import rate
from paper import DEVICES, MIB, PROFILE, PROFILE_WINDOWS
from tables import percent, section, table

ON_NVM = (findings.cache_matters_less, findings.large_cache_hides, findings.nvm_is_best,
          findings.madbench_is_stable, findings.streams_need_no_cache)
TITLES = {"hacc": "HACC-IO", "madbench": "MADBench2", "s3asim": "S3aSim"}


def emulations_table(lines):
    """The findings of the page cache's sweep, with each emulation in NVM's place."""
    names = of_emulations.emulated(lines)
    if len(names) < 2:
        return ""
    found = [[look(lines.with_nvm(name)) for name in names] for look in ON_NVM]
    rows = [[row[0].what, *(f"{one.verdict}: {one.ours}" for one in row),
             "no" if len({one.verdict for one in row}) == 1 else "**yes**"] for row in found if all(row)]
    return section("Which findings depend on the emulation of NVM", """The findings of the page cache's sweep, with each emulation in the place of NVM, the three in turn in one run; HDD and SSD are those of `sluice device`.""",
                   table(["finding", *(emulations.TEXTS[name] for name in names), "depends?"], rows))


def direct_io(lines):
    caches = lines.caches("hacc", "write")
    rows = []
    for synced, steps in ((False, (*of_emulations.WRITING, *of_emulations.READING)),
                          (True, of_emulations.WRITING)):
        for step in steps:
            for name in of_emulations.emulated(lines):
                gains = [lines.direct_gain(*step, name, cache, synced) for cache in caches]
                if not all(gains):
                    continue
                speeds = [rate(lines.passed[*step, name, caches[-1], way, synced])
                          for way in ("individual", "direct")]
                rows.append([f"{TITLES[step[0]]} {step[1]}" + (", on the device" if synced else ""), name,
                             *(f"{gain:.2f}" for gain in gains), *(f"{speed:.0f}" for speed in speeds)])
    if not rows:
        return ""
    return section("Past the page cache (the paper's open question)", """The paper's conclusion on the page cache: "We could even explore the possibility of completely bypassing page cache for certain workloads". Sluice's
individual calls with `sluice_page_cache=direct` (O_DIRECT) over the same with `keep`, bandwidth by bandwidth, in turn; above 1 past the page cache is faster. A program's
memory begins at a page here. *On the device*: the time includes `MPI_File_sync`, without which a write is done when the page cache has it. The last two columns are
MB/s with the largest cache. S3aSim's pieces do not begin at pages, so that their ends go through the cache and their middles through memory that does.""",
                   table(["program", "NVM", *(f"{cache // MIB} MiB" for cache in caches), "kept, MB/s", "past, MB/s"], rows))


def short_calls(lines):
    sizes = sorted({key[3] for key in lines.sized})
    rows = []
    for device in dict.fromkeys((*DEVICES, *emulations.ALL)):
        for step in study.STEPS:
            cells = [call_cells(lines, device, step, size) for size in sizes]
            if any(cells):
                rows.append([device, step, *(cell for two in cells for cell in two or ("", ""))])
    if not rows:
        return ""
    heads = [head for size in sizes for head in (f"{size} B: us a call, POSIX", "POSIX faster")]
    return section("What the MPI adds to a call of one process (figure 7 with shorter calls)", """The same on one node with shorter calls too, also on the other two emulations of NVM, which are behind the kernel's page cache or are memory. *POSIX faster*: the median of the
turns, each the MPI's individual calls over the POSIX calls before or after it, and in how many turns POSIX was faster. Four processes share two cores on the devices of `sluice device`, which
have no page cache; on the other two each of two processes has a core, and writes over pages that are there: else waiting for a core, and the kernel that clears pages, hide what a call costs.""",
                   table(["device", "", *heads], rows))


def call_cells(lines, device, step, size):
    turns = sorted(lines.gain_by_turn(device, step, size))
    if not turns:
        return None
    row = lines.sized[device, step, "posix", size]
    wins = sum(gain > 0 for gain in turns)
    return (f"{1e6 * row['total']['median'] / row['calls_per_rank']:.1f}",
            f"{100 * turns[len(turns) // 2]:+.1f} % ({wins} of {len(turns)})")


# ---- Inside of a collective call ------------------------------------------------------------


def profile(lines):
    rows = []
    for way, whose in (("mpi-collective", "ROMIO"), ("collective", "Sluice")):
        for step in study.STEPS:
            for device, part in of_emulations.iterated(lines, way, step).items():
                rows.append([whose, f"{device}, {step}", *profile_cells(lines, way, step, device, part)])
    if not rows:
        return ""
    return section("Where a collective call spends its time (table II)", profile_note(), table(
        ["whose", "", "calls, s", "I/O, s", "shuffle, s", "of both", "over I/O", "paper", "I/O, ms an iteration", "paper",
         "shuffle, ms an iteration", "of it meeting", "paper"], rows))


def profile_cells(lines, way, step, device, part):
    row = lines.iterated[device, step, way]
    iterations = row["bytes"] / row["nodes"] / study.ITERATION
    paper = PROFILE[device.split("-")[0]]
    window = {what: 1e3 * paper[what] / PROFILE_WINDOWS for what in ("io", "shuffle")}
    meeting = f"{1e3 * row['meeting']['median'] / iterations:.1f}" if "meeting" in row else ""
    return [f"{row['total']['median']:.3f}", f"{part[0]:.3f}", f"{part[1]:.3f}", percent(part[1] / sum(part)),
            percent(part[1] / part[0]), percent(paper["share"], 2),
            f"{1e3 * part[0] / iterations:.0f}", f"{paper['io_ms']} ({window['io']:.0f})",
            f"{1e3 * part[1] / iterations:.0f}", meeting, f"{paper['shuffle_ms']} ({window['shuffle']:.0f})"]


def profile_note():
    return f"""Calls of 16 MiB by 4 x 4 processes, one aggregator a node, iterations of 16 MiB (`cb_buffer_size`) as in the paper. *ROMIO*: the MPI's own calls without Sluice in the process;
a preloaded library (`study/nvm/romio_times.c`) times what the paper's timers time, `pwrite` and `pread`, and the exchange of data of each iteration (`MPI_Alltoall`, `MPI_Irecv`,
`MPI_Isend`, `MPI_Waitall`, which MPICH's ROMIO calls through the table of dynamic symbols); means of the aggregators. *Meeting* is the part in `MPI_Alltoall`. *Sluice*: from its own statistics, of the rank with
most; a message also counts while its receiver waits for the device, and the next iteration's messages are under way during a transfer: the two overlap, ROMIO's follow each other,
so that its calls take the sum of both, and Sluice's little more than the longer one. *Calls* is what all calls take.
*hdd-one-stream* is the disk without its memory for several streams (60 MB/s from four aggregators; the paper's 58 in order).

The paper's share is its shuffle over its row "I/O time" (14.19 / 28.29 = 50.16 %), so both readings are here. Its milliseconds are averages of {PROFILE['nvm']['io'] / PROFILE['nvm']['io_ms'] * 1e3:,.0f} iterations
(986.15 s / 28.29 ms), though 16 GB are {PROFILE_WINDOWS:,} windows of 16 MB: calls of processes whose blocks lie 512 MB apart leave most iterations without data. In parentheses: its seconds by windows with data,
as each iteration is here. For HDD 466.21 s by as many are 13.37 ms, where the table has 13.77."""
