# What CTest runs, each test with its part, what it reaches, and its time limit. CMakeLists.txt
# includes this file; tests/run.py chooses, builds what is needed, and runs the tests of all builds
# together. A test that ends with 77 was skipped, and its last line says why.
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

# sluice_test(<name> [PART <part>] [SHORT | ENGINE | CHANGED] [BESIDE | NAPS] [PURE]
#             [SECONDS <limit>] [TARGETS <target>...] [SOURCE <file>]
#             [REACH <path>...] [ENVIRONMENT <variable>...] COMMAND <word>...)
# PART: of `make test-all`, as tests/parts.py lists them; none: the test is in `make test` alone.
# SHORT: in `make test` as well; ENGINE: there with one of the MPIs, which is another each day;
# CHANGED: there only where it is known that a change reaches it.
# TARGETS: what has to be built for it. What it can notice changes of: the rooms that the includes
# of SOURCE reach, and files below the paths of REACH; a test with neither always runs.
# BESIDE: runs at the same time as others. NAPS: the same, for one with several processes that
# mostly wait. PURE: nothing in it points to the stack of a function that may have returned; looking
# for that doubles the time of simulations.
# A test works in an empty folder of its own; at its limit it is asked to end, so that a runner can
# say where its ranks are and stop them.
function(sluice_test name)
    cmake_parse_arguments(test "SHORT;ENGINE;CHANGED;BESIDE;NAPS;PURE" "PART;SECONDS;SOURCE"
                          "TARGETS;REACH;ENVIRONMENT;COMMAND" ${ARGN})
    if(NOT test_SECONDS)
        set(test_SECONDS 120)
    endif()
    string(MAKE_C_IDENTIFIER "${name}" folder)
    set(folder ${PROJECT_BINARY_DIR}/scratch/${folder})
    file(MAKE_DIRECTORY ${folder})
    add_test(NAME "${name} ${variant}"
             COMMAND python3 ${tests}/timed.py ${PROJECT_SOURCE_DIR}/build/log/times.jsonl
                     "${name} ${variant}" -- ${fixed_addresses} ${test_COMMAND}
             WORKING_DIRECTORY ${folder})
    set(returned 1)
    if(test_PURE)
        set(returned 0)
    endif()
    list(APPEND test_ENVIRONMENT SLUICE_SOURCE_DIR=${PROJECT_SOURCE_DIR}
         ASAN_OPTIONS=detect_stack_use_after_return=${returned} UBSAN_OPTIONS=print_stacktrace=1
         TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1)
    set(serial ON)
    if(test_BESIDE OR test_NAPS)
        set(serial OFF)
    endif()
    set(labels)
    foreach(tier IN ITEMS SHORT ENGINE CHANGED)
        if(test_${tier})
            string(TOLOWER ${tier} tier)
            list(APPEND labels "tier ${tier}")
        endif()
    endforeach()
    foreach(word IN ITEMS PART SOURCE REACH TARGETS)
        string(TOLOWER ${word} kind)
        foreach(value IN LISTS test_${word})
            list(APPEND labels "${kind} ${value}")
        endforeach()
    endforeach()
    set_tests_properties("${name} ${variant}" PROPERTIES
        LABELS "${labels}" TIMEOUT ${test_SECONDS} RUN_SERIAL ${serial} SKIP_RETURN_CODE 77
        TIMEOUT_SIGNAL_NAME SIGTERM TIMEOUT_SIGNAL_GRACE_PERIOD 20
        ENVIRONMENT "${test_ENVIRONMENT}")
endfunction()

# ---- Without MPI ----------------------------------------------------------------------------

