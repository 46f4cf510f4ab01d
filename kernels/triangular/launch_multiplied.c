/* Triangular products as plain ones: the triangle is written out as a matrix D, whose other half is zeros, and C as a copy W
 * (words/lowered.h, as if W were another matrix than C). Then C := alpha D W, or W D, is the catalog's other rows' to compute.
 *
 *     D  | L11             |   pieces of C's rows: each needs k as far as its rows of D have numbers, so that four
 *        | L21 L22         |   of them leave out three eighths of all. A row that leaves out zeros itself is given all
 *        | L31 L32 L33     |   at once, and told that D is a triangle.
 *        | L41 L42 L43 L44 |
 *
 * D's zeros make NaN of infinities that the triangle does not touch. Where W has numbers that are not finite is noted as it is
 * written; a last launch computes those columns (side right: rows) again (mend.h).
 */
#include "kernels/catalog.h"
#include "kernels/expand/expand.h"
#include "kernels/forecast.h"
#include "kernels/triangular/inner.h"
#include "kernels/triangular/mend.h"
#include "words/integers.h"

_Static_assert(TB_MEND_COLUMNS == TB_EXPAND_TILE, "a note tells of the columns of a tile");

/* Where forecasts think that operands lie of which nothing is known but their size. */
enum { ALIGNMENT = 256 };
#define NOWHERE ((void *)(uintptr_t)ALIGNMENT)

/* Pieces that are worth a forecast, by the triangle's order. Each is a launch of its own, and has a multiple of PIECE_ROWS rows
 * but for the last one. Not measured. */
enum { PIECES_MAXIMUM = 8, PIECES = 4, LEAST_ORDER = 512, LARGE_ORDER = 4096, PIECE_ROWS = 128 };

/* How the product is dealt, and to which row of the catalog. */
typedef struct deal {
    int64_t pieces, row;
} deal;

/* Where all lies in the workspace: D, W, notes, and then what the rows need. */
typedef struct layout {
    tb_product apart; /* of D and W, before it is lowered */
    tb_inner all;     /* the lowered one, whole; its own workspace is all pieces' */
    size_t notes;
} layout;

/* ---- The product apart from C ----------------------------------------------------------------------------- */

static tb_role triangle_role(const tb_product *product)
{
    return tb_is_triangle_left(product) ? TB_A : TB_B;
}

static tb_role copy_role(const tb_product *product)
{
    return tb_is_triangle_left(product) ? TB_B : TB_A;
}

/* C's size in tiles, by which it is copied. */
static int64_t tiles_down(const tb_product *product)
{
    return tb_ceil_div(product->m, TB_EXPAND_TILE);
}

static int64_t tiles_across(const tb_product *product)
{
    return tb_ceil_div(product->n, TB_EXPAND_TILE);
}

/* Where D has numbers. */
static tb_triangle nonzero_half(const tb_product *product)
{
    const tb_operand *triangle = tb_triangle_of(product);
    return (triangle->stored == TB_LOWER) != triangle->transposed ? TB_LOWER : TB_UPPER;
}

/* A complex D on the right has two rows for each number, and one column. */
static void tell_zeros(const tb_product *product, tb_product *lowered)
{
    const bool left = tb_is_triangle_left(product);
    *(left ? &lowered->a_nonzero : &lowered->b_nonzero) = nonzero_half(product);
    lowered->b_nonzero_pairs = !left && tb_is_complex(product->c.element);
}

static layout lay_out(const tb_product *product, void *workspace)
{
    layout layout = {.apart = *product};
    layout.apart.in_place = TB_OUT_OF_PLACE;
    layout.apart.beta = (tb_scalar){0, 0};
    layout.apart.operands[copy_role(product)] = product->c;
    layout.all.product = tb_lowered(&layout.apart);
    tell_zeros(product, &layout.all.product);
    const tb_role roles[] = {triangle_role(product), copy_role(product)};
    for (int i = 0; i < 2; i++) {
        tb_place_operand(&layout.all, roles[i], workspace);
        layout.all.product.expanded[roles[i]].from = 0; /* written out once, for all pieces */
    }
    layout.notes = layout.all.own;
    layout.all.own += (size_t)tb_round_up(
        tiles_down(product) * tiles_across(product) * (int64_t)sizeof(uint32_t), ALIGNMENT);
    return layout;
}

