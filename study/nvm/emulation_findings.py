"""Findings on NVM that depend on how it is emulated, on going past the page cache, on short calls, and
on ROMIO's own iterations. See findings.py."""
from statistics import median

import emulations
import lines as study
from finding import SAME, Finding, known, percents, verdict
from paper import DEVICES, HACC_LOSS, MIB, POSIX_GAIN, PROFILE

SHORT = {emulations.LOOP: "loop", emulations.TMPFS: "tmpfs", "nvm": "FUSE"}
# Steps that write, and those that read; the last two move the same bytes whenever they are synced.
WRITING = (("hacc", "write"), ("madbench", "S"), ("madbench", "W"))
READING = (("madbench", "C"), ("s3asim", "read"))


def emulated(lines):
    """The emulations of NVM under which the page cache's sweep was measured."""
    return [name for name in emulations.ALL if any(key[2] == name for key in lines.cached)]


def loss_by_emulation(lines):
    caches = lines.caches("hacc", "write")
    losses = known({SHORT[name]: lines.loss("hacc", "write", name, caches[-1], caches[0])
                    for name in emulated(lines)})
    if len(losses) < 2:
        return None
    alone = known({f"{SHORT[name]}, one process": lines.loss_of_one(name, caches[-1], caches[0])
                   for name in emulated(lines)})
    near = [abs(loss - HACC_LOSS["nvm"]) <= SAME for loss in losses.values()]
    return Finding(
        "From 11 GB to 1 GB of cache HACC-IO loses little on NVM, whatever emulates it",
        verdict(near), f"{100 * HACC_LOSS['nvm']:.1f} % (PMBD)", percents(losses | alone),
        "A tmpfs has no page cache in front of its memory, so a limit costs it nothing but noise. Behind a page cache each byte is copied twice "
        "when it does not fit, by the writer and by whom it waits for: how much that costs depends on the copy, and on the cores left for it, not on NVM.")


def direct_gains(lines, synced):
    """Past the page cache over through it, by emulation, program and step, and size of the cache."""
    steps = WRITING if synced else (*WRITING, *READING)
    return known({(name, *step, cache): lines.direct_gain(*step, name, cache, synced)
                  for name in emulated(lines) for step in steps for cache in lines.caches(*step)})


def direct_io_pays(lines):
    caches = lines.caches("hacc", "write")
    cached, synced = direct_gains(lines, False), direct_gains(lines, True)
    if not cached or not synced:
        return None
    groups = {"on the device at the end": list(synced.values()),
              "smallest cache": [gain for key, gain in cached.items() if key[3] == caches[0]],
              "largest cache": [gain for key, gain in cached.items() if key[3] == caches[-1]]}
    groups = {name: gains for name, gains in groups.items() if gains}
    holds = {name: sum(gain >= 1 - SAME for gain in gains) for name, gains in groups.items()}
    return Finding(
        "NVM needs no page cache: past it bandwidth is as high",
        verdict(holds[name] == len(gains) for name, gains in groups.items()),
        "an open question: bypassing could be explored for certain workloads",
        "; ".join(f"{name}: as fast or faster in {holds[name]} of {len(gains)} cases, {min(gains):.2f} to {max(gains):.2f} "
                  f"times, median {median(gains):.2f}" for name, gains in groups.items()),
        "A cache that holds the data gives them at the speed of memory, before the device has them; where it does not, or the data have to be "
        "on the device, it is one copy more. Short calls, and those that do not begin at a page, keep its reading ahead.")


def gain_of_calls(lines, device, transfer):
    """POSIX over the MPI's individual calls: the median of the turns, and in how many it is faster."""
    turns = [gain for step in study.STEPS for gain in lines.gain_by_turn(device, step, transfer)]
    return (median(turns), sum(gain > 0 for gain in turns), len(turns)) if turns else None


def individual_short_calls(lines):
    sizes = sorted({key[3] for key in lines.sized})
    devices = dict.fromkeys((*DEVICES, *emulations.ALL))
    found = {size: known({device: gain_of_calls(lines, device, size) for device in devices})
             for size in sizes}
    short = found.get(4096, {})
    if not {"hdd", "ssd", "nvm"} <= set(short):
        return None
    same = [abs(short[device][0]) < POSIX_GAIN for device in ("hdd", "ssd")]
    shortest = {device: next(row[device] for row in found.values() if device in row)
                for device in short if device in emulations.ALL}
    faster = [gain > POSIX_GAIN / 2 and wins >= 0.75 * turns
              for gain, wins, turns in shortest.values()]
    return Finding(
        "On one node POSIX is faster than MPI's individual I/O on NVM, and the same on HDD and SSD: short calls",
        verdict([all(same), *faster]), f"{100 * POSIX_GAIN:.2f} % on NVM; calls of 16 MB",
        "; ".join(f"{size} bytes: " + ", ".join(
            f"{SHORT.get(device, device)} {100 * gain:+.1f} %" for device, (gain, *_) in row.items())
                  for size, row in found.items() if row),
        "What the MPI adds to a call is a constant: beside a copy of 512 bytes in memory it shows, beside the 80 us of a trip through FUSE it is in "
        "the noise. 4.87 % of a call of 16 MB, which takes milliseconds, cannot be that constant; nor can what reads of a loop device lose up to 1 MiB.")


