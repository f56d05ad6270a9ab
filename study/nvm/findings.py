"""What the paper found, and whether the lines of a study show it: seen, partly or not seen, why."""
from statistics import fmean

import emulation_findings
import lines as study
import model
from finding import SAME, Finding, join, known, percents, verdict
from paper import (BANDWIDTH, COLLECTIVE_LOSS, DEVICES, HACC_LOSS, MEAN_ERROR, NVM_LOSS, POSIX_GAIN,
                   WORST_ERROR)

FAST = ("ssd", "nvm")


# ---- Page cache -----------------------------------------------------------------------------


def cache_matters_less(lines):
    caches = lines.caches("hacc", "write")
    losses = known({device: lines.loss("hacc", "write", device, caches[-1], caches[0])
                    for device in DEVICES} if caches else {})
    if len(losses) < len(DEVICES):
        return None
    ordered = losses["hdd"] > losses["ssd"] > losses["nvm"]
    near = losses["nvm"] <= HACC_LOSS["nvm"] + SAME
    return Finding(
        "A small page cache costs HDD and SSD most of HACC-IO's bandwidth, NVM little",
        verdict([ordered, near]), percents(HACC_LOSS), percents(losses),
        join(["The order is the paper's." if ordered else "The order is another.",
              "" if near else "NVM loses more: what the cache does not hold goes to the device through FUSE, while the kernel looks for free "
              f"pages, at {lines.cached_rate('hacc', 'write', 'nvm', caches[0]):.0f} MB/s, and the rest to the page cache at the speed of memory; the "
              "paper's NVM is a block device with the speed of its memory."]))


def large_cache_hides(lines):
    caches = lines.caches("hacc", "write")
    rates = known({device: lines.cached_rate("hacc", "write", device, caches[-1])
                   for device in DEVICES} if caches else {})
    if len(rates) < len(DEVICES):
        return None
    spread = max(rates.values()) / min(rates.values())
    return Finding("With a large cache the devices make no difference (HACC-IO)",
                   verdict([spread < 1 + SAME]), "almost none",
                   ", ".join(f"{name} {value:.0f} MB/s" for name, value in rates.items()),
                   "All data stay in the cache; what is left is the cost of copies and pages."
                   if spread < 1 + SAME else
                   "The cache holds the data, but writing back begins meanwhile, and competes for the cores.")


def nvm_is_best(lines):
    """(cache below the working set, NVM is best) of each case."""
    cases = []
    for application, step in (("madbench", "W"), ("s3asim", "read")):
        for cache in lines.caches(application, step):
            rates = known({device: lines.cached_rate(application, step, device, cache)
                           for device in DEVICES})
            if len(rates) == len(DEVICES):
                bytes_touched = lines.cached[application, step, "nvm", cache]["bytes"]
                cases.append((application == "s3asim" or cache < bytes_touched,
                              rates["nvm"] >= (1 - SAME) * max(rates.values())))
    if not cases:
        return None
    wins = [best for _, best in cases]
    missing = [best for misses, best in cases if misses]
    return Finding("NVM is best at each size of the cache, MADBench2 (W) and S3aSim",
                   verdict([all(wins), 2 * sum(missing) > len(missing)]), "always",
                   f"best, or within {100 * SAME:.0f} % of it, in {sum(wins)} of {len(wins)} cases; where "
                   f"the cache does not hold what is read, in {sum(missing)} of {len(missing)}",
                   "What the cache does not hold comes from the device; where it holds all, the devices differ by noise alone.")


def madbench_is_stable(lines):
    caches = lines.caches("madbench", "W")
    if not caches or 3 * caches[0] not in caches:
        return None
    losses = known({device: lines.loss("madbench", "W", device, caches[-1], 3 * caches[0])
                    for device in DEVICES})
    steady = [abs(loss) < 0.2 for loss in losses.values()]
    return Finding(
        "MADBench2 (W) is as fast with 3 GB of cache as with 11 GB", verdict(steady),
        "stable: its 4 GB are more than the cache holds", percents(losses),
        "As in the paper." if all(steady) else
        "A working set that fits into the larger caches of the sweep is read from there, also what was written just before; the paper's "
        "explanation, that 4 GB do not fit, holds for 3 GB only.")


def streams_need_no_cache(lines):
    losses = {}
    for application, step in (("madbench", "W"), ("s3asim", "read")):
        caches = lines.caches(application, step)
        if caches and 3 * caches[0] in caches:
            losses[application] = lines.loss(application, step, "nvm", 3 * caches[0], caches[0])
    losses = known(losses)
    if len(losses) < 2:
        return None
    return Finding(
        "From 3 GB to 1 GB of cache on NVM, MADBench2 (W) loses much, S3aSim little",
        verdict([losses["s3asim"] < losses["madbench"], abs(losses["s3asim"]) < 2 * SAME]),
        percents(NVM_LOSS), percents(losses),
        "S3aSim reads each byte once, so no cache helps; that the kernel has to find free pages costs something in a small one. "
        "W reads what S wrote, and a cache below its working set has dropped that before.")


