/* Mending triangular products that were computed as plain ones (sequences/triangle_times.c): mend.h. */
#include "kernels/expand/expand.h"
#include "kernels/launch.h"
#include "kernels/triangular/mend.h"
#include "kernels/triangular/triangle.h"
#include "words/integers.h"

_Static_assert(TB_MEND_COLUMNS == TB_EXPAND_TILE, "a note tells of the columns of a tile");

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

tb_status tb_launch_mending(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                            const tb_matrix *copy, const uint32_t *notes)
{
    const bool left = tb_is_triangle_left(product), transposed = tb_is_read_transposed(product),
               is_complex = tb_is_complex(product->c.element);
    const tb_operand *triangle = tb_triangle_of(product);
    const tb_matrix *c = &product->c.matrix;
    /* Counted in numbers: of a real view two are one, of what is embedded one has two columns. */
    const int64_t ld = is_complex && left ? copy->ld / 2 : copy->ld,
                  down = tb_ceil_div(product->m, TB_EXPAND_TILE),
                  across = tb_ceil_div(product->n, TB_EXPAND_TILE),
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
        .notes_of_columns = left ? down : across,
        .note_step = left ? 1 : down,
        .group_step = left ? down : 1,
        .groups = left ? across : down,
    };
    if (arguments.groups > TB_BLOCKS_MAXIMUM / pieces)
        return TB_UNSUPPORTED;
    return launcher->launch(launcher, kernel->entries, arguments.groups * pieces, TB_MEND_THREADS, 0,
                            &arguments);
}
