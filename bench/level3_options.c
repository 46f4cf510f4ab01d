#include "bench/level3_options.h"

#include "bench/lists.h"
#include "bench/routine.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void explain_usage(void)
{
    fprintf(
        stderr,
        "usage: level3 [--host | --pairs] [--itself] [--routine NAMES] [--size SIZES] [--columns N] [--k K] "
        "[--right] [--apart] [--seconds SECONDS] [--json FILE]\n");
    exit(2);
}

static bool is_measured(const char *name)
{
    return bench_find_any_routine(name) != NULL;
}

/* Whether the text lists sizes, and not too many. */
static bool read_sizes(const char *text, level3_options *options)
{
    options->size_count = bench_read_sizes(text, options->sizes, LEVEL3_SIZES_MOST);
    return options->size_count > 0;
}

level3_options level3_read_options(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"host", no_argument, NULL, 'h'},          {"itself", no_argument, NULL, 'i'},
        {"routine", required_argument, NULL, 'r'}, {"size", required_argument, NULL, 'n'},
        {"columns", required_argument, NULL, 'c'}, {"k", required_argument, NULL, 'k'},
        {"right", no_argument, NULL, 'R'},         {"apart", no_argument, NULL, 'a'},
        {"seconds", required_argument, NULL, 's'}, {"json", required_argument, NULL, 'j'},
        {"pairs", no_argument, NULL, 'p'},         {0}};
    level3_options options = {.seconds = 0.1};
    bool makes_sense = read_sizes("512,1024,2048,4096,8192", &options);
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        switch (option) {
        case 'h':
            options.on_host = true;
            break;
        case 'p':
            options.on_host = options.pairs = true;
            break;
        case 'i':
            options.itself = true;
            break;
        case 'r':
            options.routines = optarg;
            makes_sense = makes_sense && bench_lists_names(optarg, is_measured);
            break;
        case 'n':
            makes_sense = makes_sense && read_sizes(optarg, &options);
            break;
        case 'c':
            options.columns = atoi(optarg);
            break;
        case 'k':
            options.k = atoi(optarg);
            break;
        case 'R':
            options.right = true;
            break;
        case 'a':
            options.apart = true;
            break;
        case 's':
            options.seconds = atof(optarg);
            break;
        case 'j':
            options.json = optarg;
            break;
        default:
            explain_usage();
        }
    if (optind < argc || !makes_sense)
        explain_usage();
    return options;
}
