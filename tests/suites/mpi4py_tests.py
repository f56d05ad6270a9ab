"""mpi4py's own tests of files, nonblocking collectives, datatypes and requests."""
import os
import re

import common

VERSION = "4.1.2"  # As in setup/requirements-*.txt.
MPIS = ("mpich", "openmpi", "intel")
RANKS = (2, 3)
DELAYS = False  # Its files are deleted on close, and writes to such are never delayed.
# Run together. The classes of test_io run one by one: after a hang the rest of a class is unknown.
OTHERS = (("test_file",), ("test_cco_nb_buf", "test_cco_nb_vec"),
          ("test_datatype", "test_request", "test_grequest", "test_status", "test_errhandler",
           "test_info"))
COLLECTIVES = ("test_cco_nb_buf", "test_cco_nb_vec")  # Again, with those of MPI served.
RESULT = re.compile(r"^(\w+) \((\S+)\)[^\n]*? \.\.\. (?:.*?)(ok|FAIL|ERROR|skipped .*)$",
                    re.MULTILINE)
# Each rank's output has a file of its own, so that lines of two ranks do not mix.
BY_RANK = 'exec "$@" > rank.${PMI_RANK:-$OMPI_COMM_WORLD_RANK} 2>&1'


def prepare(mpi):
    found = common.run(mpi.python, "-c", "import mpi4py; print(mpi4py.__version__)",
                       env={**os.environ, **mpi.settings}).strip()
    if found != VERSION:
        raise common.Missing(f"the tests are those of mpi4py {VERSION}, installed is {found}")
    sources()


def sources():
    folder = common.SUITES / "sources" / f"mpi4py-{VERSION}"
    if not folder.exists():
        archives = common.SUITES / "archives"
        folder.parent.mkdir(parents=True, exist_ok=True)
        common.run(common.MPIS["mpich"].python, "-m", "pip", "download", "-q", "--no-deps",
                   "--no-binary", "mpi4py", "-d", archives, f"mpi4py=={VERSION}")
        common.run("tar", "-C", folder.parent, "-xf", archives / f"mpi4py-{VERSION}.tar.gz")
    return folder / "test"


def jobs(mpi, _):
    yield from (job(mpi, f"test_io.{name}") for name in classes("test_io"))
    yield from (job(mpi, *modules) for modules in OTHERS)
    yield job(mpi, *COLLECTIVES, served=True)


def classes(module):
    return re.findall(r"^class (Test\w+)\(", (sources() / f"{module}.py").read_text(), re.MULTILINE)


def job(mpi, *names, served=False):
    """Test classes or modules that run in one program. `served`: collectives are, too."""
    settings = ["SLUICE=all"] if served else []

    def command(start):
        return ["env", "-C", str(start.work), *settings, *start.launcher(), "sh", "-c", BY_RANK,
                "sh", mpi.python, str(sources() / "main.py"), "-v", *names]
    return common.Job(" ".join([*settings, *names]), command, 300, cases_of_ranks)


def cases_of_ranks(_, __, work):
    cases = {}
    for file in work.glob("rank.*"):
        for test, of_class, result in RESULT.findall(file.read_text(errors="replace")):
            module_and_class = of_class.removesuffix(f".{test}")
            if not result.startswith("skipped"):
                cases[f"{module_and_class}.{test} {file.name}"] = result == "ok"
    return cases
