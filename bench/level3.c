/* level3: level 3 of BLAS as programs call it, operands in device memory, against cuBLAS; with --host operands in ordinary
 * memory, against OpenBLAS on all cores and against cublasXt on the first device. Times are those of whole calls, until the
 * result is there. Prints a line for each routine and size, and the geometric means of a routine's ratios.
 *
 *   bench/level3 [--host | --pairs] [--itself] [--routine NAME,NAME...] [--size N,N...] [--columns N] [--k K] [--right] [--apart]
 *                [--seconds SECONDS] [--json FILE]
 *
 * All sides take turns in one run: in each round every side has one, and no side is always first (bench_order_in_round). Medians
 * count. In host memory a turn is two calls where they are short, and the second counts, as in the first one threads may have to
 * wake up; and it is followed by a rest until OpenBLAS's threads sleep. cublasXt takes part with tiles of 1024, 2048 and
 * 4096, each size being a side by itself, and the one with the least median is what is told. Operands are the same at every call,
 * which our cache of operands knows (TILEBLAS_OPERAND_CACHE=0 loads them at every call, as cublasXt does).
 *
 * --pairs is host memory without cublasXt: the library and OpenBLAS call by call, without rests, and both write into the same C.
 * The ratio is then the median of the ratios of neighbouring calls. Where both compute on the host that tells 1% from nothing;
 * with a C of its own, in memory of its own, OpenBLAS takes up to 1.4 times as long as itself at 256.
 *
 * --itself puts cuBLAS, or in host memory OpenBLAS, in our place, too: ratios are then what the run's noise makes of 1.
 *
 * Matrices are square, and of each routine one of the cases that programs call most is taken: no transposition, the left side,
 * the lower triangle, alpha 1 and beta 0. --seconds are spent on each product and side, rests among them. --columns says how many
 * columns C has in GEMM, SYMM and HEMM, and how many right-hand sides there are in TRMM and TRSM; --k how many steps of k GEMM,
 * GEMMT, SYRK, SYR2K and Hermitian ones have. Of TRMM and TRSM --right says that the triangle stands on their right, and --apart
 * that cuBLAS's and cublasXt's TRMM, which can, write into another matrix than they read. Their triangle is nearly one matrix:
 * what is computed again and again stays finite.
 *
 * --json leaves the times for bench/pictures.py level3.
 */
#include "bench/expect.h"
#include "bench/level3_report.h"
#include "bench/lists.h"
#include "bench/timing.h"
#include "bench/turns.h"

#include <math.h>
#include <string.h>

enum { ROUNDS_LEAST = 5, ROUNDS_MOST = 240, WARM_UPS = 2 };

/* NaN: the side refused. */
static double time_call(const level3_sides *sides, int side, const level3_operands *operands)
{
    const tb_product product = level3_product_of(operands, side);
    const double start = tb_seconds();
    const bool computed = level3_call(sides, side, operands->routine, &product);
    return computed ? tb_seconds() - start : (double)NAN;
}

static double take_turn(const level3_sides *sides, int side, const level3_operands *operands)
{
    double seconds = time_call(sides, side, operands);
    if (sides->on_host && seconds < BENCH_LONG_SECONDS)
        seconds = time_call(sides, side, operands);
    if (sides->has_xt)
        bench_rest();
    return seconds;
}

/* Called after each side's first call, before C is written again. */
static double largest_difference(const level3_operands *operands, const level3_times *times)
{
    double largest = 0;
    for (int side = 0; side < times->sides; side++)
        if (side != LEVEL3_REFERENCE && !isnan(times->seconds[side]))
            largest = fmax(largest, level3_difference(operands, side));
    return largest;
}

/* The median of the ratios of what the reference took to what we took in the same round. */
static double median_ratio(const double *reference, const double *ours, int rounds)
{
    double ratios[ROUNDS_MOST];
    for (int i = 0; i < rounds; i++)
        ratios[i] = reference[i] / ours[i];
    return bench_median(ratios, (size_t)rounds);
}

static level3_times measure(const level3_options *options, const level3_sides *sides,
                            level3_operands *operands)
{
    static double turns[LEVEL3_SIDES_MOST][ROUNDS_MOST];
    level3_times times = {.sides = level3_count_sides(sides, operands->n)};
    for (int side = 0; side < times.sides; side++)
        times.seconds[side] = time_call(sides, side, operands);
    times.difference = largest_difference(operands, &times);
    operands->shares_c = options->pairs;
    for (int i = 1; i < WARM_UPS; i++)
        for (int side = 0; side < times.sides; side++)
            take_turn(sides, side, operands);
    const double start = tb_seconds(), enough = times.sides * options->seconds;
    while (times.rounds < ROUNDS_LEAST || !bench_is_even(times.rounds, times.sides) ||
           tb_seconds() - start < enough) {
        for (int place = 0; place < times.sides; place++) {
            const int side = bench_order_in_round(times.rounds, place, times.sides);
            const double seconds = take_turn(sides, side, operands);
            bench_expect(!isnan(seconds) == !isnan(times.seconds[side]),
                         "a side refused what it had computed");
            turns[side][times.rounds] = seconds;
        }
        if (++times.rounds == ROUNDS_MOST)
            break;
    }
    const double of_pairs = median_ratio(turns[LEVEL3_REFERENCE], turns[LEVEL3_OURS], times.rounds);
    for (int side = 0; side < times.sides; side++)
        if (!isnan(times.seconds[side]))
            times.seconds[side] = bench_median(turns[side], (size_t)times.rounds);
    times.ratio = options->pairs ? of_pairs : times.seconds[LEVEL3_REFERENCE] / times.seconds[LEVEL3_OURS];
    return times;
}

static void measure_routine(const level3_options *options, const bench_routine *routine, level3_sides *sides,
                            level3_report *report)
{
    if (!level3_find_routine(sides, routine))
        return;
    for (int i = 0; i < options->size_count; i++) {
        const int n = options->sizes[i];
        level3_operands operands =
            level3_make_operands(options, routine, n, level3_count_sides(report->sides, n));
        const level3_times times = measure(options, report->sides, &operands);
        level3_report_product(report, &operands, &times);
        level3_free_operands(&operands);
    }
    level3_report_means(report, routine);
}

int main(int argc, char **argv)
{
    const level3_options options = level3_read_options(argc, argv);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    level3_sides sides = level3_open_sides(&options);
    level3_report report = level3_open_report(&options, &sides);
    for (tb_routine_class group = 0; group < TB_CLASSES; group++)
        for (tb_routine row = 0; row < TB_PRODUCT_ROUTINES; row++) {
            const bench_routine *routine = bench_find_any_routine(tb_routine_rows[row].name);
            const bool again = routine && strstr(routine->name, "gemmtr"); /* GEMMT's other name */
            if (routine && routine->class == group && bench_lists(options.routines, routine->name) &&
                (options.routines || !again))
                measure_routine(&options, routine, &sides, &report);
        }
    level3_close_report(&report);
    return 0;
}
