# Finds nvcc, turns .cu files into fat binaries, and these into data of a library or program (lib/device/code.h).
#
# Kernels are not linked by nvcc's host code: that would register them from a constructor and unregister them
# at exit. The fat binary is data, loaded through the driver when its first kernel is launched.
#
# Sets TILEBLAS_WITH_CUDA and TILEBLAS_CUDA_SUMMARY, TILEBLAS_ARCHITECTURES to what "native" is here, and TILEBLAS_FAST_KERNELS
# to OFF where nvcc cannot.

set(TILEBLAS_WITH_CUDA OFF)
set(remark "")
set(TILEBLAS_CUDA_SUMMARY "no: TILEBLAS_CUDA is OFF; every call goes to the CPU")
if(NOT TILEBLAS_CUDA STREQUAL "OFF")
    find_package(CUDAToolkit 12.0 QUIET)
    if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE)
        set(TILEBLAS_WITH_CUDA ON)
        if(TILEBLAS_ARCHITECTURES STREQUAL "native")
            include(TileblasNative)
            tileblas_find_native(${CUDAToolkit_NVCC_EXECUTABLE} TILEBLAS_ARCHITECTURES remark)
        endif()
        set(TILEBLAS_CUDA_SUMMARY "toolkit ${CUDAToolkit_VERSION}, architectures ${TILEBLAS_ARCHITECTURES}${remark}")
        if(CUDAToolkit_VERSION VERSION_LESS 13.0)
            set(TILEBLAS_FAST_KERNELS OFF)
        elseif(TILEBLAS_FAST_KERNELS)
            string(APPEND TILEBLAS_CUDA_SUMMARY ", stand-ins")
        endif()
    elseif(TILEBLAS_CUDA STREQUAL "ON")
        message(FATAL_ERROR "TILEBLAS_CUDA is ON, but no CUDA toolkit (12.0 or later) with nvcc was found. "
                            "Put nvcc on the PATH or set CUDAToolkit_ROOT; with TILEBLAS_CUDA=OFF the library "
                            "is built without kernels.")
    else()
        set(TILEBLAS_CUDA_SUMMARY "no: nvcc was not found; every call goes to the CPU")
    endif()
endif()

if(TILEBLAS_ARCHITECTURES STREQUAL "native") # and nothing is compiled
    set(TILEBLAS_ARCHITECTURES all-major)
endif()

# nvcc's flags for a list of architectures: "all-major", or numbers such as 75 or 90a. The newest plain one is
# also kept as PTX for chips that come later, unless no GPU runs this build: to compress it takes a fifth of a quick compilation.
function(tileblas_architecture_flags architectures result)
    if(architectures STREQUAL "all-major")
        set(${result} -arch=all-major PARENT_SCOPE)
        return()
    endif()
    set(flags "")
    foreach(architecture IN LISTS architectures)
        list(APPEND flags -gencode arch=compute_${architecture},code=sm_${architecture})
    endforeach()
    tileblas_newest_of(newest ${architectures})
    if(newest AND NOT TILEBLAS_FAST_KERNELS)
        list(APPEND flags -gencode arch=compute_${newest},code=compute_${newest})
    endif()
    set(${result} ${flags} PARENT_SCOPE)
endfunction()

# Whether code for a compute capability from `least` on, and before `end`, is built: 1 or 0.
function(tileblas_builds_for least end result)
    set(built 0)
    foreach(architecture IN LISTS TILEBLAS_ARCHITECTURES)
        string(REGEX MATCH "^[0-9]+" number "${architecture}")
        if(architecture STREQUAL "all-major" OR (number GREATER_EQUAL least AND number LESS end))
            set(built 1)
        endif()
    endforeach()
    set(${result} ${built} PARENT_SCOPE)
endfunction()

# The newest plain one of a list, of which PTX is kept; empty where there is none.
function(tileblas_newest_of result)
    set(newest "")
    foreach(architecture IN LISTS ARGN)
        if(architecture MATCHES "^[0-9]+$" AND (newest STREQUAL "" OR architecture GREATER newest))
            set(newest ${architecture})
        endif()
    endforeach()
    set(${result} "${newest}" PARENT_SCOPE)
endfunction()

# Whether, too, no chip of that kind runs PTX from before `least`: chips without code of their own run that of the newest
# plain architecture.
function(tileblas_all_run_code_from least end result)
    tileblas_builds_for(${least} ${end} built)
    tileblas_newest_of(newest ${TILEBLAS_ARCHITECTURES})
    if(newest AND newest LESS least)
        set(built 0)
    endif()
    set(${result} ${built} PARENT_SCOPE)
endfunction()

# What lib/device/built_for.h asks: C's words for the architectures, numbers with commas, and for PTX. The major ones, from 75
# on, are all.
function(tileblas_list_code architectures ptx)
    set(numbers 75)
    set(newest 75)
    if(NOT TILEBLAS_ARCHITECTURES STREQUAL "all-major")
        string(REGEX MATCHALL "[0-9]+" numbers "${TILEBLAS_ARCHITECTURES}")
        tileblas_newest_of(newest ${TILEBLAS_ARCHITECTURES})
    endif()
    if(TILEBLAS_FAST_KERNELS OR NOT newest)
        set(newest 0)
    endif()
    list(JOIN numbers "," numbers)
    set(${architectures} "${numbers}" PARENT_SCOPE)
    set(${ptx} ${newest} PARENT_SCOPE)
endfunction()

