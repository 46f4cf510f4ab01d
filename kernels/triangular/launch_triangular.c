/* Triangular solves by halves: what is left of a triangle without its two halves is a rectangle, so that all but small triangles is
 * plain products, which the catalog's other rows compute. And triangles in one launch, of products too.
 *
 *     | L1    | | X1 |   | C1 |
 *     | L21 L2| | X2 | = | C2 |      X1 from L1;  C2 -= L21 X1;  X2 from L2
 *
 * The half that is solved first is the early one, the other one is late; of an upper triangle on the left the first one is late.
 * A *step* is one of these: a small triangle, or a product. Both are tb_products.
 */
#include "kernels/catalog.h"
#include "kernels/forecast.h"
#include "kernels/triangular/inner.h"
#include "kernels/triangular/triangular.h"
#include "words/integers.h"

#include <math.h>

/* What a multiprocessor's warps take for a tile and for a row of it, of a product: what they wait for, so that blocks that share
 * a multiprocessor take no longer than one. Not measured. */
#define TILE_LOAD_CLOCKS 1500.0
#define TILE_ROW_CLOCKS  50.0

/* What a solve takes from one barrier to the next: for the panel that is solved, and for each warp that multiplies by it meanwhile.
 * Fitted on an H100 to launches of the rows that are one launch, timed by themselves (05cf9aa). */
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

/* ---- Steps ------------------------------------------------------------------------------------------------ */

/* The part of C that belongs to a part of the triangle. */
static tb_operand part_of_c(const tb_product *product, tb_range range)
{
    tb_operand part = tb_is_triangle_left(product)
                          ? tb_operand_part(&product->c, range.first, 0, range.count, product->n)
                          : tb_operand_part(&product->c, 0, range.first, product->m, range.count);
    part.diagonal = 0;
    return part;
}

/* The solve with a triangle on the diagonal. */
static tb_product small_triangle(const tb_product *product, tb_range range, tb_scalar alpha)
{
    const bool left = tb_is_triangle_left(product);
    tb_product step = *product;
    step.c = part_of_c(product, range);
    step.m = step.c.rows;
    step.n = step.c.columns;
    step.k = range.count;
    step.alpha = alpha;
    *(left ? &step.a : &step.b) =
        tb_operand_part(tb_triangle_of(product), range.first, range.first, range.count, range.count);
    (left ? &step.b : &step.a)->data = step.c.data;
    return step;
}

/* C's part `to` := alpha times the rectangle between, times C's part `from`, + beta times itself. */
static tb_product between(const tb_product *product, tb_range to, tb_range from, tb_scalar alpha,
                          tb_scalar beta)
{
    const bool left = tb_is_triangle_left(product);
    const tb_operand *triangle = tb_triangle_of(product);
    const bool to_is_row = left != triangle->transposed;
    const tb_range rows = to_is_row ? to : from, columns = to_is_row ? from : to;
    tb_operand rectangle = tb_operand_part(triangle, rows.first, columns.first, rows.count, columns.count);
    rectangle.structure = TB_GENERAL;
    rectangle.stored = TB_FULL;
    rectangle.diagonal = 0;
    rectangle.unit_diagonal = false;
    const tb_operand c = part_of_c(product, to), other = part_of_c(product, from);
    return (tb_product){.routine = tb_gemm_routine(tb_element_of(product)),
                        .m = c.rows,
                        .n = c.columns,
                        .k = from.count,
                        .a = left ? rectangle : other,
                        .b = left ? other : rectangle,
                        .c = c,
                        .alpha = alpha,
                        .beta = beta};
}

/* Takes the steps one after the other; size: of both halves that a product lies between. */
typedef struct visitor visitor;
struct visitor {
    tb_status (*visit)(visitor *visitor, const tb_product *step, int64_t size);
};

static int64_t panel_rows(const tb_product *product)
{
    return TB_TRIANGULAR_ROWS(tb_bytes_of(tb_element_of(product)));
}

