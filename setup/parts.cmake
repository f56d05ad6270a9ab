# How layers and programs are declared, and what is compiled together, alone, or in another build.
# CMakeLists.txt includes it.

# sluice_sources(<variable> <pattern>...): the files that match, looked up again at each build.
macro(sluice_sources variable)
    file(GLOB ${variable} CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${ARGN})
endmacro()

set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)

# sluice_alone(<file>...): marks those that are compiled alone where others are compiled together
# (CMAKE_UNITY_BUILD): functions of MPI, which macros define, and a program's parser of options,
# because half of its build would make CLI11 fast, which runs once.
function(sluice_alone)
    foreach(source IN LISTS ARGN)
        cmake_path(GET source STEM name)
        set(parser)
        if(source MATCHES "\\.cpp$")
            file(STRINGS ${source} parser REGEX "include (<CLI/|.tools/command_line)" LIMIT_COUNT 1)
        endif()
        if(parser)
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -O0
                                        SKIP_PRECOMPILE_HEADERS ON)
        endif()
        if(parser OR name MATCHES "^(interpose|fortran)_")
            set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        endif()
    endforeach()
endfunction()

# ---- A compiler cache ------------------------------------------------------------------------

# Where there is one, builds use it, also those of other checkouts; CCACHE_DISABLE=1 leaves it out.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    foreach(language IN ITEMS C CXX)
        set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
            CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
            CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
    endforeach()
    add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

# ---- Headers that are compiled once --------------------------------------------------------------

# Reading the C++ library is a third of the build, so each build reads it once: with its own options
# for the library, and with -O0 for tests.
set(common_headers <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque>
    <functional> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span> <sstream>
    <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>)

set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)  # Libraries and programs share them.
add_compile_options(-pthread)  # It is a macro as well.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # It sees overflows in its own std::string where that comes from precompiled headers.
    add_compile_options(-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                        -Wno-restrict)
endif()

# sluice_headers(<target> [OPTIONS <word>...] HEADERS <header>... [USES <target>...])
function(sluice_headers target)
    cmake_parse_arguments(headers "" "" "OPTIONS;HEADERS;USES" ${ARGN})
    set(nothing ${PROJECT_BINARY_DIR}/${target}.cpp)
    file(CONFIGURE OUTPUT ${nothing} CONTENT "// Others use its precompiled headers.\n")
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${nothing})
    target_compile_options(${target} PRIVATE ${headers_OPTIONS})
    target_link_libraries(${target} PRIVATE ${headers_USES})
    target_precompile_headers(${target} PRIVATE ${headers_HEADERS})
endfunction()

sluice_headers(headers HEADERS ${common_headers})
sluice_headers(library_headers OPTIONS -fvisibility=default HEADERS ${common_headers})
sluice_headers(test_headers OPTIONS -O0 HEADERS ${common_headers})

# sluice_precompiled(<target> FROM <headers> SOURCES <source>...)
# The target's C++ sources use them, but for those with options of their own, with which a compiler
# does not take them.
function(sluice_precompiled target)
    cmake_parse_arguments(precompiled "" "FROM" "SOURCES" ${ARGN})
    list(FILTER precompiled_SOURCES INCLUDE REGEX "\\.cpp$")
    if(precompiled_SOURCES)
        target_precompile_headers(${target} REUSE_FROM ${precompiled_FROM})
    endif()
endfunction()

# ---- Sharing ----------------------------------------------------------------------------------

# The builds for several MPIs compile what sees no MPI only once: they take it from the build in
# SLUICE_WITHOUT_MPI, which they configure, and bring up to date whenever they need a part of it.
# With an empty SLUICE_WITHOUT_MPI a build compiles everything by itself.
set(taken_from "${SLUICE_WITHOUT_MPI}")
if(taken_from AND NOT EXISTS ${taken_from}/build.ninja)
    cmake_path(GET taken_from FILENAME preset)
    execute_process(COMMAND ${CMAKE_COMMAND} --preset ${preset} -B ${taken_from}
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)
endif()
# Two builds that run at the same time take turns there.
find_program(FLOCK_PROGRAM flock)
set(take_turns)
if(FLOCK_PROGRAM)
    set(take_turns ${FLOCK_PROGRAM} ${taken_from}/.lock)
endif()