# sluice_unit_test(<source> <program> <has threads>): the tests of one file, of the program that it
# is in. With the address sanitizer `make test` tries a sample of what is slow, and all else: see
# tests/unit/sanitizers.hpp. Simulations run at full size in the build without one. The thread
# sanitizer has nothing to say where there is one thread, and is slower: it tries samples.
function(sluice_unit_test source program has_threads)
    cmake_path(GET source STEM test)
    set(command ${CMAKE_CROSSCOMPILING_EMULATOR} ${PROJECT_BINARY_DIR}/tests/unit/unit_${program}
                ${test} --gtest_brief=1 --gtest_shuffle)
    set(each BESIDE TARGETS unit_${program} SOURCE ${source} COMMAND ${command})
    set(part ${variant})
    if(CMAKE_CROSSCOMPILING)
        if(NOT program STREQUAL "study")
            # The emulator's files are not read past the page cache, and it takes ten times as long.
            set(not_emulated DividedTransfer.AllIdleThreadsMakeItsRequests *PagesOf*direct
                candidates.are_priced_in_microseconds)
            list(JOIN not_emulated ":" not_emulated)
            sluice_test(${test} PART ${part} SECONDS 1700 ENVIRONMENT SLUICE_TEST_SAMPLE=1 ${each}
                        --gtest_filter=-${not_emulated})
        endif()
        return()
    endif()
    if(program STREQUAL "study")
        set(part study)
    endif()
    set(pure)
    if(test MATCHES "^(simulation|collective)")
        set(pure PURE)  # The long tests look for it in these as well.
    endif()
    file(STRINGS ${PROJECT_SOURCE_DIR}/${source} samples REGEX "sanitizers.hpp\"" LIMIT_COUNT 1)
    set(short)
    if(NOT SLUICE_SANITIZE AND samples)
        set(short SHORT)
    elseif(SLUICE_SANITIZE MATCHES "address" OR (SLUICE_SANITIZE STREQUAL "thread" AND has_threads))
        set(short SHORT)
    endif()
    if(short AND ((samples AND SLUICE_SANITIZE) OR SLUICE_SANITIZE STREQUAL "thread"))
        sluice_test("${test}, a sample," SHORT SECONDS 300 ${pure}
                    ENVIRONMENT SLUICE_TEST_SAMPLE=1 ${each})
        set(short)
    endif()
    file(STRINGS ${PROJECT_SOURCE_DIR}/${source} worlds REGEX "^TEST.*Thousand" LIMIT_COUNT 1)
    if(short AND worlds)  # Of a thousand ranks: they take half a minute.
        sluice_test("${test}, small worlds," SHORT SECONDS 300 ${pure} ${each}
                    --gtest_filter=-*Thousand*)
        set(short)
    endif()
    sluice_test(${test} PART ${part} ${short} SECONDS 900 ${pure} ${each})
    sluice_test("${test} long" PART ${part}-long SECONDS 1700
                ENVIRONMENT SLUICE_TEST_LONG=1 ${each})
    # Seeds that once found a fault.
    file(STRINGS ${tests}/unit/seeds.txt lines REGEX "^${test} [0-9]+")
    foreach(line IN LISTS lines)
        string(REGEX MATCH "[0-9]+" seed "${line}")
        sluice_test("${test} seed ${seed}" PART ${part} SHORT SECONDS 300
                    ENVIRONMENT SLUICE_TEST_SEED=${seed} ${each})
    endforeach()
endfunction()

function(sluice_lint)
    set(tools ${PROJECT_SOURCE_DIR}/build/env/tools/bin)
    set(always PART lint SHORT BESIDE)
    sluice_test("layers, sizes and words" ${always} COMMAND python3 ${tests}/tidy.py)
    sluice_test("what tidy.py finds" ${always} COMMAND python3 ${tests}/tidy_test.py)
    sluice_test("links in documents" ${always} COMMAND python3 ${tests}/documents.py)
    sluice_test("tables of results" ${always}
                COMMAND python3 ${PROJECT_SOURCE_DIR}/results/table --check)
    sluice_test(format ${always} COMMAND python3 ${tests}/format.py)
    sluice_test(spelling ${always} COMMAND ${tools}/codespell --config
                ${PROJECT_SOURCE_DIR}/.codespellrc ${PROJECT_SOURCE_DIR})
    sluice_test("the choice of tests" ${always} COMMAND python3 ${tests}/selection_test.py)
    # Half an hour on slow machines, so what changed is checked at once, and all in test-all.
    sluice_test("clang-tidy of what changed" SHORT BESIDE SECONDS 900
                COMMAND python3 ${tests}/clang_tidy.py --changed)
    sluice_test(clang-tidy PART lint SECONDS 1700 COMMAND python3 ${tests}/clang_tidy.py)
    foreach(share IN ITEMS 1/3 2/3 3/3)
        string(REPLACE "/3" "" number ${share})
        sluice_test("clang-tidy deep ${share}" PART lint-deep-${number} SECONDS 1700
                    COMMAND python3 ${tests}/clang_tidy.py --deep --share ${share})
    endforeach()
    sluice_test("clang's warnings" PART lint SECONDS 900
                COMMAND python3 ${tests}/clang_warnings.py)
endfunction()

# What each test of a command, or of what is made of results, reaches besides the command itself.
set(reach_manual_test setup docs)
set(reach_nvm_test bench study results docs)
set(reach_papers_page_test study results docs)
set(reach_pictures_test study results docs)
set(reach_python_test python bench setup)
set(reach_recorded_jobs_test src/events tools/recorded results)
set(reach_recover_test src/behind src/storage src/system)
set(reach_report_test results)
set(reach_results_test study results)
set(reach_run_test setup)
set(reach_setup_test setup Makefile)
set(reach_trace_command_test src/events python)
set(reach_usage_test setup docs python)

