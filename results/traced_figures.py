"""What a trace costs, for docs/trace.md. See results/traced and figures.py."""

from data import lines, mpi_of, newest


def spread(found, scale, text):
    """The median, and the quartiles."""
    return tuple(text.format(scale * found[key]) for key in ("median", "low", "high"))


def figures():
    rows = newest(lines("traced"), "what", "mpi", "ranks")
    for (what, mpi, ranks), row in rows.items():
        name = f"trace_{what}_{mpi.split()[0].lower()}_{ranks}"
        if what == "call":
            median, low, high = spread(row["added"], 1e6, "{:.2f}")
            yield f"{name}_without", f"{1e6 * row['without']:.1f} us"
        else:
            median, low, high = spread(row["ratio"], 1, "{:.3f}")
            yield f"{name}_step", f"{1e3 * row['step']:.2f} ms"
            # Half of the steps are recorded.
            yield f"{name}_events", f"{2 * row['events'] / row['operations'] / ranks:.0f}"
        yield name, f"{median} ({low} to {high})"
    yield "trace_mpis", " and ".join(sorted({mpi for what, mpi, ranks in rows}))


def page(text, filled):
    """docs/trace.md with its last section, from results/traced.md."""
    head = "## What it costs\n"
    return text[:text.index(head)] + filled
