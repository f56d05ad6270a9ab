# Where the files of an installation lie. CMakeLists.txt includes it.

# All but the headers and what pkg-config reads lies in a folder of Sluice's own, with the folders
# of the build tree in it. What is linked to an MPI lies in a folder of that MPI there, so several
# MPIs share a prefix. The command finds its neighbours from where it lies itself, whatever the
# library folder is called: in the folder for commands there is only a link to it.
set(private_folder ${CMAKE_INSTALL_LIBDIR}/sluice)
set(installed ${private_folder})  # Of an MPI from where the MPI is known.
file(RELATIVE_PATH command_from_bin ${CMAKE_INSTALL_FULL_BINDIR}
     ${CMAKE_INSTALL_FULL_LIBDIR}/sluice/bin/sluice)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/install)
file(CREATE_LINK ${command_from_bin} ${PROJECT_BINARY_DIR}/install/sluice SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/install/sluice DESTINATION ${CMAKE_INSTALL_BINDIR})

include(CheckSymbolExists)

# sluice_mpi_name(<variable>): the name of the MPI, by what its header defines.
function(sluice_mpi_name variable)
    set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
    foreach(macro_and_name IN ITEMS OPEN_MPI=openmpi I_MPI_VERSION=intel MVAPICH_VERSION=mvapich
                                    MVAPICH2_VERSION=mvapich MPICH_VERSION=mpich)
        string(REPLACE "=" ";" both ${macro_and_name})
        list(GET both 0 macro)
        list(GET both 1 name)
        check_symbol_exists(${macro} mpi.h SLUICE_FOUND_${macro})
        if(SLUICE_FOUND_${macro})
            set(${variable} ${name} PARENT_SCOPE)
            return()
        endif()
    endforeach()
    set(${variable} mpi PARENT_SCOPE)
endfunction()

# sluice_installed_mpi(): what is declared from here on is linked to the MPI, and installed for it.
macro(sluice_installed_mpi)
    sluice_mpi_name(mpi_name)
    set(SLUICE_MPI_NAME ${mpi_name} CACHE STRING
        "Folder of what is installed for this MPI, a name for SLUICE_MPI: two MPIs need two names")
    set(installed ${private_folder}/${SLUICE_MPI_NAME})
    # What is installed finds the MPI with no LD_LIBRARY_PATH. The path of a library below the
    # sources would be left out otherwise, and with it that of an MPI that setup/environment has
    # put there.
    if(NOT DEFINED CMAKE_INSTALL_RPATH AND
       NOT mpi_folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
        set(CMAKE_INSTALL_RPATH ${mpi_folder})
    endif()
endmacro()

# sluice_pkg_config(<target>): how programs are compiled and linked with an installed library, from
# where the description lies, so that the installation can be moved.
function(sluice_pkg_config target)
    string(REGEX REPLACE "^sluice" "sluice-${SLUICE_MPI_NAME}" name ${target})
    string(REPLACE "_" "-" name ${name})
    set(folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
    file(RELATIVE_PATH headers ${folder} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
    file(RELATIVE_PATH libraries ${folder}
         ${CMAKE_INSTALL_FULL_LIBDIR}/sluice/${SLUICE_MPI_NAME}/lib)
    configure_file(setup/sluice.pc.in ${PROJECT_BINARY_DIR}/install/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/install/${name}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
