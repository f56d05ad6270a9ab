# The tests of the library with an MPI; see tests.cmake. CMakeLists.txt includes this file.

# What all programs under Sluice run through: the library, and `sluice run` with its keeper.
set(library_reach src/base src/events src/schedule src/file src/system src/transport src/storage
    src/behind src/mpi include device/model tools/command_run.cpp tools/keeper.cpp
    tools/sluice.cpp tests/mpi tests/lot.py)

# sluice_mpi_program(<program> <mpi> PART <part> LEVEL <level> [SHARES <number>] [SHORT | ENGINE])
# All its runs of the level, see tests/mpi; in shares where they take longer than a part may.
function(sluice_mpi_program program mpi)
    cmake_parse_arguments(run "SHORT;ENGINE" "PART;LEVEL;SHARES" "" ${ARGN})
    set(name ${program})
    if(mpi MATCHES "^abi|-on-")
        set(name "${program} ${mpi}")
    endif()
    set(more)
    if(run_SHORT)
        set(name "${name} short")
        set(more SHORT)
    elseif(run_ENGINE)
        set(name "${name} engine")
        set(more ENGINE)
    elseif(run_LEVEL STREQUAL "long")
        set(name "${name} long")
    endif()
    set(target ${program})
    if(mpi MATCHES "^abi")
        set(target ${program}_abi)
    endif()
    set(reach ${library_reach})
    if(program MATCHES "collective")
        list(APPEND reach src/collective)
    endif()
    if(program MATCHES "^(threads|behind_groups|shared)_test$" AND more)
        list(APPEND more NAPS)
    endif()
    set(shares 1)
    if(run_SHARES)
        set(shares ${run_SHARES})
    endif()
    foreach(share RANGE 1 ${shares})
        set(title ${name})
        set(part PART ${run_PART})
        if(NOT run_PART)
            set(part)
        endif()
        if(shares GREATER 1)
            set(title "${name} ${share} of ${shares}")
        endif()
        if(run_LEVEL STREQUAL "long")
            set(part PART ${run_PART}-${share})
        endif()
        sluice_test(${title} ${part} ${more} SECONDS 1700 REACH ${reach}
                    TARGETS sluice sluice_command ${target}
                    COMMAND python3 ${tests}/mpi/run.py --mpi ${mpi} --program ${program}
                            --level ${run_LEVEL} --share ${share}/${shares})
    endforeach()
endfunction()

# sluice_runner(<name> <runner> [EACH] [NAPS] [TARGETS <target>...] [REACH <path>...]
#               [SHORT <option>...] [QUICK <option>...] [LONG <option>...])
# A test with a runner of its own, for this MPI: SHORT is what `make test` does, with the MPI of the
# day or with EACH; QUICK what the part of the MPI does; LONG what the part of its long tests does.
# A part whose options are not given is left out; `none` stands for no options.
function(sluice_runner name runner)
    cmake_parse_arguments(run "EACH;NAPS" "LONG_PART" "TARGETS;REACH;SHORT;QUICK;LONG" ${ARGN})
    set(naps)
    if(run_NAPS)
        set(naps NAPS)
    endif()
    set(tier ENGINE)
    if(run_EACH)
        set(tier SHORT)
    endif()
    if(NOT run_LONG_PART)
        set(run_LONG_PART runners)
    endif()
    set(of_short "${name} short" ${tier} ${naps})
    set(of_quick ${name} PART ${variant})
    if(runner MATCHES "^study/")
        set(of_quick ${name} PART study)
    endif()
    set(of_long "${name} long" PART ${run_LONG_PART}-${variant})
    if(NOT runner MATCHES "^study/")
        set(runner tests/${runner})
    endif()
    cmake_path(GET runner PARENT_PATH folder)
    set(each REACH ${library_reach} ${folder} ${run_REACH}
             TARGETS sluice sluice_command ${run_TARGETS})
    foreach(level IN ITEMS SHORT QUICK LONG)
        if(NOT run_${level})
            continue()
        endif()
        set(options ${run_${level}})
        list(REMOVE_ITEM options none)
        string(TOLOWER ${level} lower)
        sluice_test(${of_${lower}} SECONDS 1700 ${each}
                    COMMAND python3 ${PROJECT_SOURCE_DIR}/${runner} --mpi ${variant} ${options})
    endforeach()
endfunction()

# Programs whose long runs take longer than a part may: in how many shares.
set(shares_patterns_test 4)
set(shares_outstanding_test 3)
set(shares_collectives_test 3)
set(shares_legal_test 2)
set(shares_errors_test 2)

# Programs that have no run in a level of `make test`.
set(not_short behind_groups_test threads_test)
set(not_engine abi_test abi_persistent_test large_count_test large_view_test legal_test
    requests_test)

