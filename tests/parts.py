"""The parts of `make test-all`: what has to be built for each, and what set up. Each takes at most
half an hour on two cores; which tests are in it stands in tests/tests.cmake."""
from dataclasses import dataclass, field

EACH = ("mpich", "openmpi")
ALL = ()  # Targets: all of the build.


@dataclass
class Part:
    builds: dict  # Variant -> targets.
    setup: list = field(default_factory=list)  # Names for setup/environment.
    installs: bool = False  # It is asked to install packages, as root.


def of_lint():
    return Part({"no-mpi": ("configured",), "mpich": ("configured",)}, ["mpich"])


def of_mpi(mpi, **other):
    return Part({mpi: ALL, **other}, [mpi, *other])


def all_parts():
    parts = {name: of_lint() for name in ("lint", "lint-deep-1", "lint-deep-2", "lint-deep-3")}
    for variant in ("no-mpi", "asan", "tsan"):
        parts[variant] = parts[f"{variant}-long"] = Part({variant: ALL})
    parts["mpich"] = of_mpi("mpich")
    parts["openmpi"] = of_mpi("openmpi", mpich=ALL)  # The installation is of both.
    for mpi in EACH:
        parts |= {f"{mpi}-long-{n}": of_mpi(mpi) for n in (1, 2, 3, 4)}
    for kind in ("random", "drawn", "soak", "runners", "outstanding", "kills", "failures", "nodes",
                 "old", "suites"):
        parts |= {f"{kind}-{mpi}": of_mpi(mpi) for mpi in EACH}
    parts["fuzz"] = Part({"fuzz": ("fuzz_programs",)}, ["fuzz"], installs=True)
    parts["abi"] = Part({"mpich": ("all", "abi_programs")}, ["mpich"])
    parts["intel"] = Part({"intel": ("all", "abi_programs"), "mpich": ("all", "abi_programs")},
                          ["intel", "mpich"], installs=True)
    for debian in ("debian-mpich", "debian-openmpi"):
        parts[debian] = parts[f"suites-{debian}"] = Part({debian: ALL}, [debian], installs=True)
    for mpi in EACH:
        parts |= {f"{mpi}-{sanitizer}": of_mpi(f"{mpi}-{sanitizer}")
                  for sanitizer in ("asan", "tsan")}
    parts["documents"] = Part({**dict.fromkeys((*EACH, "debian-mpich", "debian-openmpi"),
                                               ("demo_parts", "sluice-bench", "sluice-replay"))},
                              [*EACH, "debian-mpich", "debian-openmpi"], installs=True)
    parts["study"] = Part({**dict.fromkeys(("no-mpi", "asan", "tsan"), ("study",)),
                           **dict.fromkeys(EACH, ("sluice", "sluice_command", "study"))},
                          [*EACH])
    parts["study-long"] = Part(dict.fromkeys(("no-mpi", "asan", "tsan"), ("study",)))
    parts["swarm"] = Part({"no-mpi": ("swarm",)})
    parts["aarch64"] = Part({"aarch64": ALL}, ["aarch64"], installs=True)
    for n in (1, 2):
        parts[f"aarch64-mpich-{n}"] = Part({"aarch64-mpich": ALL}, ["mpich", "aarch64"],
                                           installs=True)
    parts["device"] = Part({"no-mpi": ALL, "mpich": ALL}, ["mpich"])
    parts["gluster"] = Part({"no-mpi": ALL, "asan": ALL, "mpich": ALL, "openmpi": ALL},
                            [*EACH, "gluster"], installs=True)
    for system in ("ceph", "nfs", "filesystems"):
        parts[system] = Part({"no-mpi": ("configured",), "asan": ("unit_system",),
                              **dict.fromkeys(EACH, ALL)}, [*EACH, system], installs=True)
    parts["slurm"] = Part({"no-mpi": ("configured",), **dict.fromkeys(EACH, ALL)},
                          [*EACH, "slurm"], installs=True)
    parts["containers"] = Part({"no-mpi": ("configured",), **dict.fromkeys(EACH, ALL)},
                               [*EACH, "containers"], installs=True)
    parts["models"] = Part({"no-mpi": ("configured",)}, ["models"], installs=True)
    parts["users"] = Part({"no-mpi": ("configured",), **dict.fromkeys(EACH, ALL)}, [*EACH])
    for way in ("wheel", "cmake", "deb", "others"):
        parts[f"packages-{way}"] = Part({"no-mpi": ALL}, [*EACH, "packages"], installs=True)
    return parts


PARTS = all_parts()
# Names for several of them.
GROUPS = {
    "mpis": ["abi", "intel", "debian-mpich", "debian-openmpi"],
    "sanitized": [f"{mpi}-{sanitizer}" for mpi in EACH for sanitizer in ("asan", "tsan")],
    "long": [name for name in PARTS if "-long" in name],
    "unit": ["no-mpi", "asan", "tsan"],
}
