#!/usr/bin/env python3
"""Measures the emulated devices with fio against what their profiles say: `make test-device`.

    check.py                      all profiles
    check.py --profile hdd,FILE   these
    check.py --record             adds lines to results/device.jsonl

A try is one fio run; what counts is the median of its bandwidths over a tenth of a second each, and
the median of its latencies. Other programs can only slow a try down, so there are up to --tries of
a case, until one is within 10 %, and the closest is shown; but no try may be more than 10 % faster
than the profile. As root, device and fio run at the highest priority that `nice` has. It needs FUSE
and fio; where they are missing it says so and ends with exit code 77.
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results" / "device.jsonl"
FAST = "[device]\nread_bandwidth = 4e9\nwrite_bandwidth = 4e9\nqueue_depth = 8\n"
TOLERANCE = 0.10
SKIPPED = 77
LOG_MS = 100
# A file of nothing but holes takes no memory to read, however random; what is written does.
READ_MIB, WRITE_MIB, IN_ORDER_MIB = 4096, 1024, 256


class Skip(Exception):
    pass


def command():
    builds = [ROOT / "build" / "no-mpi", *(ROOT / "build").glob("*")]  # The one that tests make.
    found = [build / "bin" / "sluice" for build in builds
             if (build / "libexec" / "sluice-device").exists()]
    if not found:
        raise Skip("no build has libexec/sluice-device (it needs libfuse3-dev and libcli11-dev)")
    return found[0]


def expected(sluice, profile):
    """[(access, depth, {way: (MB/s, us)})] of `sluice device --print`."""
    printed = subprocess.run([sluice, "device", "--print", profile], capture_output=True, text=True,
                             check=True).stdout
    pattern = (r"# (\w+ \w+) +depth (\d+) +read +([\d.]+) MB/s +([\d.]+) us"
               r" +write +([\d.]+) MB/s +([\d.]+) us")
    rows = [(access, int(depth), {"read": (float(a), float(b)), "write": (float(c), float(d))})
            for access, depth, a, b, c, d in re.findall(pattern, printed)]
    if not rows:
        raise RuntimeError(f"sluice device --print {profile} says nothing of its speed")
    return rows


@contextlib.contextmanager
def mounted(sluice, profile, *options):
    with tempfile.TemporaryDirectory(prefix="emulated-") as folder:
        device = subprocess.Popen([sluice, "device", "--profile", profile, "--mount", folder,
                                   *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
        try:
            line = device.stdout.readline()
            if not line.startswith(f"mounted {folder}"):
                raise Skip(device.stderr.read().strip() or "the device did not mount")
            yield Path(folder)
        finally:
            device.send_signal(signal.SIGTERM)
            device.wait(30)
            device.stdout.close()
            device.stderr.close()


class Mounted(unittest.TestCase):
    """In a mount of a fast device, at `at`; OVER in the options is a folder beside it."""
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="emulated-files-")
        root = Path(cls.folder.name)
        (root / "fast.toml").write_text(FAST)
        (root / "over").mkdir()
        words = [str(word).replace("OVER", str(root / "over")) for word in cls.options]
        cls.mount = mounted(command(), str(root / "fast.toml"), *words)
        cls.at = cls.mount.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.mount.__exit__(None, None, None)
        cls.folder.cleanup()


def run_tests():
    """Those of the calling module; the exit code says if nothing can be mounted here."""
    try:
        with mounted(command(), "nvm"):
            pass
    except Skip as why:
        print(f"skipped: {why}")
        return SKIPPED
    return 0 if unittest.main(exit=False, verbosity=1).result.wasSuccessful() else 1


def median_bandwidth(log, depth):
    """In MB/s, from fio's log: a line for each job and tenth of a second, with KiB/s."""
    sums = {}
    for line in log.read_text().splitlines():
        milliseconds, kibibytes, *_ = line.split(",")
        sums.setdefault(round(int(milliseconds) / LOG_MS), []).append(int(kibibytes))
    whole = [sum(jobs) for jobs in sums.values() if len(jobs) == depth]
    if not whole:
        raise RuntimeError("fio logged no bandwidth of all jobs; try more --seconds")
    return statistics.median(whole) * 1024 / 1e6


def test_file(folder, order, way):
    """(path, MiB) of a file for accesses of this kind."""
    path = folder / f"{order}-{way}"
    size = READ_MIB if way == "read" else IN_ORDER_MIB if order == "sequential" else WRITE_MIB
    if path.exists():
        return path, size
    with open(path, "wb", buffering=0) as file:
        if size == IN_ORDER_MIB:  # The first touch of memory takes as long as a fast device.
            for _ in range(size):
                file.write(bytes(1 << 20))
        file.truncate(size << 20)
    return path, size


