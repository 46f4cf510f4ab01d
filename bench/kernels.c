/* kernels: the kernels, as the dispatcher chooses them for operands in device memory, against cuBLAS's
 * routine in one run: groups of shapes, four transpositions, beta 0 and 1. Prints a line for each product
 * and, for each group, the geometric mean and the least of the ratios; --json writes all of it. Of products
 * with a side of at most 16 also at what share of the rate of a copy within the device's memory they read
 * their operands and write C.
 *
 *   bench/kernels [--routine NAME] [--json FILE] [--group NAME] [--size MxNxK] [--kernel NAME] [--precision ieee|fp32]
 *                 [--regret] [--brief] [--warm] [--numbers NAME]
 *   bench/kernels --once [--routine NAME] [--size MxNxK] [--precision ieee|fp32]
 *
 * --routine is sgemm unless said otherwise; of rank-k ones (routine.h) only square C are measured, in their
 * transpositions.
 * Precision ieee, which is the default here, takes multiply-adds of the element alone; fp32 is the library's
 * own default.
 * --size takes one shape instead of the groups; N alone is a square.
 * --kernel takes one kernel for every product, also one that is never chosen unless forced.
 * --regret also times every other kernel that could have been chosen, and says how much the best would have
 * gained, and what was forecast of both; the JSON then has the seconds and the forecast of each.
 * --brief is NN and TN, or of rank-k routines NT and TN, with beta 0 alone. --warm leaves operands in L2, if
 * they fit there, from one launch to the next.
 * --numbers says what matrices are made of (normal.h).
 * Products that take longer than LEAST_RATIO allows are listed once more at the end.
 * --once launches each of those once, for a profiler: see counters.py.
 */
#include "bench/measure.h"
#include "bench/shapes.h"
#include "dispatch/plan.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_MAXIMUM = 64, RANDOM_SHAPES = 100 };

/* Seconds spent on a contender for a product. */
static const double BUDGET = 0.01;

/* Of what cuBLAS reaches: less is listed. */
static const double LEAST_RATIO = 0.92;

/* In the units of bench_difference. */
static const double DIFFERENCE_ALLOWED = 8;

static const bench_shape SIZE_ONCE = {2048, 2048, 2048};

typedef struct options {
    const bench_routine *routine;
    const char *json, *group, *kernel;
    tb_accuracy accuracy;
    bool regret, once, brief, warm;
    bench_shape size; /* m is 0: none */
} options;

/* Ratios to cuBLAS, of which a group shows the geometric mean and the least. */
typedef struct tally {
    int count;
    double log_sum, least, worst_regret;
} tally;

typedef struct bench {
    bench_gpu gpu;
    bench_json json;
    options options;
    tb_facts facts;
    double copy_rate;                   /* bytes a second */
    FILE *slow;                         /* lines of products under LEAST_RATIO */
    tb_kernel kernels[KERNELS_MAXIMUM]; /* the catalog's, without those that are only forced */
} bench;

static bench_shape read_shape(const char *text)
{
    long long m = 0, n = 0, k = 0;
    const int count = sscanf(text, "%lldx%lldx%lld", &m, &n, &k);
    bench_require(m > 0 && (count == 1 || (count == 3 && n > 0 && k > 0)), "a size is N or MxNxK");
    return count == 1 ? (bench_shape){m, m, m} : (bench_shape){m, n, k};
}

static options read_options(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"json", required_argument, NULL, 'j'},    {"group", required_argument, NULL, 'g'},
        {"kernel", required_argument, NULL, 'k'},  {"precision", required_argument, NULL, 'p'},
        {"regret", no_argument, NULL, 'r'},        {"once", no_argument, NULL, 'o'},
        {"size", required_argument, NULL, 's'},    {"brief", no_argument, NULL, 'b'},
        {"warm", no_argument, NULL, 'w'},          {"numbers", required_argument, NULL, 'n'},
        {"routine", required_argument, NULL, 'R'}, {0}};
    options options = {.routine = bench_find_routine("sgemm")};
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
                    "[--kernel NAME] [--precision ieee|fp32] [--regret] [--brief] [--warm]\n"
                    "       kernels --once [--routine NAME] [--size MxNxK] [--precision ieee|fp32]\n");
            exit(2);
        }
    return options;
}

static bool may_choose(const bench *bench, const tb_kernel *kernel)
{
    return bench->options.kernel ? strcmp(bench->options.kernel, kernel->name) == 0
                                 : kernel->accuracy <= bench->options.accuracy &&
                                       tb_kernel_is_free_on(kernel, bench->gpu.chip.architecture);
}

