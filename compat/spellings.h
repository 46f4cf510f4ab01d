/* The names that programs call routines by. Each routine of BLAS has the same spellings of its name, in two calling
 * conventions, and each of LAPACK's has others.
 *
 * CBLAS with integers of either width: x86-64 (System V) and AArch64 (Linux) pass each of them in a whole
 * 64-bit register or stack slot, so a function declared with int64_t receives, and hands on, exactly the bits
 * that came. Only whoever looks at a value has to know how many of its bits count. Fortran's integers are
 * behind pointers.
 */
#ifndef TB_SPELLINGS_H
#define TB_SPELLINGS_H

#include "words/routine.h"

#include <stdbool.h>

/* For a routine, its name in lower case: CBLAS or Fortran, ROUTINE, name, width of its integers in bits; 0 where the name
 * does not tell, so that the caller's own BLAS does. In this order:
 *   cblas_sgemm              Netlib, OpenBLAS, MKL, BLIS; ILP64 in Debian's libblas64
 *   scipy_cblas_sgemm        SciPy's wheels
 *   scipy_cblas_sgemm64_     NumPy's wheels
 *   cblas_sgemm64_           OpenBLAS INTERFACE64 with its suffix: Julia, older NumPy wheels
 *   cblas_sgemm_64           Netlib's extended interface, MKL
 *   sgemm_ sgemm             compilers that append no underscore; MKL exports both
 *   scipy_sgemm_ scipy_sgemm_64_ sgemm_64_
 *   SGEMM SGEMM_64           MKL, for compilers that write names in capitals
 * The map files list the same names; a test holds them together. */
#define TB_SPELLINGS_OF(CBLAS, FORTRAN, ROUTINE, name)                                                       \
    CBLAS(ROUTINE, cblas_##name, 0)                                                                          \
    CBLAS(ROUTINE, scipy_cblas_##name, 32)                                                                   \
    CBLAS(ROUTINE, scipy_cblas_##name##64_, 64)                                                              \
    CBLAS(ROUTINE, cblas_##name##64_, 64)                                                                    \
    CBLAS(ROUTINE, cblas_##name##_64, 64)                                                                    \
    TB_FORTRAN_SPELLINGS_OF(FORTRAN, ROUTINE, name)

/* LAPACK's: in C's convention LAPACKE's, whose _work functions do not look for what is no number. */
#define TB_LAPACK_SPELLINGS_OF(LAPACKE, WORK, FORTRAN, ROUTINE, name)                                        \
    LAPACKE(ROUTINE, LAPACKE_##name, 0)                                                                      \
    LAPACKE(ROUTINE, scipy_LAPACKE_##name, 32)                                                               \
    LAPACKE(ROUTINE, scipy_LAPACKE_##name##64_, 64)                                                          \
    LAPACKE(ROUTINE, LAPACKE_##name##64_, 64)                                                                \
    LAPACKE(ROUTINE, LAPACKE_##name##_64, 64)                                                                \
    WORK(ROUTINE, LAPACKE_##name##_work, 0)                                                                  \
    WORK(ROUTINE, scipy_LAPACKE_##name##_work, 32)                                                           \
    WORK(ROUTINE, scipy_LAPACKE_##name##_work64_, 64)                                                        \
    WORK(ROUTINE, LAPACKE_##name##_work64_, 64)                                                              \
    WORK(ROUTINE, LAPACKE_##name##_work_64, 64)                                                              \
    TB_FORTRAN_SPELLINGS_OF(FORTRAN, ROUTINE, name)

#define TB_FORTRAN_SPELLINGS_OF(FORTRAN, ROUTINE, name)                                                      \
    FORTRAN(ROUTINE, name##_, 0)                                                                             \
    FORTRAN(ROUTINE, name, 0)                                                                                \
    FORTRAN(ROUTINE, scipy_##name##_, 32)                                                                    \
    FORTRAN(ROUTINE, scipy_##name##_64_, 64)                                                                 \
    FORTRAN(ROUTINE, name##_64_, 64)                                                                         \
    FORTRAN(ROUTINE, ROUTINE, 0)                                                                             \
    FORTRAN(ROUTINE, ROUTINE##_64, 64)

#define TB_SPELLING(ROUTINE, symbol, bits) TB_SPELLING_##symbol,
typedef enum tb_spelling {
#define TB_ROUTINE(NAME, name, CLASS, element) TB_SPELLINGS_OF(TB_SPELLING, TB_SPELLING, NAME, name)
#define TB_LAPACK_ROUTINE(NAME, name, CLASS, element)                                                        \
    TB_LAPACK_SPELLINGS_OF(TB_SPELLING, TB_SPELLING, TB_SPELLING, NAME, name)
#include "words/routines.def"
#undef TB_ROUTINE
    TB_SPELLING_COUNT,
} tb_spelling;
#undef TB_SPELLING

/* A routine's spellings follow one upon the other. */
enum {
    TB_C_SPELLINGS =
        TB_SPELLING_sgemm_ - TB_SPELLING_cblas_sgemm, /* of CBLAS, of LAPACKE, and of its _work functions */
    TB_SPELLINGS_OF_BLAS = TB_SPELLING_cblas_dgemm - TB_SPELLING_cblas_sgemm,
    TB_FIRST_OF_LAPACK = TB_PRODUCT_ROUTINES * TB_SPELLINGS_OF_BLAS,
    TB_SPELLINGS_OF_LAPACK = (TB_SPELLING_COUNT - TB_FIRST_OF_LAPACK) / (TB_ROUTINES - TB_PRODUCT_ROUTINES),
};

static inline tb_spelling tb_first_spelling(tb_routine routine)
{
    const int beyond = (int)routine - TB_PRODUCT_ROUTINES;
    return (tb_spelling)(beyond < 0 ? (int)routine * TB_SPELLINGS_OF_BLAS
                                    : TB_FIRST_OF_LAPACK + beyond * TB_SPELLINGS_OF_LAPACK);
}

typedef struct tb_spelling_row {
    const char *symbol;
    tb_routine routine;
    bool is_cblas;    /* its calling convention, CBLAS's or LAPACKE's; else Fortran's */
    bool is_work;     /* one of LAPACKE's _work functions */
    int integer_bits; /* 0: that of the host */
} tb_spelling_row;
extern const tb_spelling_row tb_spelling_rows[TB_SPELLING_COUNT];

/* Whether the name is no more than the routine's own, in either case (dgemm, DGEMM), which programs give to functions of theirs
 * that have nothing to do with BLAS. */
static inline bool tb_is_bare(tb_spelling spelling)
{
    const int spelled = (int)spelling, beyond = spelled - TB_FIRST_OF_LAPACK;
    const int from_last = beyond < 0 ? TB_SPELLINGS_OF_BLAS - spelled % TB_SPELLINGS_OF_BLAS
                                     : TB_SPELLINGS_OF_LAPACK - beyond % TB_SPELLINGS_OF_LAPACK;
    return from_last == TB_SPELLINGS_OF_BLAS - (int)TB_SPELLING_sgemm ||
           from_last == TB_SPELLINGS_OF_BLAS - (int)TB_SPELLING_SGEMM;
}

/* Whether the two differ in the name alone. */
static inline bool tb_is_same_function(tb_spelling x, tb_spelling y)
{
    return tb_spelling_rows[x].routine == tb_spelling_rows[y].routine &&
           tb_spelling_rows[x].is_cblas == tb_spelling_rows[y].is_cblas &&
           tb_spelling_rows[x].is_work == tb_spelling_rows[y].is_work;
}

#endif
