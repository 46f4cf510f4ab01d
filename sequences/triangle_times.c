/* Triangular products as plain ones: the triangle is written out as a matrix D, whose other half is zeros, and C as a copy W
 * (words/lowered.h, as if W were another matrix than C). Then C := alpha D W, or W D.
 *
 *     D  | L11             |   pieces of C's rows: each needs k as far as its rows of D have numbers, so that four
 *        | L21 L22         |   of them leave out three eighths of all. A row that leaves out zeros itself is given all
 *        | L31 L32 L33     |   at once, and told that D is a triangle.
 *        | L41 L42 L43 L44 |
 *
 * D's zeros make NaN of infinities that the triangle does not touch. Where W has numbers that are not finite is noted as it is
 * written; a last step computes those columns (side right: rows) again (kernels/triangular/mend.h).
 */
#include "kernels/expand/expand.h"
#include "kernels/triangular/triangle.h"
#include "sequences/walks.h"
#include "words/integers.h"

/* Pieces that are worth a forecast, by the triangle's order. Each is a launch of its own, and has a multiple of PIECE_ROWS rows
 * but for the last one. Not measured. */
enum { PIECES = 4, LEAST_ORDER = 512, MANY_PIECES = 8, LARGE_ORDER = 4096, PIECE_ROWS = 128 };

/* D and W, one behind the other in the workspace, and notes behind them. */
typedef struct layout {
    tb_product apart; /* of D and W, before it is lowered */
    tb_product all;   /* the lowered one */
    void *notes;
    size_t bytes;
} layout;

static tb_role triangle_role(const tb_product *task)
{
    return tb_is_triangle_left(task) ? TB_A : TB_B;
}

static tb_role copy_role(const tb_product *task)
{
    return tb_is_triangle_left(task) ? TB_B : TB_A;
}

/* Where D has numbers. */
static tb_triangle nonzero_half(const tb_product *task)
{
    const tb_operand *triangle = tb_triangle_of(task);
    return (triangle->stored == TB_LOWER) != triangle->transposed ? TB_LOWER : TB_UPPER;
}

/* A complex D on the right has two rows for each number, and one column. */
static void tell_zeros(const tb_product *task, tb_product *lowered)
{
    const bool left = tb_is_triangle_left(task);
    *(left ? &lowered->a_nonzero : &lowered->b_nonzero) = nonzero_half(task);
    lowered->b_nonzero_pairs = !left && tb_is_complex(task->c.element);
}

