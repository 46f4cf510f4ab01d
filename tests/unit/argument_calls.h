/* Calls of any routine as rows of numbers, and how compat/arguments.c reads them.
 *
 * Header only, for tests of it.
 */
#ifndef TB_ARGUMENT_CALLS_H
#define TB_ARGUMENT_CALLS_H

#include "compat/arguments.h"
#include "tests/check.h"

#include <string.h>

enum {
    F = -1, /* in place of a layout: Fortran, whose other arguments are letters */
    R = TB_ROW_MAJOR,
    K = TB_COLUMN_MAJOR,
    N = TB_NO_TRANSPOSE,
    T = TB_TRANSPOSE,
    C = TB_CONJUGATE_TRANSPOSE,
    U = TB_CBLAS_UPPER,
    L = TB_CBLAS_LOWER,
    LEFT = TB_CBLAS_LEFT,
    RIGHT = TB_CBLAS_RIGHT,
    UNIT = TB_CBLAS_UNIT,
    NON_UNIT = TB_CBLAS_NON_UNIT,
    ABSENT = 0 /* the class has no such argument */
};

/* Where SYMM has a side, others have transpose_a. Of TRMM k is the diagonal, and transpose_b the side. */
typedef struct row {
    const char *what;
    int layout, triangle, transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    int number;
} row;

/* The rules are those of all routines of a class. */
static tb_routine routine;

static inline tb_routine_class class_of_routine(void)
{
    return tb_routine_rows[routine].class;
}

static inline bool is_two_term(void)
{
    return class_of_routine() == TB_CLASS_RANK_2K || class_of_routine() == TB_CLASS_HER2K;
}

static inline bool has_one_operand(void)
{
    return class_of_routine() == TB_CLASS_RANK_K || class_of_routine() == TB_CLASS_HERK;
}

/* Complex updates of symmetric matrices refuse what is conjugated, those of Hermitian ones what is merely transposed. */
static inline bool refuses(int transpose)
{
    const bool is_update = has_one_operand() || is_two_term();
    return is_update && tb_is_complex(tb_routine_rows[routine].element) && transpose != 0 &&
           strchr(tb_is_hermitian_routine(routine) ? "Tt\160" : "Cc\161", transpose) != NULL;
}

static inline int read_call(const row *row, const tb_arguments *given, tb_product *product)
{
    const bool fortran = row->layout == F;
    const int triangle = row->triangle, a = row->transpose_a, b = row->transpose_b;
    switch (class_of_routine()) {
    case TB_CLASS_GEMM:
        return fortran ? tb_gemm_of_fortran((char)a, (char)b, given, product)
                       : tb_gemm_of_cblas(row->layout, a, b, given, product);
    case TB_CLASS_RANK_K:
    case TB_CLASS_HERK:
        return fortran ? tb_rank_k_of_fortran((char)triangle, (char)a, given, product)
                       : tb_rank_k_of_cblas(row->layout, triangle, a, given, product);
    case TB_CLASS_RANK_2K:
    case TB_CLASS_HER2K:
        return fortran ? tb_rank_2k_of_fortran((char)triangle, (char)a, given, product)
                       : tb_rank_2k_of_cblas(row->layout, triangle, a, given, product);
    case TB_CLASS_TRIANGLE:
        return fortran ? tb_triangle_of_fortran((char)triangle, (char)a, (char)b, given, product)
                       : tb_triangle_of_cblas(row->layout, triangle, a, b, given, product);
    case TB_CLASS_SYMM:
    case TB_CLASS_HEMM:
        return fortran ? tb_symm_of_fortran((char)a, (char)triangle, given, product)
                       : tb_symm_of_cblas(row->layout, a, triangle, given, product);
    case TB_CLASS_TRMM:
    case TB_CLASS_TRSM:
        return fortran
                   ? tb_triangular_of_fortran((char)b, (char)triangle, (char)a, (char)row->k, given, product)
                   : tb_triangular_of_cblas(row->layout, b, triangle, a, (int)row->k, given, product);
    case TB_CLASS_GEMM_BATCH: /* read as GEMM is, but for the numbers: tests/conformance/batches.c */
    case TB_CLASS_GEMM_BATCH_STRIDED:
    case TB_CLASSES:
        break;
    }
    return -1;
}

static inline tb_arguments arguments_of(const row *row)
{
    return (tb_arguments){.routine = routine,
                          .m = row->m,
                          .n = row->n,
                          .k = row->k,
                          .lda = row->lda,
                          .ldb = row->ldb,
                          .ldc = row->ldc};
}

#endif
