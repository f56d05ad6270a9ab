# The study of the papers (study/README.md): the target `study` builds its programs and tests, no
# other does, and nothing of it is installed. `sluice bench NAME` finds the programs in the folder
# study of a build. CMakeLists.txt includes this file.
add_custom_target(study)

# ---- Without MPI ----------------------------------------------------------------------------

sluice_sources(study_sources study/exchange/*.cpp study/romio/*.cpp)
# The second takes the place of the program's operator new, which is not for tests, and the third
# asks it.
set(exchange_sources study/exchange/main.cpp study/exchange/allocations.cpp
                     study/exchange/planning.cpp)
list(REMOVE_ITEM study_sources ${exchange_sources})
sluice_part(sluice_study SOURCES ${study_sources} USES sluice_tools)
if(NOT taken_from)
    set_target_properties(sluice_study PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
sluice_program(sluice-exchange IN study SOURCES ${exchange_sources} USES sluice_study)
sluice_program(sluice-nvm IN study SOURCES study/nvm/main.cpp USES sluice_tools)
add_dependencies(study sluice_command)
# The program becomes a script that lies beside it.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/study)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/study/nvm ${PROJECT_BINARY_DIR}/study/nvm SYMBOLIC)

# ---- With MPI -------------------------------------------------------------------------------

function(sluice_study_programs)
    sluice_sources(sources study/storage/*.cpp)
    sluice_program(sluice-storage IN study SOURCES ${sources}
                   USES sluice_rooms NEEDS CLI11)
    sluice_sources(sources study/file/*.cpp bench/file/*.cpp bench/gpu/*.cpp
                   bench/measure/*.cpp)
    list(REMOVE_ITEM sources bench/file/modes.cpp)
    sluice_program(sluice-study IN study SOURCES ${sources}
                   USES sluice_rooms sluice_patterns MPI::MPI_C NEEDS CLI11)
    # Compression and transforms, each where its library is.
    find_package(ZLIB QUIET)
    if(PKG_CONFIG_FOUND)
        pkg_check_modules(FFTW3 QUIET IMPORTED_TARGET fftw3)
        pkg_check_modules(ZSTD QUIET IMPORTED_TARGET libzstd)
    endif()
    sluice_sources(sources study/collective/*.cpp bench/measure/progress.cpp
                   bench/measure/regression.cpp bench/measure/report.cpp bench/measure/timing.cpp
                   bench/measure/work.cpp)
    if(NOT FFTW3_FOUND)
        list(FILTER sources EXCLUDE REGEX "/(spectrum|transform)\\.cpp$")
    endif()
    if(NOT ZLIB_FOUND AND NOT ZSTD_FOUND)
        list(FILTER sources EXCLUDE REGEX "/compression\\.cpp$")
    endif()
    sluice_program(sluice-collectives IN study SOURCES ${sources} ${mpi_ports_sources}
                   USES sluice_rooms MPI::MPI_C Threads::Threads ${CMAKE_DL_LIBS}
                        $<TARGET_NAME_IF_EXISTS:ZLIB::ZLIB> $<TARGET_NAME_IF_EXISTS:PkgConfig::ZSTD>
                        $<TARGET_NAME_IF_EXISTS:PkgConfig::FFTW3>
                   NEEDS CLI11)
    foreach(program IN ITEMS sluice sluice-bench sluice-device sluice-calibrate)
        if(TARGET ${program})  # The papers' rows need them as well.
            add_dependencies(study ${program})
        endif()
    endforeach()
    if(NOT TARGET sluice-collectives)
        return()
    endif()
    foreach(library IN ITEMS ZLIB ZSTD FFTW3)
        if(${library}_FOUND)
            target_compile_definitions(sluice-collectives PRIVATE SLUICE_HAVE_${library})
        else()
            message(STATUS "sluice-collectives: without ${library}: what needs it is left out")
        endif()
    endforeach()
    if(LIBFABRIC_HEADER_DIR)
        target_include_directories(sluice-collectives PRIVATE ${LIBFABRIC_HEADER_DIR})
        target_compile_definitions(sluice-collectives PRIVATE SLUICE_HAVE_LIBFABRIC)
    endif()
endfunction()