static void lay_out(const tb_product *task, void *workspace, layout *layout)
{
    const tb_role roles[] = {triangle_role(task), copy_role(task)};
    *layout = (struct layout){.apart = *task};
    layout->apart.in_place = TB_OUT_OF_PLACE;
    layout->apart.beta = (tb_scalar){0, 0};
    layout->apart.operands[copy_role(task)] = task->c;
    layout->all = tb_lowered(&layout->apart);
    tell_zeros(task, &layout->all);
    for (int i = 0; i < 2; i++) {
        tb_place_operand(&layout->all.operands[roles[i]].matrix, workspace, &layout->bytes);
        layout->all.expanded[roles[i]].from = 0; /* written out once, for all pieces */
    }
    const int64_t tiles = tb_ceil_div(task->m, TB_EXPAND_TILE) * tb_ceil_div(task->n, TB_EXPAND_TILE);
    tb_matrix notes = {.rows = tiles, .columns = 1, .element = TB_FP32}; /* of as many bytes */
    tb_place_operand(&notes, workspace, &layout->bytes);
    layout->notes = notes.data;
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

/* A complex alpha goes into D, and not into W, from which C is mended. */
static tb_status visit_move(const layout *layout, tb_role role, tb_visitor *visitor)
{
    const tb_product *apart = &layout->apart;
    const bool is_d = role == triangle_role(apart);
    tb_sequence_step step = {.kind = TB_STEP_MOVE,
                             .move = tb_expansion_of(apart, &layout->all, role, 0),
                             .is_of_a = is_d && role == TB_A,
                             .notes_rows = role == TB_A,
                             .notes = is_d ? NULL : layout->notes};
    step.move.factor = is_d && apart->alpha.im != 0 ? apart->alpha : (tb_scalar){1, 0};
    return visitor->visit(visitor, &step);
}

static int64_t piece_rows(const tb_product *task, int64_t pieces)
{
    return tb_round_up(tb_ceil_div(task->k, pieces), PIECE_ROWS);
}

/* Rows of C (side right: columns) that make a piece, and the steps of k for which D's have numbers. */
static tb_status visit_piece(const layout *layout, int64_t pieces, int64_t piece, tb_visitor *visitor)
{
    const tb_product *all = &layout->all, *apart = &layout->apart;
    const bool left = tb_is_triangle_left(apart);
    const int64_t rows = piece_rows(apart, pieces), first = piece * rows,
                  end = tb_smaller(first + rows, apart->k), parts = tb_is_complex(apart->c.element) ? 2 : 1,
                  outer = left ? parts : 1;
    const tb_range own = {outer * first, outer * (end - first)}, m = {0, all->m}, n = {0, all->n};
    const tb_range k = left == (nonzero_half(apart) == TB_LOWER)
                           ? (tb_range){0, parts * end}
                           : (tb_range){parts * first, parts * (apart->k - first)};
    tb_sequence_step step = {.kind = TB_STEP_PRODUCT, .size = pieces, .product = *all};
    if (pieces > 1) {
        step.product = tb_subproduct(all, left ? own : m, left ? n : own, k);
        step.product.beta = (tb_scalar){0, 0};
        step.product.a_nonzero = step.product.b_nonzero =
            TB_FULL; /* what forecasts know of zeros is of squares */
    }
    return visitor->visit(visitor, &step);
}

/* From the one with the most of k on, for which the row of all is chosen. As pieces are rounded up, there may be fewer of
 * them. */
static tb_status visit_pieces(const layout *layout, int64_t pieces, tb_visitor *visitor)
{
    const tb_product *apart = &layout->apart;
    const int64_t last = tb_ceil_div(apart->k, piece_rows(apart, pieces)) - 1;
    const bool grows = tb_is_triangle_left(apart) == (nonzero_half(apart) == TB_LOWER);
    for (int64_t piece = 0; piece <= last; piece++)
        TB_TRY(visit_piece(layout, pieces, grows ? last - piece : piece, visitor));
    return TB_OK;
}

static tb_status visit_mending(const tb_product *task, const layout *layout, tb_visitor *visitor)
{
    const tb_sequence_step step = {.kind = TB_STEP_MEND,
                                   .product = *task,
                                   .copy = &layout->all.operands[copy_role(task)].matrix,
                                   .notes = layout->notes,
                                   .finished = {0, task->n}};
    return visitor->visit(visitor, &step);
}

tb_status tb_walk_triangle_times(const tb_product *task, int64_t pieces, void *workspace, tb_visitor *visitor)
{
    layout layout;
    lay_out(task, workspace, &layout);
    TB_TRY(visit_move(&layout, triangle_role(task), visitor));
    TB_TRY(visit_move(&layout, copy_role(task), visitor));
    TB_TRY(visit_pieces(&layout, pieces, visitor));
    return visit_mending(task, &layout, visitor);
}

int tb_triangle_times_blocks(const tb_product *task, int64_t blocks[TB_BLOCKS_MOST])
{
    blocks[0] = 1;
    blocks[1] = PIECES;
    blocks[2] = MANY_PIECES;
    return task->k < LEAST_ORDER ? 1 : task->k < LARGE_ORDER ? 2 : 3;
}

size_t tb_triangle_times_workspace(const tb_product *task)
{
    layout layout;
    lay_out(task, NULL, &layout);
    return layout.bytes;
}
