# What is installed, in five components, and the packages that CPack makes of them; and what a wheel has of it:
#
#   link      libtileblas.so, its header, CMake package and pkg-config file, the documentation
#   preload   libtileblas-preload.so
#   command   the command tileblas, its man page, completions and units for systemd: tools/CMakeLists.txt
#   system    a libblas.so.3, in a folder of its own: nobody finds it there unless told to
#   system64  a libblas64.so.3, likewise
#   python    for the wheel (pyproject.toml), and only where it is asked for: libraries, the header and the command
#
# libtileblas.so has the device code for all of them: without the component link they run on the CPU.
#
# "cmake --install" installs all; the target "uninstall" removes what the last such installation put there.

include(CMakePackageConfigHelpers)
set(packages ${PROJECT_SOURCE_DIR}/cmake/packages)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/TileBLAS)
set(system_folder ${CMAKE_INSTALL_LIBDIR}/tileblas)

# ---- Libraries and header -----------------------------------------------------------------------------------

install(TARGETS tileblas EXPORT TileBLASTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT link
        NAMELINK_COMPONENT link)
install(FILES include/tileblas.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT link)
install(TARGETS tileblas-preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT preload)
foreach(width "" 64)
    install(TARGETS tileblas-provider${width} LIBRARY DESTINATION ${system_folder} COMPONENT system${width} NAMELINK_SKIP)
endforeach()

install(TARGETS tileblas tileblas-preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT python NAMELINK_SKIP
        EXCLUDE_FROM_ALL)
install(FILES include/tileblas.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT python EXCLUDE_FROM_ALL)

# ---- For CMake and pkg-config ---------------------------------------------------------------------------------

install(EXPORT TileBLASTargets NAMESPACE TileBLAS:: DESTINATION ${package_folder} COMPONENT link)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TileBLASConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${packages}/TileBLASConfig.cmake ${PROJECT_BINARY_DIR}/TileBLASConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT link)

# The prefix as seen from the file, so that an installation can be moved.
file(RELATIVE_PATH prefix_from_file ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_file ${prefix_from_file})
configure_file(${packages}/tileblas.pc.in ${PROJECT_BINARY_DIR}/tileblas.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tileblas.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT link)

# ---- Documentation and licence ---------------------------------------------------------------------------------

install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tileblas-link COMPONENT link)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tileblas-link COMPONENT link)
foreach(component link preload system system64 command)
    install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tileblas-${component} RENAME copyright
            COMPONENT ${component})
endforeach()

# ---- Removing it again ----------------------------------------------------------------------------------------

if(PROJECT_IS_TOP_LEVEL)
    configure_file(${packages}/uninstall.cmake.in ${PROJECT_BINARY_DIR}/uninstall.cmake @ONLY)
    add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_BINARY_DIR}/uninstall.cmake VERBATIM)
endif()

# ---- Debian packages -------------------------------------------------------------------------------------------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tileblas)
set(CPACK_PACKAGE_VENDOR TileBLAS)
set(CPACK_PACKAGE_CONTACT "The TileBLAS developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL link preload system system64 command)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
find_program(TILEBLAS_DPKG_SHLIBDEPS dpkg-shlibdeps DOC "Finds what a Debian package depends on")
mark_as_advanced(TILEBLAS_DPKG_SHLIBDEPS)
if(TILEBLAS_DPKG_SHLIBDEPS)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(summary "matrix products on NVIDIA GPUs behind the BLAS names")
set(CPACK_COMPONENT_LINK_DESCRIPTION "${summary}, to link with\nlibtileblas.so is linked instead of OpenBLAS.")
set(CPACK_COMPONENT_PRELOAD_DESCRIPTION
    "${summary}, to preload\nlibtileblas-preload.so is for programs that nobody recompiles.")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
    "${summary}, the command\ntileblas runs programs on it, and tells what it does and why.")
set(with_code "tileblas-link (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PRELOAD_PACKAGE_DEPENDS "${with_code}")
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "tileblas-preload (= ${PROJECT_VERSION}), ${with_code}")
set(CPACK_DEBIAN_LINK_PACKAGE_RECOMMENDS "libopenblas0 | libblas.so.3")

# Below the reference BLAS's 10, so that nothing changes until somebody chooses.
set(alternative_priority 5)
foreach(width "" 64)
    set(library libblas${width}.so.3)
    set(CPACK_COMPONENT_SYSTEM${width}_DESCRIPTION "${summary}, as the system's BLAS\n\
An alternative for ${library} that is not chosen unless asked for; see update-alternatives.")
    set(control ${PROJECT_BINARY_DIR}/packages/system${width})
    foreach(script postinst prerm)
        configure_file(${packages}/${script}.in ${control}/${script} @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE
                       OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    endforeach()
    file(CONFIGURE OUTPUT ${control}/triggers CONTENT "activate-noawait ldconfig\n")
    set(CPACK_DEBIAN_SYSTEM${width}_PACKAGE_CONTROL_EXTRA "${control}/postinst;${control}/prerm;${control}/triggers")
endforeach()
# Not providers of the virtual packages: each needs another one.
set(CPACK_DEBIAN_SYSTEM_PACKAGE_DEPENDS "${with_code}, libopenblas0 | libblas.so.3")
set(CPACK_DEBIAN_SYSTEM64_PACKAGE_DEPENDS "${with_code}, libopenblas64-0 | libblas64.so.3")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