/* A complex alpha goes into D, and not into W, from which C is mended. */
static tb_expansion expansion_of(const layout *layout, tb_role role)
{
    tb_expansion expansion = tb_expansion_of(&layout->apart, &layout->all.product, role, 0);
    const bool scales = role == triangle_role(&layout->apart) && layout->apart.alpha.im != 0;
    expansion.factor = scales ? layout->apart.alpha : (tb_scalar){1, 0};
    return expansion;
}

static int64_t piece_rows(const layout *layout, int64_t pieces)
{
    return tb_round_up(tb_ceil_div(layout->apart.k, pieces), PIECE_ROWS);
}

/* As pieces are rounded up, there may be fewer of them. */
static int64_t last_of(const layout *layout, int64_t pieces)
{
    return tb_ceil_div(layout->apart.k, piece_rows(layout, pieces)) - 1;
}

/* Rows of C (side right: columns) that make a piece, and the steps of k for which D's have numbers. */
static tb_product piece_of(const layout *layout, int64_t pieces, int64_t piece)
{
    const tb_product *all = &layout->all.product, *apart = &layout->apart;
    const bool left = tb_is_triangle_left(apart);
    const int64_t rows = piece_rows(layout, pieces), first = piece * rows,
                  end = tb_smaller(first + rows, apart->k), parts = tb_is_complex(apart->c.element) ? 2 : 1,
                  outer = left ? parts : 1;
    const tb_range own = {outer * first, outer * (end - first)}, m = {0, all->m}, n = {0, all->n};
    const tb_range k = left == (nonzero_half(apart) == TB_LOWER)
                           ? (tb_range){0, parts * end}
                           : (tb_range){parts * first, parts * (apart->k - first)};
    if (pieces == 1)
        return *all;
    tb_product part = tb_subproduct(all, left ? own : m, left ? n : own, k);
    part.beta = (tb_scalar){0, 0};
    part.a_nonzero = part.b_nonzero = TB_FULL; /* what forecasts know of zeros is of squares */
    return part;
}

/* ---- Forecasts -------------------------------------------------------------------------------------------- */

typedef struct forecast {
    double clocks;
    size_t workspace;
    deal deal;
} forecast;

/* By the row that is best for the piece with the most of k: asking all rows takes longer than a small product. */
static forecast forecast_pieces(const layout *layout, int64_t pieces, tb_accuracy accuracy, tb_target target)
{
    const tb_product first = piece_of(layout, pieces, 0),
                     last = piece_of(layout, pieces, last_of(layout, pieces)),
                     *longest = first.k >= last.k ? &first : &last;
    const tb_kernel *kernel = tb_choose_inner(longest, accuracy, target);
    forecast forecast = {.deal.pieces = pieces};
    for (int64_t piece = 0; piece <= last_of(layout, pieces); piece++) {
        tb_inner inner = {.product = piece_of(layout, pieces, piece)};
        tb_complete_inner(&inner, kernel, target);
        forecast.clocks += tb_inner_clocks(&inner, target);
        forecast.workspace =
            inner.schedule.workspace > forecast.workspace ? inner.schedule.workspace : forecast.workspace;
        forecast.deal.row = inner.kernel - tb_catalog;
    }
    return forecast;
}

static double expanding_clocks(const tb_expansion *expansion, tb_target target)
{
    const double read = tb_stored_bytes(&expansion->source);
    return tb_writing_clocks(read + (double)tb_matrix_bytes(&expansion->target), target);
}

void tb_multiplied_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                           tb_schedule *schedule)
{
    if (product->m == 0 || product->n == 0)
        return;
    layout layout = lay_out(product, NOWHERE);
    if (!product->c.data)
        layout.all.product.c.data = NOWHERE;
    const tb_expansion d = expansion_of(&layout, triangle_role(product)),
                       w = expansion_of(&layout, copy_role(product));
    const double of_d = expanding_clocks(&d, target);
    forecast best = forecast_pieces(&layout, 1, kernel->accuracy, target);
    for (int64_t pieces = PIECES; pieces <= PIECES_MAXIMUM; pieces *= 2) {
        if (product->k < (pieces == PIECES ? LEAST_ORDER : LARGE_ORDER))
            break;
        const forecast other = forecast_pieces(&layout, pieces, kernel->accuracy, target);
        if (other.clocks < best.clocks)
            best = other;
    }
    schedule->clocks = of_d + expanding_clocks(&w, target) + best.clocks + TB_SECOND_LAUNCH_CLOCKS;
    schedule->clocks_of_a = tb_is_triangle_left(product) ? of_d : 0;
    schedule->workspace = layout.all.own + best.workspace;
    TB_SET_DEAL(schedule, deal, best.deal);
}

