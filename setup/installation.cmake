# Where the files of an installation lie. CMakeLists.txt includes it.
include(CMakePackageConfigHelpers)

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

# What find_package(Sluice) reads; each MPI adds its targets in a folder of its own beside it.
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
set(command ${CMAKE_INSTALL_BINDIR}/sluice)
configure_package_config_file(setup/templates/SluiceConfig.cmake.in
    ${PROJECT_BINARY_DIR}/install/SluiceConfig.cmake
    INSTALL_DESTINATION ${cmake_folder} PATH_VARS command)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/SluiceConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/SluiceConfig.cmake
              ${PROJECT_BINARY_DIR}/install/SluiceConfigVersion.cmake
        DESTINATION ${cmake_folder})

# What shells complete: they ask the command itself for its commands and options.
install(FILES setup/completion/sluice
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
# Debian's zsh leaves out site-functions of /usr. Debian's libraries are in lib/x86_64-linux-gnu.
set(zsh_folder site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND CMAKE_INSTALL_LIBDIR MATCHES "^lib/")
    set(zsh_folder vendor-completions)
endif()
install(FILES setup/completion/_sluice DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_folder})
install(FILES setup/completion/sluice.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Folders of a package manager, or a prefix of Sluice's own, need no such target.
if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(uninstall VERBATIM COMMAND ${CMAKE_COMMAND}
        -D manifest=${PROJECT_BINARY_DIR}/install_manifest.txt
        -P ${PROJECT_SOURCE_DIR}/setup/uninstall.cmake)
endif()

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
    configure_file(setup/templates/sluice.pc.in ${PROJECT_BINARY_DIR}/install/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/install/${name}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# sluice_exported(<target>): names it Sluice::mpich, Sluice::mpich-abi and so on for find_package().
function(sluice_exported target)
    string(REGEX REPLACE "^sluice" "${SLUICE_MPI_NAME}" name ${target})
    string(REPLACE "_" "-" name ${name})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endfunction()

# sluice_cmake_targets(): the targets that find_package(Sluice) gets for the MPI.
function(sluice_cmake_targets)
    install(EXPORT sluice_targets NAMESPACE Sluice:: FILE targets.cmake
            DESTINATION ${cmake_folder}/${SLUICE_MPI_NAME})
endfunction()

# sluice_modules(): module files of the MPI, of Tcl (Environment Modules, Lmod) and of Lua (Lmod),
# each in a tree of its own, for MODULEPATH.
function(sluice_modules)
    foreach(kind IN ITEMS modulefiles lmod)
        set(suffix)
        if(kind STREQUAL "lmod")
            set(suffix .lua)
        endif()
        set(folder ${CMAKE_INSTALL_DATADIR}/${kind}/sluice)
        set(file ${PROJECT_BINARY_DIR}/install/${kind}/${PROJECT_VERSION}-${SLUICE_MPI_NAME})
        file(RELATIVE_PATH prefix_from_module /${folder} /)
        string(REGEX REPLACE "/$" "" prefix_from_module ${prefix_from_module})
        if(suffix)
            configure_file(setup/templates/module.lua.in ${file}${suffix} @ONLY)
        else()
            configure_file(setup/templates/module.tcl.in ${file} @ONLY)
        endif()
        install(FILES ${file}${suffix} DESTINATION ${folder})
    endforeach()
endfunction()

# sluice_manual(): manual pages, from what the command, the headers and docs/hints.md say.
function(sluice_manual)
    find_package(Python3 QUIET COMPONENTS Interpreter)
    if(NOT Python3_FOUND OR SLUICE_SANITIZE OR CMAKE_CROSSCOMPILING)  # The command says its part.
        message(STATUS "manual pages: left out, there is no Python 3 to make them, or a sanitizer, "
                       "or it is a build for another machine")
        return()
    endif()
    sluice_sources(pages setup/manual/*.py include/sluice/*.h docs/hints.md
                   python/sluice/commands.txt)
    list(TRANSFORM pages PREPEND ${PROJECT_SOURCE_DIR}/)
    set(folder ${PROJECT_BINARY_DIR}/share/man)
    set(speaking ${PROJECT_BINARY_DIR}/bin/sluice)
    foreach(program IN ITEMS sluice-device sluice-bench sluice-calibrate)
        if(TARGET ${program})  # Each has a help text of its own.
            list(APPEND speaking ${program})
        endif()
    endforeach()
    set(made ${PROJECT_BINARY_DIR}/install/manual.stamp)
    add_custom_command(OUTPUT ${made} DEPENDS ${pages} ${speaking} sluice_command
        COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/setup/manual/make.py
                ${PROJECT_BINARY_DIR}/bin/sluice ${folder}
        COMMAND ${CMAKE_COMMAND} -E touch ${made} COMMENT "Writing manual pages" VERBATIM)
    add_custom_target(manual ALL DEPENDS ${made})
    file(MAKE_DIRECTORY ${folder})
    install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT common)
endfunction()
