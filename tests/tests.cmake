# What CTest runs, each test with its labels and its time limit. CMakeLists.txt includes this file;
# tests/run.py builds, and runs the tests of all builds together.
#
# Labels: lint, unit, mpi (`make test`); mpis, sanitized (other MPIs and the sanitizers); each of
# them with "-long" for more ranks and repetitions. A test that ends with 77 was skipped, and its
# last line says why.
cmake_path(GET PROJECT_BINARY_DIR FILENAME variant)
set(tests ${PROJECT_SOURCE_DIR}/tests)

# g++ 12's thread sanitizer cannot start where the kernel spreads addresses widely.
set(fixed_addresses)
if(SLUICE_SANITIZE STREQUAL "thread" AND EXISTS /proc/sys/vm/mmap_rnd_bits)
    file(READ /proc/sys/vm/mmap_rnd_bits bits)
    if(bits GREATER 28)
        set(fixed_addresses setarch -R)
    endif()
endif()

# sluice_test(<name> LABEL <label> [SECONDS <limit>] [BESIDE] [PURE] [ENVIRONMENT <variable>...]
#             COMMAND <word>...)
# BESIDE: may run at the same time as others. A test works in an empty folder of its own; at its
# limit it is asked to end, so that a runner can say where its ranks are and stop them.
# PURE: nothing in it points to the stack of a function that may have returned; looking for that
# doubles the time of simulations.
function(sluice_test name)
    cmake_parse_arguments(test "BESIDE;PURE" "LABEL;SECONDS" "ENVIRONMENT;COMMAND" ${ARGN})
    if(NOT test_SECONDS)
        set(test_SECONDS 120)
    endif()
    string(MAKE_C_IDENTIFIER "${name}" folder)
    set(folder ${PROJECT_BINARY_DIR}/scratch/${folder})
    file(MAKE_DIRECTORY ${folder})
    add_test(NAME "${name} ${variant}" COMMAND ${fixed_addresses} ${test_COMMAND}
             WORKING_DIRECTORY ${folder})
    set(returned 1)
    if(test_PURE)
        set(returned 0)
    endif()
    list(APPEND test_ENVIRONMENT SLUICE_SOURCE_DIR=${PROJECT_SOURCE_DIR}
         ASAN_OPTIONS=detect_stack_use_after_return=${returned} UBSAN_OPTIONS=print_stacktrace=1
         TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1)
    set(serial ON)
    if(test_BESIDE)
        set(serial OFF)
    endif()
    set_tests_properties("${name} ${variant}" PROPERTIES
        LABELS ${test_LABEL} TIMEOUT ${test_SECONDS} RUN_SERIAL ${serial} SKIP_RETURN_CODE 77
        TIMEOUT_SIGNAL_NAME SIGTERM TIMEOUT_SIGNAL_GRACE_PERIOD 20
        ENVIRONMENT "${test_ENVIRONMENT}")
endfunction()

# sluice_unit_test(<test> <label> <program>): the tests of one file, of the program that it is in;
# once as it is and once with more cases.
function(sluice_unit_test test label program)
    set(command ${PROJECT_BINARY_DIR}/tests/unit/${program} ${test} --gtest_brief=1
                --gtest_shuffle)
    set(pure)
    if(test MATCHES "^(simulation|collective)")
        set(pure PURE)  # The long tests look for it in these as well.
    endif()
    sluice_test(${test} LABEL ${label} SECONDS 300 BESIDE ${pure} COMMAND ${command})
    sluice_test("${test} long" LABEL unit-long SECONDS 3000 BESIDE
                ENVIRONMENT SLUICE_TEST_LONG=1 COMMAND ${command})
endfunction()

# ---- Without MPI ----------------------------------------------------------------------------

function(sluice_lint)
    set(tools ${PROJECT_SOURCE_DIR}/build/env/tools/bin)
    sluice_test("layers, sizes and words" LABEL lint BESIDE COMMAND python3 ${tests}/tidy.py)
    sluice_test("links in documents" LABEL lint BESIDE COMMAND python3 ${tests}/documents.py)
    sluice_test("tables of results" LABEL lint BESIDE
                COMMAND python3 ${PROJECT_SOURCE_DIR}/results/table --check)
    sluice_test(format LABEL lint BESIDE COMMAND python3 ${tests}/format.py)
    sluice_test(spelling LABEL lint BESIDE COMMAND ${tools}/codespell --config
                ${PROJECT_SOURCE_DIR}/.codespellrc ${PROJECT_SOURCE_DIR})
    sluice_test(clang-tidy LABEL lint SECONDS 900 COMMAND python3 ${tests}/clang_tidy.py)
    sluice_test("clang-tidy deep" LABEL unit-long SECONDS 3000
                COMMAND python3 ${tests}/clang_tidy.py --deep)
    sluice_test("clang's warnings" LABEL lint SECONDS 900
                COMMAND python3 ${tests}/clang_warnings.py)
endfunction()

