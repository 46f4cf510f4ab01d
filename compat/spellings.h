/* The names that programs call routines by. Each routine has the same spellings of its name, in two calling
 * conventions.
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
#include "words/routines.def"
#undef TB_ROUTINE
    TB_SPELLING_COUNT,
} tb_spelling;
#undef TB_SPELLING
#define TB_SPELLINGS_A_ROUTINE (TB_SPELLING_COUNT / TB_ROUTINES)

typedef struct tb_spelling_row {
    const char *symbol;
    tb_routine routine;
    bool is_cblas;    /* its calling convention; else Fortran's */
    int integer_bits; /* 0: that of the host */
} tb_spelling_row;
extern const tb_spelling_row tb_spelling_rows[TB_SPELLING_COUNT];

/* Whether the name is no more than the routine's own, in either case (dgemm, DGEMM), which programs give to functions of theirs
 * that have nothing to do with BLAS. */
static inline bool tb_is_bare(tb_spelling spelling)
{
    const int place = (int)spelling % TB_SPELLINGS_A_ROUTINE;
    return place == TB_SPELLING_sgemm % TB_SPELLINGS_A_ROUTINE ||
           place == TB_SPELLING_SGEMM % TB_SPELLINGS_A_ROUTINE;
}

/* Whether the two differ in the name alone. */
static inline bool tb_is_same_function(tb_spelling x, tb_spelling y)
{
    return tb_spelling_rows[x].routine == tb_spelling_rows[y].routine &&
           tb_spelling_rows[x].is_cblas == tb_spelling_rows[y].is_cblas;
}

#endif
