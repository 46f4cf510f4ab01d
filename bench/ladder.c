/* ladder: every rung of kernels/ladder/ and cuBLAS SGEMM side by side, checked against each other and timed
 * in one run. Prints a table for each transposition; --json writes what bench/plot.py reads.
 *
 *   bench/ladder [--json FILE] [--ceiling TFLOPS] [--only RUNG] [--size N]
 *   bench/ladder --once [--only RUNG] [--size N]      one launch each, nothing else: for a profiler
 */
#include "bench/measure.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "ladder/"

enum { RUNGS_MAXIMUM = 32, SHAPES_MAXIMUM = 8, TRANSPOSITIONS = 2 };

/* Seconds spent on a contender for a shape: the whole run stays below a minute and a half. */
static const double BUDGET = 0.12;

/* The largest difference that is allowed, in the units of bench_difference, which counts on roundings that
 * cancel as random ones do. */
static const double DIFFERENCE_ALLOWED = 8;

static const char *const transposition_names[TRANSPOSITIONS] = {"NN", "TN"};

typedef struct shape {
    int64_t n, k; /* m is n */
} shape;

/* The last one is for the rung that takes only a small k. */
static const shape all_shapes[] = {{512, 512},   {1000, 1000}, {1024, 1024}, {1111, 1111},
                                   {2048, 2048}, {4096, 4096}, {4096, 128}};

typedef struct options {
    const char *json, *only;
    double ceiling; /* TFLOP/s that multiply-adds alone reach on this GPU; NaN when nobody said */
    int64_t size;   /* 0: all shapes */
    bool once;
} options;

typedef struct result {
    const char *refusal;
    double tflops, percent; /* of cuBLAS */
} result;

typedef struct rung {
    bench_contender contender;
    bench_resources resources[TRANSPOSITIONS];
    result results[TRANSPOSITIONS][SHAPES_MAXIMUM];
} rung;

/* The rungs asked for, in the catalog's order, and cuBLAS last. */
typedef struct ladder {
    rung rungs[RUNGS_MAXIMUM];
    int count;
    shape shapes[SHAPES_MAXIMUM];
    int shape_count;
} ladder;

static options read_options(int argc, char **argv)
{
    static const struct option known[] = {
        {"json", required_argument, NULL, 'j'}, {"ceiling", required_argument, NULL, 'c'},
        {"only", required_argument, NULL, 'o'}, {"size", required_argument, NULL, 's'},
        {"once", no_argument, NULL, '1'},       {0},
    };
    options options = {.ceiling = NAN};
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;)
        switch (option) {
        case 'j':
            options.json = optarg;
            break;
        case 'c':
            options.ceiling = atof(optarg);
            break;
        case 'o':
            options.only = optarg;
            break;
        case 's':
            options.size = atoll(optarg);
            break;
        case '1':
            options.once = true;
            break;
        default:
            fprintf(stderr,
                    "usage: ladder [--json FILE] [--ceiling TFLOPS] [--only RUNG] [--size N] [--once]\n");
            exit(2);
        }
    return options;
}

