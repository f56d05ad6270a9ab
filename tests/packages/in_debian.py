"""Ways of installing into a new Debian: CMake, its packages, an rpm, and the recipes of containers.

Each ends with programs in C, C++, Fortran and Python that are built there and served, and with
nothing of Sluice left.
"""
import shutil

import recipes
from common import BUILD, CMAKE, ROOT, call, copy_of_sources, expect_overlap, need, version
from debian import COMPILERS, MPIS, PROJECT, PYTHON, RANKS, new_system, run_programs
from shells import completion, environment_modules, lmod, manual

DEB_LIBRARIES, RPM_LIBRARIES = "lib/x86_64-linux-gnu", "lib64"


def cmake(folder):
    """The commands of the documents in a new Debian: into a prefix of Sluice's own, into one that
    others use, and by DESTDIR. Each is uninstalled."""
    system = new_system(folder, "compilers")
    copy_of_sources(system.folder / "source")
    before = system.files()
    system.run("cmake -G Ninja -S /source -B /build -D MPI_C_COMPILER=mpicc.openmpi "
               "-D CMAKE_UNITY_BUILD=ON && cmake --build /build && "
               "cmake --install /build --prefix /opt/sluice")
    run_programs(system, "openmpi", CMAKE_PREFIX_PATH="/opt/sluice",
                 PATH="/opt/sluice/bin:/usr/bin:/bin")
    uninstall = "cmake --build /build --target uninstall"
    system.run(uninstall)
    assert not (system.folder / "opt" / "sluice").exists(), "left behind: /opt/sluice"
    system.run("cmake --install /build")
    assert "openmpi: MPI" in system.run("sluice", "info")
    system.run(uninstall)
    system.expect_as_before(before)
    staged = system.folder / "staged"
    system.run("cmake --install /build", DESTDIR="/staged")
    assert (staged / "usr" / "local" / "bin" / "sluice").is_symlink(), list(staged.rglob("*"))
    system.expect_as_before(before)
    system.run(uninstall, DESTDIR="/staged")
    left = [path for path in staged.rglob("*") if not path.is_dir()]
    assert not left, f"left behind: {left}"


def packages(folder, kind, libraries, mpis):
    """Those of CPack for Debian's MPIs, which `make setup MPI=debian-mpich` installs."""
    need(*(f"mpicc.{mpi}" for mpi in mpis))
    target = folder / "packages"
    for mpi in mpis:
        build = BUILD / f"package-{mpi}"
        call(CMAKE, "--preset", "system", "-S", ROOT, "-B", build,
             "-D", f"MPI_C_COMPILER=mpicc.{mpi}", "-D", "SLUICE_TESTS=OFF",
             "-D", f"CMAKE_INSTALL_LIBDIR={libraries}", "-D", "CMAKE_INSTALL_PREFIX=/usr")
        call(CMAKE, "--build", build)
        call(CMAKE.parent / "cpack", "--config", build / "CPackConfig.cmake", "-G", kind,
             "-B", target)
    found = sorted(target.glob(f"*.{kind.lower()}"))
    assert len(found) == 1 + len(mpis), found
    return found


def deb(folder):
    """Packages for both of Debian's MPIs in one Debian, which fetches what they depend on."""
    need("dpkg-shlibdeps", "fakeroot")
    system = new_system(folder)
    found = packages(folder, "DEB", DEB_LIBRARIES, MPIS)
    before = system.files()
    for path in found:
        shutil.copy(path, system.folder / "tmp")
    system.install(*(f"/tmp/{path.name}" for path in found), "mpich", "openmpi-bin")
    said = system.run("sluice", "info")
    for mpi in MPIS:
        assert f"{mpi}: MPI" in said and f"/usr/bin/mpiexec.{mpi}\n" in said, said
    system.install(*COMPILERS, *PYTHON, *(libraries for _, libraries in MPIS.values()))
    for mpi in MPIS:
        run_programs(system, mpi)
    for check in (environment_modules, lmod, completion, manual):
        check(system)
    system.run("apt-get", "purge", "-q", "-y", "sluice", *(f"sluice-{mpi}" for mpi in MPIS))
    system.expect_nothing_left(before)


def rpm(folder):
    """Red Hat's packages are built, say what they need, and serve programs. A new Red Hat is not to
    be had here: rpm itself installs them into a Debian, whose own packages it does not know."""
    need("rpmbuild", "rpm")
    system = new_system(folder, "compilers")
    found = packages(folder, "RPM", RPM_LIBRARIES, ("mpich",))
    listed = "".join(call("rpm", "-qpl", path) for path in found)
    for name in ("/usr/bin/sluice", "/usr/lib64/sluice/mpich/lib/libsluice.so",
                 "/include/sluice/sluice.h", "man1/sluice.1", "modulefiles/sluice/"):
        assert name in listed, f"{name} is missing:\n{listed}"
    folders = [line for line in listed.splitlines()
               if (system.folder / line.strip("/")).is_dir()]
    assert not folders, f"folders of the system are in a package: {folders}"
    wanted = "".join(call("rpm", "-qp", "--requires", path) for path in found)
    for name in (f"sluice = {version()}", "libmpich.so.12()(64bit)", "libc.so.6"):
        assert name in wanted, f"{name} is not asked for:\n{wanted}"
    before = system.files()
    rpm_into = ("rpm", "--root", system.folder)
    call(*rpm_into, "--initdb")
    call(*rpm_into, "--install", "--nodeps", *found)
    run_programs(system, "mpich", Sluice_DIR="/usr/lib64/cmake/Sluice")
    call(*rpm_into, "--verify", "--nodeps", "sluice", "sluice-mpich")
    call(*rpm_into, "--erase", "sluice-mpich", "sluice")
    system.expect_nothing_left(before)


def container(folder):
    """The Dockerfile's lines, and what its last image serves: a C program, and `sluice try`."""
    def compiled(stages):
        system = stages["build"].system
        copy_program(system)
        system.run(f"mpicc.mpich -o /in_c {PROJECT}/in_c.c")
        shutil.copy(system.folder / "in_c", folder)

    image = recipes.docker(folder, compiled)
    shutil.copy(folder / "in_c", image.folder)
    expect_overlap(image.run(f"{RANKS['mpich']} sluice run /in_c /tmp/file", SLUICE_LOG="2"))
    said = image.run("sluice", "try", "--bandwidth", "100M")
    assert "Both runs wrote the same" in said, said


def apptainer(folder):
    """The lines of the definition. Its image has the compiler still."""
    image = recipes.apptainer(folder)
    copy_program(image)
    image.run(f"mpicc.mpich -o /in_c {PROJECT}/in_c.c")
    expect_overlap(image.run(f"{RANKS['mpich']} sluice run /in_c /tmp/file", SLUICE_LOG="2"))


def copy_program(system):
    (system.folder / PROJECT.strip("/")).mkdir()
    shutil.copy(ROOT / "tests" / "packages" / "in_c.c", system.folder / PROJECT.strip("/"))


WAYS = (cmake, deb, rpm, container, apptainer)
