/* A factorization: what the arguments of LAPACK's routine become before anything is decided about them. Its factors overwrite the
 * matrix.
 *
 *     A = L * L', or U' * U         Cholesky's, potrf: A is Hermitian or symmetric, n x n
 *     A = P * L * U                 with partial pivoting, getrf: A is m x n, and L has a diagonal of ones, which is not stored
 *
 * All column-major. A factorization that comes to an end has done its work also where its info is not zero.
 */
#ifndef TB_WORDS_FACTOR_H
#define TB_WORDS_FACTOR_H

#include "words/matrix.h"
#include "words/routine.h"
#include "words/structure.h"

/* Integers of LAPACK's, of 32 or of 64 bits. */
typedef struct tb_pivots {
    void *data;
    int bits;
} tb_pivots;

static inline int64_t tb_pivot_at(tb_pivots pivots, int64_t index)
{
    return pivots.bits == 64 ? ((const int64_t *)pivots.data)[index] : ((const int32_t *)pivots.data)[index];
}

static inline void tb_set_pivot(tb_pivots pivots, int64_t index, int64_t row)
{
    if (pivots.bits == 64)
        ((int64_t *)pivots.data)[index] = row;
    else
        ((int32_t *)pivots.data)[index] = (int32_t)row;
}

typedef struct tb_factor {
    tb_routine routine; /* that was called */
    int64_t m, n;
    tb_matrix a;        /* m x n; read, and overwritten */
    tb_triangle stored; /* what of it; the rest keeps its bytes */
    tb_pivots
        pivots; /* of getrf, m or n, the smaller: the row, from 1, that each row was exchanged with, one after the other */
    int64_t *
        info; /* where LAPACK's goes: 0, or the column, from 1, at which there is no such factor, or a pivot is 0 */
} tb_factor;

/* Cholesky's, the arguments in the order of POTRF. */
static inline tb_factor tb_potrf(tb_routine routine, tb_triangle stored, int64_t n, void *data, int64_t ld,
                                 int64_t *info)
{
    const tb_element element = tb_routine_rows[routine].element;
    return (tb_factor){
        .routine = routine,
        .m = n,
        .n = n,
        .a = {.data = data, .rows = n, .columns = n, .ld = ld, .element = element},
        .stored = stored,
        .info = info,
    };
}

/* With partial pivoting, the arguments in the order of GETRF. */
static inline tb_factor tb_getrf(tb_routine routine, int64_t m, int64_t n, void *data, int64_t ld,
                                 tb_pivots pivots, int64_t *info)
{
    const tb_element element = tb_routine_rows[routine].element;
    return (tb_factor){
        .routine = routine,
        .m = m,
        .n = n,
        .a = {.data = data, .rows = m, .columns = n, .ld = ld, .element = element},
        .stored = TB_FULL,
        .pivots = pivots,
        .info = info,
    };
}

/* Rows first, first + 1, ... of a matrix, so many, are exchanged with those of its rows, from 1, that pivots say, the last one first where
 * it is backwards. By a pivot that is none of its rows nothing is exchanged. */
typedef struct tb_row_exchange {
    tb_matrix matrix;
    int64_t first, count;
    tb_pivots pivots; /* count */
    bool backwards;
} tb_row_exchange;

/* The info of a matrix that lies where the host cannot reach it and that no device could factor: LAPACKE's number for want of
 * memory. */
#define TB_INFO_UNDONE INT64_C(-1010)

/* Multiply-adds of real numbers. */
static inline double tb_factor_volume(const tb_factor *factor)
{
    const double m = (double)factor->m, n = (double)factor->n, k = m < n ? m : n,
                 all = factor->stored == TB_FULL ? k * (m * n - k * (m + n) / 2 + k * k / 3) : n * n * n / 6;
    return all * (tb_is_complex(factor->a.element) ? 4 : 1);
}

#endif
