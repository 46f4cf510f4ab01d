#include "compat/lapack_arguments.h"

#include "lib/call/residency.h"
#include "lib/process/leaving.h"
#include "words/integers.h"

#include <string.h>

int tb_read_potrf(tb_routine routine, char letter, int64_t n, void *a, int64_t lda, tb_factor *factor)
{
    const bool lower = letter == 'L' || letter == 'l';
    if (!lower && letter != 'U' && letter != 'u')
        return 1;
    *factor = tb_potrf(routine, lower ? TB_LOWER : TB_UPPER, n, a, lda, NULL);
    if (n < 0)
        return 2;
    return lda < (n > 1 ? n : 1) ? 4 : 0;
}

int tb_read_getrf(tb_routine routine, int64_t m, int64_t n, void *a, int64_t lda, tb_pivots pivots,
                  tb_factor *factor)
{
    *factor = tb_getrf(routine, m, n, a, lda, pivots, NULL);
    if (m < 0)
        return 1;
    if (n < 0)
        return 2;
    return lda < (m > 1 ? m : 1) ? 4 : 0;
}

/* Numbers, the least that are regular; getri's matrix is square. */
static int64_t least_work(const tb_factor *factor)
{
    const int64_t order = tb_factor_order(factor);
    return tb_larger(tb_applies_q(factor)             ? tb_applied_count(factor)
                     : tb_finds_least_squares(factor) ? order + tb_larger(order, factor->b.columns)
                                                      : tb_reflected_lines(factor),
                     1);
}

int tb_read_geqrf(tb_routine routine, int64_t m, int64_t n, void *a, int64_t lda, void *tau, int64_t lwork,
                  tb_factor *factor)
{
    const int number = tb_read_getrf(routine, m, n, a, lda, (tb_pivots){NULL, 0}, factor);
    factor->reflectors.tau = tau;
    if (number > 0)
        return number;
    if (lwork == TB_WORK_QUERY)
        return TB_IS_QUERY;
    return lwork < least_work(factor) ? 7 : 0;
}

int tb_read_orgqr(tb_routine routine, int64_t m, int64_t n, int64_t k, void *a, int64_t lda, void *tau,
                  int64_t lwork, tb_factor *factor)
{
    *factor = tb_orgqr(routine, m, n, k, a, lda, tau, NULL);
    const int64_t lines = tb_reflected_lines(factor);
    if (m < 0)
        return 1;
    if (n < 0 || lines > tb_reflector_length(factor))
        return 2;
    if (k < 0 || k > lines)
        return 3;
    if (lda < tb_larger(m, 1))
        return 5;
    if (lwork == TB_WORK_QUERY)
        return TB_IS_QUERY;
    return lwork < least_work(factor) ? 8 : 0;
}

void tb_answer_query(const tb_factor *factor, void *work)
{
    const double count = (double)least_work(factor);
    if (tb_real_of(factor->a.element) == TB_FP64)
        *(double *)work = count;
    else
        *(float *)work = (float)count;
}

bool tb_make_work(tb_work *work, const tb_factor *factor)
{
    const bool applies_q = tb_applies_q(factor) || tb_finds_least_squares(factor),
               is_column = factor->n <= 1 && least_work(factor) <= 2;
    work->count = is_column ? TB_WORK_COLUMNS
                            : TB_WORK_COLUMNS * least_work(factor) + (applies_q ? TB_WORK_TRIANGLE : 0);
    work->data = is_column ? work->few : tb_make((size_t)work->count * tb_bytes_of(factor->a.element));
    return work->data != NULL;
}

void tb_unmake_work(tb_work *work)
{
    if (work->data != work->few)
        tb_unmake(work->data);
}

static char capital_of(char letter)
{
    return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
}

/* Whether the letter is one of its kind, as a class has them (words/routine.h). */
static bool read_letter(char kind, char letter, tb_factor *factor)
{
    const char capital = capital_of(letter);
    switch (kind) {
    case 'U':
        factor->stored = capital == 'L' ? TB_LOWER : TB_UPPER;
        return capital == 'L' || capital == 'U';
    case 'D':
        factor->unit_diagonal = capital == 'U';
        return capital == 'U' || capital == 'N';
    default:
        factor->transposed = capital != 'N';
        factor->conjugated = capital == 'C' && tb_is_complex(factor->a.element);
        return capital == 'N' || capital == 'T' || capital == 'C';
    }
}

int tb_read_solve(tb_routine routine, const char *letters, int64_t n, int64_t nrhs, void *a, int64_t lda,
                  tb_pivots pivots, void *b, int64_t ldb, tb_factor *factor)
{
    const char *kinds = tb_class_of(routine)->letters;
    const int64_t least = n > 1 ? n : 1;
    const int first = (int)strlen(kinds), after_pivots = tb_class_of(routine)->factors == TB_LU ? 1 : 0;
    *factor = tb_getrf(routine, n, n, a, lda, pivots, NULL);
    factor->b = (tb_matrix){.data = b, .rows = n, .columns = nrhs, .ld = ldb, .element = factor->a.element};
    for (int i = 0; kinds[i]; i++)
        if (!read_letter(kinds[i], letters[i], factor))
            return i + 1;
    if (n < 0)
        return first + 1;
    if (nrhs < 0)
        return first + 2;
    if (lda < least)
        return first + 4;
    return ldb < least ? first + 6 + after_pivots : 0;
}

