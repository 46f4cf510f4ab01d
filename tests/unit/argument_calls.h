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
    return tb_class_of(routine)->has_two_terms;
}

static inline bool turns_b(void)
{
    return tb_class_of(routine)->turns_b;
}

static inline bool has_one_operand(void)
{
    return tb_class_of(routine)->has_one_operand;
}

/* Complex updates of symmetric matrices refuse what is conjugated, those of Hermitian ones what is merely transposed. */
static inline bool refuses(int transpose)
{
    return turns_b() && tb_is_complex(tb_routine_rows[routine].element) && transpose != 0 &&
           strchr(tb_is_hermitian_routine(routine) ? "Tt\160" : "Cc\161", transpose) != NULL;
}

/* Batches are read as GEMM is, but for the numbers: tests/conformance/batches.c. */
static inline int read_call(const row *row, const tb_arguments *given, tb_product *product)
{
    const char *letters = tb_class_of(routine)->letters;
    int values[TB_LETTERS_MOST] = {0};
    char characters[TB_LETTERS_MOST] = "";
    for (int i = 0; letters[i]; i++) {
        const bool second = i > 0 && letters[i - 1] == letters[i],
                   has_operation = strchr(letters, 'T') != NULL;
        values[i] = letters[i] == 'U'                    ? row->triangle
                    : letters[i] == 'D'                  ? (int)row->k
                    : letters[i] == 'S' && has_operation ? row->transpose_b
                    : second                             ? row->transpose_b
                                                         : row->transpose_a;
        characters[i] = (char)values[i];
    }
    return row->layout == F ? tb_read_fortran(characters, given, product)
                            : tb_read_cblas(row->layout, values, given, product);
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
