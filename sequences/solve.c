/* Triangular solves by halves: what is left of a triangle without its two halves is a rectangle, so that all but small triangles
 * is products of general matrices.
 *
 *     | L1    | | X1 |   | C1 |
 *     | L21 L2| | X2 | = | C2 |      X1 from L1;  C2 -= L21 X1;  X2 from L2
 *
 * The half that is solved first is the early one, the other one is late; of an upper triangle on the left the first one is late.
 */
#include "kernels/triangular/triangle.h"
#include "kernels/triangular/triangular.h"
#include "sequences/walks.h"
#include "words/integers.h"

/* The order of small triangles; products have the order of both halves that they lie between. */
enum { SIZE_OF_TRIANGLES = 0 };

/* The part of C that belongs to a part of the triangle. */
static tb_operand part_of_c(const tb_product *task, tb_range range)
{
    tb_operand part = tb_is_triangle_left(task)
                          ? tb_operand_part(&task->c, range.first, 0, range.count, task->n)
                          : tb_operand_part(&task->c, 0, range.first, task->m, range.count);
    part.diagonal = 0;
    return part;
}

/* The solve with a triangle on the diagonal. On the right it finishes the columns that it solves for. */
static tb_status visit_triangle(const tb_product *task, tb_range range, tb_scalar alpha, tb_visitor *visitor)
{
    const bool left = tb_is_triangle_left(task);
    tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                             .size = SIZE_OF_TRIANGLES,
                             .product = *task,
                             .finished = {range.first, left ? 0 : range.count}};
    tb_product *solve = &step.product;
    solve->c = part_of_c(task, range);
    solve->m = solve->c.rows;
    solve->n = solve->c.columns;
    solve->k = range.count;
    solve->alpha = alpha;
    *(left ? &solve->a : &solve->b) =
        tb_operand_part(tb_triangle_of(task), range.first, range.first, range.count, range.count);
    (left ? &solve->b : &solve->a)->data = solve->c.data;
    return visitor->visit(visitor, &step);
}

/* C's part `to` := beta times itself - the rectangle between, times C's part `from`. */
static tb_status visit_between(const tb_product *task, tb_range to, tb_range from, tb_scalar beta,
                               tb_visitor *visitor)
{
    const bool left = tb_is_triangle_left(task);
    const tb_operand *triangle = tb_triangle_of(task);
    const bool to_is_row = left != triangle->transposed;
    const tb_range rows = to_is_row ? to : from, columns = to_is_row ? from : to;
    tb_operand rectangle = tb_operand_part(triangle, rows.first, columns.first, rows.count, columns.count);
    rectangle.structure = TB_GENERAL;
    rectangle.stored = TB_FULL;
    rectangle.diagonal = 0;
    rectangle.unit_diagonal = false;
    const tb_operand c = part_of_c(task, to), other = part_of_c(task, from);
    const tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                                   .size = to.count + from.count,
                                   .product = {.routine = tb_gemm_routine(tb_element_of(task)),
                                               .m = c.rows,
                                               .n = c.columns,
                                               .k = from.count,
                                               .a = left ? rectangle : other,
                                               .b = left ? other : rectangle,
                                               .c = c,
                                               .alpha = {-1, 0},
                                               .beta = beta}};
    return visitor->visit(visitor, &step);
}

/* What products cannot do, which take a real beta: C := alpha C. */
static tb_status visit_scaling(const tb_product *task, tb_visitor *visitor)
{
    const tb_sequence_step step = {
        .kind = TB_STEP_MOVE,
        .move = {.source = task->c, .target = tb_real_view(&task->c.matrix), .factor = task->alpha}};
    return visitor->visit(visitor, &step);
}

static int64_t panel_rows(const tb_product *task)
{
    return TB_TRIANGULAR_ROWS(tb_bytes_of(tb_element_of(task)));
}

/* A half is of whole panels, so that products of one size are aligned alike. */
static tb_status solve(const tb_product *task, tb_range range, int64_t small, tb_scalar alpha,
                       tb_visitor *visitor)
{
    if (range.count <= small)
        return visit_triangle(task, range, alpha, visitor);
    const int64_t half = tb_round_up(tb_ceil_div(range.count, 2), panel_rows(task));
    const tb_range first = {range.first, half}, second = {range.first + half, range.count - half};
    const bool forward = tb_is_lower(task);
    const tb_range early = forward ? first : second, late = forward ? second : first;
    TB_TRY(solve(task, early, small, alpha, visitor));
    TB_TRY(visit_between(task, late, early, alpha, visitor));
    return solve(task, late, small, (tb_scalar){1, 0}, visitor);
}

tb_status tb_walk_solve(const tb_product *task, int64_t small, tb_visitor *visitor)
{
    const bool scales = task->alpha.im != 0;
    if (scales)
        TB_TRY(visit_scaling(task, visitor));
    return solve(task, (tb_range){0, task->k}, small, scales ? (tb_scalar){1, 0} : task->alpha, visitor);
}

/* Orders up to which triangles are not halved: larger ones are fewer launches, of more work without tensor cores, or fast
 * rows. */
int tb_solve_blocks(const tb_product *task, int64_t blocks[TB_BLOCKS_MOST])
{
    const int64_t least = TB_TRIANGULAR_PANELS_SOLVED * panel_rows(task);
    blocks[0] = least;
    blocks[1] = TB_TRIANGULAR_LARGEST * least;
    return least < task->k ? 2 : 1;
}
