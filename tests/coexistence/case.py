"""A case of run.py, and patterns of what must be printed."""
from dataclasses import dataclass, field

BY_SLUICE, BY_MPI = "served by sluice", "served by the MPI"


@dataclass
class Case:
    """`preload` is what LD_PRELOAD holds, in order; "run" in it stands for `sluice run`, which
    puts Sluice first. {path}, {program}, {mpiexec} and {sluice}, the command, are replaced in
    `words`, {path} in `settings` as well."""
    name: str
    program: str
    expected: list
    words: str = "{program} {path} {path}"
    preload: tuple = ("run",)
    settings: dict = field(default_factory=dict)
    ranks: int = 3
    fails: bool | None = False  # None: whether it does depends on who ends first
    defines: tuple = ()  # further options of the compiler
    called: str = ""  # the program that they make; nothing: after program and options


def once(said):
    """A pattern of outputs in which this is said once, whatever the number of ranks."""
    return rf"(?s)\A(?!(?:.*{said}){{2}}).*{said}"


def exactly(times, line, mark):
    """A pattern of outputs with just so many lines that have `mark` in them, all like `line`."""
    other = rf"(?:(?![^\n]*{mark})[^\n]*\n)*"
    return rf"(?m)\A{other}(?:^sluice: {line}$\n{other}){{{times}}}\Z"
