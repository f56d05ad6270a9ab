"""Table of the ways to divide the work among aggregators, from lines of `bench --mode domains --json`."""

NOTE = """`results/measure domains`, 4 ranks, in turn, medians: two-phase with each division of the file (*even*, *cyclic*, *balanced*),
dynamic segmentation (*groups*: one a node, or on a single node as many as aggregators; *groups:2*: two a node), independent
calls (*none*), the library's own choice (*auto*), and the MPI's own call. Devices are emulated
([device](../device.md)), without page cache; *memory* is tmpfs. With 2 nodes (network namespaces, 1 Gbit/s) the device belongs
to a third, which serves it over the same links; *memory* there is seen by both directly. The best of Sluice's own is bold."""
STRETCHES_NOTE = """`results/measure stretches`: 2 hosts of 2 ranks take turns in a file whose device a third host serves, so that a host has
stretches of this length. Medians of seven; the decision on process groups rests on them
([0018](../decisions/0018-process-groups.md))."""
ORDER = ("auto", "even", "cyclic", "balanced", "groups", "groups:2", "none", "the MPI's own")


def tables(rows, table, seconds, mpi_of):
    cells = {}
    for r in rows:
        what = (r.get("device", ""), r["nodes"], f"{r['pattern']} {r['direction']}",
                f"{r['bytes_per_rank'] / 2**20:.3g} MiB", mpi_of(r))
        cells.setdefault(what, {})[r["division"]] = r["total"]["median"]
    drawn = []
    for (device, nodes, *what), row in sorted(cells.items()):
        least = min(value for name, value in row.items() if name not in (ORDER[0], ORDER[-1]))
        drawn.append([device, str(nodes), *what, *(
            "" if name not in row else
            f"**{seconds(row[name])}**" if row[name] == least else seconds(row[name])
            for name in ORDER)])
    return table("File domains, process groups, and no exchange", NOTE,
                 ["device", "nodes", "what", "a rank", "MPI", *ORDER], drawn) if drawn else ""


def stretch_tables(rows, table, seconds):
    """Groups against an exchange, by the length of what a host wants in one place."""
    cells = {}
    for r in rows:
        length = r["piece"] * r["ranks"] // r["nodes"]
        what = (r["device"], r["link"], r["direction"], length)
        cells.setdefault(what, {})[r["division"]] = r["total"]["median"]
    return table("Stretches of a host: an exchange, process groups, and neither", STRETCHES_NOTE,
                 ["device", "link", "what", "a stretch", "even", "groups", "none", "even / groups"],
                 [[device, link, direction, f"{length >> 10} KiB", *(seconds(row[name]) for name in
                   ("even", "groups", "none")), f"{row['even'] / row['groups']:.2f}"]
                  for (device, link, direction, length), row in sorted(cells.items())])