# ---- POSIX and individual -------------------------------------------------------------------


def gains(lines, setting):
    """How much faster POSIX is than individual I/O, by device and step."""
    found = {}
    for device in DEVICES:
        for step in study.STEPS:
            ratio = lines.ratio(setting, device, step, "mpi-individual", "posix")
            found[f"{device} {step}"] = None if ratio is None else ratio - 1
    return known(found)


def individual_on_one_node(lines):
    found = gains(lines, (1, 4))
    if not found:
        return None
    means = {device: fmean(gain for name, gain in found.items() if name.startswith(device))
             for device in DEVICES if any(name.startswith(device) for name in found)}
    same = all(abs(gain) < POSIX_GAIN for name, gain in found.items() if not name.startswith("nvm"))
    others = [mean for device, mean in means.items() if device != "nvm"]
    most = means.get("nvm", 0) - max([0, *others]) > POSIX_GAIN / 2
    return Finding("On one node MPI's individual I/O costs next to nothing; most on NVM",
                   verdict([same, most]),
                   f"POSIX is {100 * POSIX_GAIN:.2f} % faster on NVM, the same on HDD and SSD",
                   f"{percents(found)}; on average {percents(means)}",
                   "The MPI adds microseconds to each call, and a call of 1 MiB takes a millisecond or more on any of these devices: "
                   "the paper's effect is about as large as the noise of this machine.")


def individual_across_nodes(lines):
    found = gains(lines, lines.many()) if lines.many() else {}
    if not found:
        return None
    return Finding("Across nodes there is no difference between POSIX and individual I/O",
                   verdict(abs(gain) < POSIX_GAIN for gain in found.values()), "almost none", percents(found),
                   "The wire is the limit, or the disk."
                   if all(abs(gain) < POSIX_GAIN for gain in found.values()) else
                   "The wire or the disk is the limit; where they differ, processes share the machine's cores with the network and the "
                   "device's server, and come in another order each time.")


# ---- Collective and individual --------------------------------------------------------------


# Individual calls are the MPI's: Sluice leaves them to it.
OURS, OWN = ("collective", "mpi-individual"), ("mpi-collective", "mpi-individual")


def advantages(lines, setting, devices, ways=OURS):
    """How much faster the first way is, by device and step."""
    found = {}
    for device in devices:
        for step in study.STEPS:
            ratio = lines.ratio(setting, device, step, ways[1], ways[0])
            found[f"{device} {step}"] = None if ratio is None else ratio - 1
    return known(found)


def both(lines, setting, devices):
    """In words: Sluice's, then the MPI's own."""
    own = advantages(lines, setting, devices, OWN)
    text = "Sluice: " + percents(advantages(lines, setting, devices))
    return text + (f"; the MPI's own: {percents(own)}" if own else "")


def collective_wins_on_hdd(lines):
    many = lines.many()
    found = advantages(lines, many, ("hdd",)) if many else {}
    if not found:
        return None
    return Finding(
        "With several processes a node, collective I/O is faster on HDD", verdict(
            gain > 0 for gain in found.values()),
        "faster", both(lines, many, ("hdd",)),
        "A disk follows 4 streams here. As many aggregators stay in order; more processes by themselves are a seek for each call.")


def collective_alone_on_hdd(lines):
    alone = lines.alone()
    found = advantages(lines, alone, ("hdd",)) if alone else {}
    if not found:
        return None
    return Finding(
        "With one process a node, collective I/O brings little, also on HDD",
        verdict(gain < SAME for gain in found.values()), "little benefit",
        both(lines, alone, ("hdd",)),
        "Each process is an aggregator: there are as many streams without an exchange as with it.")


def collective_loses_on_fast(lines):
    settings = lines.by_processes()
    found = {f"{setting[1] // setting[0]} a node, {name}": gain for setting in settings
             for name, gain in advantages(lines, setting, FAST).items()}
    if not found:
        return None
    own = {f"{setting[1] // setting[0]} a node, {name}": gain for setting in settings
           for name, gain in advantages(lines, setting, FAST, OWN).items()}
    wins = [name for name, gain in found.items() if gain > 0]
    return Finding(
        "On SSD and NVM collective I/O is always slower", verdict([gain < 0 for gain in found.values()]),
        "always", f"Sluice: {percents(found)}; the MPI's own: {percents(own)}",
        "Data cross the wire twice, and these devices do not mind the order of calls." if not wins else
        "Data cross the wire twice, which costs what it costs in the paper; but " + ", ".join(wins) +
        " is not slower: Sluice sends while it writes.")


