"""What a finding is, and how its verdict and its figures are said."""
from dataclasses import dataclass

SAME = 0.10  # what two measurements of one thing may differ by on a machine with other work


@dataclass(frozen=True)
class Finding:
    what: str
    verdict: str
    paper: str
    ours: str
    why: str


def verdict(conditions):
    conditions = list(conditions)
    return "seen" if all(conditions) else "partly" if any(conditions) else "not seen"


def percents(values):
    return ", ".join(f"{name} {100 * value:.1f} %" for name, value in values.items())


def known(values):
    """The dictionary without what was not measured."""
    return {name: value for name, value in values.items() if value is not None}


def join(texts):
    return " ".join(text for text in texts if text)
