# Fuzz programs: each gives drawn inputs to a parser of bytes that come from outside of the process.
# They exist in the build `fuzz` alone, because libFuzzer belongs to clang:
#   make build MPI=fuzz TARGETS=profile_fuzz
#   make test-fuzz                                      # a minute of each, with a new seed
# One of them for an hour, in a folder of its own, where it leaves what it found:
#   mkdir -p build/fuzz/corpus/profile && cd build/fuzz/corpus
#   ../tests/fuzz/profile_fuzz -max_total_time=3600 profile ../../../tests/fuzz/corpus/profile
# An input that failed is tried again by `profile_fuzz FILE`; it becomes a case of the parser's unit
# test when the parser is mended. CMakeLists.txt includes this file.

if(NOT SLUICE_TESTS OR NOT is_fuzz_build)
    return()
endif()

# What each program is linked with.
set(fuzz_uses_decomposition sluice_patterns)
set(fuzz_uses_device_message sluice_device_parts)
set(fuzz_uses_fabric sluice_transport)
set(fuzz_uses_hints sluice_settings)
set(fuzz_uses_journal sluice_behind)
set(fuzz_uses_node_message sluice_file)
set(fuzz_uses_profile sluice_device_model)
set(fuzz_uses_record sluice_tools)
set(fuzz_uses_scenario sluice_tools)
set(fuzz_uses_settings sluice_settings)
set(fuzz_uses_striping sluice_base)
set(fuzz_uses_trace sluice_system)

sluice_sources(fuzz_sources tests/fuzz/*_fuzz.cpp)
add_custom_target(fuzz_programs)
foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM program)
    string(REGEX REPLACE "_fuzz$" "" name ${program})
    sluice_program(${program} IN tests/fuzz SOURCES ${source} USES ${fuzz_uses_${name}})
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(fuzz_programs ${program})
    sluice_test("fuzz ${name}" PART fuzz BESIDE PURE SECONDS 180 TARGETS ${program} SOURCE ${source}
                REACH ${source} tests/fuzz/run.py tests/fuzz/corpus/${name}
                COMMAND python3 ${tests}/fuzz/run.py --seconds 60
                        --json ${PROJECT_SOURCE_DIR}/results/fuzz.jsonl
                        ${PROJECT_BINARY_DIR}/tests/fuzz/${program} ${tests}/fuzz/corpus/${name})
endforeach()
