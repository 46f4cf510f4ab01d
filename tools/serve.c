/* `tileblas serve`: keeps the devices up for all of the user's programs. */
#include "lib/server/server.h"
#include "lib/serving/connection.h"
#include "lib/machine/device_state.h"
#include "lib/user/options.h"
#include "lib/process/clock.h"
#include "tools/server_again.h"
#include "tools/tool.h"

#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char help[] =
    "usage: tileblas serve [OPTION]\n"
    "\n"
    "Keeps the GPUs up, so that products of the user's programs run there from the first one on.\n"
    "\n"
    "  --idle SECONDS   end after so long without a program; 0, the default, is never\n"
    "  --memory MIB     of each GPU's memory that programs may have, together; 0, the default, is all\n"
    "  --status         say what the server that runs has to do\n"
    "  --stop           end it\n"
    "  --json           --status as JSON\n"
    "  --help           this\n";

static const struct option long_options[] = {{"idle", required_argument, NULL, 'i'},
                                             {"memory", required_argument, NULL, 'm'},
                                             {"status", no_argument, NULL, 's'},
                                             {"stop", no_argument, NULL, 'e'},
                                             {"json", no_argument, NULL, 'j'},
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

/* ---- The server that runs --------------------------------------------------------------------------------- */

enum { ANSWER_MILLISECONDS = 2000, STOP_SECONDS = 5 };

static int no_server(void)
{
    fputs("tileblas serve: there is no server of this build\n", stderr);
    return TOOL_FAILED;
}

static int print_status(bool as_json)
{
    tb_welcome status;
    if (!tb_ask_status(&status, ANSWER_MILLISECONDS))
        return no_server();
    if (as_json)
        printf("{\"process\": %d, \"clients\": %d, \"devices\": [", status.process, status.clients);
    else
        printf("process %d, %d clients\n", status.process, status.clients);
    for (int i = 0; i < status.device_count && i < TB_WIRE_DEVICES; i++)
        printf(as_json ? "%s{\"name\": \"%s\", \"held_mib\": %.1f}" : "%s%s: %.1f MiB held by clients\n",
               as_json && i > 0 ? ", " : "", status.descriptions[i].name,
               (double)status.held_bytes[i] / (1 << 20));
    if (as_json)
        puts("]}");
    return TOOL_OK;
}

static int stop(void)
{
    tb_welcome status;
    if (!tb_ask_status(&status, ANSWER_MILLISECONDS) || status.process <= 0)
        return no_server();
    kill(status.process, SIGTERM);
    for (int i = 0; i < STOP_SECONDS * 100 && kill(status.process, 0) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return TOOL_OK;
}

/* ---- Serving ---------------------------------------------------------------------------------------------- */

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
    int asked = 0;
    bool as_json = false;
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        switch (option) {
        case 'h':
            return tool_print(help);
        case 's':
        case 'e':
        case 'j':
            asked = asked != 0 && asked != 'j' ? asked : option;
            as_json = as_json || option == 'j';
            break;
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
    if (asked == 's' || (asked == 'j'))
        return print_status(as_json);
    if (asked == 'e')
        return stop();
    tb_set_option("SERVER", "never");
    tb_set_option("START", "wait");
    const bool is_watched_over = tool_is_watched_over();
    const double began = tb_seconds();
    const tb_server_end end = tb_serve(&options);
    if (end == TB_SERVER_LOST_DEVICE && !is_watched_over)
        tool_serve_again(argv, began);
    return report(end);
}
