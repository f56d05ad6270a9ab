"""What results/behind and results/applications share: a slow device, the variants of a run, one start."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import uuid

from behind_figures import ALONE, ALWAYS, BEHIND, CLOSED, FREE, SERVED

HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE / "bench" / "programs"))
from programs import (CALL_TIMES, FREE_WRITES, environment,  # noqa: E402
                      preloaded)  # makes the folder of the next one known
from run import MARK, end_processes, execute, leftover_processes  # noqa: E402  tests/mpi/run.py


def tell(text):
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def device(sluice, bandwidth):
    """Mounts a device over files in memory; gives the folders of the mount and of the files."""
    with tempfile.TemporaryDirectory(prefix="sluice-results-") as mount, \
            tempfile.TemporaryDirectory(prefix="sluice-results-", dir="/dev/shm") as files:
        server = subprocess.Popen(
            [sluice, "device", "--bandwidth", bandwidth, "--over", files, "--mount", mount],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            line = server.stdout.readline()
            if not line.startswith("mounted "):
                sys.exit(f"there is no device: {line.strip()}")
            yield pathlib.Path(mount), pathlib.Path(files)
        finally:
            end_device(server, mount)


@contextlib.contextmanager
def page_cache(folder):
    """A folder of its own on the file system, in the place of both."""
    with tempfile.TemporaryDirectory(prefix="sluice-results-", dir=folder) as files:
        yield pathlib.Path(files), pathlib.Path(files)


def file_system(folder):
    command = ["stat", "--file-system", "--format", "%T", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def end_device(server, mount):
    server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if os.path.ismount(mount):
        subprocess.run(["umount", "-l", mount], check=False)


def variables(variant, memory, timed, ahead=True):
    """The environment that makes a variant; `ahead`: with read-ahead, where it has write-behind."""
    if variant in (ALONE, FREE):
        return {}
    settings = {"SLUICE_LOG": "2"}
    if timed:  # It goes on to Sluice, which cannot know that.
        settings["SLUICE"] = "chain"
    if variant in (BEHIND, CLOSED, ALWAYS):
        settings["SLUICE_WRITE_BEHIND"] = memory
        hints = [f"sluice_read_ahead={memory}"] if ahead else []
        hints += ["sluice_close=behind"] if variant == CLOSED else []
        if hints:
            settings["SLUICE_HINTS"] = ";".join(hints)
    if variant == ALWAYS:
        settings["SLUICE_TEST"] = "behind=always"
    return settings


def words_before(variant, mpi, timed):
    """What stands between mpiexec and the program. A library that is preloaded comes before Sluice,
    so that it has the calls of the program and none of Sluice's. `timed`: with call_times.c."""
    words = [str(mpi.sluice), "run"] if variant in (SERVED, BEHIND, CLOSED, ALWAYS) else []
    libraries = [preloaded(mpi, CALL_TIMES)] if timed else []
    libraries += [preloaded(mpi, FREE_WRITES)] if variant == FREE else []
    if libraries:
        first = ":".join(map(str, libraries))
        words += ["sh", "-c", f'LD_PRELOAD="{first}:$LD_PRELOAD" exec "$@"', "sh"]
    return words


def start(mpi, words, settings, limit):
    """Runs a command, in `limit` seconds, and ends what it leaves; its exit code and what it printed."""
    mark = uuid.uuid4().hex
    inherited = {name: value for name, value in environment(mpi).items()
                 if not name.startswith("SLUICE_")}
    code, output = execute(["timeout", "-k", "10", str(limit), *words],
                           {**inherited, MARK: mark, **settings}, limit + 30, mark)
    if leftover_processes(mark):
        end_processes(mark)
    return code, output


def available(mpi):
    """Whether an MPI can run with Sluice; says so if not."""
    try:
        subprocess.run([mpi.mpiexec, "--version"], capture_output=True, check=False, timeout=60,
                       env=environment(mpi))
        missing = "" if mpi.sluice.exists() else f"make build MPI={mpi.name} did not run"
    except (OSError, subprocess.SubprocessError) as why:
        missing = f"{why} (make setup MPI={mpi.name})"
    if missing:
        tell(f"skipped: {mpi.name}: {missing}")
    return not missing
