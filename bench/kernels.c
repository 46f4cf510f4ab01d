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
 * Products that reach less than 0.92 of cuBLAS are listed once more at the end.
 * --once launches each of those once, for a profiler: see counters.py.
 */
#include "bench/kernels_options.h"
#include "bench/kernels_report.h"
#include "bench/measure.h"
#include "dispatch/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_SHAPES = 100 };

/* Seconds spent on a contender for a product. */
static const double BUDGET = 0.01;

/* The largest difference that is allowed, in the units of bench_difference. */
static const double DIFFERENCE_ALLOWED = 8;

static const bench_shape SIZE_ONCE = {2048, 2048, 2048};

typedef struct bench {
    bench_gpu gpu;
    kernels_options options;
    kernels_report report;
    tb_facts facts;
    tb_kernel kernels[KERNELS_MAXIMUM]; /* the catalog's, without those that are only forced */
} bench;

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

static void note_candidate(const bench *bench, const bench_product *product, const bench_contender *contender,
                           kernels_times *times)
{
    bench_require(times->count < KERNELS_MAXIMUM, "room for all kernels");
    times->candidates[times->count++] = (kernels_candidate){
        .name = contender->name,
        .seconds = contender->seconds,
        .forecast = tb_kernel_seconds(contender->kernel, &product->first, &bench->gpu.chip),
    };
}

/* All other kernels that could have served, ready to run; how many there are. */
static int prepare_others(const bench *bench, const bench_product *product, const char *chosen,
                          bench_contender *others)
{
    int count = 0;
    for (size_t i = 0; bench->options.regret && i < tb_catalog_size; i++) {
        const bench_contender other = {.name = tb_catalog[i].name, .kernel = &tb_catalog[i]};
        if (strcmp(other.name, chosen) == 0 || !is_candidate(bench, other.kernel, product))
            continue;
        bench_require(count < KERNELS_MAXIMUM - 1, "room for all kernels");
        others[count] = other;
        bench_prepare(&bench->gpu, &others[count++], product);
    }
    return count;
}

/* The chosen kernel, cuBLAS and with --regret all others in turns: the clock falls while tensor cores work, so that what runs
 * later would seem slower. */
static kernels_times time_all(const bench *bench, const bench_product *product, bench_contender *chosen,
                              bench_contender *cublas)
{
    bench_contender others[KERNELS_MAXIMUM], *all[KERNELS_MAXIMUM + 1] = {chosen, cublas};
    const int count = prepare_others(bench, product, chosen->name, others);
    for (int i = 0; i < count; i++)
        all[2 + i] = &others[i];
    bench_time(&bench->gpu, all, 2 + count, product, BUDGET);
    kernels_times times = {.cublas = cublas->seconds};
    note_candidate(bench, product, chosen, &times);
    for (int i = 0; i < count; i++) {
        note_candidate(bench, product, &others[i], &times);
        bench_dismiss(&others[i]);
    }
    return times;
}

static void measure(bench *bench, const bench_shape *shape, int transposition, double beta,
                    kernels_tally *tally)
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
    const kernels_times times = time_all(bench, &product, &ours, &theirs);
    kernels_report_product(&bench->report, &product, &times, tally);
    bench_dismiss(&ours);
    bench_dismiss(&theirs);
    bench_release(&product);
}

static void measure_group(bench *bench, const bench_group *group)
{
    kernels_tally tally = kernels_begin_group(&bench->report, group->name);
    const int step = bench->options.brief && !bench_updates(bench->options.routine) ? 2 : 1;
    for (int s = 0; s < group->count; s++)
        for (int transposition = 0; transposition < 4; transposition += step)
            for (int beta = 0; beta < (bench->options.brief ? 1 : 2); beta++)
                measure(bench, &group->shapes[s], transposition, beta, &tally);
    kernels_end_group(&bench->report, group->name, &tally);
}

static void measure_random(bench *bench)
{
    kernels_tally tally = kernels_begin_group(&bench->report, "random");
    srand(1);
    for (int i = 0; i < RANDOM_SHAPES; i++) {
        const bench_shape shape = bench_draw_shape(32, 8192);
        measure(bench, &shape, rand() % 4, rand() % 2, &tally);
    }
    kernels_end_group(&bench->report, "random", &tally);
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
                   bench_updates(bench->options.routine), 1, &product);
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
    bench bench = {.options = kernels_read_options(argc, argv)};
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* what is there is seen also when the rest never comes */
    bench_open(&bench.gpu);
    if (bench.options.once) {
        launch_once(&bench);
        bench_close(&bench.gpu);
        return 0;
    }
    collect_kernels(&bench);
    kernels_open_report(&bench.report, &bench.options, &bench.gpu);
    for (const bench_group *group = bench_groups; group->name; group++)
        if (is_wanted(&bench, group->name))
            measure_group(&bench, group);
    if (bench.options.size.m)
        measure_group(&bench, &(bench_group){"size", 1, {bench.options.size}});
    if (is_wanted(&bench, "random"))
        measure_random(&bench);
    kernels_close_report(&bench.report);
    bench_close(&bench.gpu);
    return 0;
}
