"""Command lines of the commands that are written in Python: a misspelt option is answered with the
one that may have been meant."""
import argparse
import difflib
import sys
from collections.abc import Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """An argparse parser whose errors name the option that there is not, and the nearest one."""

    def parse_known_args(self, args: Sequence[str] | None = None,  # type: ignore[override]
                         namespace: Any = None) -> Any:
        self._given = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        known = [name for action in self._actions for name in action.option_strings]
        for word in getattr(self, "_given", []):
            name = word.partition("=")[0]
            if name.startswith("--") and not any(one.startswith(name) for one in known):
                meant = difflib.get_close_matches(name, known, 1)
                message = f"there is no option '{name}'" + (
                    f"; did you mean {meant[0]}?" if meant else "")
                break
        super().error(message)
