"""Run a command so that nothing of it is left behind, whatever happens."""

import os
import signal
import subprocess
import time

GRACE_SECONDS = 5


def run(command, timeout, environment=None):
    """Run to the end and return its output; raise RuntimeError on failure or timeout."""
    process = start(command, environment)
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        stop(process)
        raise RuntimeError(f"no end within {timeout} s: {shown(command)}") from None
    except BaseException:  # Ctrl-C above all
        stop(process)
        raise
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}: {shown(command)}\n{output}")
    return output


def start(command, environment=None):
    """Start in a process group of its own, so that all of it can be stopped."""
    return subprocess.Popen([str(word) for word in command], env=environment, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, start_new_session=True)


def stop(process):
    """Ask the group to end; then kill it, and ranks that a launcher put into other groups."""
    family = descendants(process.pid)
    send(os.killpg, process.pid, signal.SIGTERM)
    try:
        process.communicate(timeout=GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    send(os.killpg, process.pid, signal.SIGKILL)
    for pid, birth in family.items():
        if birth_of(pid) == birth:  # not another process that was given the same id
            send(os.kill, pid, signal.SIGKILL)
    process.wait()


def send(kill, target, number):
    try:
        kill(target, number)
    except ProcessLookupError:
        pass


def descendants(pid):
    """Children, their children and so on: {pid: time of birth}."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    parents = {child: parent_of(child) for child in pids}
    found, unseen = {}, [pid]
    while unseen:
        parent = unseen.pop()
        children = [child for child, its_parent in parents.items() if its_parent == parent]
        found.update((child, birth_of(child)) for child in children)
        unseen += children
    return found


def stat_of(pid):
    """The fields of /proc/PID/stat after the command's name, or None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def parent_of(pid):
    fields = stat_of(pid)
    return int(fields[1]) if fields else None


def birth_of(pid):
    fields = stat_of(pid)
    return fields[19] if fields else None


def wait_until(condition, process, seconds):
    """Whether `condition` came true in time while the process was alive."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if condition():
            return True
        time.sleep(0.05)
    return False


def shown(command):
    return " ".join(str(word) for word in command)
