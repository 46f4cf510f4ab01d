/* The factors of a product as real matrices, element by element: what the oracle sums up (oracle.c). What is complex, or not
 * all stored, or has two terms is written out.
 */
#ifndef TB_FACTORS_H
#define TB_FACTORS_H

#include "tests/oracle.h"

/* A stored matrix seen as a real op(X): how far apart neighbours in a column and in a row of op(X) are. Of complex numbers
 * real and imaginary parts, which are neighbours in memory, are a row each. */
typedef struct view {
    tb_element element; /* real */
    const void *elements;
    int64_t down, right;
    int pairs; /* 1: rows are in pairs; else 0 */
} view;

static inline double number_at(const view *view, int64_t i, int64_t j)
{
    const int64_t index = (i >> view->pairs) * view->down + (i & view->pairs) + j * view->right;
    return view->element == TB_FP64 ? ((const double *)view->elements)[index]
                                    : (double)((const float *)view->elements)[index];
}

/* The views of op(A) and op(B), and what they are views of where that is written out. */
typedef struct written {
    double *a, *b;
} written;

/* Makes so many numbers, not filled; ends the program when there is no room. */
double *make_numbers(int64_t count);

static inline bool is_stored(tb_triangle stored, int64_t i, int64_t j)
{
    return stored == TB_LOWER ? i >= j : i <= j;
}

static inline bool is_triangle_left(const product *p)
{
    return p->structure_a == TB_TRIANGULAR;
}

/* A matrix that is all stored, or its transpose. */
view view_of(const matrix *matrix, bool row_major, bool transposed);

/* The product that is looked at: of one in C's place, the other factor is C before it was multiplied, or after it was solved
 * for, and nothing is added. */
product in_factors(const product *p, const matrix *before, const matrix *after);

written write_factors(const product *p, view *a, view *b);
void free_written(const written *written);

#endif
