# What TILEBLAS_ARCHITECTURES=native is: the architectures of this machine's GPUs, as its driver's nvidia-smi names them.

# The architectures that nvcc can compile for: 75, 80 and so on.
function(tileblas_list_offered nvcc result)
    execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE said ERROR_QUIET)
    string(REGEX MATCHALL "compute_[0-9]+" offered "${said}")
    list(TRANSFORM offered REPLACE "compute_" "")
    set(${result} ${offered} PARENT_SCOPE)
endfunction()

# Compute capabilities of this machine's GPUs as numbers: 90 is 9.0.
function(tileblas_list_gpus result)
    find_program(TILEBLAS_NVIDIA_SMI nvidia-smi DOC "Tells which GPUs this machine has")
    mark_as_advanced(TILEBLAS_NVIDIA_SMI)
    set(said "")
    if(TILEBLAS_NVIDIA_SMI)
        execute_process(COMMAND ${TILEBLAS_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader TIMEOUT 60
                        OUTPUT_VARIABLE said ERROR_QUIET)
    endif()
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${said}")
    list(TRANSFORM capabilities REPLACE "\\." "")
    set(${result} ${capabilities} PARENT_SCOPE)
endfunction()

# tileblas_find_native(nvcc architectures remark)
# A list, and how to say so. For a GPU that is newer than the toolkit it has the newest architecture that nvcc offers, of which
# PTX is kept. Where there is no GPU that kernels can be built for, as while a container's image is made or on a cluster's
# front end, it is all-major: what is built is to run elsewhere.
function(tileblas_find_native nvcc architectures remark)
    tileblas_list_offered(${nvcc} offered)
    tileblas_list_gpus(gpus)
    set(found "")
    foreach(gpu IN LISTS gpus)
        set(best "")
        foreach(architecture IN LISTS offered)
            if(architecture GREATER_EQUAL 75 AND architecture LESS_EQUAL gpu AND (best STREQUAL "" OR architecture GREATER best))
                set(best ${architecture})
            endif()
        endforeach()
        list(APPEND found ${best})
    endforeach()
    list(REMOVE_DUPLICATES found)
    list(SORT found COMPARE NATURAL)
    if(found)
        set(${architectures} ${found} PARENT_SCOPE)
        set(${remark} ", this machine's; TILEBLAS_ARCHITECTURES=all-major builds for other machines" PARENT_SCOPE)
    else()
        set(${architectures} all-major PARENT_SCOPE)
        set(${remark} ", as no GPU is visible here; TILEBLAS_ARCHITECTURES=90, for one, builds in less time" PARENT_SCOPE)
    endif()
endfunction()
