#include "tools/problem.h"

#include "words/members.h"

#include <stdint.h>

/* Addresses for kernels that ask about alignment, and for A and B to be two. They are never followed. */
#define SOME_ADDRESS(role) ((void *)(intptr_t)(4096 * (1 + (role))))

bool problem_is_batch(const problem *problem)
{
    return tb_is_batch_class(tb_routine_rows[problem->routine].class);
}

tb_routine_class problem_class(const problem *problem)
{
    return problem_is_batch(problem) ? TB_CLASS_GEMM : tb_routine_rows[problem->routine].class;
}

static bool is_symmetric(const problem *problem)
{
    return problem_class(problem) == TB_CLASS_SYMM || problem_class(problem) == TB_CLASS_HEMM;
}

bool problem_has_one_operand(const problem *problem)
{
    return problem_class(problem) == TB_CLASS_RANK_K || problem_class(problem) == TB_CLASS_HERK;
}

static bool is_two_term(const problem *problem)
{
    return problem_class(problem) == TB_CLASS_RANK_2K || problem_class(problem) == TB_CLASS_HER2K;
}

bool problem_is_in_place(const problem *problem)
{
    return tb_in_place_of_routine(problem->routine) != TB_OUT_OF_PLACE;
}

/* A is square, and on one side of a matrix of C's size. */
bool problem_has_side(const problem *problem)
{
    return is_symmetric(problem) || problem_is_in_place(problem);
}

/* Of C, all of which is of n rows and columns. */
bool problem_has_triangle(const problem *problem)
{
    return problem_class(problem) != TB_CLASS_GEMM && !problem_has_side(problem);
}

static tb_product make_triangular(const problem *s, tb_triangle triangle)
{
    const int64_t least = s->m > 1 ? s->m : 1;
    tb_product product = tb_triangular(
        tb_in_place_of_routine(s->routine), tb_routine_rows[s->routine].element, !s->right, triangle,
        s->transpose_a, s->conjugate_a, s->unit_diagonal, s->m, s->n, (tb_scalar){s->alpha, 0},
        SOME_ADDRESS(TB_A), s->lda, SOME_ADDRESS(TB_C), s->ldb > 0 ? s->ldb : least);
    product.routine = s->routine;
    return product;
}

tb_product problem_product(const problem *s)
{
    const tb_triangle triangle = s->triangle == TB_FULL ? TB_LOWER : s->triangle;
    if (problem_is_in_place(s))
        return make_triangular(s, triangle);
    if (is_two_term(s))
        return tb_rank_2k(s->routine, triangle, s->transpose_a, s->n, s->k, s->alpha, SOME_ADDRESS(TB_A),
                          s->lda, SOME_ADDRESS(TB_B), s->ldb, s->beta, SOME_ADDRESS(TB_C), s->ldc);
    if (problem_has_one_operand(s))
        return tb_rank_k(s->routine, triangle, s->transpose_a, s->n, s->k, s->alpha, SOME_ADDRESS(TB_A),
                         s->lda, s->beta, SOME_ADDRESS(TB_C), s->ldc);
    if (is_symmetric(s))
        return tb_symm(s->routine, !s->right, triangle, s->m, s->n, s->alpha, SOME_ADDRESS(TB_A), s->lda,
                       SOME_ADDRESS(TB_B), s->ldb, s->beta, SOME_ADDRESS(TB_C), s->ldc);
    tb_product product =
        tb_gemm(s->routine, s->transpose_a, s->transpose_b, s->m, s->n, s->k, s->alpha, SOME_ADDRESS(TB_A),
                s->lda, SOME_ADDRESS(TB_B), s->ldb, s->beta, SOME_ADDRESS(TB_C), s->ldc);
    if (problem_has_triangle(s))
        product.mask = triangle;
    if (tb_is_complex(tb_element_of(&product))) {
        product.a.conjugated = s->conjugate_a;
        product.b.conjugated = s->conjugate_b;
    }
    return product;
}

/* A leading dimension that was not given is the least that there can be. */
static bool settle(tb_operand *operand)
{
    const int64_t least = operand->rows > 1 ? operand->rows : 1;
    if (operand->ld == 0)
        operand->ld = least;
    return operand->ld >= least;
}

bool problem_settle_leading_dimensions(tb_product *product)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (!settle(&product->operands[role]))
            return false;
    return true;
}

/* Of a user's half of the addresses, on x86-64 and on AArch64. */
#define ADDRESSES (INT64_C(1) << 47)

static bool has_room(const tb_operand *operand, int64_t matrices)
{
    int64_t bytes;
    return !__builtin_mul_overflow(operand->ld, operand->columns, &bytes) &&
           !__builtin_mul_overflow(bytes, (int64_t)tb_bytes_of(operand->element), &bytes) &&
           !__builtin_mul_overflow(bytes, matrices, &bytes) && bytes <= ADDRESSES;
}

static bool have_room(const tb_product *product, int64_t matrices)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (!has_room(&product->operands[role], matrices))
            return false;
    return true;
}

bool problem_has_room(const tb_product *product)
{
    return have_room(product, 1);
}

bool problem_spread(const problem *problem, tb_product *product)
{
    enum { PRESUMED = 1000 };
    const int64_t products = problem->products > 0 ? problem->products : PRESUMED;
    if (!have_room(product, products))
        return false;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const tb_operand *operand = &product->operands[role];
        tb_spread(product, role, products, operand->ld * operand->columns, NULL);
    }
    return true;
}
