#!/usr/bin/env python3
"""`sluice bench overhead` and `sluice bench kernels`, shortly: who takes part, right results, sane
lines, and the tables that study/results/collectives.py makes of them. Part of `make test-all`."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "results"), str(ROOT / "study" / "results"),
                str(ROOT / "tests" / "mpi")]

import collectives  # noqa: E402
from mpis import BUILD, MPIS  # noqa: E402

RANKS = 2
WAYS = {"mpi", "interposed", "sluice"}
KINDS = {"barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv",
         "alltoall", "alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter",
         "reduce_scatter_block", "scan", "exscan", "neighbor_allgather", "neighbor_allgatherv",
         "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"}


def in_order(summary):
    return 0 <= summary["min"] <= summary["median"] <= summary["max"]


class Collectives(unittest.TestCase):
    mpi = "mpich"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="collectives-")
        self.addCleanup(self.folder.cleanup)

    def bench(self, words, code=0, repeat=3, **settings):
        """Lines of one run."""
        mpi, into = MPIS[self.mpi], Path(self.folder.name) / "lines.jsonl"
        command = [mpi.mpiexec, "-n", RANKS, BUILD / mpi.build / "bin" / "sluice", "bench",
                   *words.split(), "--repeat", repeat, "--least", "1", "--json", into]
        result = subprocess.run([str(word) for word in command], text=True, timeout=100,
                                capture_output=True, check=False,
                                env={**os.environ, **mpi.settings, **settings})
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.output = result.stdout
        lines = [json.loads(text) for text in into.read_text().splitlines()] if not code else []
        for line in lines:
            self.assertEqual(line["ranks"], RANKS)
            self.assertNotIn(self.folder.name, json.dumps(line))
            self.assertEqual(line.get("wrong_bytes", 0), 0, line)
        return lines

    def test_overhead(self):
        lines = self.bench("overhead --bytes 1,4K --interval 0,1024,8192 --seconds 30")
        self.assertEqual({(line["kind"], line["bytes"]) for line in lines},
                         {(kind, size) for kind in ("gather", "alltoall") for size in (1, 4096)})
        for line in lines:
            intervals = (0, 1024) if line["bytes"] == 1 else (0, 1024, 8192)
            self.assertEqual(set(line["ways"]),
                             {f"{way} {interval}" for way in WAYS for interval in intervals})
            self.assertTrue(in_order(line["blocking"]))
            for name, entry in line["ways"].items():
                interval = int(name.split()[1])
                self.assertEqual(entry["tests"], interval and line["bytes"] // interval + 1)
                self.assertEqual(entry["testing"] > 0, entry["tests"] > 0)
                self.assertTrue(in_order(entry["overhead"]))
                self.assertGreater(entry["initiation"], 0)
                for part in ("initiation", "testing", "waiting"):
                    self.assertLessEqual(entry[part], entry["overhead"]["max"])

    def test_each_kind(self):
        lines = self.bench("overhead --what blocking,overlap --bytes 64K --seconds 45", repeat=2)
        for mode, member in (("collective", "over_blocking"), ("overlap of collectives", "alone")):
            mine = {line["kind"]: line for line in lines if line["mode"] == mode}
            self.assertEqual(set(mine), KINDS)
            for line in mine.values():
                self.assertEqual(set(line["ways"]), WAYS)
                for entry in line["ways"].values():
                    self.assertTrue(in_order(entry[member]))
                    if member == "alone":
                        hidden = entry["hidden"]
                        self.assertLessEqual(hidden["min"], hidden["median"])
                        self.assertLess(hidden["median"] - hidden["max"], 1e-9)
        self.check_tables(lines)

    def test_messages(self):
        for line in self.bench("overhead --what message --bytes 1,64K"):
            for call in ("isend", "irecv", "test"):
                self.assertTrue(in_order(line[call]))

    def test_kernels(self):
        self.check_kernels("")

    def test_kernels_asleep(self):
        """Messages of kernels that sleep where they would compute come out right as well."""
        self.check_kernels(" --asleep --seconds 2")

    def check_kernels(self, words):
        lines = {line["kernel"].split()[0]: line for line in
                 self.bench("kernels --bytes 1M --chunk 64K --points 23 --tiles 3 --outstanding 3" +
                            words)}
        self.assertEqual(set(lines), {"compression", "fft-slab", "fft-pencil"})
        common = {"blocking", "mpi, tests", *WAYS}
        self.assertEqual(set(lines["fft-slab"]["ways"]), common)
        self.assertEqual(set(lines["compression"]["ways"]), common | {"sluice, one operation"} |
                         {f"{way}, sizes too" for way in WAYS})
        self.assertEqual((lines["fft-slab"]["points"], lines["fft-slab"]["fields"]), (24, 3))
        for line in lines.values():
            self.assertEqual(line["while"], "asleep" if "--asleep" in words else "computing")
        self.assertEqual((lines["fft-slab"]["columns"], lines["fft-pencil"]["columns"]), (1, 2))
        self.assertLess(lines["compression"]["compressed_bytes"], 2**20)
        self.assertGreater(lines["compression"]["compressed_bytes"], 2**14)
        self.check_tables(list(lines.values()))

    def test_a_file_of_any_size(self):
        """Shares, chunks and a last one that do not come out even; less than a byte for each."""
        for size in (0, 1, 200_003):
            file = Path(self.folder.name) / f"{size}.bin"
            file.write_bytes(bytes((i * i) % 251 for i in range(size)))
            line = self.bench(f"kernels --kernel compression --file {file} --chunk 16K "
                              "--outstanding 1")[-1]
            self.assertEqual((line["bytes"], line["file"]), (size, file.name))

    def test_codecs(self):
        """Both are there, and a level of one is none of the other."""
        results = {}
        for codec, level in ("zlib", 9), ("zlib", 1), ("zstd", -5), ("zstd", 19):
            line = self.bench(f"kernels --kernel compression --bytes 200K --chunk 20K --way sluice "
                              f"--codec {codec} --level {level}", repeat=1)[-1]
            self.assertEqual((line["codec"], line["level"]), (codec, level))
            results[codec, level] = line["compressed_bytes"]
        self.assertLess(results["zlib", 9], results["zlib", 1])
        self.assertLess(results["zstd", 19], results["zstd", -5])
        self.bench("kernels --kernel compression --codec zlib --level -1", code=1)
        self.assertIn("zlib has levels 1 to 9", self.output)

    def test_fields_and_tiles(self):
        """More tiles than points, one field, one tile, more under way than there are."""
        for words in ("--fields 1 --tiles 40", "--fields 2 --tiles 1 --outstanding 1",
                      "--fields 4 --tiles 5 --outstanding 30"):
            for line in self.bench("kernels --kernel fft-slab,fft-pencil --points 16 --way sluice "
                                   + words, repeat=1)[-2:]:
                self.assertEqual(line["fields"], int(words.split()[1]))

    def test_waves(self):
        """Beyond 128 points a transform is checked by waves."""
        self.bench("kernels --kernel fft-slab,fft-pencil --points 130 --way mpi --seconds 2")

    def test_without_the_library(self):
        line = self.bench("overhead --bytes 64 --kind bcast", SLUICE="off")[0]
        self.assertEqual({name.split()[0] for name in line["ways"]}, {"mpi"})

    def test_wrong_words(self):
        for words in ("overhead --kind nothing", "kernels --kernel nothing", "overhead --bytes 0"):
            self.bench(words, code=2)
        self.bench("kernels --kernel compression --file no-such-file", code=1)
        self.assertIn("no-such-file: No such file", self.output)

    def check_tables(self, lines):
        def table(title, _note, header, rows):
            rows = list(rows)
            assert rows and all(len(row) == len(header) for row in rows), title
            return "\n".join(" | ".join(row) for row in rows)

        text = collectives.tables(lines, table, lambda line: line["mpi_library"][:9])
        for line in lines:
            self.assertIn(line.get("kind", line.get("kernel")), text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich", choices=MPIS)
    Collectives.mpi = parser.parse_args().mpi
    unittest.main(argv=[sys.argv[0], "-v"])
