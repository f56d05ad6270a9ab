"""What all pictures have in common: one colour for one thing, whiskers, a line at zero, titles that
say whether something was measured or simulated. Colours are Okabe and Ito's and Paul Tol's, which
readers who see few colours tell apart; the MPIs are grey, Sluice is blue."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402: the backend comes first

CONTENDERS = {
    "mpi": "#666666",  # its nonblocking call, its collective call, its best hints
    "mpi-default": "#b3b3b3",  # as it comes, and its individual calls
    "mpi-thread": "#cc79a7",  # its blocking call in a thread of the program's
    "interposed": "#56b4e9",  # Sluice in the MPI's place; its individual calls
    "sluice": "#0072b2",
    "sluice-auto": "#003a5c",  # where the library decides
    "posix": "#a6761d",
    "limit": "#d55e00",  # of the machine
}
DEVICES = {"hdd": "#882255", "ssd": "#ddaa33", "nvm": "#117733"}
# Of the time of a call; none of them is a contender.
PARTS = {"metadata": "#332288", "data": "#88ccee", "computation": "#aa4499", "storage": "#999933",
         "both": "#44aa99"}
KERNELS = {"ascending": "#e69f00", "balanced": "#009e73"}
# Of the time of a run.
RUNS = {"computing": "#c8c8c8", "waiting": "#b5331e", "closing": "#ffb000"}
ESTIMATES = {"measured": "#000000", "equations": "#cc6677", "model": "#6699cc"}


def plain(axes, grid="y"):
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)


def whiskers(values, spread):
    """What matplotlib wants to have of (smallest, largest) for each value."""
    return [[max(0, value - low) for value, (low, _) in zip(values, spread)],
            [max(0, high - value) for value, (_, high) in zip(values, spread)]]


def draw_bars(axes, places, values, spread=None, **style):
    """Bars to both sides of zero, with whiskers from the smallest to the largest value."""
    if spread:
        style |= {"yerr": whiskers(values, spread),
                  "error_kw": {"elinewidth": 0.7, "capsize": 1.2, "capthick": 0.7,
                               "ecolor": "#222222"}}
    bars = axes.bar(places, values, **style)
    if not axes.get_yscale() == "log":
        axes.axhline(0, color="black", linewidth=0.8, zorder=3)
    return bars


def spread_of(quantity):
    return quantity["min"], quantity["max"]


def legend(figure, axes, columns):
    """Below the axes, where neither data nor the title is."""
    handles, labels = axes.get_legend_handles_labels()
    return figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8,
                         frameon=False)


def title(figure, text):
    """What, where, measured or simulated, and what the whiskers are."""
    return figure.suptitle(text, fontsize=9, x=0.01, ha="left")


def hosts_of(ranks, nodes, link="", cores=None):
    text = f"{ranks} ranks, one node" if nodes == 1 else \
        f"{nodes} nodes x {ranks // nodes} ranks" + (f", {link}" if link else "")
    return text + (f", {cores} cores" if cores else "")


def save(figure, path, dpi=100):
    figure.savefig(path, dpi=dpi)
    plt.close(figure)
    return path
