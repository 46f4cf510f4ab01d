/* `tileblas bench`: the host's BLAS, TileBLAS and cuBLAS side by side, on matrices in host memory, as a program
 * without any knowledge of GPUs has them. Rounds are interleaved, so that what disturbs the machine disturbs all;
 * the first call of each is not counted; the figure is the median. Every contestant's result is checked.
 */
#include "dispatch/plan.h"
#include "lib/process/clock.h"
#include "lib/user/options.h"
#include "tools/contestants.h"
#include "tools/tool.h"

#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tileblas bench [OPTION]... [SHAPE]...\n"
    "\n"
    "Times products in float32 of random matrices in host memory, by the host's BLAS, by TileBLAS and, where "
    "it is\n"
    "installed and finds a GPU, by cuBLAS with its copies. A SHAPE is N or MxNxK.\n"
    "\n"
    "  --rounds N      timings of each, 5 unless given; the first call of each is one more, not counted\n"
    "  --seconds S     no further round of a shape after this long, 20 unless given\n"
    "  --library FILE  another libtileblas.so\n"
    "  --json          as JSON\n"
    "  --help          this\n"
    "\n"
    "Exit status: 0, or 1 when a result was wrong.\n";

enum { CONTESTANTS_MOST = 3, SHAPES_MOST = 64, ROUNDS_MOST = 1000 };

typedef struct shape {
    long long m, n, k;
} shape;

static const shape default_shapes[] = {
    {256, 256, 256},    {512, 512, 512},  {1024, 1024, 1024},
    {2048, 2048, 2048}, {4096, 4096, 64}, {4096, 4096, 4096},
};

typedef struct settings {
    shape shapes[SHAPES_MOST];
    int shape_count, rounds;
    double seconds;
    bool as_json;
    contestant contestants[CONTESTANTS_MOST];
    bool takes_part[CONTESTANTS_MOST];
} settings;

enum { HOST, TILEBLAS, CUBLAS };

/* What one contestant takes for one shape. */
typedef struct timing {
    double seconds[ROUNDS_MOST];
    int rounds;
    int repeats; /* of a call in a round: short calls are timed together */
    bool right;
    char plan[256]; /* TileBLAS's */
} timing;

/* ---- Data --------------------------------------------------------------------------------------------- */

/* xorshift64* (Vigna 2016): uniform in [-1, 1). */
static float next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (float)(int32_t)((*state * UINT64_C(0x2545f4914f6cdd1d)) >> 32) * 0x1p-31f;
}

static bool make_product(const shape *shape, tb_product *product)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    size_t size_a = (size_t)(shape->m * shape->k), size_b = (size_t)(shape->k * shape->n);
    float *a = malloc(size_a * sizeof *a), *b = malloc(size_b * sizeof *b),
          *c = calloc((size_t)(shape->m * shape->n), sizeof *c);
    *product = tb_gemm(TB_SGEMM, false, false, shape->m, shape->n, shape->k, 1, a, shape->m, b, shape->k, 0,
                       c, shape->m);
    for (size_t i = 0; a && i < size_a; i++)
        a[i] = next_random(&state);
    for (size_t i = 0; b && i < size_b; i++)
        b[i] = next_random(&state);
    return a && b && c;
}

static void free_product(tb_product *product)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        free(product->operands[role].data);
}

/* Some elements against sums in double: |error| <= gamma |A||B|, Higham's bound for any order of summation. */
static bool is_right(const tb_product *product)
{
    uint64_t state = 1;
    const double steps = (double)(product->k + 1) * 0x1p-24, gamma = steps / (1 - steps);
    for (int probe = 0; probe < 64; probe++) {
        int64_t i = (int64_t)(fabs((double)next_random(&state)) * (double)(product->m - 1));
        int64_t j = (int64_t)(fabs((double)next_random(&state)) * (double)(product->n - 1));
        double sum = 0, magnitude = 0;
        for (int64_t l = 0; l < product->k; l++) {
            const float *a = tb_at(&product->a.matrix, i, l), *b = tb_at(&product->b.matrix, l, j);
            double term = (double)*a * (double)*b;
            sum += term;
            magnitude += fabs(term);
        }
        const float *c = tb_at(&product->c.matrix, i, j);
        if (!(fabs((double)*c - sum) <= gamma * magnitude))
            return false;
    }
    return true;
}

/* ---- Timing ------------------------------------------------------------------------------------------- */

/* A round is at least this long, so that the clock and one interruption do not matter. */
#define ROUND_SECONDS 2e-3
#define REPEATS_MOST  1000

static void warm_up(const contestant *contestant, const tb_product *product, timing *timing)
{
    memset(product->c.data, 0xff, tb_matrix_bytes(&product->c.matrix)); /* NaN: nothing may be left */
    *timing = (struct timing){.right = contestant->multiply(product) && is_right(product)};
    double start = tb_seconds();
    timing->right = timing->right && contestant->multiply(product);
    double repeats = ceil(ROUND_SECONDS / fmax(tb_seconds() - start, 1e-9));
    timing->repeats = repeats < REPEATS_MOST ? (int)repeats : REPEATS_MOST;
}

