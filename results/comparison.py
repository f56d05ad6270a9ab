"""Reads results/compare.jsonl: one comparison by each MPI, and what Sluice reaches on either against
the best of both MPIs. Used by results/compare, results/table and results/picture."""
import json
import math
import pathlib

from data import path_of

PATTERNS = ("contiguous", "strided", "block3d", "btio", "irregular", "e3sm", "flash")
SCATTERED = {2: ("strided", "irregular", "e3sm"),
             4: ("strided", "block3d", "btio", "irregular", "e3sm")}
PLAIN = ("contiguous", "flash")
DIRECTIONS = ("write", "read")
MPIS = ("MPICH", "Open MPI")


def mpi_of(line):
    return "MPICH" if line["mpi_library"].startswith("MPICH") else \
        line["mpi_library"].split(" v")[0]


class Comparison:
    """The newest line for each of (ranks, MPI, pattern, direction, contender), of the most bytes
    that were measured: sizes are never mixed."""

    def __init__(self, path=None):
        path = pathlib.Path(path or path_of("compare"))
        lines = [json.loads(text) for text in
                 (path.read_text().splitlines() if path.exists() else ())]
        lines = [line for line in lines if line["mode"] == "compare"]
        most = {}
        for line in lines:
            key = line["ranks"], line["pattern"]
            most[key] = max(most.get(key, 0), line["bytes_per_rank"])
        self.lines = {(line["ranks"], mpi_of(line), line["pattern"], line["direction"],
                       line["contender"]): line for line in lines
                      if line["bytes_per_rank"] == most[line["ranks"], line["pattern"]]}

    def get(self, ranks, mpi, pattern, direction, contender):
        return self.lines.get((ranks, mpi, pattern, direction, contender))

    def median(self, *key, quantity="repeated"):
        line = self.get(*key)
        return line[quantity]["median"] if line else None

    def best(self, ranks, pattern, direction, contenders, quantity):
        """The shortest time of any MPI by one of these contenders, and whose it is."""
        times = [(self.median(ranks, mpi, pattern, direction, contender, quantity=quantity), mpi,
                  contender) for mpi in MPIS for contender in contenders]
        return min((time for time in times if time[0]), default=None)

    def ratio(self, ranks, mpi, pattern, direction, contenders, quantity):
        """Best of the MPIs / Sluice under this MPI."""
        ours = self.median(ranks, mpi, pattern, direction, "sluice", quantity=quantity)
        best = self.best(ranks, pattern, direction, contenders, quantity)
        return best[0] / ours if ours and best else None

    def share(self, ranks, mpi, pattern, direction):
        """The limit's time / Sluice's, in the same run."""
        ours = self.median(ranks, mpi, pattern, direction, "sluice")
        limit = self.median(ranks, mpi, pattern, direction, "limit")
        return limit / ours if ours and limit else None

    def mpis(self, ranks):
        return [mpi for mpi in MPIS if any(key[:2] == (ranks, mpi) for key in self.lines)]


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


def named(comparison_value, patterns):
    """{(pattern, direction): value} of those that were measured."""
    values = {(pattern, direction): comparison_value(pattern, direction)
              for pattern in patterns for direction in DIRECTIONS}
    return {key: value for key, value in values.items() if value}


def least(values):
    return min(((value, " ".join(key)) for key, value in values.items()), default=None)


DEFAULT, HINTS = ("default",), ("default", "best hints")


def rows(data, ranks, mpi):
    """What is compared, and its value as text."""
    def ratios(patterns, contenders, quantity):
        return named(lambda pattern, direction: data.ratio(ranks, mpi, pattern, direction,
                                                             contenders, quantity), patterns)

    def mean(what, patterns, contenders, quantity):
        values = ratios(patterns, contenders, quantity)
        count = f"{len(values)} of {2 * len(patterns)}"
        value = geometric_mean(list(values.values()))
        return f"{what} ({count})", f"{value:.2f}" if value else "-"

    def worst(what, values, scale=1, unit=""):
        value = least(values)
        if value is None:
            return what, "-"
        return what, f"{scale * value[0]:.{0 if unit else 2}f}{unit} ({value[1]})"

    scattered = SCATTERED[ranks]
    yield mean("repeated, against default hints", scattered, DEFAULT, "repeated")
    yield mean("repeated, against best hints", scattered, HINTS, "repeated")
    yield mean("first call, against default hints", scattered, DEFAULT, "first_call")
    yield mean("open, view and first call", scattered, DEFAULT, "first")
    yield worst("least scattered pattern", ratios(scattered, DEFAULT, "repeated"))
    yield worst("contiguous and flash", ratios(PLAIN, DEFAULT, "repeated"))
    shares = named(lambda pattern, direction: data.share(ranks, mpi, pattern, direction),
                     PATTERNS)
    yield worst("share of the limit", shares, 100, " %")
