/* `tileblas serve`: keeps the devices up for all of the user's programs. */
#include "lib/server/server.h"
#include "lib/machine/device_state.h"
#include "lib/user/options.h"
#include "tools/tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: tileblas serve [OPTION]\n"
    "\n"
    "Keeps the GPUs up, so that products of the user's programs run there from the first one on.\n"
    "\n"
    "  --idle SECONDS   end after so long without a program; 0, the default, is never\n"
    "  --memory MIB     of each GPU's memory that programs may have, together; 0, the default, is all\n"
    "  --help           this\n";

static const struct option long_options[] = {{"idle", required_argument, NULL, 'i'},
                                             {"memory", required_argument, NULL, 'm'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

/* A number that is not less than 0; false where the text is none. */
static bool read_number(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && *number >= 0 && *number < 1e12;
}

static int complain(const char *what)
{
    fprintf(stderr, "tileblas serve: %s\n", what);
    return TOOL_FAILED;
}

static int report(tb_server_end end)
{
    switch (end) {
    case TB_SERVER_STOPPED:
        return TOOL_OK;
    case TB_SERVER_IS_THERE_ALREADY:
        return complain("there is a server already");
    case TB_SERVER_HAS_NO_DEVICE:
        return complain(tb_why_no_device());
    case TB_SERVER_HAS_NO_SOCKET:
        return complain("there is no folder for its socket that is the user's alone");
    case TB_SERVER_LOST_DEVICE:
        break;
    }
    return complain("the device was lost");
}

int tool_serve(int argc, char **argv)
{
    tb_server_options options = {0};
    double number;
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        switch (option) {
        case 'h':
            return tool_print(help);
        case 'i':
        case 'm':
            if (!read_number(optarg, &number)) {
                fprintf(stderr, "tileblas serve: '%s' is no number\n", optarg);
                return TOOL_USAGE;
            }
            if (option == 'i')
                options.idle_seconds = number;
            else
                options.memory_most = (uint64_t)number << 20;
            break;
        default:
            return TOOL_USAGE;
        }
    if (optind < argc) {
        fputs(help, stderr);
        return TOOL_USAGE;
    }
    tb_set_option("SERVER", "never");
    tb_set_option("START", "wait");
    return report(tb_serve(&options));
}
