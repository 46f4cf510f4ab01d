# Writes a unit of systemd's as the command that was built prints it, which alone knows the name of its socket. Where that will be
# installed the command is found by its name: systemd looks into bin of /usr and of /usr/local.
#
#   cmake -D COMMAND=build/tileblas -D KIND=socket -D OUTPUT=tileblas.socket -P unit.cmake
execute_process(COMMAND ${COMMAND} serve --unit ${KIND} OUTPUT_VARIABLE unit COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "ExecStart=[^ ]+" "ExecStart=tileblas" unit "${unit}")
file(WRITE ${OUTPUT} "${unit}")