/* What the dispatcher may choose from here: what the precision allows, or what was named. */
static void collect_kernels(bench *bench)
{
    size_t count = 0;
    for (size_t row = 0; row < tb_catalog_size && count < KERNELS_MAXIMUM; row++)
        if (may_choose(bench, &tb_catalog[row])) {
            bench->kernels[count] = tb_catalog[row];
            bench->kernels[count].chosen_end = 0;
            bench->kernels[count++].forced_only = false;
        }
    bench->facts = (tb_facts){
        .machine = {.readiness = TB_READY, .chips = &bench->gpu.chip, .chip_count = 1},
        .kernels = bench->kernels,
        .kernel_count = count,
        .accuracy = bench->options.kernel ? TB_ACCURACY_FAST : bench->options.accuracy,
    };
}

static bool has_room_for(const bench_product *product, const tb_kernel *kernel)
{
    /* What a thread for each element would take on a large product is of no interest. */
    const bool is_naive = strcmp(kernel->name, "naive") == 0 || strcmp(kernel->name, "dgemm_naive") == 0;
    return !is_naive || product->flop < 1e10;
}

/* Kernels of the precision that could have been chosen. */
static bool is_candidate(const bench *bench, const tb_kernel *kernel, const bench_product *product)
{
    return kernel->accuracy <= bench->options.accuracy && kernel->in_place == product->first.in_place &&
           tb_kernel_is_free_on(kernel, bench->gpu.description.architecture) &&
           has_room_for(product, kernel) && !bench_refusal(&bench->gpu, kernel, &product->first);
}

static void note_candidate(bench *bench, const bench_product *product, const bench_contender *candidate)
{
    bench_json_begin(&bench->json, candidate->name, '{');
    bench_json_number(&bench->json, "seconds", candidate->seconds);
    bench_json_number(&bench->json, "forecast",
                      tb_kernel_seconds(candidate->kernel, &product->first, &bench->gpu.chip));
    bench_json_end(&bench->json, '}');
}

/* Seconds of the fastest kernel that could have served. */
static double time_others(bench *bench, const bench_product *product, const bench_contender *chosen,
                          const char **best)
{
    double seconds = chosen->seconds;
    *best = chosen->name;
    note_candidate(bench, product, chosen);
    for (size_t i = 0; i < tb_catalog_size; i++) {
        bench_contender other = {.name = tb_catalog[i].name, .kernel = &tb_catalog[i]};
        if (strcmp(other.name, chosen->name) == 0 || !is_candidate(bench, other.kernel, product))
            continue;
        bench_prepare(&bench->gpu, &other, product);
        bench_contender *contenders[] = {&other};
        bench_time(&bench->gpu, contenders, 1, product, BUDGET);
        bench_dismiss(&other);
        note_candidate(bench, product, &other);
        if (other.seconds < seconds) {
            seconds = other.seconds;
            *best = other.name;
        }
    }
    return seconds;
}

/* Of the rate of a copy; NaN for products that do more than read their operands. */
static double share_of_copy(const bench *bench, const tb_product *p, double seconds)
{
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    const double elements = m * k + k * n + (tb_is_zero(p->beta) ? 1 : 2) * m * n;
    const double bytes = (double)tb_bytes_of(tb_element_of(p)) * elements;
    return fmin(m, n) <= 16 ? bytes / seconds / bench->copy_rate : NAN;
}

static double forecast_of(const bench *bench, const bench_product *product, const char *name)
{
    return tb_kernel_seconds(tb_find_kernel(name), &product->first, &bench->gpu.chip);
}

/* A product's line: what is chosen, and with --regret what would be best. */
static void print_product(const bench *bench, FILE *to, const bench_product *product,
                          const bench_contender *ours, double seconds_of_cublas, const char *best,
                          double best_seconds)
{
    const tb_product *p = &product->first;
    const char a = "NT"[p->a.transposed], b = "NT"[p->b.transposed];
    fprintf(
        to,
        "%7lld %7lld %7lld %c%c beta %g  %7.2f  cuBLAS %7.2f TFLOP/s  ratio %5.3f  %s %.1f us, forecast %.1f",
        (long long)p->m, (long long)p->n, (long long)p->k, a, b, p->beta.re,
        product->flop / ours->seconds * 1e-12, product->flop / seconds_of_cublas * 1e-12,
        seconds_of_cublas / ours->seconds, ours->name, 1e6 * ours->seconds,
        1e6 * forecast_of(bench, product, ours->name));
    const double share = share_of_copy(bench, p, ours->seconds);
    if (!isnan(share))
        fprintf(to, "  %.0f%% of a copy", 100 * share);
    const double regret = ours->seconds / best_seconds - 1;
    if (regret > 0.02)
        fprintf(to, "  %s would be %.0f%% faster: ratio %5.3f, %.1f us, forecast %.1f", best, 100 * regret,
                seconds_of_cublas / best_seconds, 1e6 * best_seconds,
                1e6 * forecast_of(bench, product, best));
    fprintf(to, "\n");
}

