# The device code of the SIMT family: one file for each row of kernels/simt/shapes.def. The build has them written when it is
# configured; tests/ptxas, which needs no build, by
#
#   cmake -D FOLDER=folder -P cmake/TileblasShapes.cmake

# tileblas_write_shapes(folder result)
# Writes kernels/simt/sgemm_simt_<name>.cu into the folder: sgemm_simt.cu.in with the fields of a row. The files' names, as
# from the folder, go to result. A file changes, and is compiled again, only when a field changes that it is made of.
function(tileblas_write_shapes folder result)
    set(simt ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../kernels/simt)
    set(row_begins "TB_SIMT_SHAPE(name(")
    file(READ ${simt}/shapes.def rest)
    set(files "")
    string(FIND "${rest}" "${row_begins}" begin)
    while(begin GREATER_EQUAL 0)
        string(SUBSTRING "${rest}" ${begin} -1 rest)
        string(FIND "${rest}" "))\n" end)
        string(SUBSTRING "${rest}" 0 ${end} row)
        string(SUBSTRING "${rest}" ${end} -1 rest)
        foreach(field name runs_on tile_m tile_n tile_k slices thread_m thread_n lanes_m stages launch_bound words
                      words_at_a_time)
            if(NOT row MATCHES "[ (]${field}\\(([^)]*)\\)")
                message(FATAL_ERROR "kernels/simt/shapes.def: no field ${field} in\n${row}")
            endif()
            set(${field} ${CMAKE_MATCH_1})
        endforeach()
        set(file kernels/simt/sgemm_simt_${name}.cu)
        configure_file(${simt}/sgemm_simt.cu.in ${folder}/${file} @ONLY)
        list(APPEND files ${file})
        string(FIND "${rest}" "${row_begins}" begin)
    endwhile()
    set(${result} ${files} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    tileblas_write_shapes(${FOLDER} files)
endif()