static void time_round(const contestant *contestant, const tb_product *product, timing *timing)
{
    double start = tb_seconds();
    for (int i = 0; i < timing->repeats; i++)
        timing->right = contestant->multiply(product) && timing->right;
    timing->seconds[timing->rounds++] = (tb_seconds() - start) / timing->repeats;
}

/* Calls too small to be looked at leave no plan behind, but that of a call before them. */
static bool is_looked_at(const shape *shape)
{
    double volume = (double)shape->m * (double)shape->n * (double)shape->k;
    return volume > TB_SMALL_VOLUME || tb_option_value(TB_OPTION_ROUTE) || tb_option_value(TB_OPTION_STATS) ||
           tb_option_value(TB_OPTION_VERBOSE) || strcmp(tb_option_text(TB_OPTION_KERNEL), "auto") != 0;
}

static bool measure(const settings *settings, const shape *shape, timing *timings)
{
    tb_product product;
    bool made = make_product(shape, &product);
    for (int i = 0; made && i < CONTESTANTS_MOST; i++)
        if (settings->takes_part[i])
            warm_up(&settings->contestants[i], &product, &timings[i]);
    double start = tb_seconds();
    for (int round = 0; made && round < settings->rounds; round++) {
        if (round > 0 && tb_seconds() - start > settings->seconds)
            break;
        /* Each in turn begins a round: what the one before leaves behind, in caches and threads, falls on all. */
        for (int i = round; i < round + CONTESTANTS_MOST; i++) {
            int which = i % CONTESTANTS_MOST;
            if (settings->takes_part[which])
                time_round(&settings->contestants[which], &product, &timings[which]);
        }
    }
    if (made && is_looked_at(shape))
        last_tileblas_plan(timings[TILEBLAS].plan, sizeof timings[TILEBLAS].plan);
    free_product(&product);
    return made;
}

