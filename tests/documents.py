#!/usr/bin/env python3
"""Checks the documents: each link inside of the repository leads to a file, and to a heading where
it names one; each decision is short, has a status, and is in the index; each path in backticks of a
how-to exists; the messages that the page on troubleshooting quotes are those of the sources; lists
and tables are seen as such; each page is in the menu of the site; sizes and counts that pages name
are those of the sources.

Prints one line for each fault, and exits with code 1 if there is one.
"""
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FIRST_FOLDERS = ("src", "tests", "include", "docs", "results", "tools", "bench", "device",
                 "examples", "study", "simulate")
RESULTS_WORDS = 1500  # Of docs/results.md, which holds findings; tables are made by --pages.
DECISION_WORDS, DECISION_INDEX_WORDS = 320, 700
# What pages say of the sources, and where the sources say it.
NUMBERS = {
    "summary": ("src/file/plan/summary.hpp", r"sizeof\(Summary\) == (\d+)"),
    "sketch": ("src/file/plan/sketch.hpp", r"counter_count = (\d+)"),
    "under_way": ("src/file/run/shared_region.hpp", r"operations_under_way = (\d+)"),
    "boards_each": ("src/file/run/shared_region.hpp", r"board_count = (\d+) \* operations_under"),
    "queues": ("src/mpi/communicator/node_share.hpp", r"queues_at_most = (\d+)"),
    "channels": ("src/file/run/message_effects.cpp", r" channels = (\d+)"),
    "rounds": ("src/file/run/message_effects.cpp", r"rounds_apart = (\d+)"),
    "groups": ("src/file/plan/decision.cpp", r"groups_bytes_min = (\d+) \* 1024"),
}
SENTENCES = {
    "architecture.md": (
        "a record of {summary} bytes", "messages of {summary} bytes", "{sketch} counters",
        "{under_way} operations of an operation queue", "there are {boards} boards",
        "`operation mod {boards}`", "`n + {under_way}`", "There are {queues} for a communicator",
        "round mod {rounds})", "{queues} x {channels} x {rounds} = {tags} tags"),
    "hints.md": ("want stretches of {groups} KiB or more",),
    "how-it-works-mpi.md": (
        "record of fixed size ({summary} bytes)", "Up to {under_way} operations of a file"),
}


def without_code(text):
    """Blocks of code blanked, so that the lines keep their numbers."""
    return re.sub(r"^```.*?^```", lambda match: re.sub(r"[^\n]", "", match.group()), text,
                  flags=re.DOTALL | re.MULTILINE)


@functools.cache
def anchors(path):
    """The names that links may use for the headings of a document, as viewers make them."""
    found = {}
    for title in re.findall(r"^#+ (.*)$", without_code(path.read_text()), re.MULTILINE):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {name if number == 0 else f"{name}-{number}" for name, last in found.items()
            for number in range(last + 1)}


def link_faults(path):
    for number, line in enumerate(without_code(path.read_text()).splitlines(), 1):
        for target in re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, heading = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            if not file.exists():
                yield f"{path.relative_to(ROOT)}:{number}: {target}: there is no such file"
            elif heading and (file.suffix != ".md" or heading not in anchors(file)):
                yield f"{path.relative_to(ROOT)}:{number}: {target}: there is no such heading"


def decision_faults():
    """Each decision is short, has its status under the title, and is named once in the index."""
    folder = DOCS / "decisions"
    index = (folder / "index.md").read_text()
    for path in sorted(folder.glob("0*.md")):
        name, text = path.relative_to(ROOT), path.read_text()
        lines = re.findall(rf"^- .*\]\({path.name}\).*$", index, re.MULTILINE)
        if len(lines) != 1 or index.count(f"]({path.name})") != 1:
            yield f"docs/decisions/index.md: {path.name} has {len(lines)} lines, and not one"
        words = len(text.split())
        if words > DECISION_WORDS:
            yield f"{name}: {words} words, {DECISION_WORDS} allowed: leave out what no change needs"
        status = re.match(r"# \d{4}: .*\n\n(Status: in force|Superseded by (\[?\d{4}))", text)
        if not status:
            yield f'{name}: neither "Status: in force" nor "Superseded by NNNN" under its title'
        elif bool(status[2]) != any("uperseded" in line for line in lines):
            yield f"docs/decisions/index.md: {path.name}: the record and its line differ in status"
    words = len(index.split())
    if words > DECISION_INDEX_WORDS:
        yield f"docs/decisions/index.md: {words} words, {DECISION_INDEX_WORDS} allowed"