int tb_read_ormqr(tb_routine routine, const char letters[static 2], int64_t m, int64_t n, int64_t k, void *a,
                  int64_t lda, void *tau, void *b, int64_t ldb, int64_t lwork, tb_factor *factor)
{
    const char side = capital_of(letters[0]), operation = capital_of(letters[1]),
               transposing = tb_is_complex(tb_routine_rows[routine].element) ? 'C' : 'T';
    *factor = tb_ormqr(routine, side == 'R', operation != 'N', m, n, k, a, lda, tau, b, ldb, NULL);
    if (side != 'L' && side != 'R')
        return 1;
    if (operation != 'N' && operation != transposing)
        return 2;
    if (m < 0)
        return 3;
    if (n < 0)
        return 4;
    if (k < 0 || k > factor->m)
        return 5;
    if (lda < tb_larger(factor->m, 1))
        return 7;
    if (ldb < tb_larger(m, 1))
        return 10;
    if (lwork == TB_WORK_QUERY)
        return TB_IS_QUERY;
    return lwork < least_work(factor) ? 12 : 0;
}

int tb_read_gels(tb_routine routine, char letter, int64_t m, int64_t n, int64_t nrhs, void *a, int64_t lda,
                 void *b, int64_t ldb, int64_t lwork, tb_factor *factor)
{
    const char operation = capital_of(letter),
               transposing = tb_is_complex(tb_routine_rows[routine].element) ? 'C' : 'T';
    *factor = tb_gels(routine, operation != 'N', m, n, nrhs, a, lda, b, ldb, NULL);
    if (operation != 'N' && operation != transposing)
        return 1;
    if (m < 0)
        return 2;
    if (n < 0)
        return 3;
    if (nrhs < 0)
        return 4;
    if (lda < tb_larger(m, 1))
        return 6;
    if (ldb < tb_larger(factor->b.rows, 1))
        return 8;
    if (lwork == TB_WORK_QUERY)
        return TB_IS_QUERY;
    return lwork < least_work(factor) ? 10 : 0;
}

int tb_read_getri(tb_routine routine, int64_t n, void *a, int64_t lda, tb_pivots pivots, int64_t lwork,
                  tb_factor *factor)
{
    *factor = tb_getrf(routine, n, n, a, lda, pivots, NULL);
    if (n < 0)
        return 1;
    if (lda < tb_larger(n, 1))
        return 3;
    if (lwork == TB_WORK_QUERY)
        return TB_IS_QUERY;
    return lwork < tb_larger(n, 1) ? 6 : 0;
}

int tb_read_trtri(tb_routine routine, char letter, char diagonal, int64_t n, void *a, int64_t lda,
                  tb_factor *factor)
{
    *factor = tb_potrf(routine, TB_LOWER, n, a, lda, NULL);
    if (!read_letter('U', letter, factor))
        return 1;
    if (!read_letter('D', diagonal, factor))
        return 2;
    if (n < 0)
        return 3;
    return lda < tb_larger(n, 1) ? 5 : 0;
}

/* By their bits: a comparison could raise an exception of the caller's. */
static bool is_nan_at(const char *number, tb_element real)
{
    uint64_t wide;
    uint32_t narrow;
    if (real == TB_FP64) {
        memcpy(&wide, number, sizeof wide);
        return (wide & INT64_MAX) > UINT64_C(0x7ff) << 52;
    }
    memcpy(&narrow, number, sizeof narrow);
    return (narrow & INT32_MAX) > UINT32_C(0xff) << 23;
}

/* A unit diagonal is not read. */
static bool has_nan(const tb_matrix *matrix, tb_triangle stored, bool unit_diagonal)
{
    const tb_element real = tb_real_of(matrix->element);
    const size_t step = tb_bytes_of(real);
    for (int64_t column = 0; column < matrix->columns; column++) {
        const int64_t first = stored == TB_LOWER ? column + unit_diagonal : 0,
                      end = stored == TB_UPPER ? column + !unit_diagonal : matrix->rows;
        const char *number = tb_at(matrix, first, column),
                   *last = number + (size_t)(end - first) * tb_bytes_of(matrix->element);
        for (; number < last; number += step)
            if (is_nan_at(number, real))
                return true;
    }
    return false;
}

static bool has_nan_in_tau(const tb_factor *factor)
{
    const int64_t count = tb_factor_order(factor);
    const tb_matrix tau = {factor->reflectors.tau, count, 1, count, factor->a.element};
    return tb_reads_reflectors(factor) && has_nan(&tau, TB_FULL, false);
}

tb_with_nan tb_find_nan(const tb_factor *factor)
{
    const tb_task task = tb_task_of_factor(factor);
    tb_facts facts = {.scattered = false};
    tb_locate_matrices(task, &facts);
    for (int i = 0; i < tb_task_matrices(task); i++)
        if (facts.places[i].memory != TB_MEMORY_DEVICE &&
            has_nan(tb_task_matrix(task, i), i == 0 ? factor->stored : TB_FULL,
                    i == 0 && factor->unit_diagonal))
            return i == 0 ? TB_A_WITH_NAN : TB_B_WITH_NAN;
    return has_nan_in_tau(factor) ? TB_TAU_WITH_NAN : TB_WITH_NO_NAN;
}

void tb_store_info(void *info, int64_t value, int bits)
{
    const int32_t narrow = (int32_t)value;
    if (bits == 64)
        memcpy(info, &value, sizeof value);
    else
        memcpy(info, &narrow, sizeof narrow);
}
