/* The routines that are taken over: one row each. What a routine is called by, and how its arguments become a
 * product, is in compat/; all else that is particular to one is here.
 */
#ifndef TB_ROUTINE_H
#define TB_ROUTINE_H

#include "words/element.h"

/* Routines of a class have the same arguments but for the element, so that one function, stamped for each,
 * serves them. */
typedef enum tb_routine_class {
    TB_CLASS_GEMM,
    TB_CLASS_RANK_K,   /* SYRK */
    TB_CLASS_TRIANGLE, /* of the result of GEMM: GEMMT, by LAPACK's name GEMMTR */
    TB_CLASS_SYMM,
    TB_CLASS_HEMM,
    TB_CLASS_HERK,
    TB_CLASS_RANK_2K, /* SYR2K */
    TB_CLASS_HER2K,
    TB_CLASS_TRMM,
    TB_CLASS_TRSM,
    TB_CLASS_GEMM_BATCH,         /* groups of products: words/batch.h */
    TB_CLASS_GEMM_BATCH_STRIDED, /* one group, whose matrices lie equally far apart */
    TB_CLASSES,
} tb_routine_class;

typedef enum tb_routine {
#define TB_ROUTINE(NAME, name, class, element) TB_##NAME,
#include "words/routines.def"
#undef TB_ROUTINE
    TB_ROUTINES,
} tb_routine;

typedef struct tb_routine_row {
    const char *name;       /* "sgemm" */
    const char *cblas_name; /* "cblas_sgemm" */
    /* In upper case and a blank, for the reference BLAS's handler of errors: "SGEMM ". */
    const char *reported;
    tb_routine_class class;
    tb_element element;
} tb_routine_row;

extern const tb_routine_row tb_routine_rows[TB_ROUTINES];

static inline bool tb_is_batch_class(tb_routine_class class)
{
    return class == TB_CLASS_GEMM_BATCH || class == TB_CLASS_GEMM_BATCH_STRIDED;
}

/* GEMM of this element. */
static inline tb_routine tb_gemm_routine(tb_element element)
{
    static const tb_routine routines[TB_ELEMENTS] = {
        [TB_FP32] = TB_SGEMM,
        [TB_FP64] = TB_DGEMM,
        [TB_COMPLEX_FP32] = TB_CGEMM,
        [TB_COMPLEX_FP64] = TB_ZGEMM,
    };
    return routines[element];
}

#endif
