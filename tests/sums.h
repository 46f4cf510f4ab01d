/* Sums of an element's terms, as the oracle expects C to be made of them: in a type whose rounding errors are small
 * beside those of the elements. Most of the tests' time is spent here.
 */
#ifndef TB_SUMS_H
#define TB_SUMS_H

#include "tests/factors.h"

/* Elements of a column of C are summed up so many at a time: sums that do not wait for each other take a fraction of the
 * time, and each adds its terms in the order in which it would alone. */
enum { AT_ONCE = 8 };

/* The sums of the terms of some elements of C, and of the terms' magnitudes. */
typedef struct sums {
    long double terms[AT_ONCE], magnitudes[AT_ONCE];
} sums;

/* Rows of op(A) from i on, side by side for each step of k; zeros below its last row. */
void copy_rows(const view *a, int64_t i, int64_t count, int64_t k, double *rows);

/* The sums of count rows of op(A) from i on, which copy_rows has copied, and column j of op(B). */
sums sum_rows(tb_element element, const view *a, int64_t i, int64_t count, const double *rows, const view *b,
              int64_t j, int64_t k);

/* The same of count rows from i on, where they lie. */
sums sum_few(const view *a, const view *b, int64_t i, int64_t count, int64_t j, int64_t k);

/* Adds the product of two complex numbers to the sums of its parts. */
void add_term(sums *sums, const double *a, const double *b);

#endif
