/* What bench/kernels says: a line for each product and each group, and the same as JSON. Lines of products that are slow
 * beside cuBLAS come once more at the end.
 */
#ifndef BENCH_KERNELS_REPORT_H
#define BENCH_KERNELS_REPORT_H

#include "bench/kernels_options.h"
#include "bench/measure.h"

enum { KERNELS_MAXIMUM = 64 };

typedef struct kernels_report {
    bench_json json;
    FILE *slow; /* lines of the slow products, as slow_lines when it is closed */
    char *slow_lines;
    size_t slow_size;
    double copy_rate; /* bytes a second */
    bool regret;      /* as in options */
} kernels_report;

/* A kernel that served a product, or could have. */
typedef struct kernels_candidate {
    const char *name;
    double seconds, forecast;
} kernels_candidate;

typedef struct kernels_times {
    double cublas;                                 /* seconds */
    kernels_candidate candidates[KERNELS_MAXIMUM]; /* the first one is chosen */
    int count;                                     /* of candidates; 1 unless all were timed */
} kernels_times;

/* Ratios to cuBLAS, of which a group shows the geometric mean and the least. */
typedef struct kernels_tally {
    int count;
    double log_sum, least, worst_regret;
} kernels_tally;

/* Measures the rate of a copy, too, which products with a short side are held to. */
void kernels_open_report(kernels_report *report, const kernels_options *options, const bench_gpu *gpu);
void kernels_close_report(kernels_report *report);

kernels_tally kernels_begin_group(kernels_report *report, const char *name);
void kernels_end_group(kernels_report *report, const char *name, const kernels_tally *tally);

void kernels_report_product(kernels_report *report, const bench_product *product, const kernels_times *times,
                            kernels_tally *tally);

#endif
