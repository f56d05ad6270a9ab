# Builds for 64-bit Arm on another processor: Debian's cross compiler, and packages and MPIs that
# `setup/environment aarch64` unpacks under build/env/aarch64. What a build runs, and what tests
# run, QEMU's emulation of a user's process executes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source_folder)
set(unpacked ${source_folder}/build/env/aarch64)
set(CMAKE_FIND_ROOT_PATH ${unpacked}/system ${unpacked}/mpich /usr/aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${unpacked}/system)
set(ENV{PKG_CONFIG_LIBDIR} ${unpacked}/system/usr/lib/aarch64-linux-gnu/pkgconfig)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
