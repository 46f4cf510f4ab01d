# Turns lists of names (compat/forward/*.list) into trampolines and into the exported names of a library.

# The names of the files, without comments and without those that are taken over. CMake runs again when a file changes.
function(tileblas_read_names result)
    set(all "")
    foreach(file IN LISTS ARGN)
        file(STRINGS ${PROJECT_SOURCE_DIR}/${file} names REGEX "^[A-Za-z]")
        list(APPEND all ${names})
        set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                     ${PROJECT_SOURCE_DIR}/${file})
    endforeach()
    list(REMOVE_ITEM all ${TILEBLAS_SPELLINGS})
    set(${result} ${all} PARENT_SCOPE)
endfunction()

# tileblas_add_forward(target BLAS file... [LAPACK file...] PLAIN_BITS bits)
# An object library with a trampoline for each name. Those of BLAS come first: resolve.c tells them by that. The bits are
# those of the core that it goes with.
function(tileblas_add_forward target)
    cmake_parse_arguments(PARSE_ARGV 1 forward "" PLAIN_BITS "BLAS;LAPACK")
    tileblas_read_names(names ${forward_BLAS})
    list(LENGTH names blas_count)
    tileblas_read_names(lapack_names ${forward_LAPACK})
    list(APPEND names ${lapack_names})
    list(TRANSFORM names PREPEND "    forward ")
    list(JOIN names "\n" stamps)
    set(folder ${PROJECT_BINARY_DIR}/compat/${target})
    file(CONFIGURE OUTPUT ${folder}/tb_forwarded.inc CONTENT "${stamps}\n")

    set(sources ${PROJECT_SOURCE_DIR}/compat/forward)
    add_library(${target} OBJECT ${sources}/load.c ${sources}/resolve.c ${sources}/trampolines.S)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${folder})
    target_compile_definitions(${target} PRIVATE TB_FORWARD_BLAS_COUNT=${blas_count}
                               TB_PLAIN_BITS=${forward_PLAIN_BITS} TB_FORWARDS_LAPACK=$<BOOL:${forward_LAPACK}>)
    target_compile_options(${target} PRIVATE -fno-plt)
    set_source_files_properties(${sources}/trampolines.S PROPERTIES OBJECT_DEPENDS ${folder}/tb_forwarded.inc)
endfunction()

# tileblas_write_map(result name [WITHOUT_LAPACK] file...)
# A map file in the build folder: the names of compat/tileblas.map, those that are taken over, or of these BLAS's alone, and those of the
# files. Its path goes to result.
function(tileblas_write_map result name)
    cmake_parse_arguments(PARSE_ARGV 2 own "WITHOUT_LAPACK" "" "")
    set(map compat/tileblas.map)
    tileblas_read_names(names ${own_UNPARSED_ARGUMENTS})
    list(PREPEND names ${TILEBLAS_SPELLINGS})
    if(own_WITHOUT_LAPACK)
        list(REMOVE_ITEM names ${TILEBLAS_LAPACK_SPELLINGS})
    endif()
    list(TRANSFORM names PREPEND "    ")
    list(TRANSFORM names APPEND "\;")
    list(JOIN names "\n" names)
    file(READ ${PROJECT_SOURCE_DIR}/${map} text)
    string(REPLACE "global:" "global:\n${names}\n" text "${text}")
    set(path ${PROJECT_BINARY_DIR}/compat/${name}.map)
    file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${map})
    set(${result} ${path} PARENT_SCOPE)
endfunction()
