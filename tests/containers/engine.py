"""A container engine for one run: podman with runc, whose state and containers are in a folder that
ends with the run. It is called `docker`, as in docs/start/containers.md. In place of the image of
these commands there is the machine's own root file system, whose changes are thrown away."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

COMMANDS = ("podman", "runc", "conmon")
# Podman raises its limits, which not every root may do.
CONFIGURATION = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n'
DOCKER = """#!/bin/bash
export CONTAINERS_CONF={folder}/containers.conf
words=()
for word in "$@"; do
    [[ $word == image ]] && words+=(--rootfs /:O) || words+=("$word")
done
[[ $1 == run ]] && words=(run --network none --env-host "${{words[@]:1}}")
exec podman --root {folder}/root --runroot {folder}/run --tmpdir {folder}/tmp --runtime runc \\
    --events-backend none "${{words[@]}}"
"""


def missing(folder):
    """Why no container can be started here, in words; empty if one was."""
    if absent := [name for name in COMMANDS if not shutil.which(name)]:
        return f"no command {', '.join(absent)} (Debian: podman, runc)"
    done = docker(folder, "run", "--rm", "image", "true")
    return done.stderr.strip() if done.returncode else ""


def make():
    """A folder with the command `docker` in it. Podman wants a short path."""
    folder = Path(tempfile.mkdtemp(prefix="sluice_test_", dir="/tmp"))
    (folder / "containers.conf").write_text(CONFIGURATION)
    command = folder / "docker"
    command.write_text(DOCKER.format(folder=folder))
    command.chmod(0o755)
    folder.chmod(0o755)
    return folder


def docker(folder, *words, seconds=60):
    return subprocess.run([str(word) for word in (folder / "docker", *words)], text=True,
                          capture_output=True, check=False, timeout=seconds)


def remove(folder):
    """With containers that still run, which are those of this folder."""
    docker(folder, "rm", "--all", "--force")
    for line in Path("/proc/self/mounts").read_text().splitlines():
        if (place := line.split()[1]).startswith(os.fspath(folder)):
            subprocess.run(["umount", "-l", place], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)
