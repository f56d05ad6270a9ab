"""What a run of tests says at its end: where the time went, what was skipped, and the counts."""
import collections
import re
from dataclasses import dataclass, field

from json_lines import lines_of


@dataclass
class Counts:
    passed: int = 0
    failed: list = field(default_factory=list)
    skipped: list = field(default_factory=list)  # (test, why)
    seeds: list = field(default_factory=list)  # (test, seed)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.seeds += other.seeds


def has_failed(case):
    """A test that CTest could not start is none that was skipped."""
    skipped = case.find("skipped")
    return case.get("status") == "fail" or (
        case.get("status") != "run"
        and (skipped is None or not skipped.get("message", "").startswith("SKIP_")))


def skips_of(case):
    """Why a test, or cases in one that passed, were skipped."""
    output = (case.findtext("system-out") or "").strip()
    if case.get("status") != "run":
        lines = output.splitlines()
        return [lines[-1] if lines else "no reason given"]
    return re.findall(r": Skipped\n(.*)", output)


def count(cases, builds, wanted):
    """Of the cases of CTest's report, and of builds: variant -> whether it was built. Tests that
    were `wanted` and are not in the report failed: CTest was ended before it came to them."""
    counts = Counts()
    for case in cases:
        if has_failed(case):
            counts.failed.append(case.get("name"))
            continue
        counts.passed += case.get("status") == "run"
        counts.skipped += [(case.get("name"), why) for why in skips_of(case)]
        counts.seeds += [(case.get("name"), seed) for seed in re.findall(
            r"\bseed[= ](\d+)", case.findtext("system-out") or "")[:1]]
    if not counts.failed:
        told = {case.get("name") for case in cases}
        counts.failed += [name for name in wanted if name not in told]
    counts.passed += sum(builds.values())
    counts.failed += [f"build {variant}" for variant, done in builds.items() if not done]
    return counts


def kind_of(name):
    return name.split()[0] if name.startswith(("build", "configure")) else name.split()[-1]


def entries_of(log):
    """The log that timed.py writes, the slowest entry first."""
    return sorted(lines_of(log), key=lambda line: -line["seconds"])


def sums_by_kind(entries):
    """kind -> [seconds, processor seconds, entries]; what runs beside other work counts in full."""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for entry in entries:
        for total in (sums[kind_of(entry["name"])], sums["all"]):
            total[0] = round(total[0] + entry["seconds"], 1)
            total[1] = round(total[1] + entry["processor"], 1)
            total[2] += 1
    return dict(sorted(sums.items(), key=lambda one: -one[1][0]))


def show_times(log, slowest=20):
    """The slowest entries and the sums by kind."""
    entries = entries_of(log)
    row = "{:>9} {:>9}  {}".format
    print(f"\nslowest {slowest}\n" + row("seconds", "processor", ""))
    for entry in entries[:slowest]:
        print(row(entry["seconds"], entry["processor"], entry["name"]))
    print("by kind; what runs beside other work counts in full")
    for kind, (seconds, processor, count_of_kind) in sums_by_kind(entries).items():
        print(row(seconds, processor, f"{kind}, {count_of_kind} entries"))
    print(flush=True)


def keep_seeds(counts, path):
    """A test that fails shows its seed with its output; those of the others are kept here."""
    path.write_text("".join(f"{seed} {name}\n" for name, seed in counts.seeds))
    if counts.seeds:
        print(f"{len(counts.seeds)} random tests passed; their seeds are in {path}")


def show(counts, away):
    """`away`: reason -> the tests that were selected away."""
    for why, names in group(counts.skipped).items():
        print(f"skipped: {', '.join(sorted(set(names)))}: {why}")
    for reason, tests in away.items():
        print(f"selected away: {len(tests)} tests of {tests[0].variant}: {reason}")
    for name in counts.failed:
        print(f"failed: {name}")
    ending = f", {sum(map(len, away.values()))} selected away" if away else ""
    print(f"{counts.passed} passed, {len(counts.failed)} failed, {len(counts.skipped)} skipped"
          + ending, flush=True)


def group(skipped):
    """why -> names"""
    found = {}
    for name, why in skipped:
        found.setdefault(why, []).append(name)
    return found
