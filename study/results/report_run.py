"""Runs the parts of a new measurement for study/results/report, one after the other, and keeps in a file
which are finished, so that an interrupted run goes on where it was."""

import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import time

from data import ROOT

NONE = {"extent": "", "finished": []}
STEP = 0.5  # Seconds between two looks at a part that runs.


def read_state(folder):
    path = folder / "state.json"
    return json.loads(path.read_text()) if path.exists() else dict(NONE, finished=[])


def write_state(folder, state):
    """All of it or nothing."""
    beside = folder / "state.json.new"
    beside.write_text(json.dumps(state, indent=1) + "\n")
    beside.replace(folder / "state.json")


def forget(folder):
    for path in (*folder.glob("*.jsonl"), *folder.glob("state.json")):
        path.unlink()


def keep(running, folder):
    """Appends the lines of a finished part to those of the parts before it."""
    for path in sorted(running.glob("*.jsonl")):
        with open(folder / path.name, "a", encoding="utf-8") as out:
            out.write(path.read_text(encoding="utf-8"))


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def status(parts, place, elapsed):
    """What runs and what remains."""
    part, later = parts[place], parts[place + 1:]
    left = max(0, part.seconds - elapsed) + sum(one.seconds for one in later)
    names = ", ".join(one.name for one in later) or "nothing"
    return (f"[{place + 1} of {len(parts)}] {part.name} ({part.what}): {clock(elapsed)} of about "
            f"{clock(part.seconds)}; all ends in about {clock(left)}; then: {names}")


def show(text, last=False):
    """One line that is written over on a terminal; elsewhere only the begin and the end of a part."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\033[K{text if last else text[:width]}", end="\n" if last else "", file=sys.stderr,
              flush=True)
    elif last:
        print(text, file=sys.stderr, flush=True)


def end(process):
    """Ends a part and all that it started; it may have a device to unmount."""
    for sign, patience in ((signal.SIGTERM, 20), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, sign)
            process.wait(patience)
            return
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def run_part(parts, place, running, log):
    """The exit code of a part, whose lines go to the folder `running`."""
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen(parts[place].command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=out, start_new_session=True,
                                   env={**os.environ, "RESULTS": str(running)})
        begin = time.monotonic()
        if not sys.stderr.isatty():
            show(status(parts, place, 0), last=True)
        try:
            while process.poll() is None:
                show(status(parts, place, time.monotonic() - begin))
                time.sleep(STEP)
        finally:
            if process.poll() is None:
                end(process)
    return process.returncode


def machine():
    """The processor's name, as the kernel tells it, and the kernel."""
    info = pathlib.Path("/proc/cpuinfo")
    names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines()
             if line.startswith("model name")] if info.exists() else []
    name = names[0] if names else platform.machine()
    return f"{len(names) or os.cpu_count()} x {name}, Linux {platform.release()}"


def finish(folder, state, part, code, seconds):
    """Keeps a part, whether it passed or not: what it measured before it failed is right."""
    state["finished"].append({"name": part.name, "passed": code == 0, "seconds": round(seconds),
                              "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
    keep(folder / "running", folder)
    write_state(folder, state)
    outcome = "done" if code == 0 else f"FAILED with {code}, see {(folder / part.name).with_suffix('.log')}"
    show(f"{part.name}: {outcome}, {clock(seconds)}", last=True)


def measure(folder, extent, parts):
    """Whether all parts passed. Those that an earlier run of the same extent has finished are not
    repeated."""
    folder.mkdir(parents=True, exist_ok=True)
    state = read_state(folder)
    if state["extent"] != extent:
        forget(folder)
        state = {"extent": extent, "finished": []}
    state["machine"] = machine()
    done = {part["name"] for part in state["finished"] if part["passed"]}
    state["finished"] = [part for part in state["finished"] if part["passed"]]
    left = [part for part in parts if part.name not in done]
    if done:
        show(f"measured before: {', '.join(sorted(done))} (--again: anew)", last=True)
    for place, part in enumerate(left):
        running, begin = folder / "running", time.monotonic()
        shutil.rmtree(running, ignore_errors=True)
        running.mkdir()
        code = run_part(left, place, running, (folder / part.name).with_suffix(".log"))
        finish(folder, state, part, code, time.monotonic() - begin)
    return all(part["passed"] for part in state["finished"])
