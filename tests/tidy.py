#!/usr/bin/env python3
"""Keeps what no compiler checks: the layers, sizes, words, and the documentation of sluice.h.

Prints one line per fault and exits with code 1 if there is one.
"""
import re
import sys

from reach import CODE, ROOT, includes_of, reach_of

BUILD_FILES = (ROOT / "CMakeLists.txt", *sorted(ROOT.glob("setup/*.cmake")),
               ROOT / "study" / "study.cmake", *sorted(ROOT.glob("tests/**/*.cmake")))
FOLDERS = ("src", "simulate", "tools", "bench", "device", "study", "include", "python", "tests",
           "examples", "setup", ".ci")
OWN_FOLDERS = ("src", "simulate", "tools", "bench", "device", "study")
SOURCE_FOLDERS = (*OWN_FOLDERS, "tests", "examples")
COLUMNS, FILE_LINES, FUNCTION_LINES = 100, 400, 70
# A class of src with more holds two ideas. These are still to be divided.
PRIVATE_FUNCTIONS = 20

# Room -> the rooms and headers that its files may reach through any chain of includes. Rooms that
# are not listed may reach all.
_BASE = ("base/",)
_SETTINGS = (*_BASE, "settings/")
_EVENTS = (*_BASE, "events/")
_SCHEDULE = (*_EVENTS, "schedule/")
_SYSTEM = (*_SCHEDULE, "settings/", "system/")
_FILE = (*_SCHEDULE, "settings/", "file/")
_STORAGE = (*_SYSTEM, "storage/", "transport/mpi_status.hpp")
REACH = {
    "src/base": _BASE,
    "src/settings": _SETTINGS,
    "src/events": _EVENTS,
    "src/schedule": _SCHEDULE,
    "src/system": _SYSTEM,
    "src/transport": (*_SYSTEM, "transport/"),
    "src/storage": _STORAGE,
    "src/behind": (*_SYSTEM, "behind/"),
    "src/gpu": (*_SYSTEM, "gpu/"),
    "src/file/plan": (*_SCHEDULE, "settings/", "file/plan/"),
    "src/file/run": _FILE,
    "src/collective": (*_SCHEDULE, "collective/"),
    "simulate/proof": (*_SCHEDULE, "collective/", "simulate/proof/"),
    "simulate": (*_STORAGE, "file/", "collective/", "device/model/", "simulate/"),
    "src/mpi/collective": (*_SYSTEM, "collective/", "gpu/", "transport/", "sluice/",
                           "mpi/attribute.hpp", "mpi/collective/", "mpi/communicator/",
                           "mpi/datatype/", "mpi/errors.hpp", "mpi/guard.hpp", "mpi/pmpi.hpp",
                           "mpi/progress/", "mpi/ranks.hpp", "mpi/requests/", "mpi/start/"),
    "src/mpi/communicator": (*_STORAGE, "file/", "transport/", "mpi/attribute.hpp",
                             "mpi/communicator/", "mpi/pmpi.hpp", "mpi/progress/",
                             "mpi/ranks.hpp"),
    "src/mpi": (*_STORAGE, "file/", "collective/", "transport/", "device/model/", "behind/",
                "gpu/", "mpi/", "sluice/"),
    "device/model": (*_STORAGE, "device/model/"),
    "bench/patterns": (*_BASE, "bench/patterns/"),
}
# Room -> what its files must not reach. The rooms of src/mpi may reach much else.
_WING = ("collective/", "mpi/collective/")  # Collectives between memories.
_FILES = ("file/", "storage/", "behind/", "mpi/file/", "mpi/behind/")
NEVER = {
    "src/mpi/progress": (*_FILES, *_WING),
    "src/mpi/file": _WING,
    "src/mpi/behind": _WING,
}
PURE = ("src/base/", "src/settings/", "src/events/", "src/schedule/", "src/file/",
        "src/collective/", "bench/patterns/")
# A pure part includes C++ headers only (those have no ".h"), and none of these.
IMPURE_HEADERS = {"thread", "future", "ctime", "fstream", "filesystem", "csignal"}
IMPURE_NAMES = r"\b(\w*getenv|steady_clock|system_clock|high_resolution_clock)\b"
# Programs that the runner in the folder compiles by itself, see tests/small_programs.py.
SMALL_PROGRAMS = ("tests/durability/", "tests/coexistence/", "tests/overhead/", "tests/fortran/",
                  "tests/record/", "tests/suites/", "tests/old/", "tests/packages/", "tests/gpu/",
                  "tests/nfs/",
                  "bench/programs/", "study/nvm/")
