/* Triangles in one launch, products and solves; small ones are steps of larger solves as well (sequences/solve.c). */
#include "kernels/forecast.h"
#include "kernels/launch.h"
#include "kernels/triangular/triangle.h"
#include "kernels/triangular/triangular.h"
#include "words/integers.h"

/* What a multiprocessor's warps take for a tile and for a row of it, of a product: what they wait for, so that blocks that share
 * a multiprocessor take no longer than one. Not measured. */
#define TILE_LOAD_CLOCKS 1500.0
#define TILE_ROW_CLOCKS  50.0

/* What a solve takes from one barrier to the next: for the panel that is solved, and for each warp that multiplies by it
 * meanwhile. Fitted on an H100 to launches of the rows that are one launch, timed by themselves (05cf9aa). */
static const struct {
    double solved, multiplied;
} panel_clocks[TB_ELEMENTS] = {[TB_FP32] = {820, 152},
                               [TB_FP64] = {2100, 155},
                               [TB_COMPLEX_FP32] = {4400, 150},
                               [TB_COMPLEX_FP64] = {1400, 187}};

/* The chip's of the measurements: of FP32's multiply-adds it does half as many in double precision. */
#define MEASURED_ARCHITECTURE 90

#define COMPLEX_SHARE 2.5
#define START_CLOCKS  1500.0

static int64_t panel_rows(const tb_product *product)
{
    return TB_TRIANGULAR_ROWS(tb_bytes_of(tb_element_of(product)));
}

static int64_t triangle_blocks(const tb_product *product)
{
    const int64_t columns =
        product->in_place == TB_SOLVES ? TB_SOLVE_COLUMNS : TB_TRIANGULAR_COLUMNS * TB_TRIANGULAR_WARPS;
    return tb_ceil_div(tb_is_triangle_left(product) ? product->n : product->m, columns);
}

/* Clocks of a block that multiplies. */
static double multiplying_clocks(const tb_product *product, double share)
{
    const int64_t rows = panel_rows(product), panels = tb_ceil_div(product->k, rows);
    const double tiles = (double)(panels * (panels + 1)) / 2;
    return tiles * (TILE_LOAD_CLOCKS + share * TILE_ROW_CLOCKS * (double)rows);
}

/* Clocks of a block that solves: bands one after the other, whose warps all multiply by what is solved already, and then take
 * turns. */
static double solving_clocks(const tb_product *product)
{
    const tb_element element = tb_element_of(product);
    int64_t panels = tb_ceil_div(product->k, TB_SOLVE_ROWS(tb_bytes_of(element)));
    double clocks = 0;
    for (int64_t before = 0; panels > 0; before += TB_SOLVE_WARPS, panels -= TB_SOLVE_WARPS) {
        const double own = (double)(panels < TB_SOLVE_WARPS ? panels : TB_SOLVE_WARPS),
                     multiplied = (double)before * own + own * (own - 1) / 2;
        clocks += ((double)before + own) * panel_clocks[element].solved +
                  multiplied * panel_clocks[element].multiplied;
    }
    return clocks;
}

void tb_triangle_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                         tb_schedule *schedule)
{
    const tb_element real = tb_real_of(kernel->element);
    const int64_t waves =
        tb_ceil_div(triangle_blocks(product), (int64_t)kernel->blocks * target.multiprocessors);
    const double share = tb_share_of_element(real, target.architecture);
    const double clocks =
        product->in_place == TB_SOLVES
            ? solving_clocks(product) * tb_share_of_element(real, MEASURED_ARCHITECTURE) / share
            : multiplying_clocks(product, (tb_is_complex(kernel->element) ? COMPLEX_SHARE : 1) / share);
    schedule->clocks = START_CLOCKS + (double)waves * clocks;
}

tb_status tb_launch_triangle(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                             const tb_schedule *schedule, void *workspace)
{
    (void)schedule, (void)workspace;
    const bool left = tb_is_triangle_left(product);
    const tb_operand *triangle = tb_triangle_of(product), *c = &product->c;
    const int64_t bytes = (int64_t)tb_bytes_of(c->element), direction = tb_is_lower(product) ? 1 : -1,
                  last = tb_is_lower(product)
                             ? 0
                             : product->k - 1; /* of the triangle as it lies: what L begins with */
    const int64_t blocks = triangle_blocks(product), c_step = left ? 1 : c->ld;
    const tb_triangular_block arguments = {
        .order = product->k,
        .columns = left ? product->n : product->m,
        .a = (const char *)triangle->data + last * (triangle->ld + 1) * bytes,
        .row_step = direction * (tb_is_read_transposed(product) ? triangle->ld : 1),
        .column_step = direction * (tb_is_read_transposed(product) ? 1 : triangle->ld),
        .c = (char *)c->data + last * c_step * bytes,
        .c_row_step = direction * c_step,
        .c_column_step = left ? c->ld : 1,
        .alpha_re = product->alpha.re,
        .alpha_im = product->alpha.im,
        .scaled = !tb_is_one(product->alpha),
        .conjugated = triangle->conjugated && tb_is_complex(c->element),
        .unit_diagonal = triangle->unit_diagonal,
        .few_blocks = 4 * blocks <= launcher->target.multiprocessors,
    };
    if (blocks > TB_BLOCKS_MAXIMUM)
        return TB_UNSUPPORTED;
    return launcher->launch(launcher, kernel->entries, blocks, kernel->threads, kernel->shared_bytes,
                            &arguments);
}