# tileblas_compile_kernels(result [ARCHITECTURES list] file.cu ...)
# Has each file, of the source or the build folder, compiled to a fat binary, whose path is appended to the result. Without
# nvcc it does nothing. With TILEBLAS_FAST_KERNELS the first file of all is compiled, for one architecture, and the binaries of the
# others are copies of its binary: what a build without a GPU is for is that libraries have code at all.
function(tileblas_compile_kernels result)
    cmake_parse_arguments(PARSE_ARGV 1 compile "" "" "ARCHITECTURES")
    if(NOT TILEBLAS_WITH_CUDA)
        return()
    endif()
    if(NOT compile_ARCHITECTURES)
        set(compile_ARCHITECTURES ${TILEBLAS_ARCHITECTURES})
    endif()
    # A chip of 8.x takes no kernel of its own from a build without its architecture.
    tileblas_builds_for(80 90 code_for_80)
    if(NOT code_for_80)
        list(REMOVE_ITEM compile_ARCHITECTURES 80)
    endif()
    if(TILEBLAS_FAST_KERNELS)
        list(GET compile_ARCHITECTURES 0 compile_ARCHITECTURES)
    endif()
    tileblas_architecture_flags("${compile_ARCHITECTURES}" flags)
    if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
        list(APPEND flags -lineinfo) # for profilers; it triples the size
    endif()
    # What is compressed takes a driver of CUDA 12.4 or later, which is no question from 13 on.
    set(compress "${TILEBLAS_COMPRESS}")
    if(compress STREQUAL "auto")
        set(compress "")
        if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
            set(compress size)
        endif()
    endif()
    if(compress AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8)
        list(APPEND flags --compress-mode=${compress})
    endif()
    if(TILEBLAS_FAST_KERNELS)
        list(APPEND flags --Ofast-compile max --compress-mode=size) # such code is three times as large
    endif()
    get_property(compiled GLOBAL PROPERTY TILEBLAS_STAND_IN)
    foreach(source IN LISTS compile_UNPARSED_ARGUMENTS)
        set(path ${CMAKE_CURRENT_SOURCE_DIR}/${source})
        if(NOT EXISTS ${path})
            set(path ${CMAKE_CURRENT_BINARY_DIR}/${source})
        endif()
        set(binary ${CMAKE_CURRENT_BINARY_DIR}/${source}.fatbin)
        get_filename_component(folder ${binary} DIRECTORY)
        file(MAKE_DIRECTORY ${folder})
        list(APPEND ${result} ${binary})
        if(TILEBLAS_FAST_KERNELS AND compiled)
            add_custom_command(OUTPUT ${binary} COMMAND ${CMAKE_COMMAND} -E copy ${compiled} ${binary} DEPENDS ${compiled} VERBATIM)
            continue()
        endif()
        set(compiled ${binary})
        set_property(GLOBAL PROPERTY TILEBLAS_STAND_IN ${binary})
        add_custom_command(
            OUTPUT ${binary}
            COMMAND ${PROJECT_SOURCE_DIR}/cmake/compile_kernel.sh ${binary}.ptxas ${CUDAToolkit_NVCC_EXECUTABLE} -fatbin -std=c++17 ${flags} --threads 0
                    -Xptxas -warn-spills -I${PROJECT_SOURCE_DIR} -MD -MF ${binary}.d -o ${binary}
                    ${path}
            DEPENDS ${path} ${PROJECT_SOURCE_DIR}/cmake/compile_kernel.sh
            BYPRODUCTS ${binary}.ptxas
            DEPFILE ${binary}.d
            COMMENT "Compiling kernel ${source}"
            VERBATIM)
    endforeach()
    set(${result} ${${result}} PARENT_SCOPE)
endfunction()

# tileblas_add_code(target binary...)
# An object library that holds fat binaries, each under its file's name, as tb_own_code. Its folder is on the include path of
# the targets that tileblas_know_code names: they find these binaries, and no others, in a file that holds them.
function(tileblas_add_code target)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
    set(TB_INDEX "")
    set(TB_BINARIES "")
    foreach(binary IN LISTS ARGN)
        get_filename_component(stem ${binary} NAME_WE)
        string(APPEND TB_INDEX "    .quad .Lname_${stem} - tb_own_code, .Lbinary_${stem} - tb_own_code\n")
        string(APPEND TB_BINARIES ".Lname_${stem}:\n    .asciz \"${stem}\"\n    .balign 64\n"
                                  ".Lbinary_${stem}:\n    .incbin \"${binary}\"\n")
    endforeach()
    list(LENGTH ARGN TB_COUNT)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/code.S.in ${folder}/code.S @ONLY)
    add_custom_command(OUTPUT ${folder}/tb_code_identity.h
                       COMMAND ${CMAKE_COMMAND} -D "BINARIES=${ARGN}" -D HEADER=${folder}/tb_code_identity.h
                               -P ${PROJECT_SOURCE_DIR}/cmake/code_identity.cmake
                       DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/code_identity.cmake VERBATIM)
    add_custom_target(${target}_identity DEPENDS ${ARGN} ${folder}/tb_code_identity.h)
    add_library(${target} OBJECT ${folder}/code.S)
    set_source_files_properties(${folder}/code.S PROPERTIES OBJECT_DEPENDS "${ARGN};${folder}/tb_code_identity.h")
    tileblas_know_code(${target} ${target})
endfunction()

# tileblas_know_code(code target...)
function(tileblas_know_code code)
    foreach(target IN LISTS ARGN)
        target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${code})
        add_dependencies(${target} ${code}_identity)
    endforeach()
endfunction()
