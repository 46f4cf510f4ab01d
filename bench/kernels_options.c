#include "bench/kernels_options.h"

#include "bench/measure.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bench_shape read_shape(const char *text)
{
    long long m = 0, n = 0, k = 0;
    const int count = sscanf(text, "%lldx%lldx%lld", &m, &n, &k);
    bench_require(m > 0 && (count == 1 || (count == 3 && n > 0 && k > 0)), "a size is N or MxNxK");
    return count == 1 ? (bench_shape){m, m, m} : (bench_shape){m, n, k};
}

kernels_options kernels_read_options(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"json", required_argument, NULL, 'j'},    {"group", required_argument, NULL, 'g'},
        {"kernel", required_argument, NULL, 'k'},  {"precision", required_argument, NULL, 'p'},
        {"regret", no_argument, NULL, 'r'},        {"once", no_argument, NULL, 'o'},
        {"size", required_argument, NULL, 's'},    {"brief", no_argument, NULL, 'b'},
        {"warm", no_argument, NULL, 'w'},          {"numbers", required_argument, NULL, 'n'},
        {"routine", required_argument, NULL, 'R'}, {0}};
    kernels_options options = {.routine = bench_find_routine("sgemm")};
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        switch (option) {
        case 'j':
            options.json = optarg;
            break;
        case 'g':
            options.group = optarg;
            break;
        case 'k':
            options.kernel = optarg;
            break;
        case 'p':
            options.accuracy = strcmp(optarg, "fp32") == 0 ? TB_ACCURACY_FP32 : TB_ACCURACY_IEEE;
            break;
        case 'r':
            options.regret = true;
            break;
        case 'o':
            options.once = true;
            break;
        case 'n':
            bench_require(bench_find_numbers(optarg) != NULL, "numbers of that name");
            bench_draw(bench_find_numbers(optarg));
            break;
        case 'b':
            options.brief = true;
            break;
        case 'w':
            options.warm = true;
            break;
        case 's':
            options.size = read_shape(optarg);
            break;
        case 'R':
            options.routine = bench_find_routine(optarg);
            bench_require(options.routine != NULL, bench_routine_names());
            break;
        default:
            fprintf(stderr,
                    "usage: kernels [--routine NAME] [--json FILE] [--group NAME] [--size MxNxK] "
                    "[--kernel NAME] [--precision ieee|fp32] [--regret] [--brief] [--warm] [--numbers NAME]\n"
                    "       kernels --once [--routine NAME] [--size MxNxK] [--precision ieee|fp32]\n");
            exit(2);
        }
    return options;
}
