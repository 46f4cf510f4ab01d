# The device code of families of shapes: one file for each row of kernels/simt/shapes.def, kernels/fp64/shapes.def and
# kernels/fp64/shapes_complex.def. The build has them written when it is configured; tests/ptxas, which needs no build, by
#
#   cmake -D FOLDER=folder -P cmake/TileblasShapes.cmake
#
# A file changes, and is compiled again, only when something changes that it is made of.

set(tileblas_kernels ${CMAKE_CURRENT_LIST_DIR}/../kernels)

# tileblas_read_shapes(table macro result)
# The rows of a table in kernels/, as far as their last fields.
function(tileblas_read_shapes table macro result)
    set(row_begins "${macro}(name(")
    file(READ ${tileblas_kernels}/${table} rest)
    set(rows "")
    string(FIND "${rest}" "${row_begins}" begin)
    while(begin GREATER_EQUAL 0)
        string(SUBSTRING "${rest}" ${begin} -1 rest)
        string(FIND "${rest}" "))\n" end)
        string(SUBSTRING "${rest}" 0 ${end} row)
        string(SUBSTRING "${rest}" ${end} -1 rest)
        list(APPEND rows "${row}")
        string(FIND "${rest}" "${row_begins}" begin)
    endwhile()
    set(${result} "${rows}" PARENT_SCOPE)
    if(NOT CMAKE_SCRIPT_MODE_FILE)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tileblas_kernels}/${table})
    endif()
endfunction()

# tileblas_take_fields(table row field ...)
# A variable of each field's name has its value.
macro(tileblas_take_fields table row)
    foreach(field ${ARGN})
        if(NOT "${row}" MATCHES "[ (]${field}\\(([^)]*)\\)")
            message(FATAL_ERROR "kernels/${table}: no field ${field} in\n${row}")
        endif()
        set(${field} ${CMAKE_MATCH_1})
    endforeach()
endmacro()

# tileblas_write_simt(folder result)
# Writes kernels/simt/sgemm_simt_<name>.cu into the folder: sgemm_simt.cu.in with the fields of a row. The files' names, as
# from the folder, go to result.
function(tileblas_write_simt folder result)
    tileblas_read_shapes(simt/shapes.def TB_SIMT_SHAPE rows)
    set(files "")
    foreach(row IN LISTS rows)
        tileblas_take_fields(simt/shapes.def "${row}" name runs_on tile_m tile_n tile_k slices thread_m thread_n lanes_m stages
                             launch_bound words words_at_a_time)
        set(file kernels/simt/sgemm_simt_${name}.cu)
        configure_file(${tileblas_kernels}/simt/sgemm_simt.cu.in ${folder}/${file} @ONLY)
        list(APPEND files ${file})
    endforeach()
    set(${result} ${files} PARENT_SCOPE)
endfunction()

# tileblas_write_mma(folder result result_90a)
# The same of kernels/fp64/dgemm_mma_<name>.cu and zgemm_mma_<name>.cu, from dgemm_mma.cu.in. Those whose first chip is of 9.0
# are compiled for it alone: their warps take over registers of others, which 90a knows. They go to result_90a.
function(tileblas_write_mma folder result result_90a)
    set(files_80 "")
    set(files_90 "")
    foreach(of "shapes.def TB_DGEMM_SHAPE dgemm_mma shape" "shapes_complex.def TB_ZGEMM_SHAPE zgemm_mma shape_complex")
        separate_arguments(of UNIX_COMMAND "${of}")
        list(POP_FRONT of table macro family shape)
        tileblas_read_shapes(fp64/${table} ${macro} rows)
        foreach(row IN LISTS rows)
            set(alignment 2)
            set(what " for complex numbers")
            tileblas_take_fields(fp64/${table} "${row}" name first)
            if(family STREQUAL "dgemm_mma")
                set(what "")
                tileblas_take_fields(fp64/${table} "${row}" alignment)
            endif()
            set(stamped ALL)
            if(alignment GREATER 1)
                set(stamped ALIGNED)
            endif()
            set(file kernels/fp64/${family}_${name}.cu)
            configure_file(${tileblas_kernels}/fp64/dgemm_mma.cu.in ${folder}/${file} @ONLY)
            list(APPEND files_${first} ${file})
        endforeach()
    endforeach()
    set(${result} ${files_80} PARENT_SCOPE)
    set(${result_90a} ${files_90} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    tileblas_write_simt(${FOLDER} files)
    tileblas_write_mma(${FOLDER} files files_90a)
    list(JOIN files_90a "\n" names)
    file(WRITE ${FOLDER}/built_for_90a "${names}\n")
endif()