static void report(bench *bench, const bench_product *product, const bench_contender *ours,
                   const bench_contender *theirs, tally *tally)
{
    const tb_product *p = &product->first;
    const char *best = ours->name;
    double best_seconds = ours->seconds;
    bench_json_begin(&bench->json, NULL, '{');
    if (bench->options.regret) {
        bench_json_begin(&bench->json, "candidates", '{');
        best_seconds = time_others(bench, product, ours, &best);
        bench_json_end(&bench->json, '}');
    }
    double ratio = theirs->seconds / ours->seconds, regret = ours->seconds / best_seconds - 1;
    char operation[3] = {"NT"[p->a.transposed], "NT"[p->b.transposed], 0};

    print_product(bench, stdout, product, ours, theirs->seconds, best, best_seconds);
    if (ratio < LEAST_RATIO)
        print_product(bench, bench->slow, product, ours, theirs->seconds, best, best_seconds);
    const double share = share_of_copy(bench, p, ours->seconds);

    bench_json_integer(&bench->json, "m", p->m);
    bench_json_integer(&bench->json, "n", p->n);
    bench_json_integer(&bench->json, "k", p->k);
    bench_json_text(&bench->json, "transposition", operation);
    bench_json_number(&bench->json, "beta", p->beta.re);
    bench_json_text(&bench->json, "kernel", ours->name);
    bench_json_number(&bench->json, "tflops", product->flop / ours->seconds * 1e-12);
    bench_json_number(&bench->json, "cublas_tflops", product->flop / theirs->seconds * 1e-12);
    bench_json_number(&bench->json, "share_of_copy", share);
    bench_json_number(&bench->json, "regret", bench->options.regret ? regret : NAN);
    bench_json_end(&bench->json, '}');
    tally->count++;
    tally->log_sum += log(ratio);
    tally->least = fmin(tally->least, ratio);
    tally->worst_regret = fmax(tally->worst_regret, regret);
}

static void measure(bench *bench, const bench_shape *shape, int transposition, double beta, tally *tally)
{
    const bool transpose_a = transposition / 2, transpose_b = transposition % 2;
    bench_product product;
    if (!bench_has_product(bench->options.routine, transpose_a, transpose_b, shape->m, shape->n))
        return;
    bench_allocate(&bench->gpu, bench->options.routine, shape->m, shape->n, shape->k, transpose_a,
                   transpose_b, bench->options.warm, &product);
    tb_plan plan = {.route = TB_ROUTE_RESIDENT};
    tb_product asked = product.first;
    asked.beta = (tb_scalar){beta, 0};
    bench_require(tb_choose_kernel(&asked, &bench->facts, false, &plan), "a kernel for the product");
    bench_contender ours = {.name = plan.kernel->name, .kernel = plan.kernel}, theirs = {.name = "cuBLAS"};
    bench_prepare(&bench->gpu, &ours, &product);
    bench_prepare(&bench->gpu, &theirs, &product);
    bench_require(bench_difference(&bench->gpu, &ours, &theirs, &product) <= DIFFERENCE_ALLOWED,
                  "the same result as cuBLAS");
    if (beta != 0) { /* it may be cut otherwise, and need another workspace */
        bench_dismiss(&ours);
        product.first.beta = asked.beta;
        bench_prepare(&bench->gpu, &ours, &product);
        BENCH_CUDA(
            cudaMemset(product.first.c.data, 0,
                       (size_t)product.sets * product.strides[TB_C] * tb_bytes_of(tb_element_of(&asked))));
    }
    bench_contender *contenders[] = {&ours, &theirs};
    bench_time(&bench->gpu, contenders, 2, &product, BUDGET);
    report(bench, &product, &ours, &theirs, tally);
    bench_dismiss(&ours);
    bench_dismiss(&theirs);
    bench_release(&product);
}

static tally begin_group(bench *bench, const char *name)
{
    printf("\n%s\n", name);
    bench_json_begin(&bench->json, NULL, '{');
    bench_json_text(&bench->json, "name", name);
    bench_json_begin(&bench->json, "products", '[');
    return (tally){.least = INFINITY};
}

