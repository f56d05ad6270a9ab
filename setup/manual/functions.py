"""Pages of section 3: what the public headers say of each function."""
import re

from roff import Page

FIELDS = ("Collective", "Blocks", "Lifetime", "Errors")


def text_of(comment):
    """A comment without its stars."""
    return re.sub(r"^\s*\*?\s*", "", comment.strip(), flags=re.MULTILINE).strip()


def documented(header):
    """(comment, what is declared below it) for each comment of documentation of functions."""
    text = re.sub(r"/\*(?!\*).*?\*/", "", header, flags=re.DOTALL)
    parts = re.split(r"^/\*\*(.*?)\*/", text, flags=re.DOTALL | re.MULTILINE)
    for comment, below in zip(parts[1::2], parts[2::2]):
        code = re.split(r"\n\s*(?:\n|#)", below.strip() + "\n\n")[0]
        if "typedef struct sluice_statistics" in below:
            code = below[:below.index("} sluice_statistics;")] + "} sluice_statistics;"
        elif "Functions:" in comment:
            code = re.split(r"^#", below, flags=re.MULTILINE)[0]
        yield text_of(comment), code.strip()


def names_in(code):
    if code.startswith("typedef struct sluice_statistics"):
        return ["sluice_statistics"]
    return re.findall(r"\b(sluice_\w+)\s*\(", code)


def split_fields(comment):
    """The description, and (field, text) of those that each function has."""
    pieces = re.split(rf"^({'|'.join(FIELDS)}):", comment, flags=re.MULTILINE)
    flat = [" ".join(piece.split()) for piece in pieces]
    return flat[0], list(zip(flat[1::2], flat[2::2]))


def marked(text):
    """Words of C in the way of code."""
    return re.sub(r"(?<!`)\b((?:sluice|SLUICE|MPI)_\w+(?:\(\))?)(?!\w|`)", r"`\1`", text)


def page_of(comment, code, names, version, header):
    description, fields = split_fields(comment)
    description = re.sub(r"Functions:[^.]*\.", "", description).strip()
    summary = re.split(r"[.;:](?:\s|$)", description)[0].replace("`", "")
    page = Page(names[0], 3, summary[:1].lower() + summary[1:], version)
    page.section("SYNOPSIS")
    page.code([f"#include <sluice/{header}>", "", *code.splitlines()])
    page.section("DESCRIPTION")
    page.paragraph(marked(description))
    for field, text in fields:
        page.tagged(field, marked(text))
    if fields:
        page.section('"RETURN VALUE"')
        page.paragraph("An error class of MPI, `MPI_SUCCESS` when all is well, of those that "
                       "return an int; see Errors above.")
    page.section("NOTES")
    page.paragraph("Link with `-lsluice` before the MPI, as `pkg-config --libs sluice-mpich` (or "
                   "the name of another MPI) says, or preload the library: `sluice run`.")
    page.see_also("sluice(1)", "sluice-hints(7)")
    return page


def pages(folder, version):
    """(page, the other names that lead to it)"""
    for header in sorted(folder.glob("*.h")):
        for comment, code in documented(header.read_text(encoding="utf-8")):
            names = names_in(code)
            if names:
                yield page_of(comment, code, names, version, header.name), names[1:]
