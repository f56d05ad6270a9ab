"""`sluice NAME ...` for the commands of commands.txt.

Python versions that are too old read this file as well, to be told so: it needs none of the new.
"""
import importlib
import os
import sys

OLDEST = (3, 11)
BAD_USAGE = 2


def names() -> "list[str]":
    """The commands of the table."""
    table = os.path.join(os.path.dirname(os.path.abspath(__file__)), "commands.txt")
    with open(table, encoding="utf-8") as lines:
        return [line.split("|")[0].strip() for line in lines if line[0] not in "#\n"]


def main(words: "list[str]") -> int:
    """Runs the command that the first word names; returns the exit code."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:2]))
        wanted = ".".join(map(str, OLDEST))
        sys.stderr.write("sluice: %s is Python %s, and this command needs %s or later: name one in "
                         "SLUICE_PYTHON\n" % (sys.executable, found, wanted))
        return 1
    if not words or words[0] not in names():
        sys.stderr.write("usage: python -m sluice %s ...\n" % "|".join(names()))
        return BAD_USAGE
    try:
        return int(importlib.import_module("sluice." + words[0]).main(words[1:]))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # The reader of what is printed has gone, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    if sys.version_info >= OLDEST and sys.argv[1:2] and sys.argv[1] not in names():
        from sluice import command
        command.main()  # What is not written in Python.
    sys.exit(main(sys.argv[1:]))