SEES_MPI = ("src/mpi/", "src/transport/mpi", "bench/", "study/", "tools/calibrate/", "tools/check/",
            "tools/try/",
            "tests/mpi/", "tests/nodes/", "examples/", "include/sluice/", *SMALL_PROGRAMS)
MPI_HEADER = re.compile(r"mpi\.h$|transport/mpi")

# What may answer whether an earlier call still owes bytes: three orders, and no other (decision
# 0057). Name -> the files of src that may use it. Locks of the kernel would be a fourth.
ORDERS = {
    r"Conflicts": ("src/file/run/",),
    r"IndependentWrites": ("src/mpi/behind/",),
    r"UnfinishedMarks": ("src/behind/", "src/mpi/behind/"),
    r"(?:CompletedCalls|OrderedCalls)": ("src/behind/", "src/mpi/behind/",
                                         "src/mpi/file/agreed_open.hpp"),
    r"(?:F_OFD_SETLKW?|F_SETLKW?|flock|lockf)": (  # Of atomic mode, of marks, and of own files.
        "src/storage/range_lock", "src/storage/features.cpp", "src/behind/unfinished_marks.cpp",
        "src/behind/journal_folder.cpp", "src/system/part_file.cpp"),
}
# Private words that the code once had -> the field's (docs/glossary.md says which are ours).
WORDS = {
    r"cycles?": "round",
    r"surveys?(?!_seconds)": "exchange of summaries",
    r"carriers?": "local aggregator",
    r"bells?": "doorbell",
    r"parcels?": "message descriptor",
    r"receipts?": "credit",
    r"recipes?": "type tree",
    r"footprints?": "plan key",
    r"handovers?": "passing of descriptors",
    r"realms?": "domain",
    r"hulls? of": "span",
}
WORDS = {re.compile(rf'(?<![a-z"])({word})(?![a-z])', re.IGNORECASE): right
         for word, right in WORDS.items()}
DOC_LINES = ("Collective:", "Blocks:", "Lifetime:", "Errors:")

faults = []


def fault(path, line, message):
    faults.append(f"{path.relative_to(ROOT)}:{line}: {message}")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def blank(text, pattern):
    """Replaces what matches by spaces, so that offsets and lines stay as they were."""
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match.group()), text,
                  flags=re.DOTALL | re.MULTILINE)


def without_comments(text):
    """Comments, strings and characters blanked; digit separators (1'000) are no characters."""
    return blank(text, r'R"\(.*?\)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
                       r'|(?<!\w)\'(?:\\.|[^\'\\\n])+\'')


