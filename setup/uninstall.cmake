# cmake -D manifest=FILE -P setup/uninstall.cmake: removes what `cmake --install` lists in FILE, and
# the folders of Sluice's own that are empty then. Others, such as share/man, may be anybody's, and
# stay. The target `uninstall` calls it.
if(NOT EXISTS ${manifest})
    message(FATAL_ERROR "${manifest} is missing: nothing was installed from this build folder")
endif()
file(STRINGS ${manifest} files)
foreach(file IN LISTS files)
    file(REMOVE "$ENV{DESTDIR}${file}")
    cmake_path(GET file PARENT_PATH folder)
    set(entries)
    while(folder MATCHES "/[Ss]luice(/|$)" AND NOT entries)
        file(GLOB entries LIST_DIRECTORIES ON "$ENV{DESTDIR}${folder}/*")
        if(NOT entries)
            file(REMOVE_RECURSE "$ENV{DESTDIR}${folder}")
        endif()
        cmake_path(GET folder PARENT_PATH folder)
    endwhile()
endforeach()