function(sluice_command_tests)
    sluice_sources(command_tests tests/command/*_test.py study/tests/*_test.py)
    foreach(source IN LISTS command_tests)
        cmake_path(GET source STEM test)
        set(short)
        if(NOT SLUICE_SANITIZE)
            set(short SHORT)
        endif()
        set(part PART ${variant} TARGETS sluice_command)
        if(source MATCHES "^study/")
            set(part PART study TARGETS sluice_command sluice-exchange sluice-nvm)
        endif()
        sluice_test(${test} ${part} ${short} BESIDE REACH ${source} tools ${reach_${test}}
                    ENVIRONMENT SLUICE=${PROJECT_BINARY_DIR}/bin/sluice
                    COMMAND python3 ${PROJECT_SOURCE_DIR}/${source})
    endforeach()
endfunction()

# `sluice recover` believes nothing that it reads: each run draws other journals.
function(sluice_recover_tests)
    set(fuzz python3 ${tests}/command/recover_fuzz.py --seconds)
    set(of_fuzz REACH tests/command src/behind src/storage src/system src/base tools tests/lot.py
        TARGETS sluice_command ENVIRONMENT SLUICE=${PROJECT_BINARY_DIR}/bin/sluice)
    if(NOT SLUICE_SANITIZE)
        sluice_test("recover, damaged journals, short," SHORT BESIDE ${of_fuzz} COMMAND ${fuzz} 5)
    endif()
    sluice_test("recover, damaged journals," PART ${variant} ${of_fuzz} COMMAND ${fuzz} 30)
    sluice_test("recover, damaged journals, long," PART ${variant}-long SECONDS 1700 ${of_fuzz}
                COMMAND ${fuzz} 600)
endfunction()

# Simulated worlds: each run draws others.
function(sluice_swarm_tests)
    if(NOT TARGET swarm)
        return()
    endif()
    set(of_swarm TARGETS swarm REACH tests/swarm tests/unit/journal_node.hpp simulate src/base
        src/schedule src/settings src/file src/behind src/system src/storage)
    sluice_test("simulated worlds, drawn, short," SHORT BESIDE ${of_swarm}
                COMMAND ${PROJECT_BINARY_DIR}/tests/swarm/swarm --seconds 10 --no-shrink)
    if(SLUICE_SANITIZE)
        sluice_test("simulated worlds, drawn," PART ${variant}-long SECONDS 900 ${of_swarm}
                    COMMAND ${PROJECT_BINARY_DIR}/tests/swarm/swarm --seconds 600)
    else()
        sluice_test("simulated worlds, drawn," PART swarm SECONDS 1750 ${of_swarm}
                    COMMAND python3 ${tests}/swarm/run.py --seconds 1500)
    endif()
endfunction()

# What belongs to no MPI and to no build: other projects' systems, packages.
function(sluice_system_tests)
    foreach(check IN ITEMS hostile files stripes check)
        sluice_test("devices, ${check}," PART device SECONDS 1700
                    COMMAND python3 ${tests}/device/${check}.py)
    endforeach()
    sluice_test(gluster PART gluster SECONDS 1700 COMMAND python3 ${tests}/gluster/run.py)
    sluice_test(ceph PART ceph SECONDS 1700 COMMAND python3 ${tests}/ceph/run.py)
    sluice_test(nfs PART nfs SECONDS 1700 COMMAND python3 ${tests}/nfs/run.py)
    sluice_test("file systems" PART filesystems SECONDS 1700
                COMMAND python3 ${tests}/filesystems/run.py)
    sluice_test(containers PART containers SECONDS 1700
                COMMAND python3 ${tests}/containers/run.py -v)
    sluice_test(users PART users SECONDS 600 COMMAND python3 ${tests}/users/run.py -v)
    sluice_test(slurm PART slurm SECONDS 1700 COMMAND python3 ${tests}/slurm/run.py -v)
    sluice_test("models of protocols" PART models SECONDS 900
                COMMAND python3 ${tests}/models/run.py
                        --json ${PROJECT_SOURCE_DIR}/results/models.jsonl)
    set(ways_wheel wheel)
    set(ways_cmake cmake)
    set(ways_deb deb)
    set(ways_others rpm container apptainer spack easybuild)
    foreach(way IN ITEMS wheel cmake deb others)
        sluice_test("packages, ${way}," PART packages-${way} SECONDS 1700
                    COMMAND python3 ${tests}/packages/run.py ${ways_${way}})
    endforeach()
endfunction()