/* Triangles of an order up to `small` are not halved. */
static tb_status walk(const tb_product *product, tb_range range, int64_t small, tb_scalar alpha,
                      visitor *visitor)
{
    if (range.count <= small) {
        const tb_product step = small_triangle(product, range, alpha);
        return visitor->visit(visitor, &step, range.count);
    }
    const int64_t half = tb_round_up(tb_ceil_div(range.count, 2), panel_rows(product));
    const tb_range first = {range.first, half}, second = {range.first + half, range.count - half};
    const bool forward = tb_is_lower(product);
    const tb_range early = forward ? first : second, late = forward ? second : first;
    const tb_scalar one = {1, 0}, minus_one = {-1, 0};
    const tb_product step = between(product, late, early, minus_one, alpha);
    TB_TRY(walk(product, early, small, alpha, visitor));
    TB_TRY(visitor->visit(visitor, &step, range.count));
    return walk(product, late, small, one, visitor);
}

/* ---- How a step is computed ------------------------------------------------------------------------------- */

/* Products of two halves of one size are alike: whole panels lie between them, so that they are aligned alike too. What is
 * known of the first sizes met, of which there are two or three for each time that the triangle is halved. */
enum { SIZES = 23 };

typedef struct deal {
    int64_t small; /* the order of triangles that are not halved */
    int64_t count;
    int64_t sizes[SIZES]; /* of both halves together */
    int16_t rows[SIZES];  /* of the catalog: how products of that size are computed */
} deal;

/* Where the size is among those known; their count where it is not. */
static int64_t find_size(const deal *deal, int64_t size)
{
    int64_t i = 0;
    while (i < deal->count && deal->sizes[i] != size)
        i++;
    return i;
}

static int64_t triangle_blocks(const tb_product *step)
{
    const int64_t columns =
        step->in_place == TB_SOLVES ? TB_SOLVE_COLUMNS : TB_TRIANGULAR_COLUMNS * TB_TRIANGULAR_WARPS;
    return tb_ceil_div(tb_is_triangle_left(step) ? step->n : step->m, columns);
}

/* Clocks of a block that multiplies. */
static double multiplying_clocks(const tb_product *step, double share)
{
    const int64_t rows = panel_rows(step), panels = tb_ceil_div(step->k, rows);
    const double tiles = (double)(panels * (panels + 1)) / 2;
    return tiles * (TILE_LOAD_CLOCKS + share * TILE_ROW_CLOCKS * (double)rows);
}

/* Clocks of a block that solves: bands one after the other, whose warps all multiply by what is solved already, and then take turns. */
static double solving_clocks(const tb_product *step)
{
    const tb_element element = tb_element_of(step);
    int64_t panels = tb_ceil_div(step->k, TB_SOLVE_ROWS(tb_bytes_of(element)));
    double clocks = 0;
    for (int64_t before = 0; panels > 0; before += TB_SOLVE_WARPS, panels -= TB_SOLVE_WARPS) {
        const double own = (double)(panels < TB_SOLVE_WARPS ? panels : TB_SOLVE_WARPS),
                     multiplied = (double)before * own + own * (own - 1) / 2;
        clocks += ((double)before + own) * panel_clocks[element].solved +
                  multiplied * panel_clocks[element].multiplied;
    }
    return clocks;
}

static double triangle_clocks(const tb_kernel *kernel, const tb_product *step, tb_target target)
{
    const tb_element real = tb_real_of(kernel->element);
    const int64_t waves =
        tb_ceil_div(triangle_blocks(step), (int64_t)kernel->blocks * target.multiprocessors);
    const double share = tb_share_of_element(real, target.architecture);
    const double clocks =
        step->in_place == TB_SOLVES
            ? solving_clocks(step) * tb_share_of_element(real, MEASURED_ARCHITECTURE) / share
            : multiplying_clocks(step, (tb_is_complex(kernel->element) ? COMPLEX_SHARE : 1) / share);
    return TB_SECOND_LAUNCH_CLOCKS + START_CLOCKS + (double)waves * clocks;
}

/* ---- Forecasts -------------------------------------------------------------------------------------------- */

typedef struct forecaster {
    visitor visitor;
    const tb_kernel *kernel;
    tb_target target;
    deal deal;
    double clocks_of[SIZES]; /* of a product, by size */
    double clocks;
    size_t workspace;
} forecaster;

