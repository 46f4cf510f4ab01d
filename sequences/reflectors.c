#include "sequences/reflectors.h"

#include "words/integers.h"

/* ---- Memory ------------------------------------------------------------------------------------------------ */

static int64_t ld_of_v(const tb_factor *factor)
{
    return tb_round_up(tb_larger(tb_reflector_length(factor), 1), 32);
}

/* Between V' A and T' V' A; each of them has so many numbers. */
#define NUMBERS_BETWEEN (TB_QR_BLOCK * TB_QR_BEHIND)

size_t tb_qr_workspace(const tb_factor *factor)
{
    const int64_t numbers = TB_QR_BLOCK * TB_QR_BLOCK + 2 * NUMBERS_BETWEEN + ld_of_v(factor) * TB_QR_BLOCK;
    return (size_t)numbers * tb_bytes_of(factor->a.element);
}

void tb_place_reflectors(tb_factor *factor, void *workspace)
{
    const size_t bytes = tb_bytes_of(factor->a.element);
    tb_reflectors *reflectors = &factor->reflectors;
    reflectors->t = workspace;
    reflectors->ld_of_t = TB_QR_BLOCK;
    reflectors->products = (char *)workspace + TB_QR_BLOCK * TB_QR_BLOCK * bytes;
    reflectors->v = (char *)reflectors->products + 2 * NUMBERS_BETWEEN * bytes;
    reflectors->ld_of_v = ld_of_v(factor);
}

tb_matrix tb_part_of_v(const tb_factor *factor, int64_t row, tb_range columns, int64_t rows)
{
    const tb_matrix v = {
        .data = factor->reflectors.v, .ld = factor->reflectors.ld_of_v, .element = factor->a.element};
    return tb_rectangle(&v, row, columns.first, rows, columns.count);
}

tb_matrix tb_part_of_t(const tb_factor *factor, tb_range rows, tb_range columns)
{
    const tb_matrix t = {
        .data = factor->reflectors.t, .ld = factor->reflectors.ld_of_t, .element = factor->a.element};
    return tb_rectangle(&t, rows.first, columns.first, rows.count, columns.count);
}

tb_matrix tb_between(const tb_factor *factor, int which, int64_t rows, int64_t columns)
{
    char *data = factor->reflectors.products;
    return (tb_matrix){.data = data + (size_t)which * NUMBERS_BETWEEN * tb_bytes_of(factor->a.element),
                       .rows = rows,
                       .columns = columns,
                       .ld = TB_QR_BLOCK,
                       .element = factor->a.element};
}

/* ---- Steps ------------------------------------------------------------------------------------------------- */

static const tb_range none = {0, 0};

/* Steps are large, and made in frames of their own. */
__attribute__((noinline)) tb_status tb_give_product(double alpha, const tb_matrix *a, bool adjoint,
                                                    const tb_matrix *b, double beta, const tb_matrix *c,
                                                    tb_range finished, tb_visitor *visitor)
{
    tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                             .size = b->rows,
                             .product = tb_gemm(tb_gemm_routine(c->element), adjoint, false, c->rows,
                                                c->columns, b->rows, alpha, a->data, a->ld, b->data, b->ld,
                                                beta, c->data, c->ld),
                             .finished = finished};
    step.product.a.conjugated = adjoint && tb_is_complex(c->element);
    return visitor->visit(visitor, &step);
}

__attribute__((noinline)) tb_status tb_give_product_by_adjoint(double alpha, const tb_matrix *a,
                                                               const tb_matrix *b, double beta,
                                                               const tb_matrix *c, tb_range finished,
                                                               tb_visitor *visitor)
{
    tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                             .size = a->columns,
                             .product = tb_gemm(tb_gemm_routine(c->element), false, true, c->rows, c->columns,
                                                a->columns, alpha, a->data, a->ld, b->data, b->ld, beta,
                                                c->data, c->ld),
                             .finished = finished};
    step.product.b.conjugated = tb_is_complex(c->element);
    return visitor->visit(visitor, &step);
}

/* In a frame of its own as well. */
__attribute__((noinline)) tb_status tb_give_move(const tb_operand *a, const tb_matrix *c, tb_visitor *visitor)
{
    const tb_sequence_step step = {
        .kind = TB_STEP_MOVE,
        .move = {.source = *a, .target = tb_is_complex(c->element) ? tb_real_view(c) : *c, .factor = {1, 0}}};
    return c->rows > 0 && c->columns > 0 ? visitor->visit(visitor, &step) : TB_OK;
}

tb_status tb_give_adjoint(const tb_matrix *a, const tb_matrix *c, tb_visitor *visitor)
{
    const tb_operand adjoint = {.matrix = *a, .transposed = true, .conjugated = tb_is_complex(a->element)};
    return tb_give_move(&adjoint, c, visitor);
}

tb_status tb_give_zeros(const tb_matrix *what, tb_visitor *visitor)
{
    const tb_matrix nothing = {.ld = what->rows, .element = what->element};
    return tb_give_product(0, &nothing, false, &nothing, 0, what, none, visitor);
}

tb_status tb_give_reflected(const tb_factor *factor, tb_range reflectors, bool adjoint, const tb_matrix *c,
                            tb_range finished, tb_visitor *visitor)
{
    const tb_matrix v = tb_part_of_v(factor, reflectors.first, reflectors, c->rows),
                    t = tb_part_of_t(factor, reflectors, reflectors),
                    products = tb_between(factor, 0, reflectors.count, c->columns),
                    times_t = tb_between(factor, 1, reflectors.count, c->columns);
    TB_TRY(tb_give_product(1, &v, true, c, 0, &products, none, visitor));
    TB_TRY(tb_give_product(1, &t, adjoint, &products, 0, &times_t, none, visitor));
    return tb_give_product(-1, &v, false, &times_t, 1, c, finished, visitor);
}

/* As tb_between, with as many rows. */
static tb_matrix rows_between(const tb_factor *factor, int which, int64_t rows, int64_t columns)
{
    tb_matrix between = tb_between(factor, which, rows, columns);
    between.ld = TB_QR_BEHIND;
    return between;
}

tb_status tb_give_reflected_rows(const tb_factor *factor, tb_range reflectors, bool adjoint,
                                 const tb_matrix *c, tb_range finished, tb_visitor *visitor)
{
    const tb_matrix v = tb_part_of_v(factor, reflectors.first, reflectors, c->columns),
                    t = tb_part_of_t(factor, reflectors, reflectors),
                    products = rows_between(factor, 0, c->rows, reflectors.count),
                    times_t = rows_between(factor, 1, c->rows, reflectors.count);
    TB_TRY(tb_give_product(1, c, false, &v, 0, &products, none, visitor));
    if (adjoint)
        TB_TRY(tb_give_product_by_adjoint(1, &products, &t, 0, &times_t, none, visitor));
    else
        TB_TRY(tb_give_product(1, &products, false, &t, 0, &times_t, none, visitor));
    return tb_give_product_by_adjoint(-1, &times_t, &v, 1, c, finished, visitor);
}
