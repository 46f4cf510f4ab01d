# What TILEBLAS_ARCHITECTURES=native finds: with a driver's nvidia-smi and a toolkit's nvcc that say what GPUs and
# architectures there are.
#
#   cmake -D CMAKE_FOLDER=FOLDER -P native.cmake     FOLDER has TileblasNative.cmake
include(${CMAKE_FOLDER}/TileblasNative.cmake)
string(RANDOM LENGTH 12 name)
set(folder /tmp/tileblas-native-${name})

function(offer program text)
    file(WRITE ${folder}/${program} "#!/bin/sh\nprintf '${text}'\n")
    file(CHMOD ${folder}/${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

function(expect gpus offered wanted)
    offer(nvidia-smi "${gpus}")
    offer(nvcc "${offered}")
    tileblas_find_native(${folder}/nvcc found remark)
    if(NOT found STREQUAL wanted)
        file(REMOVE_RECURSE ${folder})
        message(FATAL_ERROR "for GPUs ${gpus} and a toolkit of ${offered} it is ${found}${remark}, and not ${wanted}")
    endif()
endfunction()

set(ENV{PATH} ${folder}:$ENV{PATH})
set(CUDA13 "compute_75\\ncompute_80\\ncompute_86\\ncompute_90\\ncompute_100\\ncompute_120\\n")
set(CUDA12 "compute_50\\ncompute_70\\ncompute_75\\ncompute_80\\ncompute_90\\n")
expect("9.0\\n9.0\\n" "${CUDA13}" 90)
expect("12.0\\n8.6\\n" "${CUDA13}" "86;120")
expect("12.0\\n" "${CUDA12}" 90)                # newer than the toolkit
expect("8.9\\n" "${CUDA12}" 80)                 # of which an older one's code runs
expect("7.0\\n" "${CUDA12}" all-major)          # older than the kernels
expect("7.0\\n7.5\\n" "${CUDA12}" 75)
expect("No devices were found\\n" "${CUDA13}" all-major)
expect("9.0\\n" "nvcc fatal\\n" all-major)
file(REMOVE ${folder}/nvidia-smi)
unset(TILEBLAS_NVIDIA_SMI CACHE)
set(ENV{PATH} ${folder})
tileblas_find_native(${folder}/nvcc found remark)
file(REMOVE_RECURSE ${folder})
if(NOT found STREQUAL "all-major" OR NOT remark MATCHES "no GPU is visible")
    message(FATAL_ERROR "without a driver it is ${found}${remark}")
endif()