def fio(folder, access, depth, way, seconds):
    """(median MB/s, median latency in us) of one run."""
    order, block = access.split()
    path, size = test_file(folder, order, way)
    words = ["fio", "--name=case", f"--filename={path}", f"--bs={block}",
             f"--rw={'rand' if order == 'random' else ''}{way}", "--ioengine=psync", "--thread",
             f"--numjobs={depth}", "--group_reporting", "--fallocate=none", "--time_based",
             "--ramp_time=0.2", f"--runtime={seconds}", "--randrepeat=0", "--norandommap",
             "--iomem_align=4096",  # else a request of 1 MiB is of 257 pages, and becomes two
             "--output-format=json", f"--log_avg_msec={LOG_MS}", "--per_job_logs=0"]
    if order == "random":
        words += [f"--filesize={size}m"]
    else:  # each job has its own part: one stream each
        words += [f"--size={size // depth}m", f"--offset_increment={size // depth}m"]
    with tempfile.TemporaryDirectory(prefix="emulated-log-") as logs:
        words += [f"--write_bw_log={logs}/case"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=logs,
                              timeout=60 + 10 * seconds)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()[-500:]}")
        speed = median_bandwidth(Path(logs) / "case_bw.log", depth)
    result = json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0][way]
    return speed, result["clat_ns"]["percentile"]["50.000000"] / 1e3


def within(ratio):
    return abs(ratio - 1) <= TOLERANCE


def best_of(ratios):
    return min(ratios, key=lambda ratio: abs(ratio - 1))


def measure(folder, access, depth, way, wanted, args):
    """The closest of the tries, of bandwidth and of latency each."""
    speeds, waits = [], []
    while len(speeds) < args.tries:
        speed, wait = fio(folder, access, depth, way, args.seconds)
        speeds.append(speed / wanted[0])
        waits.append(wait / wanted[1])
        if within(best_of(speeds)) and (depth > 1 or within(best_of(waits))):
            break
    row = {"access": access, "depth": depth, "way": way,
           "mb_s": round(best_of(speeds) * wanted[0], 3), "mb_s_profile": wanted[0],
           "mb_s_ratio": round(best_of(speeds), 3), "tries": len(speeds)}
    passed = within(best_of(speeds)) and max(speeds) <= 1 + TOLERANCE
    if depth == 1:  # deeper queues wait for the device, and for each other
        row |= {"us": round(best_of(waits) * wanted[1], 1), "us_profile": wanted[1],
                "us_ratio": round(best_of(waits), 3)}
        passed = passed and within(best_of(waits))
    return row | {"passed": passed}


def line_of(row):
    text = (f"  {row['access']:<14} {row['depth']:>5}  {row['way']:<5} {row['mb_s']:>9.2f} "
            f"{row['mb_s_profile']:>9.2f} {row['mb_s_ratio']:>6.3f}")
    text += (f" {row['us']:>9.1f} {row['us_profile']:>9.1f} {row['us_ratio']:>6.3f}"
             if "us" in row else " " * 27)
    return text + f" {row['tries']:>5}" + ("" if row["passed"] else "  FAILED")


def check(profile, args):
    print(f"\n{profile}\n  {'access':<14} {'depth':>5}  {'way':<5} {'MB/s':>9} {'profile':>9} "
          f"{'ratio':>6} {'us':>9} {'profile':>9} {'ratio':>6} {'tries':>5}")
    rows = []
    with mounted(args.sluice, profile) as folder:
        for access, depth, wanted in expected(args.sluice, profile):
            for way in ("read", "write"):
                if args.only not in f"{access} {depth} {way}":
                    continue
                rows.append({"profile": profile} |
                            measure(folder, access, depth, way, wanted[way], args))
                print(line_of(rows[-1]), flush=True)
    return rows


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="hdd,ssd,nvm", help="names or files, with commas")
    parser.add_argument("--only", default="", help="cases with this: 'random 4K 1 read'")
    parser.add_argument("--seconds", type=float, default=2, help="of a try")
    parser.add_argument("--tries", type=int, default=5, help="at most, of each case")
    parser.add_argument("--record", action="store_true", help=f"add to {RESULTS.name}")
    return parser.parse_args()


def main():
    args = parse_arguments()
    rows = []
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    try:
        if not shutil.which("fio"):
            raise Skip("fio is not installed (Debian: fio)")
        args.sluice = command()
        for profile in args.profile.split(","):
            rows += check(profile, args)
    except Skip as why:
        print(f"skipped: {why}")
        return SKIPPED
    failed = sum(not row["passed"] for row in rows)
    print(f"\nwithin {TOLERANCE:.0%} of the profile: {len(rows) - failed} of {len(rows)} cases")
    if args.record:
        with open(RESULTS, "a") as file:
            for row in rows:
                file.write(json.dumps(row | {"load": round(os.getloadavg()[0], 1)}) + "\n")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
