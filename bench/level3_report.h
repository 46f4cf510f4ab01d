/* What bench/level3 prints of its products, a line each and one of means for each routine, and leaves as JSON. */
#ifndef BENCH_LEVEL3_REPORT_H
#define BENCH_LEVEL3_REPORT_H

#include "bench/json.h"
#include "bench/level3_operands.h"

/* What was measured of one product. */
typedef struct level3_times {
    int sides, rounds;
    double seconds[LEVEL3_SIDES_MOST]; /* medians; NaN where the side refused */
    double ratio;                      /* of the reference's to ours: of these, or of pairs the median */
    double difference;                 /* the largest from the reference, of any side */
} level3_times;

typedef struct level3_report {
    const level3_sides *sides;
    bench_json json;
    /* Sums over the routine's products of the logarithms of the ratios to the reference, and to cublasXt; and how
     * many there are. */
    double log_sum, log_sum_xt;
    int count;
} level3_report;

level3_report level3_open_report(const level3_options *options, const level3_sides *sides);
void level3_close_report(level3_report *report);

void level3_report_product(level3_report *report, const level3_operands *operands, const level3_times *times);

/* Prints the geometric means of the routine's ratios, and begins anew. */
void level3_report_means(level3_report *report, const bench_routine *routine);

#endif
