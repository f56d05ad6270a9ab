#!/usr/bin/env python3
"""Files that an MPI program makes on a device with layouts as Lustre's (`sluice device --servers`):
they have the stripes that its hints ask for, and MPI_File_get_info says so. Part of `make
test-device`; without FUSE it ends with exit code 77."""
import os
import struct
import sys
import uuid
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
import check
import run as runner
from small_programs import ROOT, compiled

MPI = "mpich"
RANKS, SERVERS, SECONDS = 2, 8, 60


def packed(stripe_bytes, servers):
    """As lov_user_md of version 1 asks for them."""
    return struct.pack("=II16xIHH", 0x0BD10BD0, 1, stripe_bytes, servers, 0xFFFF)


def layout_of(path):
    """(bytes of a stripe, servers)"""
    return struct.unpack("=IHH", os.getxattr(path, "lustre.lov")[24:32])[:2]


class Stripes(check.Mounted):
    options = ("--servers", SERVERS)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = compiled(MPI, ROOT / "tests" / "coexistence" / "romio_hints.c",
                               options=("-rdynamic",))

    def written(self, *hints, romio_hints="missing", by="sluice", **settings):
        """What the program prints. It makes the file, writes pieces and reads them back, and sets
        a view with the same hints."""
        self.path = self.at / self.id().rpartition(".")[2]
        mark = uuid.uuid4().hex
        run = runner.Run(MPI, "romio_hints", RANKS, settings=settings)
        words = [runner.BUILD / "env" / MPI / "bin" / "mpiexec", "-n", RANKS,
                 runner.BUILD / MPI / "bin" / "sluice", "run", self.program, self.path,
                 romio_hints, *hints]
        code, output = runner.execute([str(word) for word in words],
                                      runner.environment(run, mark, False), SECONDS, mark)
        self.assertEqual(code, 0, output)
        self.assertIn(f"served by {by}", output)
        return output

    def check(self, stripe_bytes, servers, output):
        self.assertEqual(layout_of(self.path), (stripe_bytes, servers), output)
        for rank in range(RANKS):
            self.assertIn(f"rank {rank}: striping_unit={stripe_bytes}\n", output)
            for when in ("", "later, "):
                self.assertIn(f"{when}rank {rank}: striping_factor={servers}\n", output)

    def test_hints_of_the_program(self):
        self.check(1 << 21, 4, self.written("striping_factor", "4", "striping_unit", "2097152"))

    def test_a_length_that_the_file_system_does_not_take(self):
        self.check(1 << 17, 2, self.written("striping_factor", "2", "striping_unit", "70000"))

    def test_only_one_of_them(self):
        self.check(1 << 20, 3, self.written("striping_factor", "3"))

    def test_hints_of_all_programs(self):
        self.check(1 << 18, 2, self.written(SLUICE_HINTS="striping_factor=2;striping_unit=256K"))

    def test_hints_of_the_file_of_hints(self):
        output = self.written(romio_hints="striping_factor 5;striping_unit 65536")
        self.check(1 << 16, 5, output)

    def test_auto(self):
        """One for each rank that may be an aggregator."""
        self.check(1 << 20, RANKS, self.written("striping_factor", "auto"))

    def test_more_servers_than_there_are(self):
        self.check(1 << 20, SERVERS, self.written("striping_factor", "100"))

    def test_a_file_that_is_there_keeps_its_stripes(self):
        self.written("striping_factor", "4", "striping_unit", "65536")
        output = self.written("striping_factor", "2", "striping_unit", "131072")
        self.check(1 << 16, 4, output)

    def test_a_length_alone(self):
        """It is for the borders of domains."""
        self.check(1 << 20, 1, self.written("striping_unit", "65536"))

    def test_hints_of_the_mpis_own_driver(self):
        self.check(1 << 20, 1, self.written("striping_factor", "4", "start_iodevice", "0"))

    def test_no_hint(self):
        self.check(1 << 20, 1, self.written())

    def test_a_file_that_is_left_to_the_mpi(self):
        self.written("striping_factor", "4", "sluice", "disable", by="the MPI")
        self.assertEqual(layout_of(self.path), (1 << 20, 1))


if __name__ == "__main__":
    sys.exit(check.run_tests())
