/* One product's matrices in bench/level3: A and B, which all sides read, and a C for each of them, all alike to
 * begin with. */
#ifndef BENCH_LEVEL3_OPERANDS_H
#define BENCH_LEVEL3_OPERANDS_H

#include "bench/level3_options.h"
#include "bench/level3_sides.h"

typedef struct level3_operands {
    const bench_routine *routine;
    int n, rows, columns, k; /* rows and columns are C's; all are n unless options say otherwise */
    bool on_host, right, apart;
    void *a, *b;
    void *c[LEVEL3_SIDES_MOST]; /* NULL: of a side that takes no part */
    bool shares_c;              /* all sides write into the first one's from now on */
} level3_operands;

level3_operands level3_make_operands(const level3_options *options, const bench_routine *routine, int n,
                                     int sides);
void level3_free_operands(const level3_operands *operands);

tb_product level3_product_of(const level3_operands *operands, int side);

/* The largest difference from the reference's C, beside the largest number there. */
double level3_difference(const level3_operands *operands, int side);

#endif
