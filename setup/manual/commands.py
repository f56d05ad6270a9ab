"""Pages of section 1: what the command says of itself, by `sluice help` and `--help`."""
import re
import subprocess

from roff import Page


class Commands:
    """What the command, and the table of those that are written in Python, say."""
    def __init__(self, command, table):
        self.command = command
        self.python = {}
        for line in table.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                name, arguments, meaning = (word.strip() for word in line.split("|"))
                self.python[name] = (f"{name} {arguments}", meaning)

    def said(self, *words):
        """What is printed; nothing where that part was not built."""
        done = subprocess.run([self.command, *words], capture_output=True, text=True,
                              timeout=60, check=False)
        return done.stdout if done.returncode == 0 else ""

    def names(self):
        return re.findall(r"^  sluice ([a-z-]+)", self.said("help"), re.MULTILINE)

    def usage_and_meaning(self, name):
        if name in self.python:
            return self.python[name]
        usage, meaning = self.said("help", name).split("\n\n", 1)
        return one_line(usage).removeprefix("usage: sluice "), one_line(meaning)


def one_line(text):
    """A terminal's lines are no matter of the page."""
    return " ".join(text.split())


def as_sentence(clause):
    clause = clause.strip().rstrip(".")
    is_name = clause.startswith(("-", "bench "))
    return (clause if is_name else clause[:1].upper() + clause[1:]) + "."


def summary_of(meaning):
    """Its first clause, without what is in parentheses: for the line that apropos finds."""
    return re.split(r"[;:.](?:\s|$)", re.sub(r"\s*\([^)]*\)", "", meaning))[0]


def described(term, text):
    """An option as CLI11 lists it, with its type in a word and its choices in the text."""
    choices = re.search(r"\{(.*?)\}", term)
    found = re.match(r"(.*?) (UINT|INT|FLOAT|TEXT)\b", term)
    if found:
        term = f"{found[1]} {'WORD' if found[2] == 'TEXT' else 'NUMBER'}"
    if choices and not all(word in text for word in choices[1].split(",")):
        text += f". One of {choices[1].replace(',', ', ')}"
    return term, text.replace("`", "'")


class HelpReader:
    """Takes a help text line by line, and adds to a page what it lists and what it says between."""
    OPTION = (r" {1,4}(-\S+ (?:UINT|INT|FLOAT|TEXT):[A-Z]+) (?!\[|in \[|\.\.\.)(\S.*)$",
              r" {1,4}(-\S.*?)(?: {2,}(\S.*))?$")

    def __init__(self, page):
        self.page, self.kind, self.held, self.in_positionals = page, "", [], False

    def end(self):
        """Of what it holds: an option, lines of an example, or a paragraph."""
        if self.kind == "option":
            self.page.tagged(*described(self.held[0], " ".join(self.held[1:])))
        elif self.kind == "example":
            self.page.code(self.held)
        elif self.kind:
            self.page.paragraph(" ".join(self.held).replace("`", "'"))
        self.kind, self.held = "", []

    def hold(self, kind, *words):
        if kind == "option" or kind != self.kind:
            self.end()
        self.kind = kind
        self.held += [word for word in words if word]

    def take(self, line):
        option = next(filter(None, (re.match(pattern, line) for pattern in self.OPTION)), None)
        if self.in_positionals and not option:
            option = re.match(r" {2}(\S+ TEXT\S*)(?: {2,}(\S.*))?$", line)
        if option:
            self.hold("option", option[1], option[2])
        elif self.kind == "option" and re.match(r" {5,}\S", line):
            self.held.append(line.strip())
        elif re.match(r"\s+\S", line):
            self.hold("example", line)
        elif re.match(r"(?i)(usage|options|positionals):?", line) or not line.strip():
            self.end()
            self.in_positionals = line.startswith("Positionals") or (
                self.in_positionals and not line.strip())
        else:
            self.hold("paragraph", line.strip())


def add_help(page, text):
    reader = HelpReader(page)
    for line in text.splitlines():
        reader.take(line)
    reader.end()


def add_meaning(page, meaning):
    """What the table of commands says: sentences, and options that it explains."""
    clauses = [clause for clause in re.split(r"; |(?<=\.) ", meaning)
               if not clause.startswith("see sluice")]
    options = [re.match(r"(--[\w-]+): (.*)", clause) for clause in clauses]
    page.paragraph(" ".join(as_sentence(clause) for clause, option in zip(clauses, options)
                            if not option))
    return [option for option in options if option]


def page_of(commands, name, version):
    usage, meaning = commands.usage_and_meaning(name)
    page = Page(f"sluice-{name}", 1, summary_of(meaning), version)
    page.section("SYNOPSIS")
    page.lines.append(f".B sluice {usage}".replace("-", "\\-"))
    page.section("DESCRIPTION")
    explained = add_meaning(page, meaning)
    if name in ("bench", "calibrate"):
        page.paragraph(f"mpiexec starts it, once for each rank: `mpiexec -n 4 sluice {name}`.")
    own = commands.said(name, "--help")
    has_own_help = bool(own) and not own.endswith(meaning + "\n")
    if explained or has_own_help:
        page.section("OPTIONS")
    for option in explained:
        page.tagged(option[1], as_sentence(option[2]))
    if has_own_help:
        add_help(page, own)
    page.section('"EXIT STATUS"')
    page.paragraph("0 if all went well, 1 if the work failed, 2 for a command line that is not "
                   "understood." + (" Where the program was started: its own." * (name == "run")))
    page.see_also("sluice(1)", "sluice-environment(7)", "sluice-hints(7)")
    return page


def overview(commands, version):
    page = Page("sluice", 1, "collective MPI file I/O in the background", version)
    page.section("SYNOPSIS")
    page.lines += [".B mpiexec \\-n 4 sluice run ./program", ".br",
                   ".B sluice \\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]"]
    page.section("DESCRIPTION")
    page.paragraph("Sluice is a preloaded library that serves MPI's file I/O, with no change to "
                   "the program: nonblocking collective reads and writes move their bytes while "
                   "the program computes and calls no MPI. The command runs programs under it, "
                   "and tells, measures and explains.")
    page.section("COMMANDS")
    for name in commands.names():
        usage, meaning = commands.usage_and_meaning(name)
        page.tagged(f"sluice {usage}", as_sentence(summary_of(meaning)) +
                    f" See `sluice-{name}`(1).")
    page.tagged("sluice help [COMMAND]", "What commands there are; what one of them does.")
    page.tagged("sluice --version", "The version.")
    page.section("EXAMPLES")
    page.paragraph("What it does, on an emulated slow device:")
    page.code(["sluice try"])
    page.paragraph("A program of one's own, with a summary of each file at the end:")
    page.code(["SLUICE_LOG=2 mpiexec -n 4 sluice run ./program"])
    page.see_also(*(f"sluice-{name}(1)" for name in commands.names()), "sluice-environment(7)",
                  "sluice-hints(7)", "sluice_file_statistics(3)")
    return page


def pages(commands, version):
    yield overview(commands, version)
    for name in commands.names():
        yield page_of(commands, name, version)
