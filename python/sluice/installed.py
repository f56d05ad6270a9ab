"""What the commands that start programs need to know: which MPIs Sluice is installed for, and how a
program of its own is started with one of them."""
import dataclasses
import json
import os
import shutil
import subprocess
from pathlib import Path

import sluice.command

# Open MPI starts neither as root nor with more ranks than cores, unless told.
LAUNCH = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
          "OMPI_MCA_rmaps_base_oversubscribe": "1",
          "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


class Obstacle(Exception):
    """Why something cannot be tried here, and what can be done about it."""


@dataclasses.dataclass
class Mpi:
    """One of the MPIs that Sluice is installed for."""
    name: str  # empty in a build tree
    version: str
    mpiexec: Path
    program: Path

    def environment(self) -> dict[str, str]:
        """That of this process, for a job with this MPI."""
        environment = {**LAUNCH, **os.environ, "SLUICE_MPI": self.name}
        for variable in ("LD_PRELOAD", *([] if self.name else ["SLUICE_MPI"])):
            environment.pop(variable, None)
        return environment


def own_command() -> str:
    command = sluice.command.path()
    if not command:
        raise Obstacle("the command sluice is not beside this package, nor on PATH")
    return str(command)


def installed_mpis(command: str, program: str) -> list[Mpi]:
    """Those of which all is there, mpiexec and this program of Sluice's too."""
    done = subprocess.run([command, "info", "--json"], capture_output=True, text=True, check=True)
    mpis = json.loads(done.stdout)["mpis"]
    mpis = {"": mpis} if "library" in mpis else mpis
    found = [Mpi(name, facts["MPI"], Path(facts["mpiexec"]),
                 Path(facts["library"]).parents[1] / "libexec" / program)
             for name, facts in mpis.items()]
    usable = [mpi for mpi in found if mpi.mpiexec.is_file() and mpi.program.is_file()]
    if not usable:
        said = "; ".join(f"{mpi.name or 'MPI'}: {mpi.version}, mpiexec: {mpi.mpiexec}"
                         for mpi in found)
        raise Obstacle(f"no MPI with its mpiexec and Sluice's programs is found ({said})")
    return usable


def chosen_mpi(mpis: list[Mpi], wanted: str | None) -> Mpi:
    """The one that is asked for, else that of the mpiexec on PATH, else the first."""
    if wanted:
        for mpi in mpis:
            if mpi.name == wanted:
                return mpi
        names = ", ".join(mpi.name for mpi in mpis if mpi.name) or "only one, in a build tree"
        raise Obstacle(f"there is no MPI {wanted}; there are: {names}")
    on_path = shutil.which("mpiexec")
    same = [mpi for mpi in mpis if on_path and os.path.realpath(on_path) ==
            os.path.realpath(mpi.mpiexec)]
    return (same or mpis)[0]
