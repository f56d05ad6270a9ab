# The tests that need no MPI: how each is built from its source, and that CTest runs it.
# CMakeLists.txt includes it.

# sluice_text_with_headers(<source> <variable>): its text, and that of headers that lie beside it.
function(sluice_text_with_headers source variable)
    file(READ ${source} all)
    cmake_path(GET source PARENT_PATH folder)
    string(REGEX MATCHALL "include \"[a-z_]+\\.hpp\"" includes "${all}")
    foreach(header IN LISTS includes)
        string(REGEX REPLACE ".*\"(.*)\"" "\\1" header "${header}")
        file(READ ${folder}/${header} text)
        string(APPEND all "${text}")
    endforeach()
    set(${variable} "${all}" PARENT_SCOPE)
endfunction()

function(sluice_test_options test)
    # Golden files are read from the sources, and rewritten there on request.
    target_compile_definitions(${test} PRIVATE SLUICE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    # Half of the build would make code of tests fast that runs once.
    target_compile_options(${test} PRIVATE -O0)
endfunction()

# What most unit tests include is read once for all of them: that is half of their build.
function(sluice_precompiled_headers)
    set(nothing ${PROJECT_BINARY_DIR}/unit_headers.cpp)
    file(CONFIGURE OUTPUT ${nothing} CONTENT "// Its precompiled headers are used by the tests.\n")
    add_executable(unit_headers EXCLUDE_FROM_ALL ${nothing})
    target_link_libraries(unit_headers PRIVATE GTest::gtest_main
                          $<TARGET_NAME_IF_EXISTS:rapidcheck> Threads::Threads)
    sluice_test_options(unit_headers)
    set(properties)
    if(TARGET rapidcheck)
        set(properties <rapidcheck/gtest.h>)
    endif()
    target_precompile_headers(unit_headers PRIVATE <gtest/gtest.h> ${properties}
        <algorithm> <array> <functional> <map> <memory> <mutex> <numeric> <optional> <random> <set>
        <span> <string> <thread> <vector>)
endfunction()

# sluice_unit_program(<program> <part> <source>...): a program of these files of tests.
function(sluice_unit_program program part)
    sluice_program(${program} IN tests/unit SOURCES tests/unit/main.cpp ${ARGN}
                   USES ${part} GTest::gtest $<TARGET_NAME_IF_EXISTS:rapidcheck> Threads::Threads)
    sluice_test_options(${program})
    target_precompile_headers(${program} REUSE_FROM unit_headers)
endfunction()

# What tests open in place of libfabric. It finds the real one as the library does.
function(sluice_faulty_libfabric)
    add_library(faulty_libfabric MODULE tests/fabric/faulty_libfabric.cpp
                src/transport/fabric_library.cpp)
    target_include_directories(faulty_libfabric PRIVATE ${LIBFABRIC_HEADER_DIR})
    target_compile_definitions(faulty_libfabric PRIVATE SLUICE_HAVE_LIBFABRIC)
    target_link_libraries(faulty_libfabric PRIVATE sluice_base ${CMAKE_DL_LIBS})
    set_target_properties(faulty_libfabric PROPERTIES PREFIX ""
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fabric)
endfunction()

# sluice_unit_tests(<source>...): the programs of all that can be built here, and their tests.
function(sluice_unit_tests)
    sluice_precompiled_headers()
    set(unit)       # Tests of `make test`.
    set(unit-long)  # Those of `make test-long` alone.
    foreach(source IN LISTS ARGN)
        cmake_path(GET source STEM test)
        file(STRINGS ${source} properties REGEX "include <rapidcheck" LIMIT_COUNT 1)
        if(properties AND NOT rapidcheck_FOUND)
            message(STATUS "${test}: left out, rapidcheck is not installed")
            continue()
        endif()
        # On request there is a program of each file alone (TARGETS=plan_test), which is soon built:
        # one that tests the library waits for no part of the tools.
        sluice_text_with_headers(${source} text)
        set(part sluice_rooms)
        if(text MATCHES "include \"(tools|bench|simulate|device/fuse)/")
            set(part sluice_tools)
        endif()
        sluice_unit_program(${test} ${part} ${source})
        set_target_properties(${test} PROPERTIES EXCLUDE_FROM_ALL ON)
        # The thread sanitizer has nothing to say where there is one thread.
        set(label unit)
        set(program unit_tests)
        if(SLUICE_SANITIZE STREQUAL "thread" AND
           NOT text MATCHES "std::j?thread|include \"(system|transport|storage|device)/")
            set(label unit-long)
            set(program unit_tests_one_thread)
        endif()
        list(APPEND ${label} ${source})
        sluice_unit_test(${test} ${label} ${program})
    endforeach()
    if(TARGET faulty_libfabric)
        sluice_test("fabric_endpoint_test with faults" LABEL unit BESIDE
                    ENVIRONMENT SLUICE_TEST_LIBFABRIC=$<TARGET_FILE:faulty_libfabric>
                    COMMAND ${PROJECT_BINARY_DIR}/tests/unit/unit_tests fabric_endpoint_test)
    endif()
    sluice_unit_program(unit_tests sluice_tools ${unit})
    if(TARGET faulty_libfabric)
        add_dependencies(unit_tests faulty_libfabric)
    endif()
    if(unit-long)
        sluice_unit_program(unit_tests_one_thread sluice_tools ${unit-long})
    endif()
endfunction()

if(SLUICE_TESTS AND LIBFABRIC_HEADER_DIR)
    sluice_faulty_libfabric()
endif()
add_custom_target(configured)  # Nothing: clang-tidy needs the list of compilations only.
if(SLUICE_TESTS AND NOT taken_from)
    sluice_sources(unit_test_sources tests/unit/*_test.cpp)
    if(GTest_FOUND)
        sluice_unit_tests(${unit_test_sources})
    else()
        message(STATUS "unit tests: left out, GTest is not installed")
        add_custom_target(unit_tests)
    endif()
    if(NOT SLUICE_SANITIZE STREQUAL "thread")
        sluice_command_tests()
    endif()
    if(NOT SLUICE_SANITIZE)
        sluice_lint()
    endif()
endif()
