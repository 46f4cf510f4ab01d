#include "bench/level3_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void explain_usage(void)
{
    fprintf(stderr,
            "usage: level3 [--host] [--itself] [--routine NAMES] [--size SIZES] [--columns N] [--right] "
            "[--apart] [--seconds SECONDS] [--json FILE]\n");
    exit(2);
}

level3_options level3_read_options(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"host", no_argument, NULL, 'h'},          {"itself", no_argument, NULL, 'i'},
        {"routine", required_argument, NULL, 'r'}, {"size", required_argument, NULL, 'n'},
        {"columns", required_argument, NULL, 'c'}, {"right", no_argument, NULL, 'R'},
        {"apart", no_argument, NULL, 'a'},         {"seconds", required_argument, NULL, 's'},
        {"json", required_argument, NULL, 'j'},    {0}};
    level3_options options = {.seconds = 0.1, .sizes = "512,1024,2048,4096,8192"};
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        switch (option) {
        case 'h':
            options.on_host = true;
            break;
        case 'i':
            options.itself = true;
            break;
        case 'r':
            options.routines = optarg;
            break;
        case 'n':
            options.sizes = optarg;
            break;
        case 'c':
            options.columns = atoi(optarg);
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
    if (optind < argc)
        explain_usage();
    return options;
}