static tb_status forecast(visitor *visitor, const tb_product *step, int64_t size)
{
    forecaster *all = (forecaster *)visitor;
    if (step->in_place != TB_OUT_OF_PLACE) {
        all->clocks += triangle_clocks(all->kernel, step, all->target);
        return TB_OK;
    }
    const int64_t i = find_size(&all->deal, size);
    if (i < all->deal.count) {
        all->clocks += all->clocks_of[i];
        return TB_OK;
    }
    tb_inner inner = tb_lower_step(step, NULL);
    tb_complete_inner(&inner, tb_choose_inner(&inner.product, all->kernel->accuracy, all->target),
                      all->target);
    const double clocks = tb_inner_clocks(&inner, all->target);
    all->clocks += clocks;
    all->workspace =
        tb_inner_workspace(&inner) > all->workspace ? tb_inner_workspace(&inner) : all->workspace;
    if (i < SIZES) {
        all->clocks_of[i] = clocks;
        all->deal.sizes[i] = size;
        all->deal.rows[i] = (int16_t)(inner.kernel - tb_catalog);
        all->deal.count++;
    }
    return TB_OK;
}

static tb_range whole_of(const tb_product *product)
{
    return (tb_range){0, product->k};
}

/* Triangles are the small ones that are forecast to take least: larger ones are fewer launches, of more work without tensor
 * cores, or fast rows. The workspace is enough for any. */
void tb_triangular_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                           tb_schedule *schedule)
{
    const int64_t least = panel_rows(product) * TB_TRIANGULAR_PANELS_SOLVED;
    forecaster all = {.visitor = {forecast}, .kernel = kernel, .target = target};
    double clocks = INFINITY;
    for (int64_t small = least; product->m > 0 && product->n > 0 && small <= least * TB_TRIANGULAR_LARGEST;
         small *= 2) {
        all.clocks = 0;
        (void)walk(product, whole_of(product), small, product->alpha, &all.visitor); /* it cannot fail */
        if (all.clocks < clocks) {
            clocks = all.clocks;
            all.deal.small = small;
        }
        if (small >= product->k)
            break;
    }
    schedule->clocks = isfinite(clocks) ? clocks : 0;
    schedule->workspace = all.workspace;
    TB_SET_DEAL(schedule, deal, all.deal);
}

/* ---- Launches --------------------------------------------------------------------------------------------- */

/* Launches all steps; before that, loads what that takes. */
typedef struct sequence {
    visitor visitor;
    tb_forwarder forwarder;
    const tb_kernel *kernel;
    const deal *deal;
    void *workspace;
    bool triangle_loaded;
    int64_t count;
    struct {
        int64_t size;
        const tb_kernel *kernel;
        tb_schedule schedule;
    } loaded[SIZES]; /* by size: how products of it are computed */
} sequence;

static tb_status launch_triangle(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *step)
{
    const bool left = tb_is_triangle_left(step);
    const tb_operand *triangle = tb_triangle_of(step), *c = &step->c;
    const int64_t bytes = (int64_t)tb_bytes_of(c->element), direction = tb_is_lower(step) ? 1 : -1,
                  last = tb_is_lower(step) ? 0
                                           : step->k - 1; /* of the triangle as it lies: what L begins with */
    const int64_t blocks = triangle_blocks(step), c_step = left ? 1 : c->ld;
    const tb_triangular_block arguments = {
        .order = step->k,
        .columns = left ? step->n : step->m,
        .a = (const char *)triangle->data + last * (triangle->ld + 1) * bytes,
        .row_step = direction * (tb_is_read_transposed(step) ? triangle->ld : 1),
        .column_step = direction * (tb_is_read_transposed(step) ? 1 : triangle->ld),
        .c = (char *)c->data + last * c_step * bytes,
        .c_row_step = direction * c_step,
        .c_column_step = left ? c->ld : 1,
        .alpha_re = step->alpha.re,
        .alpha_im = step->alpha.im,
        .scaled = !tb_is_one(step->alpha),
        .conjugated = triangle->conjugated && tb_is_complex(c->element),
        .unit_diagonal = triangle->unit_diagonal,
        .few_blocks = 4 * blocks <= launcher->target.multiprocessors,
    };
    if (blocks > TB_BLOCKS_MAXIMUM)
        return TB_UNSUPPORTED;
    return launcher->launch(launcher, kernel->entries, blocks, kernel->threads, kernel->shared_bytes,
                            &arguments);
}

