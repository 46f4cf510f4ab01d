/* What bench/lapack prints, a table for each routine and a line for each size, and leaves as JSON. */
#ifndef BENCH_LAPACK_REPORT_H
#define BENCH_LAPACK_REPORT_H

#include "bench/json.h"
#include "bench/lapack_sides.h"

/* What was measured of one matrix, by the sides' numbers; NaN of those that took no part, or failed. */
typedef struct lapack_times {
    double seconds[LAPACK_SIDES_MOST]; /* medians */
    double residuals[LAPACK_SIDES_MOST];
    int rounds;
} lapack_times;

typedef struct lapack_report {
    const lapack_sides *sides;
    bench_json json;
    const lapack_options *options;
    bool has_wrong; /* a result was */
} lapack_report;

lapack_report lapack_open_report(const lapack_options *options, const lapack_sides *sides);
void lapack_close_report(lapack_report *report);

/* The head of a routine's table. */
void lapack_report_routine(const lapack_report *report, const lapack_routine *routine, tb_element element);

void lapack_report_matrix(lapack_report *report, const lapack_operands *operands, const lapack_times *times);

#endif