# ---- ROMIO's iterations ---------------------------------------------------------------------


def iterated(lines, way, step):
    """(I/O, shuffle) in seconds, by device; all or nothing."""
    rows = {device: lines.iterated.get((device, step, way)) for device in (*DEVICES, study.SLOW_DISK)}
    if any(rows[device] is None or "transfers" not in rows[device] for device in DEVICES):
        return {}
    return {device: (row["transfers"]["median"], row["messages"]["median"] +
                     (row["copies"]["median"] if way == "collective" else 0))
            for device, row in rows.items() if row}


def share(part):
    return part[1] / sum(part)


def by_step(lines, way, value):
    return {f"{device} {step}": value(part) for step in study.STEPS
            for device, part in iterated(lines, way, step).items()}


def share_rises(lines):
    found = {step: iterated(lines, "mpi-collective", step) for step in study.STEPS}
    if not all(found.values()):
        return None
    conditions = [share(one["hdd"]) < (1 - SAME) * min(share(one["ssd"]), share(one["nvm"]))
                  for one in found.values()]
    conditions += [share(one[study.SLOW_DISK]) < (1 - SAME) * min(share(one["ssd"]), share(one["nvm"]))
                   for one in found.values() if study.SLOW_DISK in one]
    own = by_step(lines, "collective", share)
    return Finding(
        "The shuffle's share of the time rises from HDD to SSD and NVM", verdict(conditions),
        percents({device: PROFILE[device]["share"] for device in DEVICES}),
        "ROMIO's own: " + percents(by_step(lines, "mpi-collective", share)) +
        (f"; Sluice's: {percents(own)}" if own else ""),
        "The I/O is shorter, the shuffle is not; but `hdd` follows four aggregators in order as fast as the wire brings their bytes, and so is no "
        "slower than ssd here. A disk that follows one stream has the paper's bandwidth in order, and shows the rise. In Sluice messages are under way during transfers, and both last about as long as the call.")


def shuffle_is_half(lines):
    found = by_step(lines, "mpi-collective", share)
    over = by_step(lines, "mpi-collective", lambda part: part[1] / part[0])
    if not found:
        return None
    fast = [name for name in found if name.split()[0] in ("ssd", "nvm")]
    paper = PROFILE["nvm"]["share"]
    return Finding(
        "On SSD and NVM ROMIO's shuffle takes half of the time",
        verdict(min(abs(found[name] - paper), abs(over[name] - paper)) <= SAME for name in fast),
        "49.93 %, 50.16 %: the table divides the shuffle by the row \"I/O time\"",
        "of both: " + percents({name: found[name] for name in fast}) + "; over the I/O: " +
        percents({name: over[name] for name in fast}),
        "Four windows of 16 MiB cross the one wire to the storage node, 540 ms at 1 Gbit/s; three quarters of one cross an aggregator's own wire, 100 ms. ROMIO's shuffle "
        "takes more than twice that here, and four times in the paper, if its seconds are those of the windows with data: its ranks meet, send, and wait, one after the other.")


def shuffle_is_the_same(lines):
    found = {step: iterated(lines, "mpi-collective", step) for step in study.STEPS}
    if not all(found.values()):
        return None
    spreads = {step: max(v[1] for v in one.values()) / min(v[1] for v in one.values())
               for step, one in found.items()}
    own = [iterated(lines, "collective", step) for step in study.STEPS]
    text = ", ".join(f"{step}: {value:.2f}" for step, value in spreads.items())
    if all(own):
        text += "; Sluice's " + ", ".join(
            f"{step}: {max(v[1] for v in one.values()) / min(v[1] for v in one.values()):.2f}"
            for step, one in zip(study.STEPS, own))
    return Finding(
        "The shuffle takes as long on all devices", verdict(v < 1.25 for v in spreads.values()),
        "13.77, 14.32 and 14.19 ms an iteration", f"longest / shortest, ROMIO's own {text}",
        "The same bytes cross the same wire, and ROMIO's shuffle ends before its I/O begins. In Sluice they are under way together, so that a message "
        "whose receiver waits for the device takes longer.")


ALL = (loss_by_emulation, direct_io_pays, individual_short_calls, share_rises, shuffle_is_half,
       shuffle_is_the_same)
