#!/usr/bin/env python3
"""Runs a command, and appends the seconds that it took, and those of processors, to a log.

    timed.py LOG NAME -- COMMAND...

CTest knows wall seconds only. Processor seconds are those of the command and of all processes that
it waited for, the ranks of an mpiexec among them. The exit code is the command's.
"""
import json
import os
import resource
import signal
import subprocess
import sys
import time

from with_parent import end_with_parent


def main():
    log, name, _, *words = sys.argv[1:]
    begin = time.monotonic()
    own = os.getpid()
    child = subprocess.Popen(words, preexec_fn=lambda: end_with_parent(own))
    # At its time limit CTest asks this process to end; the command says where its ranks are.
    # Soon after CTest kills this process, and with it a command that did not hear.
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    code = child.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = {"name": name, "seconds": round(time.monotonic() - begin, 2),
            "processor": round(used.ru_utime + used.ru_stime, 2)}
    with open(log, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
