/* A factorization, or a solve by one, or both, or what is made of factors: what the arguments of LAPACK's routine become before anything is
 * decided about them. Factors overwrite A, and solutions B.
 *
 *     A = L * L', or U' * U         Cholesky's, potrf: A is Hermitian or symmetric, n x n
 *     A = P * L * U                 with partial pivoting, getrf: A is m x n, and L has a diagonal of ones, which is not stored
 *     A = Q * R                     geqrf: A is m x n, and Q a product of reflectors
 *
 *     A = L * Q                     gelqf: of A' by QR, L = R', and A's rows have the reflectors' adjoints
 *
 *     A := Q                        orgqr and ungqr: its first n columns, of the reflectors that A's first ones have; orglq and unglq: its
 *                                   first m rows, of those that A's first ones have
 *     B := op(Q) B, or B op(Q)      ormqr and unmqr: of the reflectors that A, m x n, has
 *
 *     A X = B, as nearly as can be  gels: by A = Q R, where A has no more columns than rows; in B, of as many rows as A has, X comes first
 *     op(A) X = B                   potrs and getrs by such factors; posv and gesv by those that they make; trtrs with A a triangle
 *     A = X, where X B = I          potri and getri of the B that such factors are of; trtri of a triangle B, which is A
 *     A = L' * L, or U * U'         lauum of a triangle
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

static inline tb_pivots tb_pivots_from(tb_pivots pivots, int64_t first)
{
    return (tb_pivots){(char *)pivots.data + first * pivots.bits / 8, pivots.bits};
}

static inline int64_t tb_pivot_at(tb_pivots pivots, int64_t i)
{
    return pivots.bits == 64 ? ((const int64_t *)pivots.data)[i] : ((const int32_t *)pivots.data)[i];
}

static inline void tb_set_pivot(tb_pivots pivots, int64_t i, int64_t pivot)
{
    if (pivots.bits == 64)
        ((int64_t *)pivots.data)[i] = pivot;
    else
        ((int32_t *)pivots.data)[i] = (int32_t)pivot;
}

/* Of QR, where Q = H1 H2 ..., and H = I - tau v v', of which A has v below its diagonal. Some of them are one: I - V T V'. Numbers are
 * those of the matrix's element. */
typedef struct tb_reflectors {
    void *tau;     /* one a reflector */
    int64_t count; /* where they make Q: so many of A's columns, or rows, have one */
    /* Where steps are done, and of a panel: the triangle T, below it zeros; and V as a matrix, with its ones and zeros. */
    void *t, *v;
    int64_t ld_of_t, ld_of_v;
    void *products; /* of steps, for numbers between them */
    /* Of those that make Q (sequences/generate.h): a square of the identity, and tau on the diagonals of others. */
    void *identity, *diagonals;
} tb_reflectors;

