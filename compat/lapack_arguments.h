/* LAPACK's argument rules; see arguments.h. The answer is 0, and *factor is complete but for where its info goes; or it is the number
 * of the irregular argument that the routine reports, as Fortran counts, and *factor means nothing.
 */
#ifndef TB_LAPACK_ARGUMENTS_H
#define TB_LAPACK_ARGUMENTS_H

#include "compat/arguments.h"
#include "words/factor.h"

int tb_read_potrf(tb_routine routine, char letter, int64_t n, void *a, int64_t lda, tb_factor *factor);

int tb_read_getrf(tb_routine routine, int64_t m, int64_t n, void *a, int64_t lda, tb_pivots pivots,
                  tb_factor *factor);

/* GEQRF and GELQF, with work of so many numbers; TB_IS_QUERY: it is asked how many there should be, and *factor is complete. */
enum { TB_WORK_QUERY = -1, TB_IS_QUERY = -1 };
int tb_read_geqrf(tb_routine routine, int64_t m, int64_t n, void *a, int64_t lda, void *tau, int64_t lwork,
                  tb_factor *factor);

/* And ORGLQ. */
int tb_read_orgqr(tb_routine routine, int64_t m, int64_t n, int64_t k, void *a, int64_t lda, void *tau,
                  int64_t lwork, tb_factor *factor);

/* Letters: the side and the operation. */
int tb_read_ormqr(tb_routine routine, const char letters[static 2], int64_t m, int64_t n, int64_t k, void *a,
                  int64_t lda, void *tau, void *b, int64_t ldb, int64_t lwork, tb_factor *factor);

int tb_read_gels(tb_routine routine, char letter, int64_t m, int64_t n, int64_t nrhs, void *a, int64_t lda,
                 void *b, int64_t ldb, int64_t lwork, tb_factor *factor);

/* Without a host as many as are regular. */
void tb_answer_query(const tb_factor *factor, void *work);

/* For the host's routine; of a factorization of one column, as a probe is, without any other memory. False: there is no memory. */
enum {
    TB_WORK_COLUMNS = 64,
    TB_WORK_TRIANGLE = 65 * 64
}; /* T, where Q is applied, alone or among other things */
typedef struct tb_work {
    void *data;
    int64_t count; /* numbers */
    double few[2 * TB_WORK_COLUMNS];
} tb_work;
bool tb_make_work(tb_work *work, const tb_factor *factor);
void tb_unmake_work(tb_work *work);

/* Of a solve, as its class's letters say, in the order of their arguments; of LU with pivots. */
int tb_read_solve(tb_routine routine, const char *letters, int64_t n, int64_t nrhs, void *a, int64_t lda,
                  tb_pivots pivots, void *b, int64_t ldb, tb_factor *factor);

/* With the same work. */
int tb_read_getri(tb_routine routine, int64_t n, void *a, int64_t lda, tb_pivots pivots, int64_t lwork,
                  tb_factor *factor);

int tb_read_trtri(tb_routine routine, char letter, char diagonal, int64_t n, void *a, int64_t lda,
                  tb_factor *factor);

/* The letter that says on which side Q stands, and how a solve reads A, or it, as Fortran takes them. */
static inline const char *tb_side_of_q(const tb_factor *factor)
{
    return factor->on_the_right ? "R" : "L";
}

static inline const char *tb_solve_operation(const tb_factor *factor)
{
    return factor->conjugated ? "C" : factor->transposed ? "T" : "N";
}

/* What has an element that is no number, a matrix in what is stored of it, or tau where it is read: LAPACKE refuses such a one. Nobody looks
 * at matrices that lie on a device. */
typedef enum tb_with_nan { TB_WITH_NO_NAN, TB_A_WITH_NAN, TB_B_WITH_NAN, TB_TAU_WITH_NAN } tb_with_nan;
tb_with_nan tb_find_nan(const tb_factor *factor);

/* Stores info in an integer of the caller's. */
void tb_store_info(void *info, int64_t value, int bits);

#endif
