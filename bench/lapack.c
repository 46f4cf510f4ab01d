/* lapack: LAPACK's routines as programs call them, operands in device memory, beside cuSOLVER's 64-bit interface; with
 * --host operands in ordinary memory that has been touched, beside OpenBLAS on all cores and beside "copies", which is a
 * copy to the device, cuSOLVER and a copy back. Times are those of whole calls, until the result is there. Prints a table
 * for each routine.
 *
 *   bench/lapack [--host] [--upper] [--routine NAME,NAME...] [--size N,N...] [--rows M] [--rhs COLUMNS] [--seconds SECONDS]
 *                [--json FILE]
 *
 * NAME is any of lapack_routines.c with the element's letter: dpotrf, dgetrf, dgesv, dgetrf+getri, dgeqrf, dgeqrf+orgqr, and
 * so on; zgeqrf+ungqr where numbers are complex. Of two names with a + between them the two calls are measured as one. With
 * --rows matrices are M x n: of GETRF and QR alone, and of no n that is larger than M. --rhs are GESV's right-hand sides,
 * otherwise n.
 *
 * All sides take turns in one run (turns.h), and medians count. All overwrite the same matrices, which are made anew before
 * each call, outside the clock. In host memory a turn is two calls where they are short, and the second counts, as in the
 * first one threads may have to wake up; and it is followed by a rest until OpenBLAS's threads sleep. cuSOLVER's workspace
 * is there before, as Fortran's is, by a query; and its info is not waited for. cuSOLVER has no gesv and no getri: getrf and
 * getrs, for the inverse of an identity, which is copied within the device each time, as the inverse is into A's place.
 * With "copies" all matrices that the routine overwrites go both ways, and pivots and tau come back. Libraries have these in
 * ordinary memory, and cuSOLVER on the device. The cache of operands is as the environment says. --seconds are spent on each
 * routine, size and side, rests and refills among them.
 *
 * Flops are those of LAPACK's operation counts (LAPACK Working Note 41), the largest terms, and of complex numbers four times
 * as many. The link's floor is what has to cross it, of POTRF the triangle, of all else the matrices, at the rate that each
 * way has while the other one is used, too.
 *
 * Of each side's first result the residual is told, by one random vector (lapack_potrf.h and its like): well below 1 where
 * it is right. Before ORGQR overwrites it, R is kept of that first result alone, whose time counts nowhere. A side that lacks
 * one of a row's routines, or is not there at all, is left out; of the library only what it takes over itself is called.
 * Ends with 1 where a result is wrong. --json leaves the times for bench/pictures.py lapack.
 */
#include "bench/expect.h"
#include "bench/lapack_report.h"
#include "bench/lists.h"
#include "bench/timing.h"
#include "bench/turns.h"

#include <math.h>

enum { ROUNDS_LEAST = 5, ROUNDS_MOST = 240 };

static double time_call(const lapack_sides *sides, int side, const lapack_operands *operands)
{
    lapack_refill(operands);
    return lapack_time_call(sides, side, operands);
}

static double take_turn(const lapack_sides *sides, int side, const lapack_operands *operands)
{
    double seconds = time_call(sides, side, operands);
    if (sides->on_host && seconds < BENCH_LONG_SECONDS)
        seconds = time_call(sides, side, operands);
    if (sides->on_host)
        bench_rest();
    return seconds;
}

static lapack_times no_times(void)
{
    lapack_times times = {0};
    for (int side = 0; side < LAPACK_SIDES_MOST; side++)
        times.seconds[side] = times.residuals[side] = (double)NAN;
    return times;
}

/* Whether the side computes anything, and the residual of what that is; infinite where it is nothing. */
static bool check_side(const lapack_sides *sides, int side, const lapack_operands *operands, double *residual)
{
    const size_t n = (size_t)operands->n;
    lapack_operands checked = *operands;
    checked.triangle = lapack_allocate(n * n * tb_bytes_of(operands->element));
    const bool computed = !isnan(time_call(sides, side, &checked));
    *residual = computed ? lapack_residual(&checked) : INFINITY;
    free(checked.triangle);
    return computed;
}

/* Leaves in `chosen` the sides that computed anything, and returns how many. The first calls warm up, too. */
static int check_sides(const lapack_sides *sides, const lapack_operands *operands, int chosen[], int count,
                       lapack_times *times)
{
    int left = 0;
    for (int i = 0; i < count; i++)
        if (check_side(sides, chosen[i], operands, &times->residuals[chosen[i]]))
            chosen[left++] = chosen[i];
    return left;
}

static lapack_times measure(const lapack_options *options, lapack_sides *sides,
                            const lapack_operands *operands)
{
    static double turns[LAPACK_SIDES_MOST][ROUNDS_MOST];
    lapack_times times = no_times();
    int chosen[LAPACK_SIDES_MOST];
    const int able = lapack_choose_sides(sides, operands, chosen);
    const int count = check_sides(sides, operands, chosen, able, &times);
    for (int i = 0; i < count; i++)
        take_turn(sides, chosen[i], operands);
    const double start = tb_seconds(), enough = count * options->seconds;
    while (count > 0 && times.rounds < ROUNDS_MOST &&
           (times.rounds < ROUNDS_LEAST || !bench_is_even(times.rounds, count) ||
            tb_seconds() - start < enough)) {
        for (int place = 0; place < count; place++) {
            const int side = chosen[bench_order_in_round(times.rounds, place, count)];
            const double seconds = take_turn(sides, side, operands);
            bench_expect(!isnan(seconds), "a side failed at what it had computed");
            turns[side][times.rounds] = seconds;
        }
        times.rounds++;
    }
    for (int i = 0; i < count; i++)
        times.seconds[chosen[i]] = bench_median(turns[chosen[i]], (size_t)times.rounds);
    return times;
}

static void measure_routine(const lapack_options *options, lapack_sides *sides, lapack_report *report,
                            const lapack_routine *routine, tb_element element)
{
    lapack_find_routine(sides, routine, element);
    lapack_report_routine(report, routine, element);
    for (int i = 0; i < options->size_count; i++) {
        const lapack_operands operands =
            lapack_make_operands(options, sides->has_device, routine, element, options->sizes[i]);
        const lapack_times times = measure(options, sides, &operands);
        lapack_report_matrix(report, &operands, &times);
        lapack_free_operands(&operands);
    }
}

static bool is_asked_for(const lapack_options *options, const lapack_routine *routine, const char *name)
{
    return bench_lists(options->routines, name) && (options->rows == 0 || routine->may_be_tall);
}

int main(int argc, char **argv)
{
    const lapack_options options = lapack_read_options(argc, argv);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    lapack_sides sides = lapack_open_sides(&options);
    lapack_report report = lapack_open_report(&options, &sides);
    char name[LAPACK_NAME_BYTES];
    for (const lapack_routine *routine = lapack_routines; routine->calls[0]; routine++)
        for (tb_element element = 0; element < TB_ELEMENTS; element++)
            if (is_asked_for(&options, routine, lapack_name(routine, element, name)))
                measure_routine(&options, &sides, &report, routine, element);
    lapack_close_report(&report);
    return report.has_wrong ? 1 : 0;
}
