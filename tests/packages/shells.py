"""What an installation brings for shells, tried in a Debian in which it is installed: module files,
completion, and manual pages."""
import os
import pty
import re
import select
import subprocess
import time

from common import expect_overlap
from debian import ENTER, PREPARED, RANKS

TCL, LUA = "/usr/share/modulefiles", "/usr/share/lmod"
PROMPT = "ready>"
SECONDS = 60  # Until a shell has started, and for what it completes.
# What is typed before the key -> one of the words that are offered.
COMPLETED = {"sluice rec": ("record", "recover"), "sluice merge-": ("merge-trace",),
             "sluice info --j": ("--json",), "sluice run --beh": ("--behind",),
             "sluice trace --oper": ("--operation",), "sluice help cali": ("calibrate",),
             "sluice run mpicc.op": ("mpicc.openmpi",)}


def loaded_and_unloaded(system, init, folder):
    """The ranks of an mpiexec have Sluice from `module load` to `module unload`."""
    name = "sluice/" + system.run(f"ls {folder}/sluice | grep mpich").strip().removesuffix(".lua")
    run = f"{RANKS['mpich']} /built-mpich/in_c /tmp/file 2>&1"
    output = system.run(
        "bash", "-c", f". {init}; module use {folder}; export SLUICE_LOG=2; {run}; "
        f"echo ---; module load {name} && {run} && which sluice && man -w sluice; echo ---; "
        f"module unload {name}; {run}; echo \"preloaded: $LD_PRELOAD.\"")
    before, loaded, after = output.split("---")
    expect_overlap(loaded)
    assert "/bin/sluice" in loaded and "man1/sluice.1" in loaded, loaded
    for without in (before, after):
        assert "same bytes" in without and "operations" not in without, output
    assert "preloaded: ." in after, after


def environment_modules(system):
    system.install("environment-modules", "man-db")
    loaded_and_unloaded(system, "/usr/share/modules/init/bash", TCL)
    system.run("apt-get", "purge", "-q", "-y", "environment-modules")


def lmod(system):
    """It reads its own files and those of Environment Modules."""
    system.install("lmod", "man-db")
    for folder in (LUA, TCL):
        loaded_and_unloaded(system, "/usr/share/lmod/lmod/init/bash", folder)
    system.run("apt-get", "purge", "-q", "-y", "lmod")


class Terminal:
    """A shell in the system that believes that somebody types."""
    def __init__(self, system, *words):
        self.ours, theirs = pty.openpty()
        around = [f"{name}={value}" for name, value in system.environment.items()]
        self.shell = subprocess.Popen(
            [*ENTER, system.folder, *PREPARED, "env", "-i", "TERM=dumb", f"PS1={PROMPT}", *around,
             *words], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)

    def type(self, text):
        os.write(self.ours, text.encode())

    def read_until(self, pattern):
        """What is shown until the pattern is, or for as long as it may take."""
        text, end = "", time.monotonic() + SECONDS
        while not re.search(pattern, text) and time.monotonic() < end:
            if select.select([self.ours], [], [], 0.2)[0]:
                text += os.read(self.ours, 65536).decode(errors="replace")
        return text

    def close(self):
        self.shell.kill()
        self.shell.wait()
        os.close(self.ours)


def completed_in_terminal(system, prepare, *words):
    for typed, offered in COMPLETED.items():
        terminal = Terminal(system, *words)
        try:
            terminal.type(f"{prepare}; echo pre''pared\n")
            # The keys are for the line editor, which is there when it shows its prompt.
            seen = terminal.read_until(rf"prepared\s[^>]*{PROMPT}")
            terminal.type(f"{typed}\t\t\t")
            for word in offered:  # A single one is completed in its place, several are listed.
                seen += terminal.read_until(re.escape(word))
                assert word in seen, f"{words[0]}: {typed}: {word} is not offered:\n{seen}"
        finally:
            terminal.close()


def completion(system):
    """As somebody types it: bash and zsh with a terminal; fish tells what it would offer."""
    system.install("bash-completion", "zsh", "fish")
    completed_in_terminal(system, ". /usr/share/bash-completion/bash_completion", "bash", "--norc",
                          "--noprofile", "-i")
    completed_in_terminal(system, "autoload -U compinit && compinit -u", "zsh", "-f", "-i")
    for typed, offered in COMPLETED.items():
        said = system.run("fish", "-c", f"complete -C '{typed}'").split()
        assert set(offered) <= set(said), f"fish: {typed}: {said}"


def manual(system):
    """man finds each page by name."""
    for page in ("sluice", "sluice-run", "sluice-hints", "sluice-environment",
                 "sluice_file_statistics"):
        assert f"/{page}." in system.run("man", "-w", page), page
