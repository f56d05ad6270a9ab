"""The variants that results/behind compares, and the figures that it makes of their seconds."""
import re
import statistics

ALONE, SERVED, BEHIND = "MPI alone", "Sluice", "Sluice behind"
CLOSED = "Sluice close behind"  # With the hint sluice_close=behind.
FREE = "writes cost nothing"
ALWAYS = "Sluice always behind"  # However fast the storage is.


def summary(values):
    values = list(values)
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def ideal_of(variants, io, steps):
    """Seconds that are left when all is hidden that can be: all computation, and the I/O of one
    step, which has no computation beside it (the last write, the first read). The computation is
    the one that was asked for; or, if it took longer in each variant, the shortest of their
    medians: an MPI that waits in a busy loop may slow down the ranks that still compute, and
    ranks that others wait for may compute faster than all together could."""
    shortest = min(times["compute"]["median"] for variant, times in variants.items()
                   if variant != FREE)
    return max(steps * io, shortest) + io


def hidden_of(totals, ideal):
    """variant -> the part that it hides of what can be hidden."""
    most = max(totals[ALONE] - ideal, 1e-9)
    return {variant: (totals[ALONE] - total) / most
            for variant, total in totals.items() if variant not in (ALONE, FREE)}


def ratios(calls):
    """Of the seconds in the calls: the MPI's and those that nothing can avoid, by behind's."""
    behind = max(calls.get(BEHIND, 0), 1e-9)
    found = {"calls_ratio": calls[ALONE] / behind} if BEHIND in calls else {}
    if BEHIND in calls and FREE in calls:
        found["calls_over_free"] = behind / max(calls[FREE], 1e-9)
    return found


def call_times(output):
    """Of each rank, what bench/programs/call_times.c printed: seconds by what they went to."""
    lines = re.findall(r"^call times: rank \d+: (.*)$", output, re.MULTILINE)
    return [{name: float(seconds)
             for name, seconds in re.findall(r"([A-Za-z_][\w ]*?)(?: \d+)? ([\d.]+) s", line)}
            for line in lines]


def fastest(results):
    """The turn that other work on the machine disturbed least."""
    return min(results, key=lambda result: result["calls"])
