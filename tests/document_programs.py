#!/usr/bin/env python3
"""Runs what the documents show: the programs and commands of the README and of all pages.

A block of code with a title is a file. The blocks of a page whose language is `sh` are run, in
their order, in a folder that has these files. A block `text` is what the commands before it print:
each of its lines has to be among theirs, whatever the numbers and folders are. A block that cannot
be run is marked in the line before it, with the reason:  <!-- not run: REASON -->. One that needs
a file of the system names it:  <!-- needs: /dev/fuse -->. Every other block is a fault.

Prints a line for each page, and what was skipped; exits with 1 if something failed.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "mpi"))
from mpis import BUILD, ENV, MPIS, ROOT  # noqa: E402

BOTH, DEBIAN = ("mpich", "openmpi"), ("debian-mpich", "debian-openmpi")
PAGES = {  # The MPIs with which a page's blocks are run.
    "README.md": BOTH,
    "CONTRIBUTING.md": (),
    "docs/architecture.md": (),
    "docs/index.md": (),
    "docs/start.md": BOTH[:1],
    "docs/install.md": (),
    "docs/mpis.md": (),
    "docs/start/c.md": BOTH,
    "docs/start/mpi4py.md": BOTH,
    "docs/start/fortran.md": DEBIAN,
    "docs/start/pnetcdf.md": DEBIAN[1:],
    "docs/start/hdf5.md": DEBIAN[1:],
    "docs/start/gpu.md": (),
    "docs/start/slurm.md": (),
    "docs/start/containers.md": (),
    "docs/behind.md": (),
    "docs/calibrate.md": (),
    "docs/collectives.md": (),
    "docs/device.md": BOTH[:1],
    "docs/explain.md": BOTH[:1],
    "docs/gluster.md": (),
    "docs/reports.md": BOTH[:1],
    "docs/simulation.md": BOTH[:1],
    "docs/troubleshooting.md": (),
    "docs/bench.md": BOTH[:1],
    "docs/tests.md": (),
    "docs/record.md": BOTH[:1],
    "docs/trace.md": BOTH[:1],
    "docs/nodes.md": (),
    "docs/howto/collective-algorithm.md": (),
    "docs/howto/exchange-kernel.md": (),
    "docs/howto/hint.md": (),
    "docs/howto/storage-engine.md": (),
}
# Pages that go on with files of another one.
FILES_OF = dict.fromkeys(("docs/record.md", "docs/reports.md", "docs/trace.md"), "docs/start.md")
RECORDS = "docs/decisions/"  # They tell what was, and are not followed.
BLOCK = re.compile(r"(?:^<!-- (not run|needs): (.*?) -->\n)?"
                   r"^```(\w*)(?: title=\"(.*?)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Debian's commands have the MPI's name behind a point; its Python is the one with its packages.
COMMANDS = {**{name: f"{name}.{{}}" for name in ("mpicc", "mpifort", "mpiexec", "h5pcc")},
            "python3": "/usr/bin/python3"}
SECONDS = 120  # Of a page.
LAST = "\n::the end of block"  # Printed behind the commands of a block.


@dataclass
class Block:
    line: int
    mark: str  # "", "not run" or "needs"
    reason: str
    language: str
    title: str
    text: str

    @property
    def missing(self):
        """Why it is not run here."""
        if self.mark == "not run":
            return self.reason
        gone = [path for path in self.reason.split() if not pathlib.Path(path).exists()]
        return f"needs {', '.join(gone)}" if gone else ""


def blocks_of(text):
    return [Block(text[:match.start()].count("\n") + 1, *(group or "" for group in match.groups()))
            for match in BLOCK.finditer(text)]


def unmarked(page):
    """Blocks that are not run, and do not say why: of another kind, or on a page without an MPI."""
    run = ("sh", "text") if PAGES[page] else ("text",)
    return [block for block in blocks_of((ROOT / page).read_text())
            if not block.mark and not block.title and block.language not in run]


def forgotten():
    """Pages that show a block, and are not in the list."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [path.relative_to(ROOT).as_posix() for path in pages]
    return [name for name in names if name not in PAGES and not name.startswith(RECORDS)
            and blocks_of((ROOT / name).read_text())]


