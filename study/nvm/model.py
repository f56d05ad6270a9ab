"""Estimates beside what was measured (tables V and VI), and figure 11, from the study's lines."""
from dataclasses import dataclass

from paper import DEVICES

WAYS = ("collective", "individual")


@dataclass(frozen=True)
class Case:
    nodes: int
    ranks: int
    way: str
    device: str
    direction: str
    measured: float  # seconds: Sluice's collective calls, the MPI's individual ones
    calibrated: float | None  # by the paper's equations, with a profile's bandwidths
    equations: float | None  # the same, with bandwidths of IOR
    estimate: float | None  # by the library's model: Sluice's calls, with an exchange or without
    priced: float | None  # the operations that this is an estimate of

    def error_of_calibrated(self):
        return abs(self.calibrated / self.measured - 1) if self.calibrated else None

    def error_of_equations(self):
        return abs(self.equations / self.measured - 1) if self.equations else None

    def error_of_estimate(self):
        return abs(self.estimate / self.priced - 1) if self.estimate and self.priced else None


def cases(lines):
    """All that were measured: the settings with most ranks, those with more nodes first."""
    settings = [setting for setting in (lines.many(), lines.fewer()) if setting]
    found = []
    for setting in settings:
        for way in WAYS:
            for device in lines.devices(setting):
                for direction in ("write", "read"):
                    row = lines.app(setting, device, direction, way)
                    if row:
                        found.append(case_of(lines, setting, row, direction))
    return found


def case_of(lines, setting, row, direction):
    estimates = [lines.models.get((source, *setting, row["device"], direction), {}).get(row["way"])
                 for source in ("here", "ior")]
    way = "mpi-individual" if row["way"] == "individual" else row["way"]
    measured = lines.seconds(setting, row["device"], direction, way) or row["total"]["median"]
    return Case(*setting, row["way"], row["device"], direction, measured, *estimates, middle(row, "estimated"), middle(row, "priced"))


def middle(row, quantity):
    return row[quantity]["median"] if quantity in row else None


def errors(some, of):
    """(cases, mean, worst) of those that have one; None if none has."""
    values = [error for error in map(of, some) if error is not None]
    return (len(values), sum(values) / len(values), max(values)) if values else None


ESTIMATES = {"the equations, IOR's bandwidths": Case.error_of_equations,
             "the equations, calibrated bandwidths": Case.error_of_calibrated,
             "the library's model": Case.error_of_estimate}


@dataclass(frozen=True)
class Point:
    bytes: int
    cost: float  # seconds of the shuffle of one iteration
    benefit: float  # seconds, individual - collective


def points(row):
    return [Point(int(size), cost, benefit) for size, cost, benefit in
            zip(row["message_bytes"], row["cost"], row["benefit"])]


def paper_tradeoff(lines):
    """By device, with the paper's own parameters."""
    return {device: points(lines.paper[device]) for device in DEVICES if device in lines.paper}


def own_row(lines, device):
    """Of writes with most processes; with IOR's bandwidths, else calibrated ones."""
    rows = [lines.models.get((source, *(lines.many() or (0, 0)), device, "write"))
            for source in ("ior", "here")]
    return next(filter(None, rows), None)


def own_tradeoff(lines):
    """By device, with what was measured here."""
    rows = {device: own_row(lines, device) for device in DEVICES}
    return {device: points(row) for device, row in rows.items() if row}
