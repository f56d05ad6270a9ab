"""Pages of section 7: hints and environment variables, out of docs/hints.md."""
import re

from roff import Page


def section_of(text, title):
    """What stands below a heading of the second level."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)[1]


def cells_of(row):
    return [cell.strip().replace("\\|", "|") for cell in
            re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def add_table(page, rows):
    """The first cell is the term. Of settings the second is the default."""
    titles = cells_of(rows[0])
    has_default = len(titles) > 1 and titles[1] == "default"
    for row in rows[2:]:
        cells = cells_of(row)
        term = cells[0].replace("`", "")
        if has_default:
            term += f" ({cells[1].replace('`', '')})"
        rest = cells[2 if has_default else 1:]
        text = rest[0]
        for title, cell in zip(titles[-len(rest) + 1:], rest[1:]):
            text += f". {title[:1].upper() + title[1:]}: {cell}"
        page.tagged(term, text + ("" if text.endswith(".") else "."))


def add_markdown(page, text):
    """Headings of the third level, paragraphs, tables, lists and blocks of code."""
    lines, block = text.splitlines(), []
    for line in [*lines, ""]:
        in_code = bool(block) and block[0].startswith("```")
        ends = line.startswith("```") if in_code else not line.strip() or line.startswith("#")
        block.append(line)
        if not ends or (in_code and len(block) == 1):
            continue
        heading = block.pop() if not in_code else None
        if in_code:
            page.code(block[1:-1])
        elif block and block[0].startswith("|"):
            add_table(page, block)
        elif block and re.match(r"[-*] ", block[0]):
            for item in re.split(r"^[-*] ", "\n".join(block), flags=re.MULTILINE)[1:]:
                page.paragraph("\u2022 " + " ".join(item.split()))
        elif block:
            page.paragraph(" ".join(block))
        block = []
        if heading and heading.startswith("#"):
            page.part(heading.lstrip("# "))


def pages(document, version):
    text = document.read_text(encoding="utf-8")
    for name, title, summary in (
            ("sluice-environment", "Environment", "environment variables that Sluice reads"),
            ("sluice-hints", "Hints", "hints of MPI files that Sluice knows")):
        page = Page(name, 7, summary, version)
        page.section("DESCRIPTION")
        page.paragraph("Defaults stand in parentheses. Numbers of bytes may end in `K`, `M` or "
                       "`G` (powers of 1024). What cannot be understood is ignored, with a "
                       "warning that names what there is.")
        add_markdown(page, section_of(text, title))
        page.see_also("sluice(1)", "sluice-run(1)", "sluice-info(1)",
                      "sluice-hints(7)" if title == "Environment" else "sluice-environment(7)")
        yield page