static int compare_seconds(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(timing *timing)
{
    qsort(timing->seconds, (size_t)timing->rounds, sizeof *timing->seconds, compare_seconds);
    int middle = timing->rounds / 2;
    return timing->rounds % 2 ? timing->seconds[middle]
                              : (timing->seconds[middle - 1] + timing->seconds[middle]) / 2;
}

/* ---- Telling ------------------------------------------------------------------------------------------ */

static void print_heading(const settings *settings)
{
    for (int i = 0; i < CONTESTANTS_MOST; i++)
        tool_say("%-10s %s%s\n", settings->contestants[i].name,
                 settings->takes_part[i] ? "" : "does not take part: ", settings->contestants[i].origin);
    tool_say("\n%-18s", "m x n x k");
    for (int i = 0; i < CONTESTANTS_MOST; i++)
        if (settings->takes_part[i])
            tool_say(" %10s ms  GFLOP/s", settings->contestants[i].name);
    tool_say("%s  TileBLAS ran it\n", settings->takes_part[HOST] ? "  tileblas:host" : "");
}

static void print_row(const settings *settings, const shape *shape, timing *timings)
{
    char name[64];
    double flop = 2.0 * (double)shape->m * (double)shape->n * (double)shape->k;
    snprintf(name, sizeof name, "%lldx%lldx%lld", shape->m, shape->n, shape->k);
    tool_say("%-18s", name);
    for (int i = 0; i < CONTESTANTS_MOST; i++) {
        if (!settings->takes_part[i])
            continue;
        double seconds = median(&timings[i]);
        tool_say(timings[i].right ? " %13.4g %8.4g" : " %13.4g    WRONG", 1e3 * seconds,
                 1e-9 * flop / seconds);
    }
    if (settings->takes_part[HOST])
        tool_say("  %12.2fx", median(&timings[HOST]) / median(&timings[TILEBLAS]));
    tool_say("  %s\n", *timings[TILEBLAS].plan ? timings[TILEBLAS].plan : "host: too small to be looked at");
    fflush(stdout);
}

static void write_row(tb_json *json, const settings *settings, const shape *shape, timing *timings)
{
    double flop = 2.0 * (double)shape->m * (double)shape->n * (double)shape->k;
    tb_json_open(json, NULL, '{');
    tb_json_integer(json, "m", shape->m);
    tb_json_integer(json, "n", shape->n);
    tb_json_integer(json, "k", shape->k);
    tb_json_open(json, "results", '{');
    for (int i = 0; i < CONTESTANTS_MOST; i++) {
        if (!settings->takes_part[i])
            continue;
        double seconds = median(&timings[i]);
        tb_json_open(json, settings->contestants[i].name, '{');
        tb_json_number(json, "median_seconds", seconds);
        tb_json_number(json, "least_seconds", timings[i].seconds[0]);
        tb_json_number(json, "gflops", 1e-9 * flop / seconds);
        tb_json_integer(json, "rounds", timings[i].rounds);
        tb_json_integer(json, "calls_in_a_round", timings[i].repeats);
        tb_json_boolean(json, "right", timings[i].right);
        if (i == TILEBLAS)
            tb_json_text(json, "plan", *timings[i].plan ? timings[i].plan : NULL);
        tb_json_close(json, '}');
    }
    tb_json_close(json, '}');
    tb_json_close(json, '}');
}

static void write_contestants(tb_json *json, const settings *settings)
{
    tb_json_open(json, NULL, '{');
    tb_json_text(json, "tileblas", TB_VERSION);
    tb_json_open(json, "contestants", '{');
    for (int i = 0; i < CONTESTANTS_MOST; i++) {
        tb_json_open(json, settings->contestants[i].name, '{');
        tb_json_boolean(json, "takes_part", settings->takes_part[i]);
        tb_json_text(json, settings->takes_part[i] ? "library" : "reason", settings->contestants[i].origin);
        tb_json_close(json, '}');
    }
    tb_json_close(json, '}');
    tb_json_open(json, "shapes", '[');
}

/* ---- The whole ---------------------------------------------------------------------------------------- */

static int bench(settings *settings)
{
    static timing timings[CONTESTANTS_MOST];
    tb_json json = {0};
    int status = TOOL_OK;
    if (settings->as_json)
        write_contestants(&json, settings);
    else
        print_heading(settings);
    for (int i = 0; i < settings->shape_count; i++) {
        const shape *shape = &settings->shapes[i];
        fprintf(stderr, "tileblas bench: %d of %d, %lldx%lldx%lld\n", i + 1, settings->shape_count, shape->m,
                shape->n, shape->k);
        if (!measure(settings, shape, timings)) {
            tool_complain("bench", "not enough memory for %lldx%lldx%lld", shape->m, shape->n, shape->k);
            status = TOOL_FAILED;
            continue;
        }
        for (int which = 0; which < CONTESTANTS_MOST; which++)
            if (settings->takes_part[which] && !timings[which].right) {
                tool_complain("bench", "%s: the result is wrong", settings->contestants[which].name);
                status = TOOL_FAILED;
            }
        if (settings->as_json)
            write_row(&json, settings, shape, timings);
        else
            print_row(settings, shape, timings);
    }
    if (!settings->as_json)
        return status;
    tb_json_close(&json, ']');
    tb_json_close(&json, '}');
    int printed = tool_print_json(&json);
    return status != TOOL_OK ? status : printed;
}

/* N, or MxNxK. */
static bool read_shape(const char *text, shape *shape)
{
    long long *sizes[3] = {&shape->m, &shape->n, &shape->k};
    int count = 0;
    for (char *end; count < 3; count++) {
        *sizes[count] = strtoll(text, &end, 10);
        if (end == text || *sizes[count] < 1 || *sizes[count] > 1 << 20)
            return false;
        text = *end == 'x' ? end + 1 : end;
        if (*end != 'x')
            break;
    }
    if (count == 0)
        shape->n = shape->k = shape->m;
    return (count == 0 || count == 2) && *text == '\0';
}

static bool add_shape(settings *settings, const char *text)
{
    return settings->shape_count < SHAPES_MOST &&
           read_shape(text, &settings->shapes[settings->shape_count++]);
}

enum { ROUNDS = 1, SECONDS, LIBRARY, JSON };

int tool_bench(int argc, char **argv)
{
    static const struct option options[] = {
        {"rounds", required_argument, NULL, ROUNDS},
        {"seconds", required_argument, NULL, SECONDS},
        {"library", required_argument, NULL, LIBRARY},
        {"json", no_argument, NULL, JSON},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    static settings settings = {.rounds = 5, .seconds = 20};
    const char *library = NULL;
    long long number;
    int option;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case ROUNDS:
            if (!tool_parse_integer(optarg, 1, &number) || number > ROUNDS_MOST)
                return tool_usage("bench", "--rounds is a number from 1 to %d", ROUNDS_MOST);
            settings.rounds = (int)number;
            break;
        case SECONDS:
            settings.seconds = strtod(optarg, &(char *){0});
            if (!(settings.seconds > 0))
                return tool_usage("bench", "--seconds is a positive number");
            break;
        case LIBRARY:
            library = optarg;
            break;
        case JSON:
            settings.as_json = true;
            break;
        case 'h':
            return tool_print(help);
        default:
            return tool_usage("bench", "wrong option");
        }
    for (int i = optind; i < argc; i++)
        if (!add_shape(&settings, argv[i]))
            return tool_usage("bench", "'%s' is no shape: N or MxNxK, %d of them at most", argv[i],
                              SHAPES_MOST);
    if (settings.shape_count == 0) {
        settings.shape_count = sizeof default_shapes / sizeof *default_shapes;
        memcpy(settings.shapes, default_shapes, sizeof default_shapes);
    }
    settings.takes_part[HOST] = open_host_blas(&settings.contestants[HOST]);
    settings.takes_part[TILEBLAS] = open_tileblas(library, &settings.contestants[TILEBLAS]);
    settings.takes_part[CUBLAS] = open_cublas(&settings.contestants[CUBLAS]);
    if (!settings.takes_part[TILEBLAS]) {
        tool_complain("bench", "%s", settings.contestants[TILEBLAS].origin);
        return TOOL_FAILED;
    }
    return bench(&settings);
}