def bare(line):
    """A line of output without what differs from run to run."""
    return re.sub(r"\d+(\.\d+)?", "0", re.sub(r"/\S*/", "", line)).strip()


def environment_of(mpi, folder):
    """With the MPI's commands, and the sluice command of its build, on the path."""
    commands = folder / "bin"
    commands.mkdir()
    if mpi in DEBIAN:
        for name, command in COMMANDS.items():
            script = commands / name
            command = command.format(mpi.removeprefix("debian-"))
            script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            script.chmod(0o755)
    path = [str(BUILD / mpi / "bin"), str(commands), str(ENV / mpi / "bin"), os.environ["PATH"]]
    return {**os.environ, **MPIS[mpi].settings, "PATH": ":".join(path)}


def run_script(script, folder, environment):
    """(exit code, output) of a page's commands; whatever they leave running is ended."""
    with subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as shell:
        try:
            output, _ = shell.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGTERM)
            output, _ = shell.communicate()
            output += f"\nended after {SECONDS} s"
        return shell.returncode, output


def unseen(blocks, parts):
    """Lines that the page says are printed, and that are not."""
    output, faults = iter(parts), []
    printed = set()
    for block in blocks:
        if block.language == "sh":
            printed = {bare(line) for line in next(output, "").splitlines()}
        elif block.language == "text":
            faults += [f"{block.line}: not printed: {line}" for line in block.text.splitlines()
                       if bare(line) not in printed]
    return faults


def runnable(blocks):
    """The blocks that are run, with their output; what an absent command prints goes with it."""
    found, absent = [], False
    for block in blocks:
        if block.language == "sh":
            absent = bool(block.missing)
        if not block.missing and not (block.language == "text" and absent):
            found.append(block)
    return found


def run_page(page, blocks, mpi, folder):
    """What is wrong with a page whose commands are run with one MPI."""
    here = folder / "page"
    here.mkdir()
    chosen = runnable(blocks)
    before = blocks_of((ROOT / FILES_OF[page]).read_text()) if page in FILES_OF else []
    for block in before + chosen:
        if block.title:
            (here / block.title).write_text(block.text)
    commands = [block for block in chosen if block.language == "sh"]
    script = "set -e -o pipefail\n" + "".join(f"{block.text}echo '{LAST}'\n" for block in commands)
    code, output = run_script(script, here, environment_of(mpi, folder))
    *parts, rest = output.split(f"{LAST}\n")
    if code != 0:
        line = commands[min(len(parts), len(commands) - 1)].line
        return [f"{page}:{line}: exit code {code} with {mpi}:\n{rest.strip()[-3000:]}"]
    return [f"{page}:{fault}" for fault in unseen(chosen, parts)]


def try_page(page, mpi):
    """(faults, what was skipped) of one page with one MPI."""
    blocks = blocks_of((ROOT / page).read_text())
    if not (BUILD / mpi / "bin" / "sluice").exists():
        return [], [f"{page}: build/{mpi} is not there (make build MPI={mpi})"]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="documents-", dir=os.environ.get("TMPDIR")))
    try:
        faults = run_page(page, blocks, mpi, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return faults, [f"{page}:{block.line}: {block.missing}" for block in blocks
                    if block.mark == "needs" and block.missing]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", choices=BOTH + DEBIAN, help="of all, only the pages for this one")
    parser.add_argument("--page", choices=sorted(PAGES), help="only this page")
    options = parser.parse_args()
    pages = [options.page] if options.page else list(PAGES)
    faults = [f"{page}:{block.line}: a block that is neither run nor marked" for page in pages
              for block in unmarked(page)]
    faults += [f"{page}: has blocks, and is not among PAGES" for page in forgotten()]
    skips = []
    for page in pages:
        for mpi in PAGES[page]:
            if options.mpi in (None, mpi):
                found, skipped = try_page(page, mpi)
                print(f"{page} with {mpi}: {'FAILED' if found else 'ok'}", flush=True)
                faults += found
                skips += skipped
    print("\n".join([*(f"skipped: {skip}" for skip in skips), *faults,
                     f"{len(faults)} faults in what documents show"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