static void end_group(bench *bench, const char *name, const tally *tally)
{
    const double mean = tally->count > 0 ? exp(tally->log_sum / tally->count) : NAN;
    printf("%s: geometric mean %.3f, least %.3f of cuBLAS over %d products", name, mean, tally->least,
           tally->count);
    if (bench->options.regret)
        printf(", worst choice %.0f%% off the best", 100 * tally->worst_regret);
    printf("\n");
    bench_json_end(&bench->json, ']');
    bench_json_number(&bench->json, "geometric_mean", mean);
    bench_json_number(&bench->json, "least", tally->least);
    bench_json_end(&bench->json, '}');
}

static void measure_group(bench *bench, const bench_group *group)
{
    tally tally = begin_group(bench, group->name);
    const int step = bench->options.brief && bench->options.routine->class == TB_CLASS_GEMM ? 2 : 1;
    for (int s = 0; s < group->count; s++)
        for (int transposition = 0; transposition < 4; transposition += step)
            for (int beta = 0; beta < (bench->options.brief ? 1 : 2); beta++)
                measure(bench, &group->shapes[s], transposition, beta, &tally);
    end_group(bench, group->name, &tally);
}

static void measure_random(bench *bench)
{
    tally tally = begin_group(bench, "random");
    srand(1);
    for (int i = 0; i < RANDOM_SHAPES; i++) {
        const bench_shape shape = bench_draw_shape(32, 8192);
        measure(bench, &shape, rand() % 4, rand() % 2, &tally);
    }
    end_group(bench, "random", &tally);
}

static bool is_wanted(const bench *bench, const char *name)
{
    return bench->options.size.m == 0 && (!bench->options.group || strcmp(bench->options.group, name) == 0);
}

/* Every kernel that may be chosen computes one product once: for a profiler. */
static void launch_once(const bench *bench)
{
    const bench_shape shape = bench->options.size.m ? bench->options.size : SIZE_ONCE;
    bench_product product;
    bench_allocate(&bench->gpu, bench->options.routine, shape.m, shape.n, shape.k, false,
                   bench->options.routine->class != TB_CLASS_GEMM, 1, &product);
    for (size_t i = 0; i < tb_catalog_size; i++) {
        bench_contender contender = {.name = tb_catalog[i].name, .kernel = &tb_catalog[i]};
        if (!is_candidate(bench, contender.kernel, &product))
            continue;
        bench_prepare(&bench->gpu, &contender, &product);
        bench_enqueue(&bench->gpu, &contender, product.routine, &product.first);
        BENCH_CUDA(cudaStreamSynchronize(bench->gpu.native));
        bench_dismiss(&contender);
    }
    bench_release(&product);
}

int main(int argc, char **argv)
{
    bench bench = {.options = read_options(argc, argv)};
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* what is there is seen also when the rest never comes */
    bench_open(&bench.gpu);
    if (bench.options.once) {
        launch_once(&bench);
        bench_close(&bench.gpu);
        return 0;
    }
    collect_kernels(&bench);
    const char *name = bench.options.json ? bench.options.json : "/dev/null";
    FILE *file = fopen(name, "w");
    bench_require(file != NULL, name);
    bench.json = bench_json_to(file);
    bench_json_begin(&bench.json, NULL, '{');
    bench_describe(&bench.gpu, &bench.json);
    bench_json_text(&bench.json, "routine", bench.options.routine->name);
    bench.copy_rate = bench_copy_rate(&bench.gpu);
    bench_json_number(&bench.json, "copy_bytes_per_second", bench.copy_rate);
    printf("a copy within the device's memory: %.2f TB/s\n", bench.copy_rate * 1e-12);
    bench_json_begin(&bench.json, "groups", '[');
    char *slow_lines = NULL;
    size_t slow_size = 0;
    bench.slow = open_memstream(&slow_lines, &slow_size);
    bench_require(bench.slow != NULL, "memory");
    for (const bench_group *group = bench_groups; group->name; group++)
        if (is_wanted(&bench, group->name))
            measure_group(&bench, group);
    if (bench.options.size.m)
        measure_group(&bench, &(bench_group){"size", 1, {bench.options.size}});
    if (is_wanted(&bench, "random"))
        measure_random(&bench);
    bench_json_end(&bench.json, ']');
    bench_json_end(&bench.json, '}');
    fclose(file);
    fclose(bench.slow);
    printf("\nunder %.2f of cuBLAS:%s\n%s", LEAST_RATIO, slow_size > 0 ? "" : " none", slow_lines);
    free(slow_lines);
    bench_close(&bench.gpu);
    return 0;
}
