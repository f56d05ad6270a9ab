#!/usr/bin/env python3
"""Compares classes.txt, which lists the functions of MPI that must be intercepted, with the header
of an MPI and with what the library defines for it.

A function that must be intercepted and is not, in C or under the name that a Fortran program calls
(decision 0008), is a fault; so is one that is in two classes, and one of files or of requests, as a
newer MPI may have it, that is in none. Exit code 1 if there is one.
"""
import re
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "mpi")]
import run as runner

CLASSES = Path(__file__).resolve().parent / "classes.txt"
LISTED = ("File_", "Wait", "Test", "Request_")  # Of these each function is in a class.
FUNCTION = re.compile(r"^\s*(?:OMPI_DECLSPEC\s+)?(?:int|double|MPI_\w+)\s+MPI_([A-Z][a-z]\w*)\s*"
                      r"\(([^;{]*)\)", re.M)
# Fortran has these as addresses: no buffer that stands for memory of any type.
ADDRESSES = "baseptr|buffer_addr|address"


def read_classes(text):
    """Class -> names, in the order of the file."""
    classes, names = {}, None
    for line in text.splitlines():
        if line.startswith("["):
            names = classes.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            names += line.split()
    return classes


def functions_of(mpi):
    """Name -> parameters, as the header of the MPI has them."""
    folder = runner.BUILD / "env" / mpi / "include"
    texts = [(folder / name).read_text(errors="replace") for name in ("mpi.h", "mpi_proto.h")
             if (folder / name).exists()]
    return {name: parameters for text in texts for name, parameters in FUNCTION.findall(text)}


def defined_by_library(mpi):
    library = runner.BUILD / mpi / "lib" / "libsluice.so"
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                            capture_output=True).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines()}


def without_count(name):
    return name.removesuffix("_c")


def fortran_name(mpi, name, parameters):
    """None where Fortran's name leads to C's."""
    if name.endswith("_c"):
        return None
    if mpi == "openmpi":
        return f"mpi_{name.lower()}_"
    has_buffer = re.search(rf"void \*(?!{ADDRESSES})", parameters)
    return None if has_buffer else f"mpi_{name.lower()}_f08_"


def faults_of_table(classes):
    only_c = classes.pop("C alone", [])
    listed = [name for names in classes.values() for name in names]
    twice = {name for name in listed if listed.count(name) > 1}
    yield from (f"MPI_{name} is in more than one class" for name in sorted(twice))
    yield from (f"MPI_{name} is in no class" for name in only_c if name not in listed)


def faults_of(mpi, classes, only_c):
    functions, defined = functions_of(mpi), defined_by_library(mpi)
    if len(functions) < 300:
        yield f"only {len(functions)} functions found in the header"
    class_of = {name: kind for kind, names in classes.items() for name in names}
    for name, parameters in sorted(functions.items()):
        kind = class_of.get(without_count(name))
        if kind is None and name.startswith(LISTED):
            yield f"MPI_{name} is in no class of {CLASSES.name}: must it be intercepted?"
        if kind in (None, "left"):
            continue
        fortran = fortran_name(mpi, name, parameters)
        if f"MPI_{name}" not in defined:
            yield f"MPI_{name} is of class {kind}, but the library does not define it"
        if fortran and name not in only_c and fortran not in defined:
            yield f"{fortran}: MPI_{name} is of class {kind}, and Fortran's name passes it by"


def main():
    args = runner.parse_for_cases(__doc__)
    classes = read_classes(CLASSES.read_text(encoding="utf-8"))
    only_c = classes.get("C alone", [])
    faults = list(faults_of_table(classes))
    for mpi in args.mpi.split(","):
        faults += [f"{mpi}: {fault}" for fault in faults_of(mpi, classes, only_c)]
    print("\n".join(faults) if faults else "every function has a class")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
