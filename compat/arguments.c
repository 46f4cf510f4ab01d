/* The reference BLAS's argument rules; see arguments.h. Checks run in the order of Netlib's SGEMM and of its
 * cblas_sgemm, because with several irregular arguments the first one found is the one reported.
 */
#include "compat/arguments.h"

#include <stdbool.h>

static int64_t at_least_one(int64_t rows)
{
    return rows > 1 ? rows : 1;
}

/* Fortran's number of the first irregular size, 0 when all are regular. */
static int check_sizes(const tb_problem *problem)
{
    if (problem->m < 0)
        return 3;
    if (problem->n < 0)
        return 4;
    if (problem->k < 0)
        return 5;
    if (problem->lda < at_least_one(problem->transpose_a ? problem->k : problem->m))
        return 8;
    if (problem->ldb < at_least_one(problem->transpose_b ? problem->n : problem->k))
        return 10;
    if (problem->ldc < at_least_one(problem->m))
        return 13;
    return 0;
}

/* A row-major matrix is its transpose in column-major order, and (op(A) op(B))^T = op(B)^T op(A)^T. */
static void swap_operands(tb_problem *problem)
{
    const tb_problem given = *problem;
    problem->m = given.n;
    problem->n = given.m;
    problem->a = given.b;
    problem->b = given.a;
    problem->lda = given.ldb;
    problem->ldb = given.lda;
    problem->transpose_a = given.transpose_b;
    problem->transpose_b = given.transpose_a;
}

static bool read_enum(int value, int32_t *transpose)
{
    *transpose = value != TB_NO_TRANSPOSE;
    return value >= TB_NO_TRANSPOSE && value <= TB_CONJUGATE_TRANSPOSE;
}

int tb_canonicalize_cblas(int layout, int transpose_a, int transpose_b, tb_problem *problem)
{
    if (layout != TB_ROW_MAJOR && layout != TB_COLUMN_MAJOR)
        return 1;
    if (!read_enum(transpose_a, &problem->transpose_a))
        return 2;
    if (!read_enum(transpose_b, &problem->transpose_b))
        return 3;
    if (layout == TB_ROW_MAJOR)
        swap_operands(problem);

    /* The layout comes before Fortran's arguments; the order of checks is that of the swapped problem, but
     * what is reported is the caller's own argument. */
    int number = check_sizes(problem);
    if (number == 0)
        return 0;
    number += 1;
    if (layout == TB_COLUMN_MAJOR)
        return number;
    switch (number) {
    case 4:
        return 5;
    case 5:
        return 4;
    case 9:
        return 11;
    case 11:
        return 9;
    default:
        return number;
    }
}

static bool read_letter(char letter, int32_t *transpose)
{
    switch (letter) {
    case 'N':
    case 'n':
        *transpose = 0;
        return true;
    case 'T':
    case 't':
    case 'C':
    case 'c':
        *transpose = 1;
        return true;
    default:
        return false;
    }
}

int tb_canonicalize_fortran(char transpose_a, char transpose_b, tb_problem *problem)
{
    if (!read_letter(transpose_a, &problem->transpose_a))
        return 1;
    if (!read_letter(transpose_b, &problem->transpose_b))
        return 2;
    return check_sizes(problem);
}
