"""Recovers what killed ranks left in a folder of journals, by `sluice recover`, which is killed as
well, and run again."""
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("mpi", ".")]
from small_programs import BUILD, compiled

HERE = Path(__file__).resolve().parent
MOMENTS = ("before", "middle", "after")


@dataclass(frozen=True)
class Kill:
    rank: int
    action: int
    moment: str
    keeper_action: int = 0  # At which each keeper is ended, too.


def recover(mpi, folder, *options, kill=None):
    """The result of `sluice recover`, perhaps ended at one of its own actions."""
    env = dict(os.environ)
    env.pop("SLUICE_WRITE_BEHIND", None)
    if kill:
        (folder / "recovery").touch()
        env.update(LD_PRELOAD=str(compiled(mpi, HERE / "kill_at.c", shared=True)), PMI_RANK="0",
                   SLUICE_TEST_FILE=str(folder / "data" / "file"),
                   SLUICE_TEST_NOTES=str(folder / "recovery"), SLUICE_TEST_KILL_RANK="0",
                   SLUICE_TEST_KILL_ACTION=str(kill.action), SLUICE_TEST_KILL_MOMENT=kill.moment)
    words = [str(BUILD / mpi / "bin" / "sluice"), "recover", *options,
             *named(folder / "data" / "file"), str(folder / "journals")]
    return subprocess.run(words, env=env, capture_output=True, text=True, timeout=60, check=False)


def named(file):
    """What a user has to add where the file system knows no time of birth."""
    born = subprocess.run(["stat", "-c", "%W", file], capture_output=True, text=True, check=False)
    return ["--into", str(file)] if born.stdout.strip() == "0" else []


def recovery_faults(mpi, scenario, folder, kill, turn):
    """Recovers, and says what went wrong; the bytes are looked at afterwards."""
    journals, file = folder / "journals", folder / "data" / "file"
    if scenario.journals == "kept" and not (kill and kill.keeper_action) and os.listdir(journals):
        yield f"keepers left {sorted(os.listdir(journals))}"
    if not kill and os.listdir(journals):
        yield f"ranks that ended well left {sorted(os.listdir(journals))}"
    listed = recover(mpi, folder, "--dry-run")
    if turn % 2:
        ended = Kill(0, 1 + turn // 2 % 5, MOMENTS[turn // 2 % 3])
        code = recover(mpi, folder, kill=ended).returncode
        if code == 1:
            yield "a recovery that is to be ended fails"
        if code == 0 and ended.action == 1 and re.search(r": [1-9]\d* writes", listed.stdout):
            yield "a recovery was to be ended at its first action, and was not"
    first = recover(mpi, folder)
    after = file.read_bytes()
    second = recover(mpi, folder)
    for result in (listed, first, second):
        if result.returncode != 0:
            yield f"sluice recover: code {result.returncode}: {result.stdout}{result.stderr}"
    if file.read_bytes() != after:
        yield "a second recovery changes the file"
    if os.listdir(journals):
        yield f"left by the recovery: {sorted(os.listdir(journals))}"
