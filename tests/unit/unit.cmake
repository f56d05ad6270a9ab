# The tests that need no MPI: how each is built from its source, and that CTest runs it.
# CMakeLists.txt includes it.

# sluice_text_with_headers(<source> <variable>): its text, and that of headers that lie beside it,
# which it includes or one of them does.
function(sluice_text_with_headers source variable)
    cmake_path(GET source PARENT_PATH folder)
    set(all)
    set(left ${source})
    set(seen)
    while(left)
        list(POP_FRONT left file)
        if(NOT file IN_LIST seen)
            list(APPEND seen ${file})
            file(READ ${file} text)
            string(APPEND all "${text}")
            string(REGEX MATCHALL "include \"[a-z0-9_]+\\.hpp\"" includes "${text}")
            foreach(header IN LISTS includes)
                string(REGEX REPLACE ".*\"(.*)\"" "\\1" header "${header}")
                list(APPEND left ${folder}/${header})
            endforeach()
        endif()
    endwhile()
    set(${variable} "${all}" PARENT_SCOPE)
endfunction()

# sluice_unit_program(<program> <part> <source>...): a program of these files of tests.
function(sluice_unit_program program part)
    sluice_program(${program} IN tests/unit TEST HEADERS unit_headers
                   SOURCES tests/unit/main.cpp ${ARGN}
                   USES ${part} GTest::gtest $<TARGET_NAME_IF_EXISTS:rapidcheck> Threads::Threads)
    if(LIBFABRIC_HEADER_DIR)
        target_include_directories(${program} SYSTEM PRIVATE ${LIBFABRIC_HEADER_DIR})
    endif()
    # Golden files are read from the sources, and rewritten there on request.
    target_compile_definitions(${program} PRIVATE SLUICE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    if(SLUICE_SANITIZE AND NOT SLUICE_SANITIZE_TESTS)
        target_compile_options(${program} PRIVATE -fno-sanitize=undefined)
    endif()
endfunction()

# What tests open in place of libfabric. It finds the real one as the library does.
function(sluice_faulty_libfabric)
    add_library(faulty_libfabric MODULE tests/fabric/faulty_libfabric.cpp
                src/transport/fabric_library.cpp)
    target_include_directories(faulty_libfabric SYSTEM PRIVATE ${LIBFABRIC_HEADER_DIR})
    target_compile_definitions(faulty_libfabric PRIVATE SLUICE_HAVE_LIBFABRIC)
    target_link_libraries(faulty_libfabric PRIVATE sluice_base ${CMAKE_DL_LIBS})
    set_target_properties(faulty_libfabric PROPERTIES PREFIX ""
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fabric)
endfunction()

# The programs of unit tests, each with what its tests include; a test belongs to the first one that
# has all. Where a change reaches tests of one program only, the others need not be built.
#   pure        values: no thread, no file, no clock
#   system      threads, files and messages of this process and its children
#   simulated   many ranks in one thread, what else sanitizers slow down, and the tools
#   study       of the papers: study/tests/unit
set(unit_programs pure system simulated study)
set(unit_part_pure sluice_pure)
set(unit_part_system sluice_rooms)
set(unit_part_simulated sluice_tools)
set(unit_part_study sluice_study)

# sluice_unit_program_of(<text> <variable>): which of them a test with these includes is in.
function(sluice_unit_program_of text variable)
    set(program pure)
    if(text MATCHES "include \"(tools|bench|simulate|study/nvm|device/fuse)/")
        set(program simulated)
    elseif(text MATCHES "include \"(system|transport|storage|behind|gpu|device)/|std::j?thread")
        set(program system)
    elseif(text MATCHES "include \"sanitizers.hpp")
        set(program simulated)  # The one that is built without sanitizers as well.
    endif()
    set(${variable} ${program} PARENT_SCOPE)
endfunction()

# sluice_unit_tests(<source>...): the programs of all that can be built here, and their tests.
function(sluice_unit_tests)
    set(properties)
    if(rapidcheck_FOUND)
        set(properties <rapidcheck/gtest.h>)
    endif()
    sluice_headers(unit_headers OPTIONS -O0 HEADERS <gtest/gtest.h> ${properties} ${common_headers}
                   USES GTest::gtest $<TARGET_NAME_IF_EXISTS:rapidcheck>)
    foreach(source IN LISTS ARGN)
        cmake_path(GET source STEM test)
        file(STRINGS ${source} properties REGEX "include <rapidcheck" LIMIT_COUNT 1)
        if(properties AND NOT rapidcheck_FOUND)
            message(STATUS "${test}: left out, rapidcheck is not installed")
            continue()
        endif()
        sluice_text_with_headers(${source} text)
        sluice_unit_program_of("${text}" program)
        if(source MATCHES "^study/")
            set(program study)
        endif()
        list(APPEND sources_${program} ${source})
        # On request there is a program of each file alone (TARGETS=plan_test), which is soon built.
        sluice_unit_program(${test} ${unit_part_${program}} ${source})
        set_target_properties(${test} PROPERTIES EXCLUDE_FROM_ALL ON)
        set(has_threads FALSE)
        if((text MATCHES "std::j?thread|worker_pool" AND NOT test MATCHES "^fabric_messages") OR
           test MATCHES "^(checkpointer|conformance|sieve|storage|fabric_endpoint)_test$")
            set(has_threads TRUE)
        endif()
        sluice_unit_test(${source} ${program} ${has_threads})
    endforeach()
    foreach(program IN LISTS unit_programs)
        sluice_unit_program(unit_${program} ${unit_part_${program}} ${sources_${program}})
        # Two compilations a program, for two cores: the templates of tests are most of their build.
        list(LENGTH sources_${program} count)
        math(EXPR half "(${count} + 2) / 2")
        set_target_properties(unit_${program} PROPERTIES UNITY_BUILD_BATCH_SIZE ${half})
    endforeach()
    set_target_properties(unit_study PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(study unit_study)
    if(TARGET faulty_libfabric)
        set(short)
        if(SLUICE_SANITIZE MATCHES "address")
            set(short SHORT)
        endif()
        sluice_test("fabric_endpoint_test with faults" PART ${variant} ${short} BESIDE
                    TARGETS unit_system faulty_libfabric SOURCE tests/unit/fabric_endpoint_test.cpp
                    ENVIRONMENT SLUICE_TEST_LIBFABRIC=$<TARGET_FILE:faulty_libfabric>
                    COMMAND ${PROJECT_BINARY_DIR}/tests/unit/unit_system fabric_endpoint_test)
    endif()
endfunction()

if(SLUICE_TESTS AND LIBFABRIC_HEADER_DIR AND NOT is_fuzz_build AND NOT CMAKE_CROSSCOMPILING)
    sluice_faulty_libfabric()
endif()
add_custom_target(configured)  # Nothing: the list of compilations, or of tests, is wanted only.
if(SLUICE_TESTS AND NOT taken_from AND NOT is_fuzz_build)
    sluice_sources(unit_test_sources tests/unit/*_test.cpp study/tests/unit/*_test.cpp)
    if(LIBFABRIC_HEADER_DIR)  # It calls libfabric as somebody else would.
        set_source_files_properties(tests/unit/fabric_strangers_test.cpp PROPERTIES
            COMPILE_DEFINITIONS SLUICE_HAVE_LIBFABRIC)
    endif()
    if(GTest_FOUND)
        sluice_unit_tests(${unit_test_sources})
    else()
        message(STATUS "unit tests: left out, GTest is not installed")
    endif()
    if(CMAKE_CROSSCOMPILING)
        return()
    endif()
    if(NOT SLUICE_SANITIZE STREQUAL "thread")
        sluice_command_tests()
        sluice_recover_tests()
        sluice_swarm_tests()
    endif()
    if(NOT SLUICE_SANITIZE)
        sluice_lint()
        sluice_system_tests()
    endif()
endif()
