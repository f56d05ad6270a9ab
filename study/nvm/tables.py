"""Tables and sections of the page, in Markdown."""


def percent(value, digits=1):
    return "" if value is None else f"{100 * value:.{digits}f} %"


def table(header, rows):
    return "\n".join(["| " + " | ".join(header) + " |", "|---" * len(header) + "|"] +
                     ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def section(title, note, *tables):
    return f"\n## {title}\n\n{note}\n\n" + "\n".join(tables)
