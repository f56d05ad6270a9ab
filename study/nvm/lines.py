"""What the study's lines say, by subject. Used by the report and the pictures."""
import json
from pathlib import Path

from paper import DEVICES, MIB

WAYS = ("posix", "mpi-individual", "individual", "mpi-collective", "collective", "auto")
STEPS = ("write", "read")
ITERATION = 16 * MIB  # of the paper's collective calls
TRANSFER = MIB  # of the other parts
SLOW_DISK = "hdd-one-stream"


class Lines:
    """The newest line of each figure."""

    def __init__(self, rows):
        self.rows = rows
        self.cached, self.apps, self.models, self.paper = {}, {}, {}, {}
        self.passed, self.sized, self.iterated, self.alone_cached = {}, {}, {}, {}
        for row in rows:
            if row["mode"] == "model" and row["source"] == "paper":
                self.paper[row["device"]] = row
            elif row["mode"] == "model":
                self.models[row["source"], row["nodes"], row["ranks"], row["device"],
                            row["direction"]] = row
            elif "cache" in row:
                self.take_cached(row, (row["application"], row["step"], row["device"],
                                       int(row["cache"])))
            else:
                self.take_ior(row)

    def take_cached(self, row, key):
        if row["ranks"] == 1:
            self.alone_cached[key] = row
        elif row["way"] == "mpi-individual":
            self.cached[key] = row
        else:
            self.passed[*key, row["way"], "synced" in row] = row

    def take_ior(self, row):
        """The key of a line says which part of the study it is of."""
        if row["nodes"] == 1:
            self.sized[row["device"], row["step"], row["way"], row["transfer_bytes"]] = row
        if row["transfer_bytes"] == ITERATION:
            self.iterated[row["device"], row["step"], row["way"]] = row
        elif row["transfer_bytes"] == TRANSFER:
            self.apps[row["nodes"], row["ranks"], row["device"], row["step"], row["way"]] = row

    def with_nvm(self, device):
        """The same with what one emulation of NVM measured in the place of the first one's."""
        return Lines([row | {"device": "nvm"} if row.get("device") == device else row
                      for row in self.rows
                      if device == "nvm" or row.get("device") != "nvm"])

    # Page cache.

    def caches(self, application, step):
        return sorted({key[3] for key in self.cached if key[:2] == (application, step)})

    def cached_rate(self, application, step, device, cache):
        row = self.cached.get((application, step, device, cache))
        return rate(row) if row else None

    def loss(self, application, step, device, large, small):
        """How much less bandwidth the small cache has; None if one was not measured."""
        rates = [self.cached_rate(application, step, device, cache) for cache in (large, small)]
        return 1 - rates[1] / rates[0] if all(rates) else None

    def loss_of_one(self, device, large, small):
        """The same of HACC-IO with one process."""
        rows = [self.alone_cached.get(("hacc", "write", device, cache)) for cache in (large, small)]
        return 1 - rate(rows[1]) / rate(rows[0]) if all(rows) else None

    def direct_gain(self, application, step, device, cache, synced):
        """Bandwidth past the page cache over that through it; None if one was not measured."""
        rows = [self.passed.get((application, step, device, cache, way, synced))
                for way in ("direct", "individual")]
        return rate(rows[0]) / rate(rows[1]) if all(rows) else None

    # IOR.

    def gain_by_turn(self, device, step, transfer):
        """How much faster POSIX was than the MPI's individual calls, turn by turn, on one node."""
        rows = [self.sized.get((device, step, way, transfer)) for way in ("mpi-individual", "posix")]
        return [mpi / posix - 1 for mpi, posix in
                zip(*(row["total_samples"] for row in rows))] if all(rows) else []

    def measured(self):
        """All (nodes, ranks) of more than one node."""
        return sorted({key[:2] for key in self.apps if key[0] > 1})

    def many(self):
        """The setting of 16 processes on 4 nodes, or what stands for it; None without one."""
        return max(self.measured(), default=None)

    def alone(self):
        """As many nodes, one process each."""
        nodes, ranks = self.many() or (0, 0)
        return (nodes, nodes) if nodes != ranks and (nodes, nodes) in self.measured() else None

    def fewer(self):
        """As many processes on fewer nodes."""
        nodes, ranks = self.many() or (0, 0)
        return next((one for one in self.measured() if one[0] < nodes and one[1] == ranks), None)

    def by_processes(self):
        """Figures 9 and 10: one process a node, then several."""
        return [one for one in (self.alone(), self.many()) if one]

    def app(self, setting, device, step, way):
        return self.apps.get((*setting, device, step, way))

    def seconds(self, setting, device, step, way):
        row = self.app(setting, device, step, way)
        return row["total"]["median"] if row else None

    def ratio(self, setting, device, step, way, other):
        """Time of `way` over that of `other`; None if one was not measured."""
        times = [self.seconds(setting, device, step, one) for one in (way, other)]
        return times[0] / times[1] if all(times) else None

    def devices(self, setting):
        return [device for device in DEVICES if any(key[:3] == (*setting, device) for key in self.apps)]


def rate(row):
    """MB/s of all ranks."""
    return row["bytes"] / row["total"]["median"] / 1e6


def rates(row):
    """(smallest, largest) MB/s."""
    return tuple(row["bytes"] / row["total"][end] / 1e6 for end in ("max", "min"))


def read(path):
    path = Path(path)
    rows = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    for row in rows:
        if row.get("way") == "bypass":  # What older lines call direct I/O.
            row["way"] = "direct"
    return Lines([row for row in rows if row["mode"] in ("app", "model")])
