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

add_custom_target(unit_tests)  # Those of `make test`.
add_custom_target(configured)  # Nothing: clang-tidy needs the list of compilations only.
if(SLUICE_UNIT_TESTS AND NOT taken_from)
    sluice_sources(unit_tests tests/unit/*_test.cpp)
    if(GTest_FOUND)
        sluice_precompiled_headers()
    endif()
    foreach(source IN LISTS unit_tests)
        cmake_path(GET source STEM test)
        set(needs GTest)
        file(STRINGS ${source} properties REGEX "include <rapidcheck" LIMIT_COUNT 1)
        if(properties)
            list(APPEND needs rapidcheck)
        endif()
        # A test of the library waits for no part of the tools.
        sluice_text_with_headers(${source} text)
        set(part sluice_rooms)
        if(text MATCHES "include \"(tools|bench|simulate|device/fuse)/")
            set(part sluice_tools)
        endif()
        sluice_program(${test} IN tests/unit SOURCES ${source} NEEDS ${needs}
                       USES ${part} GTest::gtest_main
                            $<TARGET_NAME_IF_EXISTS:rapidcheck>)
        if(TARGET ${test})
            sluice_test_options(${test})
            target_precompile_headers(${test} REUSE_FROM unit_headers)
            # The thread sanitizer has nothing to say where there is one thread.
            set(label unit)
            if(SLUICE_SANITIZE STREQUAL "thread" AND
               NOT text MATCHES "std::j?thread|include \"(system|transport|storage|device)/")
                set(label unit-long)
            else()
                add_dependencies(unit_tests ${test})
            endif()
            sluice_unit_test(${test} ${label})
        endif()
    endforeach()
    if(NOT SLUICE_SANITIZE STREQUAL "thread")
        sluice_command_tests()
    endif()
    if(NOT SLUICE_SANITIZE)
        sluice_lint()
    endif()
endif()
