#include "tools/problem.h"

#include "words/batch.h"
#include "words/arguments.h"

#include <stdint.h>

/* Addresses for kernels that ask about alignment, and for A and B to be two. They are never followed. */
#define SOME_ADDRESS(role) ((void *)(intptr_t)(4096 * (1 + (role))))

bool problem_is_batch(const problem *problem)
{
    return tb_class_of(problem->routine)->is_batch;
}

static const tb_class_row *class_of(const problem *problem)
{
    return tb_class_of(problem->routine);
}

bool problem_has_one_operand(const problem *problem)
{
    return class_of(problem)->has_one_operand;
}

bool problem_is_in_place(const problem *problem)
{
    return class_of(problem)->in_place != TB_OUT_OF_PLACE;
}

/* A is square, and on one side of a matrix of C's size. */
bool problem_has_side(const problem *problem)
{
    return class_of(problem)->is_symmetric || problem_is_in_place(problem);
}

/* Of C, all of which is of n rows and columns. */
bool problem_has_triangle(const problem *problem)
{
    return class_of(problem)->updates;
}

tb_product problem_product(const problem *s)
{
    const bool is_complex = tb_is_complex(tb_routine_rows[s->routine].element),
               in_place = problem_is_in_place(s);
    const int64_t least = s->m > 1 ? s->m : 1;
    return tb_product_of(&(tb_arguments){.routine = s->routine,
                                         .right = s->right,
                                         .triangle = s->triangle == TB_FULL ? TB_LOWER : s->triangle,
                                         .operation_a = {s->transpose_a, s->conjugate_a && is_complex},
                                         .operation_b = {s->transpose_b, s->conjugate_b && is_complex},
                                         .unit_diagonal = s->unit_diagonal,
                                         .m = s->m,
                                         .n = s->n,
                                         .k = s->k,
                                         .alpha = {s->alpha, 0},
                                         .a = SOME_ADDRESS(TB_A),
                                         .lda = s->lda,
                                         .b = SOME_ADDRESS(TB_B),
                                         .ldb = s->ldb,
                                         .beta = {s->beta, 0},
                                         .c = SOME_ADDRESS(TB_C),
                                         .ldc = !in_place    ? s->ldc
                                                : s->ldb > 0 ? s->ldb
                                                             : least});
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
        tb_operand *operand = &product->operands[role];
        tb_spread(operand, products, operand->ld * operand->columns, NULL);
    }
    return true;
}
