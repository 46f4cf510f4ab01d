/* A factorization: what the arguments of LAPACK's routine become before anything is decided about them. Its factors overwrite the
 * matrix.
 *
 *     A = L * L', or U' * U                                 Cholesky's, potrf: A is Hermitian or symmetric, n x n
 *
 * All column-major. A factorization that comes to an end has done its work also where its info is not zero.
 */
#ifndef TB_WORDS_FACTOR_H
#define TB_WORDS_FACTOR_H

#include "words/matrix.h"
#include "words/routine.h"
#include "words/structure.h"

typedef struct tb_factor {
    tb_routine routine; /* that was called */
    int64_t m, n;
    tb_matrix a;        /* m x n; read, and overwritten */
    tb_triangle stored; /* what of it; the rest keeps its bytes */
    int64_t *info;      /* where LAPACK's goes: 0, or the column, from 1, at which there is no such factor */
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

/* The info of a matrix that lies where the host cannot reach it and that no device could factor: LAPACKE's number for want of
 * memory. */
#define TB_INFO_UNDONE INT64_C(-1010)

/* Multiply-adds of real numbers. */
static inline double tb_factor_volume(const tb_factor *factor)
{
    const double n = (double)factor->n;
    return n * n * n / 6 * (tb_is_complex(factor->a.element) ? 4 : 1);
}

#endif