# sluice_taken(<target> <file>): brings up to date the file that the target makes in the other
# build.
function(sluice_taken target file)
    add_custom_target(${target}_taken
        COMMAND ${take_turns} ${CMAKE_COMMAND} --build ${taken_from} --target ${target} -- --quiet
        BYPRODUCTS ${taken_from}/${file} USES_TERMINAL VERBATIM)
endfunction()

# sluice_part(<target> SOURCES <file>... USES <target>...): one layer, a static library.
function(sluice_part target)
    cmake_parse_arguments(part "" "" "SOURCES;USES" ${ARGN})
    if(part_SOURCES AND taken_from)
        add_library(${target} STATIC IMPORTED)
        set_target_properties(${target} PROPERTIES
            IMPORTED_LOCATION ${taken_from}/lib/lib${target}.a)
        target_link_libraries(${target} INTERFACE ${part_USES})
        sluice_taken(${target} lib/lib${target}.a)
        add_dependencies(${target} ${target}_taken)
    elseif(part_SOURCES)
        sluice_alone(${part_SOURCES})
        add_library(${target} STATIC ${part_SOURCES})
        sluice_precompiled(${target} FROM headers SOURCES ${part_SOURCES})
        target_link_libraries(${target} PUBLIC ${part_USES})
    else()
        message(STATUS "${target}: no sources yet")
        add_library(${target} INTERFACE)
        target_link_libraries(${target} INTERFACE ${part_USES})
    endif()
endfunction()

# sluice_taken_program(<target> <folder> <name>): a program of the other build, copied to where it
# would have been built: programs find their neighbours from where they lie.
function(sluice_taken_program target folder name)
    if(NOT folder MATCHES "^(bin|libexec|study)$")  # Programs of tests stay where they are.
        return()
    endif()
    sluice_taken(${target} ${folder}/${name})
    set(copy ${PROJECT_BINARY_DIR}/${folder}/${name})
    add_custom_command(OUTPUT ${copy} DEPENDS ${taken_from}/${folder}/${name}
        COMMAND ${CMAKE_COMMAND} -E copy ${taken_from}/${folder}/${name} ${copy} VERBATIM)
    set(all ALL)
    if(folder STREQUAL "study")
        set(all)
    endif()
    add_custom_target(${target} ${all} DEPENDS ${copy})
    add_dependencies(${target} ${target}_taken)
    if(all)
        install(PROGRAMS ${copy} DESTINATION ${installed}/${folder})
    else()
        add_dependencies(study ${target})
    endif()
endfunction()

# sluice_program(<target> IN <folder> [NAME <name>] [TEST] [HEADERS <target>] SOURCES <file>...
#                USES <target>... [NEEDS <package>...])
# An executable, installed in the same folder of ${installed}, but for those of the study; a message
# where a package for it is missing, or where there is nothing to build it from. TEST: compiled with
# -O0, because its code runs once. HEADERS: other precompiled ones than usual.
function(sluice_program target)
    cmake_parse_arguments(program "TEST" "IN;NAME;HEADERS" "SOURCES;USES;NEEDS" ${ARGN})
    if(NOT program_SOURCES)
        message(STATUS "${target}: no sources yet")
        return()
    endif()
    foreach(package IN LISTS program_NEEDS)
        if(NOT ${package}_FOUND)
            message(STATUS "${target}: left out, ${package} is not installed")
            return()
        endif()
    endforeach()
    if(NOT program_NAME)
        set(program_NAME ${target})
    endif()
    if(taken_from)
        sluice_taken_program(${target} ${program_IN} ${program_NAME})
        return()
    endif()
    sluice_alone(${program_SOURCES})
    add_executable(${target} ${program_SOURCES})
    target_link_libraries(${target} PRIVATE ${program_USES})
    if(NOT program_HEADERS)
        set(program_HEADERS headers)
        if(program_TEST)
            set(program_HEADERS test_headers)
        endif()
    endif()
    if(program_TEST)
        target_compile_options(${target} PRIVATE -O0)
    endif()
    sluice_precompiled(${target} FROM ${program_HEADERS} SOURCES ${program_SOURCES})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${program_NAME}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${program_IN})
    if(program_IN MATCHES "^(bin|libexec)$")
        install(TARGETS ${target} DESTINATION ${installed}/${program_IN})
    elseif(program_IN STREQUAL "study")
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
        add_dependencies(study ${target})
    endif()
endfunction()
