# Packages of Debian and Red Hat, by cpack: `sluice` with the command, the headers and the manual,
# and `sluice-mpich` (or the name of another MPI) with what is linked to that MPI. CMakeLists.txt
# includes this file. `cpack -G DEB` or `cpack -G RPM` in a build folder; configure the build with
# CMAKE_INSTALL_LIBDIR as the distribution has it, such as lib/x86_64-linux-gnu or lib64.
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_VENDOR Sluice)
set(CPACK_PACKAGE_CONTACT "The maintainers of Sluice")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Collective MPI file I/O in the background")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL common mpi)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENT_COMMON_DESCRIPTION
    "The command sluice, its manual, and headers. A package for an MPI has the library.")
set(CPACK_COMPONENT_MPI_DESCRIPTION
    "The library that is preloaded under programs of ${SLUICE_MPI_NAME}, and programs that measure.")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${CPACK_PACKAGE_CONTACT})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMON_PACKAGE_NAME sluice)
set(CPACK_DEBIAN_COMMON_PACKAGE_SUGGESTS "python3 (>= 3.11), fuse3")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME sluice-${SLUICE_MPI_NAME})
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "sluice (= ${PROJECT_VERSION})")

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_COMMON_PACKAGE_NAME sluice)
set(CPACK_RPM_MPI_PACKAGE_NAME sluice-${SLUICE_MPI_NAME})
set(CPACK_RPM_MPI_PACKAGE_REQUIRES "sluice = ${PROJECT_VERSION}")
# The folders of the system belong to it.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/share/man /usr/share/man/man1 /usr/share/man/man3 /usr/share/man/man7
    /usr/share/zsh /usr/share/zsh/site-functions /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/share/fish /usr/share/fish/vendor_completions.d
    /usr/share/modulefiles /usr/share/lmod
    /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig /usr/${CMAKE_INSTALL_LIBDIR}/cmake)
include(CPack)
