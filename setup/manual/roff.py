"""Text as manual pages have it: the macros of man(7), and what of Markdown the documents use."""
import datetime
import os
import re
import textwrap

COLUMNS = 76


def escaped(text):
    """Plain text for roff."""
    return text.replace("\\", "\\e").replace("-", "\\-")


def inline(text):
    """A paragraph of Markdown as one of roff: code in bold, links without their targets."""
    link = r"\[((?:[^\]`]|`[^`]*`)*)\]\([^)]*\)"
    text = re.sub(rf" ?\({link}\)", "", text)  # "(why)" leads nowhere here.
    pieces = re.split(r"(`[^`]+`)", re.sub(link, r"\1", text))
    words = []
    for piece in pieces:
        if piece.startswith("`") and len(piece) > 2:
            words.append("\\fB" + escaped(piece[1:-1]).replace(" ", "\\~") + "\\fR")
        else:
            piece = re.sub(r"\*\*([^*]+)\*\*", "\1\\1\2", escaped(piece))
            piece = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", "\3\\1\2", piece)
            words.append(piece.replace("\1", "\\fB").replace("\3", "\\fI").replace("\2", "\\fR"))
    return "".join(words)


def lines_of(text):
    """Lines that no macro is taken from, short enough for who reads the source."""
    lines = textwrap.wrap(text, COLUMNS, break_long_words=False, break_on_hyphens=False)
    return ["\\&" + line if line[:1] in ".'" else line for line in lines]


class Page:
    """A manual page that grows from top to bottom."""
    def __init__(self, name, number, summary, version):
        stamp = os.environ.get("SOURCE_DATE_EPOCH")
        day = datetime.datetime.fromtimestamp(
            int(stamp), datetime.timezone.utc).date() if stamp else datetime.date.today()
        self.name, self.number, self.filled = name, number, True
        self.lines = [f'.TH "{name.upper()}" "{number}" "{day}" "sluice {version}" "Sluice"']
        self.section("NAME")
        self.lines += lines_of(f"{escaped(name)} \\- {inline(summary)}")
        self.filled = False

    def section(self, title):
        self.lines.append(f".SH {title}")
        self.filled = True

    def part(self, title):
        self.lines.append(f".SS {inline(title)}")
        self.filled = True

    def paragraph(self, text):
        """`text` is Markdown."""
        if not self.filled:
            self.lines.append(".PP")
        self.lines += lines_of(inline(text))
        self.filled = False

    def tagged(self, term, text):
        """A term, in bold, and what it means."""
        self.lines += [".TP", ".B " + escaped(term)] + lines_of(inline(text) or "\\&")
        self.filled = False

    def code(self, lines):
        self.lines += ([] if self.filled else [".PP"]) + [".in +4n", ".nf"]
        for line in lines:
            text = escaped(line.rstrip())
            self.lines.append("\\&" + text if text[:1] in (".", "'", "") else text)
        self.lines += [".fi", ".in"]
        self.filled = False

    def see_also(self, *names):
        self.section("SEE ALSO")
        words = [re.sub(r"(.*)\((\d)\)", r"\\fB\1\\fR(\2)", escaped(name)) for name in names]
        self.lines += lines_of(", ".join(words))

    def write(self, folder):
        target = folder / f"man{self.number}" / f"{self.name}.{self.number}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