static void collect(const options *options, ladder *ladder)
{
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        if (strncmp(kernel->name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        const char *name = kernel->name + strlen(PREFIX);
        if (!options->only || strcmp(options->only, name) == 0)
            ladder->rungs[ladder->count++].contender = (bench_contender){.name = name, .kernel = kernel};
    }
    bench_require(ladder->count > 0, "there is a rung of that name");
    ladder->rungs[ladder->count++].contender = (bench_contender){.name = "cuBLAS"};

    for (size_t i = 0; i < sizeof all_shapes / sizeof all_shapes[0]; i++)
        if (options->size == 0)
            ladder->shapes[ladder->shape_count++] = all_shapes[i];
    if (options->size > 0)
        ladder->shapes[ladder->shape_count++] = (shape){options->size, options->size};
}

/* Checks and times all contenders on one shape. */
static void measure(const bench_gpu *gpu, ladder *ladder, int transposition, int at)
{
    const shape shape = ladder->shapes[at];
    bench_product product;
    bench_allocate(gpu, bench_find_routine("sgemm"), shape.n, shape.n, shape.k, transposition == 1, false, 0,
                   &product);
    rung *cublas = &ladder->rungs[ladder->count - 1];

    bench_contender *runners[RUNGS_MAXIMUM];
    int runner_count = 0;
    for (int i = 0; i < ladder->count; i++) {
        rung *rung = &ladder->rungs[i];
        const tb_kernel *kernel = rung->contender.kernel;
        result *result = &rung->results[transposition][at];
        result->refusal = kernel ? bench_refusal(gpu, kernel, &product.first) : NULL;
        bench_prepare(gpu, &rung->contender, &product);
        if (!result->refusal && rung != cublas) {
            double difference = bench_difference(gpu, &rung->contender, &cublas->contender, &product);
            if (!(difference <= DIFFERENCE_ALLOWED)) {
                fprintf(stderr, "%s differs from cuBLAS by %.3g roundings\n", rung->contender.name,
                        difference);
                result->refusal = "wrong";
            }
            rung->resources[transposition] =
                bench_resources_of(gpu, kernel, tb_transposition(&product.first));
        }
        if (!result->refusal)
            runners[runner_count++] = &rung->contender;
    }

    bench_time(gpu, runners, runner_count, &product, BUDGET);
    for (int i = 0; i < ladder->count; i++) {
        rung *rung = &ladder->rungs[i];
        rung->results[transposition][at].tflops = product.flop / rung->contender.seconds * 1e-12;
        rung->results[transposition][at].percent = 100 * cublas->contender.seconds / rung->contender.seconds;
        bench_dismiss(&rung->contender);
    }
    bench_release(&product);
}

/* Launches each rung once, for a profiler, with the largest k that it takes. */
static void launch_once(const bench_gpu *gpu, ladder *ladder, int transposition)
{
    for (int i = 0; i < ladder->count - 1; i++) {
        bench_contender *rung = &ladder->rungs[i].contender;
        const int64_t n = ladder->shapes[ladder->shape_count - 1].n, limit = rung->kernel->k_limit;
        bench_product product;
        bench_allocate(gpu, bench_find_routine("sgemm"), n, n, limit && n > limit ? limit : n,
                       transposition == 1, false, 1, &product);
        if (!bench_refusal(gpu, rung->kernel, &product.first)) {
            bench_prepare(gpu, rung, &product);
            bench_enqueue(gpu, rung, product.routine, &product.first);
            BENCH_CUDA(cudaStreamSynchronize(gpu->native));
            bench_dismiss(rung);
        }
        bench_release(&product);
    }
}

static void print_table(const ladder *ladder, int transposition)
{
    printf("\n%s, TFLOP/s and percent of cuBLAS\n%-20s %4s %6s %5s", transposition_names[transposition],
           "rung", "regs", "shared", "occup");
    for (int at = 0; at < ladder->shape_count; at++)
        printf(ladder->shapes[at].k == ladder->shapes[at].n ? " %12lld" : "    %5lld, k %lld",
               (long long)ladder->shapes[at].n, (long long)ladder->shapes[at].k);
    for (int i = 0; i < ladder->count; i++) {
        const rung *rung = &ladder->rungs[i];
        const bench_resources *resources = &rung->resources[transposition];
        if (resources->registers > 0)
            printf("\n%-20s %4d %6d %4.0f%%", rung->contender.name, resources->registers,
                   resources->shared_bytes, 100 * resources->occupancy);
        else
            printf("\n%-20s %4s %6s %5s", rung->contender.name, "", "", "");
        for (int at = 0; at < ladder->shape_count; at++) {
            const result *result = &rung->results[transposition][at];
            if (result->refusal)
                printf(" %12s", result->refusal);
            else
                printf(" %6.2f %4.0f%%", result->tflops, result->percent);
        }
    }
    printf("\n");
}

static void write_result(bench_json *json, shape shape, const result *result)
{
    bench_json_begin(json, NULL, '{');
    bench_json_integer(json, "n", shape.n);
    bench_json_integer(json, "k", shape.k);
    if (result->refusal) {
        bench_json_text(json, "refused", result->refusal);
    } else {
        bench_json_number(json, "tflops", result->tflops);
        bench_json_number(json, "percent", result->percent);
    }
    bench_json_end(json, '}');
}

static void write_rung(bench_json *json, const ladder *ladder, const rung *rung)
{
    bench_json_begin(json, NULL, '{');
    bench_json_text(json, "name", rung->contender.name);
    for (int transposition = 0; transposition < TRANSPOSITIONS; transposition++) {
        const bench_resources *resources = &rung->resources[transposition];
        bench_json_begin(json, transposition_names[transposition], '{');
        if (resources->registers > 0) {
            bench_json_integer(json, "registers", resources->registers);
            bench_json_integer(json, "shared_bytes", resources->shared_bytes);
            bench_json_number(json, "occupancy", resources->occupancy);
        }
        bench_json_begin(json, "results", '[');
        for (int at = 0; at < ladder->shape_count; at++)
            write_result(json, ladder->shapes[at], &rung->results[transposition][at]);
        bench_json_end(json, ']');
        bench_json_end(json, '}');
    }
    bench_json_end(json, '}');
}

static void write_json(const bench_gpu *gpu, const ladder *ladder, const options *options)
{
    FILE *file = fopen(options->json, "w");
    bench_require(file != NULL, "the JSON file can be written");
    bench_json json = bench_json_to(file);
    bench_json_begin(&json, NULL, '{');
    bench_json_text(&json, "benchmark", "ladder");
    bench_describe(gpu, &json);
    bench_json_number(&json, "ceiling_tflops", options->ceiling);
    bench_json_begin(&json, "rungs", '[');
    for (int i = 0; i < ladder->count; i++)
        write_rung(&json, ladder, &ladder->rungs[i]);
    bench_json_end(&json, ']');
    bench_json_end(&json, '}');
    bench_require(fclose(file) == 0, "the JSON file is complete");
}

int main(int argc, char **argv)
{
    static ladder ladder;
    options options = read_options(argc, argv);
    bench_gpu gpu;
    bench_open(&gpu);
    collect(&options, &ladder);

    for (int transposition = 0; transposition < TRANSPOSITIONS; transposition++) {
        if (options.once) {
            launch_once(&gpu, &ladder, transposition);
            continue;
        }
        for (int at = 0; at < ladder.shape_count; at++) {
            fprintf(stderr, "ladder: %s, n %lld, k %lld (%d of %d)\n", transposition_names[transposition],
                    (long long)ladder.shapes[at].n, (long long)ladder.shapes[at].k,
                    transposition * ladder.shape_count + at + 1, TRANSPOSITIONS * ladder.shape_count);
            measure(&gpu, &ladder, transposition, at);
        }
        print_table(&ladder, transposition);
        fflush(stdout);
    }
    if (options.json && !options.once)
        write_json(&gpu, &ladder, &options);
    bench_close(&gpu);
    return 0;
}
