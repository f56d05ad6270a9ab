"""Programs of the study: where they are, what keeps them from running here, and how they are run."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NODES = ROOT / "tests" / "nodes" / "run.py"
CGROUPS = Path("/sys/fs/cgroup/memory")


def command():
    """The `sluice` that was called; or that of the build for MPICH."""
    return Path(os.environ.get("SLUICE_COMMAND", ROOT / "build" / "mpich" / "bin" / "sluice"))


def installation():
    return command().parents[1]


def has_program(name):
    """In an installation each MPI has a folder with programs of its own."""
    return any(any(installation().glob(f"{folder}libexec/{name}")) for folder in ("", "*/"))


def mpi():
    """As tests/nodes names it."""
    return installation().name if installation().name in ("mpich", "openmpi") else "mpich"


def mpiexec():
    own = ROOT / "build" / "env" / mpi() / "bin" / "mpiexec"
    return own if os.access(own, os.X_OK) else shutil.which("mpiexec")


def mpi_settings():
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


class Missing(Exception):
    """What a part needs and this machine does not have."""


def need(present, what):
    if not present:
        raise Missing(what)


def need_device():
    need(has_program("sluice-device"),
         "sluice device was not built (libfuse3-dev, libcli11-dev)")
    need(os.access("/dev/fuse", os.W_OK), "FUSE: /dev/fuse cannot be opened")


def need_programs():
    need((installation() / "study" / "sluice-study").exists(),
         "sluice-study was not built (make build TARGETS=study)")
    need(mpiexec(), "no mpiexec")


def need_hosts():
    need(os.path.exists(NODES), "hosts in network namespaces are made by tests/nodes of the sources")
    need(os.geteuid() == 0, "root, for network namespaces")


def need_cgroup():
    need(os.path.exists(CGROUPS / "memory.limit_in_bytes"),
         f"a cgroup v1 memory controller in {CGROUPS}")
    need(os.access(CGROUPS, os.W_OK), f"root, for a cgroup in {CGROUPS}")


def timed_romio():
    """The words before the options of the bench without Sluice, with timers around what ROMIO calls
    (study/nvm/romio_times.c)."""
    folder = ROOT / "bench" / "programs"
    need(folder.exists(), "the sources, for timers in ROMIO")
    sys.path.insert(0, str(folder))
    import programs  # It wants the tests of the sources, so not every installation has it.
    try:
        library = programs.preloaded(programs.MPIS[mpi()], Path(__file__).with_name("romio_times.c"))
    except (programs.Missing, OSError, subprocess.SubprocessError) as why:
        raise Missing(f"timers in ROMIO: {why}") from why
    return ["env", f"LD_PRELOAD={library}", installation() / "study" / "sluice-study"]


class Failed(Exception):
    """A program that went wrong, with what it said."""


def run(words, seconds, **options):
    """Its output. Its processes are a session of their own, so that none is left when it hangs."""
    program = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, start_new_session=True,
                               env=mpi_settings() | options.pop("settings", {}), **options)
    try:
        output, _ = program.communicate(timeout=seconds)
    except BaseException as why:
        os.killpg(program.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.communicate(timeout=10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        if isinstance(why, subprocess.TimeoutExpired):
            raise Failed(f"no end after {seconds} s: {' '.join(map(str, words))}") from why
        raise
    if program.returncode != 0:
        raise Failed(f"exit code {program.returncode}: {' '.join(map(str, words))}\n{output[-2000:]}")
    return output


@contextlib.contextmanager
def mounted(profile, *options):
    """The folder of an emulated device."""
    need_device()
    with tempfile.TemporaryDirectory(prefix="emulated-") as folder:
        device = subprocess.Popen([command(), "device", "--profile", profile, "--mount", folder,
                                   *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, start_new_session=True)
        try:
            line = device.stdout.readline()
            need(line.startswith(f"mounted {folder}"), line.strip() or "the device did not mount")
            yield Path(folder)
        finally:
            device.send_signal(signal.SIGTERM)
            device.wait(30)
            device.stdout.close()


class Progress:
    """A line for each step, with the time since the start and what is left to do."""

    def __init__(self):
        self.begin, self.done, self.expected = time.monotonic(), 0, 0

    def step(self, what):
        self.done += 1
        print(f"[{self.seconds():4.0f} s  {self.done:2} of {self.expected}] {what}", flush=True)

    def note(self, what):
        print(f"[{self.seconds():4.0f} s          ] {what}", flush=True)

    def seconds(self):
        return time.monotonic() - self.begin


def python_that_draws():
    """A Python with matplotlib; nothing if there is none."""
    for python in (ROOT / "build" / "env" / "tools" / "bin" / "python", sys.executable):
        tried = subprocess.run([python, "-c", "import matplotlib"], capture_output=True,
                               check=False) if os.access(python, os.X_OK) else None
        if tried and tried.returncode == 0:
            return python
    return ""