function(sluice_command_tests)
    sluice_sources(command_tests tests/command/*_test.py)
    foreach(source IN LISTS command_tests)
        cmake_path(GET source STEM test)
        sluice_test(${test} LABEL unit BESIDE ENVIRONMENT SLUICE=${PROJECT_BINARY_DIR}/bin/sluice
                    COMMAND python3 ${PROJECT_SOURCE_DIR}/${source})
    endforeach()
endfunction()

# ---- With MPI -------------------------------------------------------------------------------

# sluice_mpi_program(<program> <mpi> <label> <level>): all its runs of the level, see tests/mpi.
function(sluice_mpi_program program mpi label level)
    set(name ${program})
    if(mpi MATCHES "^abi|-on-")
        set(name "${program} ${mpi}")
    endif()
    set(seconds 900)
    if(level STREQUAL "long")
        set(name "${name} long")
        set(seconds 9000)
    endif()
    sluice_test(${name} LABEL ${label} SECONDS ${seconds}
                COMMAND python3 ${tests}/mpi/run.py --mpi ${mpi} --program ${program}
                        --level ${level})
endfunction()

# sluice_runner(<name> <runner> [<option>...]): a test with a runner of its own, for this MPI; it
# is given its options for the long tests after LONG. With no option there it is the same in both.
function(sluice_runner name runner)
    cmake_parse_arguments(runner "" "" "SHORT;LONG" ${ARGN})
    foreach(level IN ITEMS "" "-long")
        set(options ${runner_SHORT})
        set(seconds 300)
        set(title ${name})
        if(level)
            set(options ${runner_LONG})
            set(seconds 3000)
            set(title "${name} long")
        endif()
        sluice_test(${title} LABEL mpi${level} SECONDS ${seconds}
                    COMMAND python3 ${tests}/${runner} --mpi ${variant} ${options})
    endforeach()
endfunction()

function(sluice_mpi_tests)
    sluice_sources(sources tests/mpi/*_test.c tests/mpi/*_test.cpp)
    set(programs)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM program)
        list(APPEND programs ${program})
    endforeach()
    list(REMOVE_ITEM programs random_test)  # It has a runner of its own.
    set(label mpis)
    if(variant MATCHES "^(mpich|openmpi)$")
        set(label mpi)
    endif()
    foreach(program IN LISTS programs)
        sluice_mpi_program(${program} ${variant} ${label} quick)
        sluice_mpi_program(${program} ${variant} ${label}-long long)
        if(variant STREQUAL "mpich")
            sluice_mpi_program(${program} abi mpis quick)
        elseif(variant STREQUAL "intel")
            sluice_mpi_program(${program} abi-intel mpis quick)
        endif()
    endforeach()
    # Not requests_test: Intel MPI fails in it without Sluice as well (MPI_Wait: message truncated).
    foreach(program IN ITEMS patterns_test outstanding_test collectives_test)
        if(variant STREQUAL "mpich")
            sluice_mpi_program(${program} mpich-on-intel mpis quick)
        elseif(variant STREQUAL "intel")
            sluice_mpi_program(${program} intel-on-mpich mpis quick)
        endif()
    endforeach()
    if(variant STREQUAL "mpich")  # A little of the standard ABI is in `make test` as well.
        set_property(TEST "abi_test abi mpich" "large_count_test abi mpich" APPEND PROPERTY
                     LABELS mpi)
    endif()
endfunction()

function(sluice_runners)
    foreach(progress IN ITEMS thread calls)
        sluice_runner("random programs, ${progress}," mpi/random_programs.py
            SHORT --progress ${progress} --programs 150 --no-shrink
            LONG --progress ${progress} --programs 2000 --no-shrink)
    endforeach()
    foreach(size IN ITEMS 64K 256M)
        set(behind --behind ${size} --ahead ${size} --no-shrink)
        sluice_runner("random programs, behind ${size}," mpi/random_programs.py
            SHORT ${behind} --slow --programs 40
            LONG ${behind} --programs 2000)
    endforeach()
    set(journaled --behind 256K,${CMAKE_BINARY_DIR} --ahead 256K --no-shrink)
    sluice_runner("random programs, journaled in a folder," mpi/random_programs.py
        SHORT ${journaled} --programs 100
        LONG ${journaled} --programs 2000)
    sluice_runner("image application" mpi/run.py
        SHORT --program texture
        LONG --program texture --level long)
    sluice_runner(durability durability/run.py SHORT --level quick LONG --level long)
    sluice_runner("failing calls" durability/failures.py SHORT --level quick LONG --level long)
    sluice_runner(functions functions/run.py)
    sluice_runner(coexistence coexistence/run.py)
    # In the short one those that once found a fault are among them.
    sluice_runner("killed ranks on several hosts," nodes/kills.py
        SHORT --only 2,6,9,17,49
        LONG --kills 200)
    sluice_runner(calibrate calibrate/run.py)
    sluice_runner(trace trace/run.py)
    sluice_runner(record record/run.py)
    sluice_test("programs in documents" LABEL mpi SECONDS 300
                COMMAND python3 ${tests}/document_programs.py --mpi ${variant})
    sluice_runner(bench bench/run.py)
    sluice_runner("bench of overlap" bench/overlap.py)
    sluice_runner("bench of collectives" bench/collectives.py)
    sluice_runner("old systems" old/run.py SHORT --short)
    sluice_test("50 times outstanding" LABEL mpi-long SECONDS 6000
                COMMAND python3 ${tests}/mpi/repeat.py --mpi ${variant})
    if(variant STREQUAL "openmpi")  # Of both builds, in one prefix.
        sluice_test(install LABEL mpi SECONDS 240 COMMAND python3 ${tests}/install/run.py)
        set_property(TEST "install openmpi" APPEND PROPERTY LABELS mpi-long)
    endif()
endfunction()

function(sluice_other_mpi_tests)
    foreach(program IN ITEMS collectives_test patterns_test outstanding_test errors_test legal_test
                             requests_test)
        if(variant MATCHES "^(mpich|openmpi)-[at]san$")
            sluice_mpi_program(${program} ${variant} sanitized sanitized)
        endif()
    endforeach()
    if(variant MATCHES "^(debian-|intel)")
        sluice_test(fortran LABEL mpis SECONDS 900
                    COMMAND python3 ${tests}/fortran/run.py --mpi ${variant})
    endif()
    if(variant MATCHES "^debian-")
        sluice_test("programs in documents" LABEL mpis SECONDS 300
                    COMMAND python3 ${tests}/document_programs.py --mpi ${variant})
    endif()
endfunction()
