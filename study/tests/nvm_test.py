#!/usr/bin/env python3
"""`sluice bench nvm`: the paper's equations, the report and the pictures of lines that are made up,
and, where there is a build for MPICH, the mode of sluice-study that measures. The command is
$SLUICE."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "study" / "nvm"))
sys.dont_write_bytecode = True

import emulations  # noqa: E402
import findings  # noqa: E402
import lines as study  # noqa: E402
import report  # noqa: E402
import runs  # noqa: E402
import tools  # noqa: E402
from paper import BANDWIDTH, DEVICES, MEGABYTE, MIB, START, VALIDATION  # noqa: E402

SLUICE = os.environ["SLUICE"]
APPLICATIONS = ("ior", "ior-random", "ior-ordered", "hacc", "madbench", "s3asim")
# MB/s with the smallest cache, and with any other one.
CACHED = {"hdd": (70, 1000), "ssd": (150, 1000), "nvm": (890, 1000)}
STREAMED = {"hdd": 60, "ssd": 300, "nvm": 900}
ACROSS = {"hdd": (30, 60), "ssd": (100, 60), "nvm": (110, 60)}  # alone, together


def equations(*words):
    done = subprocess.run([SLUICE, "bench", "nvm", "model", *map(str, words)], text=True,
                          capture_output=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def of_paper(device, ranks=16):
    sequential, random = BANDWIDTH[device]
    return equations("--start", START, "--megabyte", MEGABYTE, "--sequential", sequential,
                     "--random", random, "--ranks", ranks, "--aggregators", 4, "--bytes", 16384e6,
                     "--window", 16e6)


def median(value):
    return {"median": value, "min": value, "max": value}


def app(application, step, device, way, megabytes_a_second, **more):
    size = 128 * MIB
    return {"mode": "app", "application": application, "step": step, "way": way, "device": device,
            "bytes": size, "transfer_bytes": MIB, "total": median(size / megabytes_a_second / 1e6),
            "nodes": 1, "ranks": 4, "mpi_library": "an MPI", "sluice_version": "0", "host_cores": 2,
            "date": "2026-01-01T00:00:00Z", **more}


def cached_lines():
    for cache in runs.FULL.caches:
        for device, (small, large) in CACHED.items():
            fast = large if cache > runs.FULL.caches[0] else small
            for application, step, value in (("hacc", "write", fast), ("madbench", "W", fast),
                                             ("madbench", "S", fast), ("madbench", "C", fast),
                                             ("s3asim", "read", STREAMED[device])):
                yield app(application, step, device, "mpi-individual", value, cache=str(cache))


def emulated_lines():
    """As the paper would have it: other emulations of NVM tell the same, and past the page cache
    nothing is lost."""
    for row in cached_lines():
        if row["device"] == "nvm":
            for device in emulations.ALL:
                yield row | {"device": device}
                for way in ("individual", "direct"):
                    yield row | {"device": device, "way": way}
                    yield row | {"device": device, "way": way, "synced": "yes"}


def called_lines():
    """Short calls on one node: POSIX is faster on NVM alone."""
    for device in dict.fromkeys((*DEVICES, *emulations.ALL)):
        for step in study.STEPS:
            for way in ("posix", "mpi-individual"):
                slow = 1.05 if device in emulations.ALL and way == "mpi-individual" else 1.0
                yield app("ior", step, device, way, 100, transfer_bytes=4096,
                          calls_per_rank=512, total_samples=[slow, slow])


def iterated_lines(shuffle=1.0):
    for device in (*DEVICES, study.SLOW_DISK):
        for step in study.STEPS:
            for way in ("mpi-collective", "collective"):
                yield app("ior", step, device, way, 100, nodes=4, ranks=16,
                          transfer_bytes=study.ITERATION, messages=median(shuffle),
                          copies=median(0.0), meeting=median(0.1),
                          transfers=median(9.0 if device.startswith("hdd") else 1.0))


def across_lines():
    for nodes, ranks in ((4, 4), (4, 16), (2, 16)):
        for device, (alone, together) in ACROSS.items():
            for step in study.STEPS:
                for way in study.WAYS:
                    slower = 1.2 if ranks == nodes else 1
                    speed = together * slower if "collective" in way else alone
                    if device == "hdd" and ranks == nodes:
                        speed = 50
                    yield app("ior", step, device, way, speed, nodes=nodes, ranks=ranks,
                              transfers=median(6.0 if device == "hdd" else 1.0),
                              messages=median(0.9), copies=median(0.1), estimated=median(1.0),
                              priced=median(1.1))
    for device in DEVICES:
        for step in study.STEPS:
            for way in study.WAYS[:3]:
                faster = 1.05 if (way, device) == ("posix", "nvm") else 1
                yield app("ior", step, device, way, 100 * faster, calls_per_rank=16,
                          total_samples=[1 / faster, 1 / faster])


def all_lines():
    rows = [*cached_lines(), *across_lines(), *emulated_lines(), *called_lines(),
            *iterated_lines()]
    rows += [of_paper(device) | {"mode": "model", "source": "paper", "device": device, "nodes": 4}
             for device in DEVICES]
    for device, speeds in ACROSS.items():
        seconds = dict(zip(("individual", "collective"), (128 * MIB / mb / 1e6 for mb in speeds)))
        rows += [of_paper(device) | seconds | {"mode": "model", "source": source, "device": device,
                                               "nodes": nodes, "direction": direction}
                 for source in ("here", "ior") for nodes in (2, 4) for direction in study.STEPS]
    return rows


class Equations(unittest.TestCase):
    def test_individual_calls_are_those_of_tables_v_and_vi(self):
        for device in ("hdd", "ssd"):  # That of NVM there is with the bandwidth in order.
            expected = VALIDATION[4, "individual", device][0]
            self.assertAlmostEqual(of_paper(device)["individual"], expected, delta=0.02)

    def test_a_shuffle_is_equation_2(self):
        found = of_paper("ssd")
        self.assertEqual(found["iterations"], 256)
        self.assertEqual(found["moved"], 0.75)
        self.assertAlmostEqual(found["shuffle"], 256 * (START + MEGABYTE * 16 * 0.75), places=6)
        self.assertAlmostEqual(found["collective"] - found["shuffle"], 16384 / 110.98, places=4)

    def test_figure_11_is_as_the_paper_tells(self):
        for device in DEVICES:
            found = of_paper(device)
            pays = [benefit > cost for cost, benefit in zip(found["cost"], found["benefit"])]
            self.assertEqual(found["message_bytes"][0], 32 << 10)
            self.assertEqual(found["message_bytes"][-1], 16 << 20)
            if device == "hdd":
                self.assertFalse(pays[0])
                self.assertTrue(pays[6] and pays[-1])  # 2 and 16 MB
            else:
                self.assertFalse(any(pays))

    def test_what_is_wrong_is_told(self):
        self.assertIn("usage", equations("--start", "fast"))
        self.assertIn("no option '--nonsense'", equations("--nonsense", 1))
        self.assertIn("/nonexistent", equations("--profile", "/nonexistent"))


class Findings(unittest.TestCase):
    def verdicts(self, rows):
        return {finding.what: finding.verdict for finding in findings.all_of(study.Lines(rows))}

    def test_lines_that_are_as_the_paper_says(self):
        found = self.verdicts(all_lines())
        self.assertEqual(len(found), len(findings.ALL))
        self.assertEqual([what for what, verdict in found.items() if verdict != "seen"], [])

    def test_lines_that_are_not(self):
        rows = [row | {"way": {"collective": "individual", "individual": "collective"}
                       .get(row.get("way"), row.get("way"))} for row in across_lines()]
        found = self.verdicts(rows)
        self.assertEqual(found["With several processes a node, collective I/O is faster on HDD"],
                         "not seen")
        self.assertEqual(found["On SSD and NVM collective I/O is always slower"], "not seen")

    def test_an_effect_that_is_not_there_is_not_seen(self):
        rows = [row | {"total": median(1.0)} if row["nodes"] == 1 else row
                for row in across_lines()]
        found = self.verdicts(rows)
        name = "On one node MPI's individual I/O costs next to nothing; most on NVM"
        self.assertEqual(found[name], "partly")
        slow = [row | {"total": median(1.06 if row["way"] == "posix" else 1.0)} for row in rows]
        self.assertEqual(self.verdicts(slow)[name], "not seen")
        across = "Across nodes there is no difference between POSIX and individual I/O"
        self.assertEqual(self.verdicts(slow)[across], "not seen")

    def test_what_emulates_nvm_may_decide(self):
        """A loop device that needs its page cache: its own verdict alone is another one."""
        rows = [row | {"total": median(9.0)} if row["device"] == emulations.LOOP and
                int(row["cache"]) == runs.FULL.caches[0] else row for row in emulated_lines()]
        rows += cached_lines()
        name = "From 11 GB to 1 GB of cache HACC-IO loses little on NVM, whatever emulates it"
        self.assertEqual(self.verdicts(rows)[name], "partly")
        table = report.emulation_report.emulations_table(study.Lines(rows))
        first = next(line for line in table.splitlines() if "A small page cache" in line)
        self.assertTrue(first.rstrip(" |").endswith("**yes**"), first)

    def test_a_page_cache_that_helps_is_told(self):
        rows = [row | {"total": median(9.0)} if row["way"] == "direct" else row
                for row in emulated_lines()]
        name = "NVM needs no page cache: past it bandwidth is as high"
        self.assertEqual(self.verdicts(rows)[name], "not seen")

    def test_short_calls_that_cost_nothing(self):
        rows = [row | {"total_samples": [1.0, 0.9, 1.1]} for row in called_lines()]
        name = ("On one node POSIX is faster than MPI's individual I/O on NVM, and the same on HDD "
                "and SSD: short calls")
        self.assertEqual(self.verdicts(rows)[name], "partly")
        rows = [row | {"total_samples": [2.0 if row["way"] == "posix" else 1.0]} for row in rows]
        self.assertEqual(self.verdicts(rows)[name], "not seen")

    def test_a_shuffle_that_is_as_long_as_the_disk(self):
        rows = [row | {"transfers": median(1.0)} for row in iterated_lines(0.1)]
        found = self.verdicts(rows)
        self.assertEqual(found["The shuffle's share of the time rises from HDD to SSD and NVM"],
                         "not seen")
        self.assertEqual(found["On SSD and NVM ROMIO's shuffle takes half of the time"], "not seen")

    def test_nothing_measured_is_nothing_found(self):
        self.assertEqual(self.verdicts([]), {})
        for half in (cached_lines(), across_lines(), emulated_lines(), iterated_lines()):
            self.assertTrue(report.page(study.Lines(list(half))))


class Report(unittest.TestCase):
    def draw(self, folder):
        rows = pathlib.Path(folder) / "lines.jsonl"
        rows.write_text("".join(json.dumps(row) + "\n" for row in all_lines()))
        return subprocess.run([SLUICE, "bench", "nvm", "--draw", "--out", folder, "--json", rows],
                              text=True, capture_output=True, check=False)

    def test_the_command_draws_lines_that_are_there(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.draw(folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            page = (pathlib.Path(folder) / "nvm.md").read_text()
            for number in ("92.7 %", "4.87 %", "38.4 %", "170.38", "411.78 / 385.86", "14.4 %"):
                self.assertIn(number, page)
            headings = [line for line in page.splitlines() if line.startswith("## ")]
            self.assertEqual(len(headings), 10)
            if tools.python_that_draws():
                pictures = re.findall(r"\]\((images/[^)]+)\)", page)
                self.assertEqual(len(pictures), 5)
                for picture in pictures:
                    self.assertGreater((pathlib.Path(folder) / picture).stat().st_size, 5000)

    def test_no_part_of_that_name(self):
        done = subprocess.run([SLUICE, "bench", "nvm", "--part", "nonsense"], text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nonsense", done.stderr)


class Emulations(unittest.TestCase):
    def test_nothing_is_left_when_a_run_fails(self):
        for emulate in (emulations.loop, emulations.tmpfs):
            try:
                with emulate(32 * MIB) as folder:
                    (folder / "file").write_bytes(bytes(MIB))
                    mounts = pathlib.Path("/proc/mounts").read_text()
                    self.assertIn(f" {folder} ", mounts)
                    raise ZeroDivisionError
            except tools.Missing as what:
                self.skipTest(str(what))
            except ZeroDivisionError:
                left = folder.parent if emulate is emulations.loop else folder
                self.assertNotIn(str(left), pathlib.Path("/proc/mounts").read_text())
                self.assertFalse(left.exists())
                loops = subprocess.run(["losetup", "--list"], text=True, capture_output=True,
                                       check=False)
                self.assertNotIn(str(left), loops.stdout)


@unittest.skipUnless((ROOT / "build/mpich/study/sluice-study").exists(), "no build for MPICH")
class Mode(unittest.TestCase):
    def test_all_programs_in_all_ways(self):
        environment = {name: value for name, value in os.environ.items() if name != "SLUICE"}
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder) / "lines.jsonl"
            done = subprocess.run(
                [ROOT / "build/env/mpich/bin/mpiexec", "-n", "2", ROOT / "build/mpich/bin/sluice",
                 "bench", "study", "--mode", "app", "--application", ",".join(APPLICATIONS),
                 "--dir", folder, "--bytes", "64K", "--transfer", "8K", "--warmup", "0",
                 "--repeat", "1", "--json", rows, "--way", ",".join((*study.WAYS, "direct")),
                 "--sync", "--reserve"],
                text=True, capture_output=True, check=False, timeout=100, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            found = [json.loads(line) for line in rows.read_text().splitlines()]
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [rows])
        steps = {(row["application"], row["step"]) for row in found}
        self.assertEqual(len(steps), 3 * 2 + 1 + 3 + 1)
        self.assertEqual(len(found), len(steps) * (len(study.WAYS) + 1))
        for row in found:
            self.assertEqual(row["wrong_bytes"], 0, row)
            self.assertEqual(row["synced"], "yes")
            self.assertAlmostEqual(row["bytes"], 2 * 65536 * (2 if row["step"] == "W" else 1),
                                   delta=700)

    def test_timers_see_romios_iterations(self):
        """Two ranks' blocks of 32 KiB side by side, in windows of 8 KiB: each of four calls a
        segment spans five."""
        try:
            words = tools.timed_romio()
        except tools.Missing as what:
            self.skipTest(str(what))
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder) / "lines.jsonl"
            done = subprocess.run(
                [ROOT / "build/env/mpich/bin/mpiexec", "-n", "2", *words, "--mode", "app", "--dir",
                 folder, "--bytes", "64K", "--transfer", "8K", "--warmup", "0", "--repeat", "1",
                 "--way", "mpi-collective", "--collective-hint", "cb_nodes=1,cb_buffer_size=8192",
                 "--json", rows], text=True, capture_output=True, check=False, timeout=100)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            found = [json.loads(line) for line in rows.read_text().splitlines()]
        self.assertEqual(len(found), 2)
        for row in found:
            self.assertIsNone(row["sluice_version"])
            self.assertEqual(row["iterations"]["median"], 2 * 4 * 5)
            parts = [row[name]["median"] for name in ("transfers", "messages", "copies")]
            self.assertGreater(min(parts), 0)
            self.assertLess(sum(parts), row["total"]["median"])


if __name__ == "__main__":
    unittest.main()
