/* Units of systemd's, with which the user's own instance of it opens the server's socket, and starts the server for the first program that
 * comes. The socket's name tells builds apart, so that only the command itself knows it: packages have these texts from it, too.
 */
#include "lib/serving/wire.h"
#include "tools/server.h"
#include "tools/tool.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The folder is one that only the user can look into: programs go to no other. */
static const char socket_unit[] = "[Unit]\n"
                                  "Description=Socket of the server that keeps GPUs up (TileBLAS)\n"
                                  "\n"
                                  "[Socket]\n"
                                  "ListenSequentialPacket=%%t/tileblas/%s\n"
                                  "DirectoryMode=0700\n"
                                  "SocketMode=0600\n"
                                  "RemoveOnStop=yes\n"
                                  "\n"
                                  "[Install]\n"
                                  "WantedBy=sockets.target\n";

static const char service_unit[] =
    "[Unit]\n"
    "Description=Server that keeps GPUs up for the user's programs (TileBLAS)\n"
    "\n"
    "[Service]\n"
    "ExecStart=%s serve\n";

static int print_socket_unit(void)
{
    char name[TB_WIRE_NAME_SIZE];
    tb_wire_socket_name(name, sizeof name);
    printf(socket_unit, name);
    return tool_print("");
}

static int print_service_unit(void)
{
    char command[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);
    command[length > 0 ? length : 0] = '\0';
    /* What a unit would take for something else. */
    if (length <= 0 || strpbrk(command, " \t\n\"'\\%$;")) {
        tool_complain("serve", "%s cannot stand in a unit: its path has a blank or a sign of systemd's",
                      command);
        return TOOL_FAILED;
    }
    printf(service_unit, command);
    return tool_print("");
}

int server_print_unit(const char *kind)
{
    if (strcmp(kind, "socket") == 0)
        return print_socket_unit();
    if (strcmp(kind, "service") == 0)
        return print_service_unit();
    return tool_usage("serve", "a unit is 'socket' or 'service'");
}