def worst_on_nvm(lines):
    worst = {}
    for ways in (OWN, OURS):
        found = {f"{setting[1] // setting[0]} a node, {name.split()[1]}, {ways[0]}": gain
                 for setting in lines.by_processes()
                 for name, gain in advantages(lines, setting, ("nvm",), ways).items()}
        if found:
            case = min(found, key=found.get)
            worst[ways[0]] = found[case], case
    if OWN[0] not in worst:
        return None
    return Finding(
        "The worst case of collective I/O on NVM",
        verdict([abs(worst[OWN[0]][0] + COLLECTIVE_LOSS) < SAME]),
        f"{100 * COLLECTIVE_LOSS:.1f} % worse",
        "; ".join(f"{-100 * gain:.1f} % worse ({case})" for gain, case in worst.values()),
        "A call of all processes waits for the slowest, after it has moved the data once more than needed.")


def grows_with_processes(lines):
    settings = lines.by_processes()
    if len(settings) < 2:
        return None
    grown, text = {}, {}
    for whose, ways in (("Sluice", OURS), ("the MPI's own", OWN)):
        alone, many = (advantages(lines, setting, FAST, ways) for setting in settings)
        for name in sorted(set(alone) & set(many)):
            grown.setdefault(whose, []).append(many[name] < alone[name])
            text[f"{whose}, {name}"] = many[name] - alone[name]
    if not grown:
        return None
    own, ours = (all(grown.get(whose, [])) for whose in ("the MPI's own", "Sluice"))
    return Finding(
        "On SSD and NVM collective I/O falls further behind with more processes a node",
        verdict([*grown.get("Sluice", []), *grown.get("the MPI's own", [])]),
        "the difference is bigger with 4 processes a node", f"change of the advantage: {percents(text)}",
        join(["A call of more processes has more messages" +
              (", and the MPI's own pays for each." if own else "."),
              "" if ours else "Sluice's moves as many times the data, though, beside what it costs to meet; its aggregators write "
              "while the next messages arrive."]))


# ---- Model -------------------------------------------------------------------------


def model_is_right(lines):
    cases = [case for case in model.cases(lines) if case.direction == "write"]
    found = {name: model.errors(cases, of) for name, of in model.ESTIMATES.items()}
    found = known(found)
    if not found:
        return None
    return Finding(
        "Five equations with measured parameters tell how long I/O takes (writes)",
        verdict(mean <= 0.10 and worst <= 0.25 for _, mean, worst in found.values()),
        f"mean {100 * MEAN_ERROR:.2f} %, worst {100 * WORST_ERROR:.1f} %, 12 cases",
        "; ".join(f"{name}: mean {100 * mean:.1f} %, worst {100 * worst:.1f} %, {count} cases"
                  for name, (count, mean, worst) in found.items()),
        "Seen: a mean error of 10 % and a worst of 25 % at most. The equations take any message for one between nodes, and shuffle and I/O for one after the "
        "other: with few nodes, and where Sluice does both at once, they come out too long. Calibrated bandwidths at random are those of a small file.")


def crossing(lines):
    own, paper = model.own_tradeoff(lines), model.paper_tradeoff(lines)
    if not paper:
        return None

    def pays(curve):
        return [point.bytes for point in curve if point.benefit > point.cost]

    def text(curves):
        return ", ".join(f"{device} {'from ' + str(min(pays(curve)) // 1024) + ' KiB' if pays(curve) else 'never'}"
                         for device, curve in curves.items())

    conditions = [bool(pays(curves["hdd"])) and not pays(curves["ssd"]) and not pays(curves["nvm"])
                  for curves in (paper, own) if len(curves) == len(DEVICES)]
    return Finding(
        "The benefit exceeds the shuffle's cost for large messages on HDD, never on SSD and NVM",
        verdict(conditions), "HDD: not with 32 KB, but with 2 and 16 MB; SSD, NVM: never",
        f"with the paper's parameters: {text(paper)}" + (f"; with ours: {text(own)}" if own else ""),
        join(["Bandwidth in order and at random differ by the seeks of a disk, and by next to nothing behind the wire on the others.",
              disk_here(lines) if own else ""]))


def disk_here(lines):
    """What makes the disk of this study another one than the paper's."""
    row = model.own_row(lines, "hdd")
    sequential, random = BANDWIDTH["hdd"]
    return (f"Here bdw_seq / bdw_ran of the disk is {row['sequential'] / row['random']:.1f} (writes), in the paper "
            f"{sequential / random:.1f}: a call of 1 MiB is long beside a seek, and one that is not far away costs none.") if row else ""


ALL = (cache_matters_less, large_cache_hides, nvm_is_best, madbench_is_stable, streams_need_no_cache,
       individual_on_one_node, individual_across_nodes, collective_wins_on_hdd,
       collective_alone_on_hdd, collective_loses_on_fast, worst_on_nvm, grows_with_processes,
       *emulation_findings.ALL, model_is_right, crossing)


def all_of(lines):
    """Those for which there are lines."""
    return [finding for finding in (look(lines) for look in ALL) if finding]