typedef struct tb_factor {
    tb_routine routine; /* that was called */
    int64_t m, n;
    tb_matrix a;                                /* m x n; read, and overwritten by what makes factors */
    tb_triangle stored;                         /* what of it; the rest keeps its bytes */
    bool transposed, conjugated, unit_diagonal; /* of a solve: how A is read, or Q */
    bool on_the_right;                          /* Q stands there, of B */
    tb_pivots
        pivots; /* of LU, m or n, the smaller: the row, from 1, that each row was exchanged with, one after the other */
    tb_reflectors reflectors; /* of QR */
    tb_matrix
        b; /* of a solve, with n rows, or of least squares, m or n, the larger; what Q is applied to; of steps Q, or by rows what is its
              adjoint or A's; else empty */
    int64_t *
        info; /* where LAPACK's goes: 0, or the column, from 1, at which there is no such factor, or a pivot is 0: then
                         nothing is solved */
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

static inline tb_factors tb_factors_of(const tb_factor *factor)
{
    return tb_class_of(factor->routine)->factors;
}

static inline bool tb_makes_factors(const tb_factor *factor)
{
    return tb_class_of(factor->routine)->makes_factors;
}

static inline bool tb_solves(const tb_factor *factor)
{
    return tb_class_of(factor->routine)->solves;
}

static inline tb_replacement tb_replacement_of(const tb_factor *factor)
{
    return tb_class_of(factor->routine)->replacement;
}

static inline bool tb_changes_a(const tb_factor *factor)
{
    return tb_makes_factors(factor) || tb_replacement_of(factor) != TB_NOT_REPLACED;
}

static inline bool tb_makes_q(const tb_factor *factor)
{
    return tb_replacement_of(factor) == TB_Q;
}

/* B becomes what Q makes of it. */
static inline bool tb_applies_q(const tb_factor *factor)
{
    return tb_solves(factor) && !tb_makes_factors(factor) && tb_factors_of(factor) == TB_QR;
}

/* Those that are there. */
static inline bool tb_reads_reflectors(const tb_factor *factor)
{
    return tb_makes_q(factor) || tb_applies_q(factor);
}

/* A matrix is written when all of it is known, and none of it can be without the others as they were. */
static inline bool tb_is_all_or_nothing(const tb_factor *factor)
{
    return tb_replacement_of(factor) != TB_NOT_REPLACED || (tb_applies_q(factor) && factor->on_the_right);
}

static inline bool tb_makes_lq(const tb_factor *factor)
{
    return tb_replacement_of(factor) == TB_LQ;
}

static inline bool tb_is_by_rows(const tb_factor *factor)
{
    return tb_class_of(factor->routine)->by_rows;
}

/* Of QR: numbers of the first reflector, and how many columns, or rows, there are beside it at the most. */
static inline int64_t tb_reflector_length(const tb_factor *factor)
{
    return tb_is_by_rows(factor) ? factor->n : factor->m;
}

static inline int64_t tb_reflected_lines(const tb_factor *factor)
{
    return tb_is_by_rows(factor) ? factor->m : factor->n;
}

/* The routine that makes such factors, by columns, and does nothing else. */
static inline tb_routine tb_factoring_routine(const tb_factor *factor)
{
    static const tb_routine routines[TB_FACTORS_COUNT] = {
        [TB_CHOLESKY] = TB_SPOTRF, [TB_LU] = TB_SGETRF, [TB_QR] = TB_SGEQRF};
    return (tb_routine)((int)routines[tb_factors_of(factor)] + (int)factor->a.element);
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

/* The arguments in the order of GEQRF, and of GELQF. */
static inline tb_factor tb_geqrf(tb_routine routine, int64_t m, int64_t n, void *data, int64_t ld, void *tau,
                                 int64_t *info)
{
    tb_factor factor = tb_getrf(routine, m, n, data, ld, (tb_pivots){NULL, 0}, info);
    factor.reflectors.tau = tau;
    return factor;
}

/* The arguments in the order of ORGQR, and of ORGLQ. */
static inline tb_factor tb_orgqr(tb_routine routine, int64_t m, int64_t n, int64_t k, void *data, int64_t ld,
                                 void *tau, int64_t *info)
{
    tb_factor factor = tb_geqrf(routine, m, n, data, ld, tau, info);
    factor.reflectors.count = k;
    return factor;
}

/* B is m x n; the other arguments in the order of ORMQR. */
static inline tb_factor tb_ormqr(tb_routine routine, bool on_the_right, bool transposed, int64_t m, int64_t n,
                                 int64_t k, void *a, int64_t lda, void *tau, void *b, int64_t ldb,
                                 int64_t *info)
{
    tb_factor factor = tb_orgqr(routine, on_the_right ? n : m, k, k, a, lda, tau, info);
    factor.on_the_right = on_the_right;
    factor.transposed = transposed;
    factor.conjugated = transposed && tb_is_complex(factor.a.element);
    factor.b = (tb_matrix){.data = b, .rows = m, .columns = n, .ld = ldb, .element = factor.a.element};
    return factor;
}

/* By the factors of QR that it makes, too. */
static inline bool tb_finds_least_squares(const tb_factor *factor)
{
    return tb_solves(factor) && tb_makes_factors(factor) && tb_factors_of(factor) == TB_QR;
}

/* The other three ways are those of a transposed matrix, and of one that has more columns than rows. */
static inline bool tb_is_overdetermined(const tb_factor *factor)
{
    return !factor->transposed && factor->m >= factor->n;
}

/* The arguments in the order of GELS. */
static inline tb_factor tb_gels(tb_routine routine, bool transposed, int64_t m, int64_t n, int64_t nrhs,
                                void *a, int64_t lda, void *b, int64_t ldb, int64_t *info)
{
    tb_factor factor = tb_geqrf(routine, m, n, a, lda, NULL, info);
    factor.transposed = transposed;
    factor.conjugated = transposed && tb_is_complex(factor.a.element);
    factor.b = (tb_matrix){
        .data = b, .rows = m > n ? m : n, .columns = nrhs, .ld = ldb, .element = factor.a.element};
    return factor;
}

/* Its second step, when A has been factored: B := Q' B; and its third one: R X = B. */
static inline tb_factor tb_by_q(const tb_factor *factor)
{
    const tb_matrix *a = &factor->a, *b = &factor->b;
    return tb_ormqr((tb_routine)((int)TB_SORMQR + (int)a->element), false, true, b->rows, b->columns,
                    factor->n, a->data, a->ld, factor->reflectors.tau, b->data, b->ld, factor->info);
}

static inline tb_factor tb_by_r(const tb_factor *factor)
{
    tb_factor by_r = tb_potrf((tb_routine)((int)TB_STRTRS + (int)factor->a.element), TB_UPPER, factor->n,
                              factor->a.data, factor->a.ld, factor->info);
    by_r.b = factor->b;
    by_r.b.rows = factor->n;
    return by_r;
}

/* There is nothing to be done. Least squares of an empty matrix are zeros, which are stored. */
static inline bool tb_is_empty(const tb_factor *factor)
{
    if (tb_finds_least_squares(factor))
        return tb_matrix_bytes(&factor->b) == 0;
    return factor->m == 0 || factor->n == 0 || (tb_applies_q(factor) && tb_matrix_bytes(&factor->b) == 0);
}

/* Columns of B, or rows, each of which Q is applied to by itself. */
static inline int64_t tb_applied_count(const tb_factor *factor)
{
    return factor->on_the_right ? factor->b.rows : factor->b.columns;
}

/* Rows first, first + 1, ... of a matrix, so many, are exchanged with those of its rows, from 1, that pivots say, the last one first where
 * it is backwards. By a pivot that is none of its rows nothing is exchanged. Columns of a panel, if there is one, are left out, and of
 * those behind it these rows are solved by the panel's, whose lower triangle has a diagonal of ones: it has as many columns as rows are
 * exchanged, which are not many (TB_PANEL_EXCHANGED_MOST). */
typedef struct tb_row_exchange {
    tb_matrix matrix;
    int64_t first, count;
    tb_pivots pivots; /* count */
    bool backwards;
    bool has_panel; /* not backwards */
    int64_t panel;  /* its first column */
} tb_row_exchange;

#define TB_PANEL_EXCHANGED_MOST 32

/* The info of a matrix that lies where the host cannot reach it and that no device could factor: LAPACKE's number for want of
 * memory. */
#define TB_INFO_UNDONE INT64_C(-1010)

/* Columns that are factored; of a wide matrix others come with them. Where Q is made, reflectors. */
static inline int64_t tb_factor_order(const tb_factor *factor)
{
    return tb_makes_q(factor) ? factor->reflectors.count : factor->m < factor->n ? factor->m : factor->n;
}

/* Multiply-adds of real numbers. */
static inline double tb_factor_volume(const tb_factor *factor)
{
    const double m = (double)factor->m, n = (double)factor->n, k = (double)tb_factor_order(factor),
                 made = factor->stored == TB_FULL ? k * (m * n - k * (m + n) / 2 + k * k / 3) : n * n * n / 6,
                 applied = (double)tb_applied_count(factor) * k * (2 * (m > k ? m : n) - k),
                 solved =
                     tb_applies_q(factor) ? applied
                     : tb_finds_least_squares(factor)
                         ? applied + k * k * (double)factor->b.columns / 2
                         : n * n * (double)factor->b.columns / (tb_factors_of(factor) == TB_A_ITSELF ? 2 : 1),
                 replaced = n * n * n /
                            (tb_factors_of(factor) == TB_LU         ? 1.5
                             : tb_factors_of(factor) == TB_CHOLESKY ? 3
                                                                    : 6),
                 all = (tb_makes_factors(factor) || tb_makes_q(factor)
                            ? made * (tb_factors_of(factor) == TB_QR ? 2 : 1)
                        : tb_replacement_of(factor) ? replaced
                                                    : 0) +
                       (tb_solves(factor) ? solved : 0);
    return all * (tb_is_complex(factor->a.element) ? 4 : 1);
}

#endif
