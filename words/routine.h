/* The routines that are taken over, one row each, and their classes. What a routine is called by, and how its arguments become a
 * product, is in compat/; all else that is particular to one is here.
 */
#ifndef TB_ROUTINE_H
#define TB_ROUTINE_H

#include "words/element.h"

#include <stdbool.h>

/* Routines of a class have the same arguments but for the element, so that one function, stamped for each,
 * serves them. */
typedef enum tb_routine_class {
#define TB_CLASS(NAME, pattern, scalars, ...) TB_CLASS_##NAME,
#include "words/classes.def"
#undef TB_CLASS
    TB_CLASSES,
} tb_routine_class;

/* What becomes of C where there is no third matrix. */
typedef enum tb_in_place {
    TB_OUT_OF_PLACE,
    TB_MULTIPLIES, /* TRMM */
    TB_SOLVES,     /* TRSM */
} tb_in_place;

/* Positions of the arguments that are sizes, from 1, as Fortran counts; 0: the class has no such argument. */
typedef struct tb_size_numbers {
    int m, n, k, lda, ldb, ldc;
} tb_size_numbers;

/* What LAPACK's routines make of A, or are given as A. */
typedef enum tb_factors {
    TB_A_ITSELF, /* a triangle */
    TB_CHOLESKY,
    TB_LU, /* and pivots */
    TB_QR, /* and tau */
    TB_FACTORS_COUNT,
} tb_factors;

/* What is put into A's place as a whole. */
typedef enum tb_replacement {
    TB_NOT_REPLACED,
    TB_INVERSE, /* of what A is, or of what A is factors of */
    TB_SQUARE,  /* of a triangle: L' L, or U U' */
    TB_Q,       /* of which A has the reflectors */
    TB_LQ,      /* L, and the reflectors of Q */
} tb_replacement;

typedef struct tb_class_row {
    /* Arguments that are letters, in their order: S a side, U a triangle, T an operation, D a diagonal. */
    const char *letters;
    tb_size_numbers numbers;
    bool updates;         /* C is square, and a triangle of it is computed */
    bool turns_b;         /* no operation is given for B, which is read the other way than A */
    bool has_one_operand; /* B is A */
    bool has_two_terms;
    bool is_symmetric; /* A is square, has one triangle stored, and stands on either side of B */
    bool is_hermitian; /* what else would be symmetric, A or C */
    tb_in_place in_place;
    bool is_batch, is_strided;
    bool is_lapack;     /* tasks of it are factorizations and solves, not products */
    tb_factors factors; /* of those */
    bool makes_factors; /* A is overwritten with them */
    bool solves;        /* B is overwritten with what A, by its factors, multiplies to it */
    tb_replacement replacement;
    bool by_rows; /* of QR: of A's adjoint, so that A's rows have the reflectors, each as an adjoint */
    bool is_served_by_gemm; /* GEMM computes blocks of what it does, and can stand in for it */
} tb_class_row;

extern const tb_class_row tb_class_rows[TB_CLASSES];

typedef enum tb_routine {
#define TB_ROUTINE(NAME, name, CLASS, element) TB_##NAME,
#define TB_LAPACK_ROUTINE(...)
#include "words/routines.def"
    TB_PRODUCT_ROUTINES, /* those of products come before those of factorizations */
    TB_BEFORE_LAPACK = TB_PRODUCT_ROUTINES - 1,
#undef TB_ROUTINE
#define TB_ROUTINE(...)
#define TB_LAPACK_ROUTINE(NAME, name, CLASS, element) TB_##NAME,
#include "words/routines.def"
#undef TB_ROUTINE
    TB_ROUTINES,
} tb_routine;

typedef struct tb_routine_row {
    const char *name;       /* "sgemm" */
    const char *cblas_name; /* "cblas_sgemm", "LAPACKE_dpotrf" */
    /* In upper case and a blank, for the reference BLAS's handler of errors: "SGEMM ". */
    const char *reported;
    tb_routine_class class;
    tb_element element;
} tb_routine_row;

extern const tb_routine_row tb_routine_rows[TB_ROUTINES];

static inline const tb_class_row *tb_class_of(tb_routine routine)
{
    return &tb_class_rows[tb_routine_rows[routine].class];
}

/* Some of the routines. */
typedef struct tb_routine_set {
    bool has[TB_ROUTINES];
} tb_routine_set;

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