/* ---- Launches --------------------------------------------------------------------------------------------- */

static tb_status launch_pieces(const tb_launcher *launcher, const layout *layout, const deal *deal,
                               void *workspace)
{
    for (int64_t piece = 0; piece <= last_of(layout, deal->pieces); piece++) {
        tb_inner inner = {.product = piece_of(layout, deal->pieces, piece), .own = layout->all.own};
        tb_complete_inner(&inner, &tb_catalog[deal->row], launcher->target);
        TB_TRY(tb_launch_inner(launcher, &layout->apart, &inner, workspace));
    }
    return TB_OK;
}

/* Rows and columns of an upper triangle are counted from the end. */
static tb_mend_matrix seen_from_l(const tb_product *product, const tb_matrix *x, int64_t row_step,
                                  int64_t column_step, bool is_l)
{
    const bool lower = tb_is_lower(product);
    const int64_t first = lower ? 0 : (product->k - 1) * (is_l ? row_step + column_step : row_step);
    return (tb_mend_matrix){.first = (char *)x->data + first * (int64_t)tb_bytes_of(product->c.element),
                            .row_step = lower ? row_step : -row_step,
                            .column_step = lower || !is_l ? column_step : -column_step};
}

static tb_status launch_mending(const tb_launcher *launcher, const tb_kernel *kernel,
                                const tb_product *product, const layout *layout, const uint32_t *notes)
{
    const bool left = tb_is_triangle_left(product), transposed = tb_is_read_transposed(product),
               is_complex = tb_is_complex(product->c.element);
    const tb_operand *triangle = tb_triangle_of(product);
    const tb_matrix *c = &product->c.matrix, *copy = &layout->all.product.operands[copy_role(product)].matrix;
    /* In numbers: of a real view two are one, of what is embedded one has two columns. */
    const int64_t ld = is_complex && left ? copy->ld / 2 : copy->ld,
                  pieces = tb_smaller(tb_ceil_div(product->k, TB_MEND_THREADS), TB_MEND_PIECES);
    const tb_mend arguments = {
        .order = product->k,
        .l = seen_from_l(product, &triangle->matrix, transposed ? triangle->ld : 1,
                         transposed ? 1 : triangle->ld, true),
        .c = seen_from_l(product, c, left ? 1 : c->ld, left ? c->ld : 1, false),
        .copy = seen_from_l(product, copy, left ? 1 : ld, left ? ld : 1, false),
        .alpha_re = product->alpha.re,
        .alpha_im = product->alpha.im,
        .conjugated = triangle->conjugated && is_complex,
        .unit_diagonal = triangle->unit_diagonal,
        .notes = notes,
        .notes_of_columns = left ? tiles_down(product) : tiles_across(product),
        .note_step = left ? 1 : tiles_down(product),
        .group_step = left ? tiles_down(product) : 1,
        .groups = left ? tiles_across(product) : tiles_down(product),
    };
    if (arguments.groups > TB_BLOCKS_MAXIMUM / pieces)
        return TB_UNSUPPORTED;
    return launcher->launch(launcher, kernel->entries, arguments.groups * pieces, TB_MEND_THREADS, 0,
                            &arguments);
}

tb_status tb_launch_multiplied(const tb_launcher *launcher, const tb_kernel *kernel,
                               const tb_product *product, const tb_schedule *schedule, void *workspace)
{
    if (product->m == 0 || product->n == 0)
        return TB_OK;
    if (tb_is_zero(product->alpha))
        return tb_launch_zeros(launcher, product);
    const layout layout = lay_out(product, workspace);
    const bool left = tb_is_triangle_left(product);
    const tb_expansion d = expansion_of(&layout, triangle_role(product)),
                       w = expansion_of(&layout, copy_role(product));
    uint32_t *notes = (uint32_t *)(void *)((char *)workspace + layout.notes);
    tb_forwarder forwarder = tb_forward_to(launcher);
    /* Nothing is launched before it is sure that all will be: what is left of C would be neither the old one nor the new one. */
    for (int pass = 0; pass < 2; pass++) {
        const tb_launcher *each = &forwarder.interface;
        forwarder.only_loads = pass == 0;
        if (!left || !launcher->same_a)
            TB_TRY(tb_launch_expand(each, &d));
        TB_TRY(tb_launch_noting_expand(each, &w, !left, notes));
        TB_TRY(launch_pieces(each, &layout, TB_DEAL(schedule, deal), workspace));
        TB_TRY(launch_mending(each, kernel, product, &layout, notes));
    }
    return TB_OK;
}
