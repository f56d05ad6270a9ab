# Spack's recipe: `spack repo add packaging/spack; spack install sluice`. It builds the commit that
# is checked out here.
from pathlib import Path

from spack.package import *


class Sluice(CMakePackage):
    """Collective MPI file I/O in the background, for unmodified programs."""

    git = f"file://{Path(__file__).resolve().parents[4]}"

    license("MIT")

    version("main", branch="main")

    variant("device", default=True, description="The emulated storage device, by FUSE")
    variant("fabric", default=True, description="Messages between nodes over libfabric")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("pkgconfig", type="build", when="+device")
    depends_on("mpi")
    depends_on("cli11")
    depends_on("libfuse@3:", when="+device")
    depends_on("libfabric", when="+fabric")

    conflicts("%gcc@:10")
    conflicts("%clang@:14")
    conflicts("platform=darwin")

    def cmake_args(self):
        return [
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_ZLIB", True),
            self.define_from_variant("SLUICE_DEVICE", "device"),
            self.define_from_variant("SLUICE_FABRIC", "fabric"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_command(self):
        Executable(self.prefix.bin.sluice)("info")
