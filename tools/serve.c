/* `tileblas serve`: keeps the devices up for all of the user's programs. */
#include "lib/serving/greeting.h"
#include "lib/user/options.h"
#include "tools/server.h"
#include "tools/tool.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tileblas serve [OPTION]...\n"
    "\n"
    "Keeps the GPUs up, so that products of the user's programs run there from the first one on: of programs "
    "with\n"
    "TILEBLAS_SERVER=auto.\n"
    "\n"
    "  --start          in the background; returns when the server answers\n"
    "  --idle SECONDS   end after so long without a program; 0 is never; 900 with --start, else 0\n"
    "  --memory MIB     of each GPU's memory that programs may have, together; 0, the default, is all\n"
    "  --devices LIST   which of the machine's GPUs, as in 0,2; all unless given\n"
    "  --socket PATH    the server's socket, for programs with TILEBLAS_SERVER=PATH; with --status and "
    "--stop,\n"
    "                   of the server that is meant\n"
    "  --status         what the server that runs has to do: clients, memory, and the share of the last "
    "second in\n"
    "                   which each GPU was at work\n"
    "  --stop           end it\n"
    "  --json           --status as JSON\n"
    "  --unit UNIT      print the socket or the service for systemd, which starts the server for the first "
    "program\n"
    "  --help           this\n";

typedef enum action { SERVE, START, STATUS, STOP, UNIT, HELP } action;

typedef struct settings {
    action action;
    bool as_json, has_idle;
    const char *unit;
    tb_server_options server;
} settings;

enum { IDLE = 1, MEMORY, DEVICES, SOCKET, UNIT_OPTION, JSON, ACTION };

static const struct option long_options[] = {{"start", no_argument, NULL, ACTION + START},
                                             {"status", no_argument, NULL, ACTION + STATUS},
                                             {"stop", no_argument, NULL, ACTION + STOP},
                                             {"help", no_argument, NULL, ACTION + HELP},
                                             {"unit", required_argument, NULL, UNIT_OPTION},
                                             {"json", no_argument, NULL, JSON},
                                             {"idle", required_argument, NULL, IDLE},
                                             {"memory", required_argument, NULL, MEMORY},
                                             {"devices", required_argument, NULL, DEVICES},
                                             {"socket", required_argument, NULL, SOCKET},
                                             {NULL, 0, NULL, 0}};

/* A number that is not less than 0; false where the text is none. */
static bool read_number(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && *number >= 0 && *number < 1e12;
}

static bool read_memory(const char *text, uint64_t *bytes)
{
    double mib;
    if (!read_number(text, &mib))
        return false;
    *bytes = (uint64_t)(mib * (1 << 20));
    return true;
}

/* Ordinals with commas between them, as a bit for each. */
static bool read_devices(const char *text, uint64_t *devices)
{
    for (*devices = 0;; text++) {
        char *end;
        const unsigned long device = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || device > 63)
            return false;
        *devices |= UINT64_C(1) << device;
        text = end;
        if (*text != ',')
            return *text == '\0';
    }
}

/* The server that is meant from now on, by whatever asks for one. */
static bool name_socket(const char *path)
{
    char folder[PATH_MAX], whole[2 * PATH_MAX];
    if (*path == '/')
        return tb_set_option("SERVER", path);
    return *path && realpath(".", folder) &&
           snprintf(whole, sizeof whole, "%s/%s", folder, path) < (int)sizeof whole &&
           tb_set_option("SERVER", whole);
}

/* False: it cannot be that. */
static bool apply(int option, const char *value, settings *settings)
{
    switch (option) {
    case IDLE:
        settings->has_idle = true;
        return read_number(value, &settings->server.idle_seconds);
    case MEMORY:
        return read_memory(value, &settings->server.memory_most);
    case DEVICES:
        return read_devices(value, &settings->server.devices);
    case SOCKET:
        return name_socket(value);
    case JSON:
        settings->as_json = true;
        break;
    case UNIT_OPTION:
        settings->unit = value;
        settings->action = UNIT;
        break;
    default:
        settings->action = (action)(option - ACTION);
    }
    return true;
}

static int act(const settings *settings)
{
    switch (settings->action) {
    case HELP:
        return tool_print(help);
    case STATUS:
        return server_print_status(settings->as_json);
    case STOP:
        return server_stop();
    case UNIT:
        return server_print_unit(settings->unit);
    case START:
        return server_start("serve", settings->server);
    case SERVE:
        break;
    }
    return server_serve(settings->server);
}

int tool_serve(int argc, char **argv)
{
    settings settings = {.action = SERVE};
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        if (option == '?')
            return tool_usage("serve", "wrong option");
        if (!apply(option, optarg, &settings))
            return tool_usage("serve", "what is '%s'?", optarg);
    }
    if (optind < argc)
        return tool_usage("serve", "what is '%s'?", argv[optind]);
    if (settings.as_json && settings.action == SERVE)
        settings.action = STATUS;
    if (settings.action == START && !settings.has_idle)
        settings.server.idle_seconds = SERVER_IDLE_SECONDS;
    if (tb_option_value(TB_OPTION_SERVER) == TB_SERVER_PATH)
        settings.server.path = tb_option_text(TB_OPTION_SERVER);
    return act(&settings);
}