def check_text(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS:
            fault(path, number, f"{len(line)} columns, {COLUMNS} allowed")
        if line != line.rstrip():
            fault(path, number, "white space at the end of the line")
    if text.count("\n") > FILE_LINES:
        fault(path, FILE_LINES, f"{text.count(chr(10))} lines, {FILE_LINES} allowed")


def room_of(name):
    """The listed room in which a file lies: the innermost."""
    found = [room for room in REACH if name.startswith(room + "/")]
    return max(found, key=len, default=None)


def check_reach(path, name, headers):
    room, folder = room_of(name), path.parent.relative_to(ROOT).as_posix()
    for header in headers if room else ():
        for far in sorted(reach_of(header)):
            way = "" if far == header else f", by way of {header}"
            if not far.startswith(REACH[room]):
                fault(path, 1, f"reaches {far}{way}: {room} may reach {', '.join(REACH[room])}")
            if far.startswith(NEVER.get(folder, ("\n",))):
                fault(path, 1, f"reaches {far}{way}: {folder} must not")


def check_layers(path, name, text):
    includes = includes_of(text)
    check_reach(path, name, [header for kind, header in includes if kind == '"'])
    for kind, header in includes:
        if MPI_HEADER.match(header) and not name.startswith(SEES_MPI):
            fault(path, 1, f"{header} is for {', '.join(SEES_MPI)} only")
        pure = name.startswith(PURE) and kind == "<"
        if pure and (header in IMPURE_HEADERS or "." in header or "/" in header):
            fault(path, 1, f"<{header}>: effects go through the ports")
    if name.startswith(PURE):
        for match in re.finditer(IMPURE_NAMES, without_comments(text)):
            fault(path, line_of(text, match.start()), f"{match.group()}: effects go through ports")


def check_words(path, text):
    for pattern, right in WORDS.items():
        for match in pattern.finditer(text):
            fault(path, line_of(text, match.start()), f'"{match.group()}": say "{right}"')


def check_orders(path, name, text):
    for pattern, places in ORDERS.items():
        if not name.startswith("src/") or name.startswith(places):
            continue
        for match in re.finditer(rf"\b{pattern}\b", without_comments(text)):
            fault(path, line_of(text, match.start()),
                  f"{match.group()} is for {', '.join(places)}: no fourth order of calls")


def opens_function(head):
    """Whether the text before a brace, outside of functions, is that of a function."""
    head = re.sub(r"alignas\s*\([^)]*\)|\btemplate\s*<[^{]*?>(?=\s*\w)", "", head)
    return "(" in head and not re.search(r"\b(namespace|class|struct|union|enum)\b[^()]*$", head)


def check_functions(path, text):
    code = blank(without_comments(text), r"^[ \t]*#(?:\\\n|[^\n])*")
    scopes, head = [], 0  # scopes: for each open brace, where a function began, or None
    for match in re.finditer(r"[{};]", code):
        if match.group() == "{":
            inside = any(begin is not None for begin in scopes)
            is_function = not inside and opens_function(code[head:match.start()])
            begin = head + re.match(r"\s*", code[head:]).end()
            scopes.append(begin if is_function else None)
        elif match.group() == "}" and scopes:
            begin = scopes.pop()
            if begin is not None:
                lines = line_of(code, match.start()) - line_of(code, begin) + 1
                if lines > FUNCTION_LINES:
                    fault(path, line_of(code, begin),
                          f"function of {lines} lines, {FUNCTION_LINES} allowed")
        head = match.end()


def body_after(code, brace):
    """What is between this brace and its end, without what is between braces in it."""
    kept, depth = [], 1
    for part in re.split(r"([{}])", code[brace + 1:]):
        depth += {"{": 1, "}": -1}.get(part, 0)
        if depth == 0:
            break
        if depth == 1 and part != "{":
            kept.append(part)
    return "".join(kept)


def is_function(declaration):
    """Whether this, of the body of a class, declares a function that somebody wrote."""
    if re.match(r"(friend|using|static_assert)\b", declaration):
        return False
    return bool(re.match(r"[^=(,]*\w\s*\((?!\s*\*)", declaration)) and not re.search(
        r"=\s*(default|delete)$", declaration)


def private_functions(kind, body):
    """The declarations of functions in the private sections of a body, as body_after() gives it."""
    body = re.sub(r"\boperator\s*(\(\)|[^\w\s(]+)", "operator_", body)
    while (plain := re.sub(r"<[^<>]*>", "", body)) != body:  # Arguments of templates.
        body = plain
    body = re.sub(r"\b(alignas|decltype|noexcept)\s*\([^()]*\)|\[\[[^]]*\]\]", "", body)
    first, *sections = re.split(r"\b(public|protected|private)\s*:(?!:)", body)
    private = [text for access, text in zip(sections[::2], sections[1::2]) if access == "private"]
    if kind == "class":
        private.append(first)
    declarations = [part.strip() for text in private for part in re.split(r"[;}]", text)]
    return [declaration for declaration in declarations if is_function(declaration)]


def check_classes(path, text):
    code = blank(without_comments(text), r"^[ \t]*#(?:\\\n|[^\n])*")
    for match in re.finditer(r"(?<!enum )\b(class|struct)\s+(?:alignas\([^)]*\)\s*)?([\w:]+)"
                             r"(?:\s+final)?(?:\s*:[^;{}()]*)?\s*\{", code):
        kind, name = match.groups()
        count = len(private_functions(kind, body_after(code, match.end() - 1)))
        if count > PRIVATE_FUNCTIONS:
            fault(path, line_of(code, match.start()), f"{name} has {count} private functions, "
                  f"{PRIVATE_FUNCTIONS} allowed: it holds two ideas, each is a class")


def check_public_header(path):
    """Every function of the C ABI says the four things that a caller must know, or is named under
    "Functions:" in the comment of its family, which says them."""
    text = path.read_text()
    code = blank(without_comments(text), r"^[ \t]*#(?:\\\n|[^\n])*")
    families = {}  # name -> comment
    for match in re.finditer(r"/\*\*((?:(?!\*/).)*?Functions:([^.]*)\..*?)\*/", text, re.DOTALL):
        families |= {name: match.group(1) for name in re.findall(r"sluice_\w+", match.group(2))}
    declared = set()
    for match in re.finditer(r"[^;{}]*?\b(sluice_\w+)\s*\([^;{}]*;", code):
        name = match.group(1)
        declared.add(name)
        comment = families.get(name, text[match.start():match.start(1)])
        for doc_line in DOC_LINES:
            if doc_line not in comment:
                fault(path, line_of(text, match.start(1)), f'{name}: no "{doc_line}"')
    for name in families.keys() - declared:
        fault(path, 1, f"{name}: named in a comment, but not declared")


def named_by_runner(path):
    """Whether a Python file of the folder names it."""
    return any(path.name in runner.read_text() for runner in path.parent.glob("*.py"))


def check_reachable():
    """A file that neither CMake nor a runner names is compiled by nobody."""
    cmake = "".join(path.read_text() for path in BUILD_FILES)
    patterns = re.findall(rf"\b(?:{'|'.join(SOURCE_FOLDERS)})/[\w./*]+\.c(?:pp)?\b", cmake)
    built = {path for pattern in patterns for path in ROOT.glob(pattern)}
    for folder in SOURCE_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in {".c", ".cpp"} or path in built:
                continue
            small = path.relative_to(ROOT).as_posix().startswith(SMALL_PROGRAMS)
            if not (small and named_by_runner(path)):
                fault(path, 1, "not built: neither CMake nor a runner names it")


def check_named_headers(path, text):
    """A header that a comment names is there: beside the file, or by its path."""
    for match in re.finditer(r"//.*?([\w./-]+\.hpp)\b", text):
        header, around = match.group(1), (path.parent, ROOT, ROOT / "src")
        if not any((folder / header).is_file() for folder in around):
            fault(path, line_of(text, match.start(1)), f"a comment names {header}: not there")


def check_walks():
    """The walks in docs/architecture.md name files and the functions in them."""
    path = ROOT / "docs" / "architecture.md"
    steps = re.findall(r"^\| \d+ \| `(src/[^`]+)` \| ([^|]+) \|", path.read_text(), re.MULTILINE)
    if len(steps) < 30:
        fault(path, 1, f"{len(steps)} steps of walks are found, 30 at least are expected")
    for name, functions in steps:
        text = (ROOT / name).read_text() if (ROOT / name).is_file() else ""
        for function in re.findall(r"`([\w:]+)`", functions):
            if not re.search(rf"\b{function.split('::')[-1]}\b", text):
                fault(path, 1, f"{name} has no {function}")


def draws(path):
    """Scripts of results, also those of the study, hold long texts."""
    return path.is_relative_to(ROOT / "study" / "results") or (
        path.suffix == ".py" and path.is_relative_to(ROOT / "study" / "nvm"))


def main():
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))
             if path.is_file() and path.suffix in CODE | {".py", ".sh", ".map", ""}
             and "__pycache__" not in path.parts and not draws(path)]
    paths += [*BUILD_FILES, ROOT / "Makefile"]
    for path in paths:
        name, text = path.relative_to(ROOT).as_posix(), path.read_text()
        check_text(path, text)
        if path.suffix in CODE:
            check_layers(path, name, text)
            check_words(path, text)
            check_orders(path, name, text)
            check_named_headers(path, text)
            check_functions(path, text)
            if name.startswith("src/"):
                check_classes(path, text)
            if name.startswith(OWN_FOLDERS) and not text.startswith(("//", "/*")):
                fault(path, 1, "does not open with a comment that says what the file is for")
    for header in sorted((ROOT / "include" / "sluice").glob("*.h")):
        check_public_header(header)
    check_reachable()
    check_walks()
    print("\n".join(faults + [f"{len(paths)} files, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
