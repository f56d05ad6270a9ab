"""The command `sluice`, from Python: where it is, and `python -m sluice` for all that it does."""
import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

PACKAGE = Path(__file__).resolve().parent
# Of a wheel, and of `cmake --install` or a build tree, where this package is in a folder `python`.
PLACES = (PACKAGE / "bin" / "sluice", PACKAGE.parents[1] / "bin" / "sluice")


def path() -> Path | None:
    """The command that this package belongs to: the one that started this process, the one beside
    the package, or the first on PATH."""
    named = os.environ.get("SLUICE_COMMAND")
    places = ([Path(named)] if named else []) + list(PLACES)
    found = next((place for place in places if os.access(place, os.X_OK)), None)
    on_path = shutil.which("sluice")
    return found or (Path(on_path) if on_path else None)


def main() -> NoReturn:
    """Becomes the command, with the arguments of this process."""
    command = path()
    if not command:
        sys.exit("sluice: the command is not beside this package, nor on PATH")
    os.environ.setdefault("SLUICE_PYTHON", sys.executable)
    os.execv(command, ["sluice", *sys.argv[1:]])
