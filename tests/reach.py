"""What a file of the sources reaches through its includes: headers, and rooms. Rooms are folders:
whoever includes a header of one may run all code of it, and what that code reaches."""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = {".cpp", ".hpp", ".c", ".h"}


def includes_of(text):
    return re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', text, re.MULTILINE)


@functools.cache
def file_of(header):
    """Where a header of the project lies, by the name with which it is included."""
    for folder in ("src", ".", "include"):
        path = ROOT / folder / header
        if path.is_file():
            return path
    return None


@functools.cache
def reach_of(header):
    """The project's headers that a header brings along, with itself."""
    reached, left = set(), [header]
    while left:
        header = left.pop()
        path = file_of(header)
        if header in reached or not path:
            continue
        reached.add(header)
        left += [name for kind, name in includes_of(path.read_text()) if kind == '"']
    return reached


@functools.cache
def included_by(path):
    """The project's files that a file reads when it is compiled, with itself; those beside it that
    it includes by their name alone are among them."""
    reached, left = set(), [path]
    while left:
        path = left.pop()
        if path in reached:
            continue
        reached.add(path)
        for kind, name in includes_of(path.read_text()):
            beside = path.parent / name
            found = beside if beside.is_file() else file_of(name)
            if found and (kind == '"' or name.startswith("sluice/")):
                left.append(found.resolve())
    return reached


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@functools.cache
def rooms_behind(room):
    """The rooms that a room's files include of, directly."""
    files = [path for path in (ROOT / room).iterdir() if path.suffix in CODE]
    return {name_of(path.parent) for file in files for path in included_by(file)}


@functools.cache
def rooms_of(path):
    """All rooms whose code a program may run that is made from this file."""
    reached, left = set(), {name_of(one.parent) for one in included_by(path)}
    left.discard(name_of(path.parent))
    while left:
        room = left.pop()
        if room not in reached:
            reached.add(room)
            left |= rooms_behind(room)
    return reached


@functools.cache
def read_below(folder):
    """The files that are read when a folder's sources are compiled."""
    return {name_of(path) for file in folder.rglob("*") if file.suffix in CODE
            for path in included_by(file)}
