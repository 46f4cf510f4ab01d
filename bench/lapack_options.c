#include "bench/lapack_options.h"

#include "bench/lapack_routines.h"
#include "bench/lists.h"

#include <getopt.h>
#include <stdio.h>

static _Noreturn void explain_usage(void)
{
    fprintf(stderr, "usage: lapack [--host] [--upper] [--routine NAMES] [--size SIZES] [--rows ROWS] "
                    "[--rhs COLUMNS] [--seconds SECONDS] [--json FILE]\n");
    exit(2);
}

static bool is_measured(const char *name)
{
    char names[LAPACK_NAME_BYTES];
    for (const lapack_routine *routine = lapack_routines; routine->calls[0]; routine++)
        for (tb_element element = 0; element < TB_ELEMENTS; element++)
            if (strcmp(lapack_name(routine, element, names), name) == 0)
                return true;
    return false;
}

/* Whether the text lists sizes, and not too many. */
static bool read_sizes(const char *text, lapack_options *options)
{
    options->size_count = bench_read_sizes(text, options->sizes, LAPACK_SIZES_MOST);
    return options->size_count > 0;
}

static bool read_size(const char *text, int *size)
{
    return bench_read_sizes(text, size, 1) == 1;
}

/* Leaves out the sizes that are larger than the rows. Returns whether any is left. */
static bool keep_tall(lapack_options *options)
{
    int kept = 0;
    for (int i = 0; i < options->size_count; i++)
        if (options->rows == 0 || options->sizes[i] <= options->rows)
            options->sizes[kept++] = options->sizes[i];
    options->size_count = kept;
    return kept > 0;
}

lapack_options lapack_read_options(int argc, char **argv)
{
    static const struct option long_options[] = {{"host", no_argument, NULL, 'h'},
                                                 {"upper", no_argument, NULL, 'u'},
                                                 {"routine", required_argument, NULL, 'r'},
                                                 {"size", required_argument, NULL, 'n'},
                                                 {"rows", required_argument, NULL, 'm'},
                                                 {"rhs", required_argument, NULL, 'b'},
                                                 {"seconds", required_argument, NULL, 's'},
                                                 {"json", required_argument, NULL, 'j'},
                                                 {0}};
    lapack_options options = {.seconds = 0.1};
    bool makes_sense = read_sizes("256,512,1024,2048,4096,8192", &options);
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        switch (option) {
        case 'h':
            options.on_host = true;
            break;
        case 'u':
            options.upper = true;
            break;
        case 'r':
            options.routines = optarg;
            makes_sense = makes_sense && bench_lists_names(optarg, is_measured);
            break;
        case 'n':
            makes_sense = makes_sense && read_sizes(optarg, &options);
            break;
        case 'm':
            makes_sense = makes_sense && read_size(optarg, &options.rows);
            break;
        case 'b':
            makes_sense = makes_sense && read_size(optarg, &options.right_sides);
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
    if (optind < argc || !makes_sense || !keep_tall(&options))
        explain_usage();
    return options;
}
