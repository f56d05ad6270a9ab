"""The recipes of Spack and EasyBuild, as far as they can be carried out here.

EasyBuild itself builds, with the system's compiler and MPI in place of its toolchain. Spack is in
no package registry: the command of CMake that its recipe makes is read out of it, without Spack.
"""
import ast
import os
import re
import sys

from common import (CMAKE, PROGRAMS, ROOT, call, copy_of_sources, expect_overlap, need,
                    version)
from debian import new_system, run_programs

RECIPE = ROOT / "packaging" / "spack" / "packages" / "sluice" / "package.py"
EASYCONFIGS = ROOT / "packaging" / "easybuild"
DEBIAN_NAMES = {  # What Spack's package is in Debian, whose image of compilers has it.
    "c": "gcc", "cxx": "g++", "cmake": "cmake", "python": "python3", "pkgconfig": "pkg-config",
    "mpi": "libmpich-dev", "cli11": "libcli11-dev", "libfuse": "libfuse3-dev",
    "libfabric": "libfabric-dev"}
MODULES = "/usr/share/modules/init/bash"  # It says where Environment Modules lie.
FRAMEWORK = ("easybuild-framework", "easybuild-easyblocks", "setuptools<81")


class Recipe:
    """What Spack's package.py says, as its syntax tree has it."""
    def __init__(self):
        tree = ast.parse(RECIPE.read_text())
        self.package = next(node for node in tree.body if isinstance(node, ast.ClassDef))
        assert [ast.unparse(base) for base in self.package.bases] == ["CMakePackage"]
        calls = [node.value for node in self.package.body
                 if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
        self.variants = {self.text(call): call for call in calls if call.func.id == "variant"}
        self.needed = {re.split("[@+~]", self.text(call))[0] for call in calls
                       if call.func.id == "depends_on"}

    @staticmethod
    def text(call):
        return ast.literal_eval(call.args[0])

    def definitions(self, mpicc, off=()):
        """The -D words of cmake_args(), with these variants off."""
        function = next(node for node in self.package.body
                        if isinstance(node, ast.FunctionDef) and node.name == "cmake_args")
        for call in function.body[-1].value.elts:
            name, value = self.text(call), call.args[1]
            kind, text = ast.unparse(call.func), ast.unparse(value)
            if kind == "self.define_from_variant":
                variant = ast.literal_eval(value)
                assert variant in self.variants, f"there is no variant {variant}"
                yield f"-D{name}={'OFF' if variant in off else 'ON'}"
            elif text == "self.spec['mpi'].mpicc":
                yield f"-D{name}={mpicc}"
            else:
                assert kind == "self.define", ast.unparse(call)
                yield f"-D{name}={ast.literal_eval(value)}"


def spack(folder):
    """The command that the recipe makes, in a new Debian with Debian's packages for Spack's: each
    definition means something to the build, a variant that is off is left out, and what is
    installed serves."""
    print("       Spack itself is skipped, because it is in neither PyPI nor Debian")
    recipe = Recipe()
    unknown = recipe.needed - set(DEBIAN_NAMES)
    assert not unknown, f"what is {unknown} in Debian?"
    system = new_system(folder, "compilers")
    system.run("dpkg", "-s", *(DEBIAN_NAMES[name] for name in sorted(recipe.needed)))
    copy_of_sources(system.folder / "source")
    configure = ("cmake", "-G", "Ninja", "-S", "/source", "-D", "CMAKE_UNITY_BUILD=ON",
                 "-D", "CMAKE_BUILD_TYPE=RelWithDebInfo", "-D", "CMAKE_INSTALL_PREFIX=/opt/spack")
    for off in (set(recipe.variants), set()):
        build = "/without" if off else "/build"
        said = system.run(*configure, "-B", build, *recipe.definitions("mpicc.mpich", off))
        assert "not used by the project" not in said, said
        targets = system.run("cmake", "--build", build, "--target", "help")
        assert ("sluice-device" in targets) == (not off), targets
        compiled = (system.folder / build.strip("/") / "build.ninja").read_text()
        assert ("SLUICE_HAVE_LIBFABRIC" in compiled) == (not off), f"variants off: {off}"
    system.run("cmake", "--build", "/build")
    system.run("cmake", "--install", "/build")
    run_programs(system, "mpich", CMAKE_PREFIX_PATH="/opt/spack",
                 PATH="/opt/spack/bin:/usr/bin:/bin")


def easybuild(folder):
    """EasyBuild reads, checks, builds and installs its recipe, which is the same but for the
    toolchain: what foss 2023b is made of would take a day to build."""
    need("mpicc.mpich", "modulecmd")
    tools = folder / "venv" / "bin"
    call(sys.executable, "-m", "venv", tools.parent)
    call(tools / "pip", "install", "-q", *FRAMEWORK)
    [given] = EASYCONFIGS.glob("*.eb")
    assert given.stem.startswith(f"Sluice-{version()}-"), f"{given.name}, but {version()}"
    text, count = re.subn(r"(?m)^toolchain = .*", "toolchain = SYSTEM", given.read_text())
    assert count == 1, text
    recipe = folder / f"Sluice-{version()}.eb"
    recipe.write_text(text.replace("MPI_C_COMPILER=mpicc", "MPI_C_COMPILER=mpicc.mpich"))
    sources = copy_of_sources(folder / f"sluice-{version()}")
    call("tar", "czf", folder / f"{sources.name}.tar.gz", "-C", folder, sources.name)
    eb = (tools / "eb", "--allow-use-as-root-and-accept-consequences", f"--prefix={folder}/eb",
          f"--sourcepath={folder}", f"--buildpath={folder}/build", f"--tmpdir={folder}",
          "--modules-tool=EnvironmentModules", "--module-syntax=Tcl")
    around = {"PATH": f"{tools}:{CMAKE.parent}:{os.environ['PATH']}",
              "MODULES_CMD": call("bash", "-c", f". {MODULES}; echo $MODULES_CMD").strip()}
    said = call(*eb, "--dry-run", "--filter-deps=CMake,pkgconf,Python", given, environment=around)
    assert f"Sluice/{version()}-foss-2023b" in said, said
    call(*eb, "--filter-deps=CMake,pkgconf,Python", recipe, environment=around)
    program = folder / "in_c"
    call("mpicc.mpich", "-o", program, PROGRAMS / "in_c.c")
    expect_overlap(call(
        "bash", "-c", f". {MODULES}; module use {folder}/eb/modules/all; module "
        f"load Sluice/{version()}; mpiexec.mpich -n 2 sluice run {program} {folder}/file",
        environment={"SLUICE_LOG": "2"}))


WAYS = (spack, easybuild)