function(sluice_mpi_tests)
    sluice_sources(sources tests/mpi/*_test.c tests/mpi/*_test.cpp)
    set(programs)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM program)
        list(APPEND programs ${program})
    endforeach()
    list(REMOVE_ITEM programs random_test)  # It has a runner of its own.
    set(in_short FALSE)
    if(variant MATCHES "^(mpich|openmpi)$")
        set(in_short TRUE)
    endif()
    foreach(program IN LISTS programs)
        if(in_short)
            if(NOT program IN_LIST not_short)
                sluice_mpi_program(${program} ${variant} SHORT LEVEL short)
            endif()
            if(NOT program IN_LIST not_engine)
                sluice_mpi_program(${program} ${variant} ENGINE LEVEL engine)
            endif()
            sluice_mpi_program(${program} ${variant} PART ${variant}-long LEVEL long
                               SHARES ${shares_${program}})
        endif()
        if(NOT SLUICE_SANITIZE)
            set(part ${variant})
            if(CMAKE_CROSSCOMPILING)  # Emulated programs take ten times as long.
                set(part ${variant}-2)
                if(program MATCHES "^(patterns|outstanding|datatypes|requests)_")
                    set(part ${variant}-1)
                endif()
            endif()
            sluice_mpi_program(${program} ${variant} PART ${part} LEVEL quick)
        endif()
        if(variant STREQUAL "mpich")
            sluice_mpi_program(${program} abi PART abi LEVEL quick)
        elseif(variant STREQUAL "intel")
            sluice_mpi_program(${program} abi-intel PART intel LEVEL quick)
        endif()
    endforeach()
    foreach(program IN ITEMS patterns_test outstanding_test collectives_test)
        if(variant STREQUAL "intel")
            sluice_mpi_program(${program} mpich-on-intel PART intel LEVEL quick)
            sluice_mpi_program(${program} intel-on-mpich PART intel LEVEL quick)
        endif()
    endforeach()
endfunction()

# A program of the bench is started where what it includes has changed: then it is built.
function(sluice_starts program folder)
    if(NOT TARGET ${program} OR NOT variant STREQUAL "mpich")
        return()
    endif()
    sluice_test("${program} starts" CHANGED BESIDE TARGETS ${program} SOURCE ${folder}
                COMMAND $<TARGET_FILE:${program}> --help)
endfunction()

function(sluice_runners)
    set(random mpi/random_programs.py EACH TARGETS random_test)
    sluice_runner("random programs," ${random} LONG_PART random
        SHORT --known --seconds 15 --no-shrink
        QUICK --known --programs 150 --no-shrink
        LONG --known --seconds 500)
    set(drawn --drawn --known --batch 20 --patience 2)
    sluice_runner("random programs, settings by lot," ${random} NAPS LONG_PART drawn
        SHORT ${drawn} --seconds 15 --no-shrink
        LONG ${drawn} --seconds 1200 --json ${PROJECT_SOURCE_DIR}/results/drawn.jsonl)
    # Growth is seen after some minutes; an hour is run by hand, with --seconds 3600.
    sluice_runner(soak mpi/soak.py LONG_PART soak TARGETS random_test
        LONG --seconds 1200 --json ${PROJECT_SOURCE_DIR}/results/soak.jsonl)
    foreach(size IN ITEMS 64K 256M)
        set(behind --behind ${size} --ahead ${size} --known)
        sluice_runner("random programs, behind ${size}," ${random} NAPS LONG_PART random
            SHORT ${behind} --slow --seconds 10 --no-shrink
            QUICK ${behind} --slow --programs 40 --no-shrink
            LONG ${behind} --seconds 250)
    endforeach()
    sluice_runner("random programs, buffers on devices," ${random} LONG_PART random REACH tests/gpu
        QUICK --far pretended --programs 60 --no-shrink
        LONG --far pretended --seconds 250)
    set(journaled --behind 256K,${CMAKE_BINARY_DIR} --ahead 256K --known)
    sluice_runner("random programs, journaled in a folder," ${random} NAPS LONG_PART random
        SHORT ${journaled} --seconds 10 --no-shrink
        QUICK ${journaled} --programs 100 --no-shrink
        LONG ${journaled} --seconds 250)
    sluice_runner("image application" mpi/run.py
        QUICK --program texture
        LONG --program texture --level long)
    sluice_runner(durability durability/run.py NAPS LONG_PART kills
        SHORT --seconds 12
        QUICK --level quick
        LONG --level long --seconds 800)
    sluice_runner("killed control groups," durability/group_kills.py NAPS LONG_PART kills
        SHORT --seconds 5
        QUICK --level quick
        LONG --level long)
    sluice_runner("failing calls" durability/failures.py NAPS LONG_PART failures
        SHORT --seconds 12
        QUICK --level quick
        LONG --level long --seconds 1200)
    sluice_runner(functions functions/run.py EACH SHORT none QUICK none)
    sluice_runner(coexistence coexistence/run.py NAPS
        SHORT --seconds 40
        QUICK none)
    sluice_runner("buffers on devices," gpu/run.py EACH NAPS
        SHORT --seconds 20
        QUICK --level short
        LONG --level long --share 1/2)
    sluice_runner("buffers on devices, second half," gpu/run.py LONG --level long --share 2/2)
    sluice_runner("script for a machine with a card," gpu/card.py NAPS
                  TARGETS sluice-bench random_test patterns_test outstanding_test legal_test
                          datatypes_test shared_test large_count_test
                  REACH bench tests/carried tests/mpi docs/start/gpu.md
        LONG rehearse --short --seconds 900)
    if(variant STREQUAL "mpich")
        sluice_test("script for a large machine" PART runners-${variant} SECONDS 900
                    REACH ${library_reach} bench tests/carried tests/device results/large
                    TARGETS sluice sluice_command sluice-bench sluice-device sluice-collectives
                    COMMAND python3 ${PROJECT_SOURCE_DIR}/results/large rehearse --mpi ${variant}
                            --seconds 300)
    endif()
    # In the short one those that once found a fault are among them.
    sluice_runner("killed ranks on several hosts," nodes/kills.py LONG_PART kills
                  TARGETS kills_program REACH tests/nodes
        QUICK --seed 1 --only 2,6,9,17,49
        LONG --kills 200)
    sluice_runner("several hosts" nodes/run.py LONG_PART nodes LONG none)
    sluice_runner(calibrate calibrate/run.py TARGETS sluice-calibrate
                  REACH tools/calibrate bench/measure QUICK none)
    sluice_runner(trace trace/run.py NAPS REACH tools python SHORT none QUICK none)
    sluice_runner(record record/run.py NAPS TARGETS sluice-replay
                  REACH tools python bench/replay QUICK none)
    set(documents TARGETS demo_parts sluice-bench sluice-replay SECONDS 900
                  REACH README.md docs/start examples include python tests/document_programs.py)
    if(variant STREQUAL "openmpi")  # With MPICH it takes a minute.
        sluice_test("programs in documents" PART openmpi CHANGED ${documents}
                    COMMAND python3 ${tests}/document_programs.py --mpi ${variant})
    else()
        sluice_test("programs in documents" PART mpich ${documents}
                    COMMAND python3 ${tests}/document_programs.py --mpi ${variant})
        sluice_test("programs in documents, all MPIs," PART documents ${documents}
                    COMMAND python3 ${tests}/document_programs.py)
    endif()
    sluice_runner("bench of the choice" study/tests/run.py TARGETS sluice-study REACH bench study
                  QUICK none)
    sluice_runner("bench of overlap and outstanding" bench/modes.py TARGETS sluice-bench
                  REACH bench QUICK none)
    sluice_runner("bench with buffers on devices" bench/gpu.py TARGETS sluice-bench
                  REACH bench tests/gpu QUICK none)
    sluice_runner("bench of collectives" study/tests/collectives.py TARGETS sluice-collectives
                  REACH bench study QUICK none)
    sluice_runner("old systems" old/run.py LONG_PART old QUICK --short LONG none)
    sluice_runner("50 times outstanding" mpi/repeat.py LONG_PART outstanding LONG none)
    sluice_runner(suites suites/run.py LONG_PART suites LONG none)
    sluice_starts(sluice-bench bench/file)
    sluice_starts(sluice-replay bench/replay)
    sluice_starts(sluice-study study/file)
    sluice_starts(sluice-storage study/storage)
    sluice_starts(sluice-collectives study/collective)
    sluice_starts(sluice-calibrate tools/calibrate)
    if(variant STREQUAL "openmpi")  # Of both builds, in one prefix.
        sluice_test(install PART openmpi SECONDS 240 COMMAND python3 ${tests}/install/run.py)
    endif()
endfunction()

function(sluice_other_mpi_tests)
    foreach(program IN ITEMS collectives_test patterns_test outstanding_test errors_test legal_test
                             requests_test)
        if(SLUICE_SANITIZE)
            sluice_mpi_program(${program} ${variant} PART ${variant} LEVEL sanitized)
        endif()
    endforeach()
    if(variant STREQUAL "mpich-asan")
        sluice_test("random programs, settings by lot," PART ${variant} SECONDS 600
                    COMMAND python3 -u -B ${tests}/mpi/random_programs.py --mpi ${variant} --drawn
                            --known --batch 10 --patience 10 --seconds 200)
    endif()
    if(variant MATCHES "^(debian-|intel)")
        sluice_test(fortran PART ${variant} SECONDS 900
                    COMMAND python3 ${tests}/fortran/run.py --mpi ${variant})
    endif()
    if(variant MATCHES "^debian-")
        sluice_test("programs in documents" PART ${variant} SECONDS 300
                    COMMAND python3 ${tests}/document_programs.py --mpi ${variant})
        sluice_test(suites PART suites-${variant} SECONDS 1700
                    COMMAND python3 ${tests}/suites/run.py --mpi ${variant} --no-build
                            --suite pnetcdf,hdf5,applications)
    endif()
endfunction()
