#!/usr/bin/env python3
"""Which library `sluice run` preloads: an installation and programs are made up for it.

The command is $SLUICE. The libraries are empty; the programs print what they were given.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
int main(void) { char const* const all = getenv("LD_PRELOAD"); puts(all ? all : "nothing"); }
"""


def compile_c(*words, source=""):
    subprocess.run(["cc", "-x", "c", "-", *words], input=source, text=True, check=True)


def run_alone(*words, **settings):
    """As on a machine where no mpiexec is around, but for the settings."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("PMI", "OMPI_"))}
    return subprocess.run(words, text=True, capture_output=True, check=False,
                          env={**environment, **settings})


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = root = pathlib.Path(cls.folder.name)
        for name in ("bin", "lib", "mpi", "programs"):
            (root / name).mkdir()
        shutil.copy(os.environ["SLUICE"], root / "bin" / "sluice")
        for name in ("lib/libsluice.so", "lib/libsluice_abi.so"):
            compile_c("-shared", "-o", root / name)
        for name in ("mpi", "mpi_abi"):
            compile_c("-shared", f"-Wl,-soname,lib{name}.so.1", "-o", root / f"mpi/lib{name}.so")
            (root / f"mpi/lib{name}.so.1").symlink_to(f"lib{name}.so")
            compile_c("-o", root / "programs" / name, "-Wl,--no-as-needed", f"-L{root}/mpi",
                      f"-Wl,-rpath,{root}/mpi", "-x", "none", f"-l{name}", source=PROGRAM)
        script = root / "programs" / "script"
        script.write_text(f"#!/bin/sh\nexec {root}/programs/mpi\n")
        script.chmod(0o755)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_command(self, *words, **environment):
        return subprocess.run([self.root / "bin" / "sluice", "run", *words], text=True,
                              errors="replace",  # A shell may quote bytes of a damaged program.
                              cwd=self.root,  # And take them for the name of a file to write.
                              capture_output=True, env={**os.environ, **environment}, check=False)

    def expect(self, library, *words, **environment):
        result = self.run_command(*words, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.split("/")[-1].strip(), library)

    def test_the_mpis_own_abi(self):
        self.expect("libsluice.so", self.root / "programs/mpi")

    def test_the_standard_abi(self):
        self.expect("libsluice_abi.so", self.root / "programs/mpi_abi")

    def test_what_may_not_be_run(self):
        program = self.root / "programs" / "no_program"
        program.write_text("no program")
        result = self.run_command(program)
        self.assertEqual(result.returncode, 126, result.stderr)
        self.assertIn(f"cannot run {program}: Permission denied", result.stderr)

    def test_programs_are_found_through_path(self):
        folders = f"/nonexistent:{self.root}/programs:{os.environ['PATH']}"
        self.expect("libsluice_abi.so", "mpi_abi", PATH=folders)
        self.expect("libsluice.so", "mpi", PATH=folders)

    def test_scripts_do_not_tell(self):
        self.expect("libsluice.so", self.root / "programs/script")
        self.expect("libsluice_abi.so", "--abi", self.root / "programs/script")

    def test_a_trace_has_the_path_of_its_file(self):
        for words in (["--trace", "t.json,4M"], ["--trace=t.json,4M"]):
            result = self.run_command(*words, "env")
            self.assertIn(f"SLUICE_TRACE={self.root}/t.json,4M\n", result.stdout)
        ranks = self.run_command("--trace", "t.json,ranks=0,2-3", "env")
        self.assertIn(f"SLUICE_TRACE={self.root}/t.json,ranks=0,2-3\n", ranks.stdout)
        for words in (["--trace"], ["--trace="], ["--trace=,4M"], ["--trace=t.json,ranks=2-1"]):
            result = self.run_command(*words)
            self.assertEqual(result.returncode, 2)
            self.assertIn("is not the name of a file for the trace", result.stderr)

    def test_a_folder_with_a_blank_or_a_colon(self):
        """LD_PRELOAD ends a name there."""
        for name in ("a b", "a:b", "a  b:c d"):
            place = self.root / name
            shutil.copytree(self.root / "bin", place / "bin")
            shutil.copytree(self.root / "lib", place / "lib")
            result = run_alone(place / "bin" / "sluice", "run", self.root / "programs/mpi")
            preloaded = result.stdout.strip()
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotRegex(preloaded, "[ :]")
            self.assertTrue(os.path.samefile(preloaded, place / "lib/libsluice.so"))
            self.assertEqual(result.stderr, "")  # The loader has found it.

    def test_debians_mpich_beside_another_one(self):
        compile_c("-shared", "-Wl,-soname,libmpich.so.12", "-o", self.root / "mpi/libmpich.so.12")
        compile_c("-shared", "-Wl,-soname,libmpi.so.12", "-o", self.root / "mpi/libmpi.so.12")
        program, place = self.root / "programs/debian", self.root / "another"
        linked = ("-Wl,--no-as-needed", f"-Wl,-rpath,{self.root}/mpi", "-x", "none")
        compile_c("-o", program, *linked, self.root / "mpi/libmpich.so.12", source=PROGRAM)
        shutil.copytree(self.root / "bin", place / "bin")
        (place / "lib").mkdir()
        compile_c("-shared", "-o", place / "lib/libsluice.so", *linked,
                  self.root / "mpi/libmpi.so.12")
        result = run_alone(place / "bin" / "sluice", "run", program)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("make build MPI=debian-mpich", result.stderr)

    def test_one_rank_speaks_for_all(self):
        for words, said in ((["--behnd", "true"], "did you mean --behind"), ([], "usage:"),
                            (["--behind=lots", "true"], "is not a number of bytes"),
                            (["./nothere"], "cannot run ./nothere")):
            spoken = [self.run_command(*words, OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_RANK=rank,
                                       OMPI_COMM_WORLD_LOCAL_SIZE="4",
                                       OMPI_COMM_WORLD_LOCAL_RANK=rank) for rank in "0123"]
            self.assertIn(said, spoken[0].stderr)
            self.assertEqual("".join(one.stderr for one in spoken[1:]), "")
            self.assertTrue(all(one.returncode != 0 for one in spoken))

    def test_what_was_not_built(self):
        for words in (["bench"], ["calibrate"], ["replay", "x.record"]):
            result = run_alone(self.root / "bin" / "sluice", *words)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertRegex(result.stderr, r"^sluice: \S+/libexec/sluice-\w+ was not built: ")
        result = run_alone(self.root / "bin" / "sluice", "bench", "storage")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^sluice: .* \S+/study/sluice-storage was not built: ")

    def test_damaged_programs_do_not_confuse(self):
        whole = (self.root / "programs/mpi_abi").read_bytes()
        damaged = self.root / "programs/damaged"
        damaged.touch(0o755)
        for change in (lambda b: b[:20], lambda b: b[:200], lambda b: b[:3000],
                       lambda b: b[:32] + b"\xff" * 24 + b[56:],
                       lambda b: b[:64] + b"\xff" * 700 + b[764:]):
            damaged.write_bytes(change(whole))
            result = self.run_command(damaged)
            self.assertNotIn("AddressSanitizer", result.stderr)
            self.assertNotIn("runtime error", result.stderr)

    def test_a_program_of_another_mpi_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("bin", "lib"):
                (root / name).mkdir()
            command = shutil.copy(os.environ["SLUICE"], root / "bin" / "sluice")
            for number in ("12", "40"):
                compile_c("-shared", f"-Wl,-soname,libmpi.so.{number}",
                          "-o", root / f"libmpi.so.{number}")
                compile_c("-o", root / number, "-Wl,--no-as-needed", f"-Wl,-rpath,{root}",
                          "-x", "none", root / f"libmpi.so.{number}", source=PROGRAM)
            compile_c("-shared", "-o", root / "lib/libsluice.so", "-Wl,--no-as-needed",
                      f"-Wl,-rpath,{root}", "-x", "none", root / "libmpi.so.12")
            for program, code in (("12", 0), ("40", 2)):
                result = subprocess.run([command, "run", root / program], text=True,
                                        capture_output=True, check=False)
                self.assertEqual(result.returncode, code, result.stderr)
            self.assertEqual(result.stdout, "")
            self.assertIn("uses Open MPI (libmpi.so.40)", result.stderr)
            self.assertIn("was built for MPICH", result.stderr)

    def test_one_of_several_mpis(self):
        """By SLUICE_MPI, the program, the libraries that it needs, or the mpiexec around."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "bin").mkdir()
            shutil.copy(os.environ["SLUICE"], root / "bin" / "sluice")
            for name, number in (("mpich", "12"), ("openmpi", "40")):
                mpi = root / f"libmpi.so.{number}"
                compile_c("-shared", f"-Wl,-soname,{mpi.name}", "-o", mpi)
                needs = ("-Wl,--no-as-needed", f"-Wl,-rpath,{root}", "-x", "none")
                (root / name / "lib").mkdir(parents=True)
                compile_c("-shared", "-o", root / name / "lib/libsluice.so", *needs, mpi)
                compile_c("-o", root / number, *needs, mpi, source=PROGRAM)
                user = root / f"libuser{number}.so"
                compile_c("-shared", "-o", user, *needs, mpi)
                compile_c("-o", root / f"indirect{number}", *needs, user, source=PROGRAM)
            compile_c("-o", root / "plain", source=PROGRAM)
            by_mpich, by_openmpi = {"PMI_RANK": "0"}, {"OMPI_COMM_WORLD_SIZE": "1"}
            for program, settings, expected in (
                    ("12", {}, "mpich"), ("40", {}, "openmpi"), ("12", by_openmpi, "mpich"),
                    ("indirect12", by_openmpi, "mpich"), ("indirect40", by_mpich, "openmpi"),
                    ("plain", by_mpich, "mpich"), ("plain", by_openmpi, "openmpi"),
                    ("plain", {"SLUICE_MPI": "mpich", **by_openmpi}, "mpich"),
                    ("plain", {"SLUICE_MPI": "auto", **by_openmpi}, "openmpi")):
                done = run_alone(root / "bin/sluice", "run", root / program, **settings)
                self.assertEqual(done.stdout, f"{root}/{expected}/lib/libsluice.so\n", done.stderr)
            for settings, said in (({}, "set SLUICE_MPI"), ({"SLUICE_MPI": "x"}, "SLUICE_MPI=x")):
                done = run_alone(root / "bin/sluice", "run", root / "plain", **settings)
                self.assertEqual(done.returncode, 2)
                self.assertIn("mpich, openmpi", done.stderr)
                self.assertIn(said, done.stderr)

    def test_an_mpi_is_asked_for_where_there_is_one_alone(self):
        """A folder of a build serves its MPI whatever SLUICE_MPI says; the first rank tells."""
        def said(**settings):
            done = run_alone(self.root / "bin/sluice", "run", "true", **settings)
            self.assertEqual(done.returncode, 0)
            return done.stderr
        for loud in ({}, {"SLUICE_LOG": "what is no level"}):
            self.assertIn("SLUICE_MPI=foo has no effect", said(SLUICE_MPI="foo", **loud))
        for quiet in ({"SLUICE_MPI": self.root.name}, {"SLUICE_MPI": "auto"}, {"SLUICE_MPI": ""},
                      {"SLUICE_MPI": "foo", "SLUICE_LOG": "0"},
                      {"SLUICE_MPI": "foo", "PMI_RANK": "1", "PMI_SIZE": "2"}):
            self.assertNotIn("SLUICE_MPI", said(**quiet))

    def test_what_no_preload_reaches(self):
        """Said by the first rank; the program runs all the same."""
        programs = self.root / "programs"
        own = "int MPI_Init(int* a, char*** b) { return a || b; }" + PROGRAM
        compile_c("-static", "-o", programs / "static", source=PROGRAM)
        compile_c("-static-pie", "-fPIE", "-o", programs / "static-pie", source=PROGRAM)
        compile_c("-o", programs / "own", source=own)
        # A wrapper goes on to an MPI that it may need by another library only.
        compile_c("-shared", "-o", programs / "libuser.so", "-Wl,--no-as-needed",
                  f"-Wl,-rpath,{self.root}/mpi", "-x", "none", self.root / "mpi/libmpi_abi.so")
        compile_c("-o", programs / "wrapper", "-Wl,--no-as-needed", f"-Wl,-rpath,{programs}", "-x",
                  "c", "-", "-x", "none", programs / "libuser.so", source=own)
        static = "is linked statically"
        for name, said in (("static", static), ("static-pie", static), ("script", ""), ("mpi", ""),
                           ("own", "has an MPI linked into it"), ("wrapper", ""),
                           ("/usr/bin/env", ""), (sys.executable, "")):
            words = {"/usr/bin/env": ["true"], sys.executable: ["-c", ""]}.get(name, [])
            for settings in ({}, {"SLUICE_LOG": "0"}, {"PMI_RANK": "1"}, {"SLUICE": "off"}):
                result = self.run_command(programs / name, *words, **settings)
                self.assertEqual(result.returncode, 0, result.stderr)
                if said and not settings:
                    self.assertIn(said, result.stderr)
                    self.assertIn("shared library", result.stderr)
                else:
                    self.assertEqual(result.stderr, "", (name, settings))

    def test_help_and_bad_usage(self):
        command = self.root / "bin" / "sluice"
        for words, code, text in ((["run", "--help"], 0, "PROGRAM"), (["-h"], 0, "usage"),
                                  (["run", "-h"], 0, "PROGRAM"), (["info", "--help"], 0, "usage"),
                                  (["--version"], 0, "sluice"), (["run"], 2, "usage"),
                                  (["run", "--ab"], 2, "--ab"),
                                  (["rum"], 2, "did you mean run?"),
                                  (["info", "--nope"], 2, "--nope"),
                                  (["info", "/there/is/none"], 2, "/there/is/none"),
                                  (["nothing-like-it"], 2, "usage")):
            result = subprocess.run([command, *words], text=True, capture_output=True, check=False)
            self.assertEqual(result.returncode, code, words)
            self.assertIn(text, result.stderr if code else result.stdout)

    def test_options_that_are_hints(self):
        """What the user says in the variable stands behind it, and wins."""
        for words, there, hints in (
                (["--ahead"], {}, "sluice_read_ahead=256M"),
                (["--ahead=1M"], {}, "sluice_read_ahead=1M"),
                (["--ahead"], {"SLUICE_HINTS": "none"}, "sluice_read_ahead=256M"),
                (["--ahead"], {"SLUICE_HINTS": "cb_nodes=2;sluice_read_ahead=0"},
                 "sluice_read_ahead=256M;cb_nodes=2;sluice_read_ahead=0"),
                (["--ahead", "--close=behind"], {},
                 "sluice_close=behind;sluice_read_ahead=256M")):
            result = self.run_command(*words, "env", **there)
            self.assertIn(f"SLUICE_HINTS={hints}\n", result.stdout)

    def test_a_close_behind_wants_delayed_writes(self):
        for words, said in ((["--close=behind"], True), (["--behind", "--close=behind"], False)):
            result = self.run_command(*words, "true")
            self.assertEqual("add --behind" in result.stderr, said, words)

    def test_a_value_that_stands_by_itself(self):
        for option, value in (("--behind", "1G"), ("--ahead", "64M"), ("--behind", "1G,/tmp")):
            result = self.run_command(option, value, self.root / "programs/mpi")
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"did you mean {option}={value}?", result.stderr)
        self.expect("libsluice.so", "--behind", self.root / "programs/mpi")

    def test_a_limit_of_the_size_of_files_ends_nothing(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 20, 20 << 20))

        with tempfile.TemporaryDirectory() as folder:
            for place in ("", f",{folder}"):
                result = subprocess.run(
                    [self.root / "bin/sluice", "run", f"--behind=64M{place}",
                     self.root / "programs/mpi"], text=True, capture_output=True, check=False,
                    preexec_fn=limit)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("EFBIG", result.stderr)

    def test_slurm_ends_keepers(self):
        step = {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
        program = self.root / "programs/mpi"
        said = self.run_command("--behind=1M", program, **step).stderr
        self.assertEqual(said.count("sluice recover /dev/shm"), 1, said)
        self.assertNotIn("recover", self.run_command("--behind=1M", program).stderr)
        other = self.run_command("--behind=1M", program, **step | {"SLURM_LOCALID": "1"}).stderr
        self.assertNotIn("recover", other)
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_command(f"--behind=1M,{folder}", program, **step).stderr
            self.assertNotIn("recover /dev/shm", said)

    def test_switched_off(self):
        for off in ("off", "off,chain"):
            self.expect("nothing", self.root / "programs/mpi_abi", SLUICE=off)
        for served in ("on", "all", "chain", "all,chain"):
            self.expect("libsluice_abi.so", self.root / "programs/mpi_abi", SLUICE=served)

    def test_a_missing_library_is_named(self):
        with tempfile.TemporaryDirectory() as empty:
            (pathlib.Path(empty) / "bin").mkdir()
            command = pathlib.Path(shutil.copy(os.environ["SLUICE"], f"{empty}/bin/sluice"))
            result = subprocess.run([command, "run", "--abi", "true"], text=True,
                                    capture_output=True, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn("lib/libsluice_abi.so is missing", result.stderr)


if __name__ == "__main__":
    unittest.main()
