# cmake -D BINARIES=FILE;... -D HEADER=FILE -P code_identity.cmake: writes the header that says which fat binaries a build has.
set(all "")
foreach(binary IN LISTS BINARIES)
    get_filename_component(stem ${binary} NAME_WE)
    file(SHA256 ${binary} sum)
    string(APPEND all "${stem} ${sum}\n")
endforeach()
string(SHA256 identity "${all}")
file(WRITE ${HEADER} "#define TB_CODE_IDENTITY \"${identity}\"\n")
