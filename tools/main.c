/* The `tileblas` command: runs programs on TileBLAS, and explains what it does and why. */
#include "lib/user/options.h"
#include "tools/tool.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: tileblas SUBCOMMAND [ARGUMENT]...\n"
    "\n"
    "  run -- PROGRAM [ARGUMENT]...   run a program, its products taken over, and sum up where they went\n"
    "  show FILE                      a page of where products of other programs went\n"
    "  info                           what is here: GPUs, driver, host BLAS, kernels, options in force\n"
    "  explain M N K                  how a product of that shape would be computed, and why\n"
    "  forecast FILE                  what a recorded program's products would take with another GPU\n"
    "  bench [SHAPE]...               TileBLAS, the host BLAS and cuBLAS side by side\n"
    "  tune                           learn what this machine takes, and keep it for later programs\n"
    "  serve                          keep the devices up for all of the user's programs\n"
    "\n"
    "  --help                         this; 'tileblas SUBCOMMAND --help' for one of them\n"
    "  --version\n"
    "\n"
    "Exit status: 0 success, 1 failure, 2 wrong usage; run ends as its program does.\n"
    "The environment variables TILEBLAS_ROUTE, TILEBLAS_KERNEL and others steer all of them: 'tileblas "
    "info'.\n";

static const struct {
    const char *name, *full_name;
    int (*main)(int argc, char **argv);
} subcommands[] = {
    {"run", "tileblas run", tool_run},
    {"show", "tileblas show", tool_show},
    {"info", "tileblas info", tool_info},
    {"explain", "tileblas explain", tool_explain},
    {"forecast", "tileblas forecast", tool_forecast},
    {"bench", "tileblas bench", tool_bench},
    {"tune", "tileblas tune", tool_tune},
    {"serve", "tileblas serve", tool_serve},
};

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs(help, stderr);
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return tool_print(help);
    if (strcmp(argv[1], "--version") == 0)
        return tool_print("tileblas " TB_VERSION "\n");
    for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0) {
            char name[32];
            snprintf(name, sizeof name, "%s", subcommands[i].full_name);
            argv[1] = name; /* what getopt puts before its complaints */
            int status = subcommands[i].main(argc - 1, argv + 1);
            /* The command carries the runtime, whose summary would be about nothing. */
            tb_set_option("STATS", "0");
            return status;
        }
    fprintf(stderr, "tileblas: there is no subcommand '%s'\nTry 'tileblas --help'.\n", argv[1]);
    return TOOL_USAGE;
}
