# find_package(TileBLAS) gives the target TileBLAS::tileblas.
include(${CMAKE_CURRENT_LIST_DIR}/TileBLASTargets.cmake)