static int64_t find_loaded(const sequence *all, int64_t size)
{
    int64_t i = 0;
    while (i < all->count && all->loaded[i].size != size)
        i++;
    return i;
}

/* How a product of this size is computed: as is known from the last one, or from the forecast. */
static tb_inner inner_of(sequence *all, const tb_product *step, int64_t size)
{
    tb_inner inner = tb_lower_step(step, all->workspace);
    const tb_target target = all->forwarder.interface.target;
    const int64_t i = find_loaded(all, size);
    if (i < all->count) {
        inner.kernel = all->loaded[i].kernel;
        inner.schedule = all->loaded[i].schedule;
        return inner;
    }
    const int64_t known = find_size(all->deal, size);
    tb_complete_inner(&inner,
                      known < all->deal->count
                          ? &tb_catalog[all->deal->rows[known]]
                          : tb_choose_inner(&inner.product, all->kernel->accuracy, target),
                      target);
    if (all->count < SIZES) {
        all->loaded[i].size = size;
        all->loaded[i].kernel = inner.kernel;
        all->loaded[i].schedule = inner.schedule;
        all->count++;
    }
    return inner;
}

static tb_status launch_step(visitor *visitor, const tb_product *step, int64_t size)
{
    sequence *all = (sequence *)visitor;
    const tb_launcher *launcher = &all->forwarder.interface;
    if (step->in_place != TB_OUT_OF_PLACE) {
        if (all->forwarder.only_loads && all->triangle_loaded)
            return TB_OK;
        all->triangle_loaded = true;
        return launch_triangle(launcher, all->kernel, step);
    }
    if (all->forwarder.only_loads && find_loaded(all, size) < all->count)
        return TB_OK;
    const tb_inner inner = inner_of(all, step, size);
    return tb_launch_inner(launcher, step, &inner, all->workspace);
}

/* What products cannot do, which take a real beta: C := alpha C, in a launch of its own. */
static tb_status launch_scaling(const tb_launcher *launcher, const tb_product *product)
{
    const tb_expansion scaling = {
        .source = product->c, .target = tb_real_view(&product->c.matrix), .factor = product->alpha};
    return tb_launch_expand(launcher, &scaling);
}

tb_status tb_launch_triangular(const tb_launcher *launcher, const tb_kernel *kernel,
                               const tb_product *product, const tb_schedule *schedule, void *workspace)
{
    const bool scales = product->alpha.im != 0;
    const tb_scalar one = {1, 0}, alpha = scales ? one : product->alpha;
    sequence all = {.visitor = {launch_step},
                    .forwarder = tb_forward_to(launcher),
                    .kernel = kernel,
                    .deal = TB_DEAL(schedule, deal),
                    .workspace = workspace};
    if (product->m == 0 || product->n == 0)
        return TB_OK;
    if (tb_is_zero(product->alpha))
        return tb_launch_zeros(launcher, product);
    /* Nothing is launched before it is sure that all will be: what is left of C would be neither the old one nor the new one. */
    for (int pass = 0; pass < 2; pass++) {
        all.forwarder.only_loads = pass == 0;
        if (scales)
            TB_TRY(launch_scaling(&all.forwarder.interface, product));
        TB_TRY(walk(product, whole_of(product), all.deal->small, alpha, &all.visitor));
    }
    return TB_OK;
}

/* ---- Whole triangles, products and solves ----------------------------------------------------------------- */

void tb_triangle_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                         tb_schedule *schedule)
{
    schedule->clocks = triangle_clocks(kernel, product, target) - TB_SECOND_LAUNCH_CLOCKS;
}

tb_status tb_launch_triangle(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                             const tb_schedule *schedule, void *workspace)
{
    (void)schedule, (void)workspace;
    if (product->m == 0 || product->n == 0)
        return TB_OK;
    return tb_is_zero(product->alpha) ? tb_launch_zeros(launcher, product)
                                      : launch_triangle(launcher, kernel, product);
}