def path_faults(path):
    """Files that a text for contributors names by their path from the root."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for name in re.findall(r"`([\w.\-]+/[\w./\-]+)`", line):
            if name.startswith(FIRST_FOLDERS) and not (ROOT / name).exists():
                yield f"{path.relative_to(ROOT)}:{number}: {name}: there is no such file"


@functools.cache
def texts_of_sources():
    """What the library and the command can print: their string literals, joined where C++ does."""
    found = []
    for folder in ("src", "tools"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            joined = re.sub(r'"\s*(\+\s*)?\n\s*"', "", path.read_text())
            found += re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined)
    return "\n".join(found)


def message_faults(path):
    """Messages in blocks `text`, with `...` for what differs, that no source has."""
    for block in re.findall(r"^```text\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            parts = re.sub(r"^sluice( run)?: ", "", line).split("...")
            for part in (part.strip(" ;:(),'`") for part in parts):
                words = [word for word in re.split(r"[;:] | \(", part) if word]
                if not all(word in texts_of_sources() for word in words):
                    yield f"{path.relative_to(ROOT)}: no source prints: {part}"


def list_faults(path):
    """Lists and tables behind a line of text, which the site does not take for such."""
    lines = without_code(path.read_text()).splitlines()
    for number, (before, line) in enumerate(zip(lines, lines[1:]), 2):
        begins = re.match(r"(- |\d+\. |\|)", line)
        if begins and before.strip() and not re.match(r"\s*(- |\d+\. |\||#)|  ", before):
            yield f"{path.relative_to(ROOT)}:{number}: no empty line before a list or a table"


def number_faults():
    """Numbers that pages repeat: each sentence is there, and nowhere with another number."""
    found = {}
    for name, (path, pattern) in NUMBERS.items():
        match = re.search(pattern, (ROOT / path).read_text())
        if not match:
            yield f"{path}: nothing there is as tests/documents.py looks for it: {pattern}"
            return
        found[name] = int(match[1])
    found["boards"] = found["boards_each"] * found["under_way"]
    found["tags"] = found["queues"] * found["channels"] * found["rounds"]
    for page, sentences in SENTENCES.items():
        text = (DOCS / page).read_text()
        for sentence in sentences:
            right = sentence.format_map(found)
            pattern = re.sub(r"\\{\w+\\}", r"\\d+", re.escape(sentence))
            for said in re.findall(pattern, text) or ["nothing of it"]:
                if said != right:
                    yield f'docs/{page}: says "{said}"; the sources say "{right}"'


def menu_faults():
    """Pages without a place in the menu, or with several; decisions have an index of their own."""
    menu = (ROOT / "mkdocs.yml").read_text()
    places = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", menu, re.MULTILINE)
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    pages -= {path for path in pages if path.startswith("decisions/0")}
    for page in sorted(pages):
        if places.count(page) != 1:
            yield f"mkdocs.yml: {page} is named {places.count(page)} times, and not once"


def main():
    howtos = sorted((DOCS / "howto").glob("*.md"))
    documents = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    documents += [*sorted(DOCS.rglob("*.md")), *sorted((ROOT / "study").rglob("*.md"))]
    documents = [path for path in documents if not path.is_relative_to(ROOT / "study" / "results")]
    faults = [fault for path in documents for fault in link_faults(path)]
    faults += [fault for path in documents for fault in list_faults(path)]
    faults += decision_faults()
    faults += menu_faults()
    faults += number_faults()
    faults += message_faults(DOCS / "troubleshooting.md")
    faults += [fault for path in [ROOT / "CONTRIBUTING.md", *howtos] for fault in path_faults(path)]
    words = len((DOCS / "results.md").read_text().split())
    if words > RESULTS_WORDS:
        faults.append(f"docs/results.md: {words} words, {RESULTS_WORDS} allowed")
    print("\n".join(faults + [f"{len(faults)} faults in documents"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
