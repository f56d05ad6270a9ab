# The study of the papers: its programs. CMakeLists.txt includes this file.

# What is simulated.
function(sluice_study)
    sluice_sources(study_sources study/exchange/*.cpp study/romio/*.cpp)
    # It takes the place of the program's operator new, which is not for tests.
    set(allocations_source study/exchange/allocations.cpp)
    list(REMOVE_ITEM study_sources ${allocations_source} study/exchange/command_exchange.cpp)
    sluice_part(sluice_study SOURCES ${study_sources} USES sluice_tools)
    set(allocations_source ${allocations_source} PARENT_SCOPE)
endfunction()

macro(sluice_kernel_libraries)
    # The application kernels of sluice-collectives, each where its library is.
    set(kernel_libraries)
    if(CLI11_FOUND)
        foreach(library IN ITEMS ZLIB ZSTD FFTW3)
            if(${library}_FOUND)
                list(APPEND kernel_libraries SLUICE_HAVE_${library})
            else()
                message(STATUS "sluice-collectives: without ${library}: what needs it is left out")
            endif()
        endforeach()
    endif()
endmacro()

function(sluice_nvm_study)
    # The study of the NVM paper: `sluice bench nvm` runs it. It knows its sources by where it lies.
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/study/nvm ${PROJECT_BINARY_DIR}/share/sluice/study
         SYMBOLIC)
    install(DIRECTORY study/nvm/ DESTINATION ${private_folder}/share/sluice/study
            FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
endfunction()

# With an MPI.
function(sluice_study_programs)
    sluice_sources(storage_sources study/storage/*.cpp)
    sluice_program(sluice-storage IN libexec SOURCES ${storage_sources}
                   USES sluice_rooms NEEDS CLI11)
    sluice_sources(collectives_sources study/collective/*.cpp bench/measure/progress.cpp
                   bench/measure/regression.cpp
                   bench/measure/report.cpp bench/measure/timing.cpp bench/measure/work.cpp)
    if(NOT FFTW3_FOUND)
        list(FILTER collectives_sources EXCLUDE REGEX "/(spectrum|transform)\\.cpp$")
    endif()
    if(NOT ZLIB_FOUND AND NOT ZSTD_FOUND)
        list(FILTER collectives_sources EXCLUDE REGEX "/compression\\.cpp$")
    endif()
    sluice_program(sluice-collectives IN libexec
                   SOURCES ${collectives_sources} ${mpi_ports_sources}
                   USES sluice_rooms MPI::MPI_C Threads::Threads ${CMAKE_DL_LIBS}
                        $<TARGET_NAME_IF_EXISTS:ZLIB::ZLIB> $<TARGET_NAME_IF_EXISTS:PkgConfig::ZSTD>
                        $<TARGET_NAME_IF_EXISTS:PkgConfig::FFTW3>
                   NEEDS CLI11)
    if(TARGET sluice-collectives)
        target_compile_definitions(sluice-collectives PRIVATE ${kernel_libraries})
        if(LIBFABRIC_HEADER_DIR)
            target_include_directories(sluice-collectives PRIVATE ${LIBFABRIC_HEADER_DIR})
            target_compile_definitions(sluice-collectives PRIVATE SLUICE_HAVE_LIBFABRIC)
        endif()
    endif()
endfunction()
