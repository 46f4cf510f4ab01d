/* How a streamed product is cut: whatever the shape, the kernel and the memory, everything fits, what the kernel needs
 * beside its operands included, and the pieces cover the product.
 */
#include "dispatch/plan.h"
#include "dispatch/schedule.h"
#include "dispatch/tiling.h"
#include "words/integers.h"
#include "tests/check.h"
#include "tests/unit/products.h"

enum { SHAPES = 20, SLOT_BYTES = 1 << 20, POINTS = 8 };

/* An H200, as its description has it. */
static const tb_chip chip = {.architecture = 90,
                             .multiprocessors = 132,
                             .clock = 1.76e9,
                             .memory_rate = 4e12,
                             .link_in = 52e9,
                             .link_out = 52e9};

#define TARGET ((tb_target){.architecture = 90, .multiprocessors = 132})

static bool is_foreseen(const tb_product *product, const tb_tiling *t, const tb_product *part)
{
    tb_launch_size sizes[TB_LAUNCH_SIZES];
    const int count = tb_tiling_sizes(product, t, sizes);
    CHECK(count <= TB_LAUNCH_SIZES, "%d sizes", count);
    for (int i = 0; i < count; i++)
        if (sizes[i].rows == part->m && sizes[i].columns == part->n && sizes[i].k == part->k &&
            tb_is_one(sizes[i].beta) == tb_is_one(part->beta))
            return true;
    return false;
}

/* A walk over all products that a tiling makes: how much of C's volume they cover, and what the kernel needs for them. */
typedef struct walk {
    const tb_kernel *kernel;
    const tb_product *product;
    const tb_tiling *tiling;
    double volume, workspace;
} walk;

static void multiply(walk *walk, int64_t m, int64_t n, int64_t k, bool first)
{
    tb_product part =
        tb_sized_like(walk->product, m, n, k, tb_pitched(m + n + k, tb_element_of(walk->product)));
    if (!first)
        part.beta = (tb_scalar){1, 0};
    CHECK(is_foreseen(walk->product, walk->tiling, &part), "%lld x %lld x %lld, beta %g", (long long)m,
          (long long)n, (long long)k, part.beta.re);
    const double bytes = (double)tb_make_schedule(walk->kernel, &part, TARGET).workspace;
    walk->workspace = bytes > walk->workspace ? bytes : walk->workspace;
    walk->volume += (double)m * (double)n * (double)k;
}

static void walk_swaths(walk *walk, int64_t m, int64_t n, int64_t swath, int64_t k, bool first)
{
    for (int64_t column = 0; column < n; column += swath)
        multiply(walk, m, tb_smaller(swath, n - column), k, first);
}

static void walk_slabs(walk *walk, int64_t m, int64_t n)
{
    const tb_tiling *t = walk->tiling;
    for (int64_t i = 0; i + 1 < t->slabs; i++)
        multiply(walk, m, n, t->slab_k, i == 0);
    walk_swaths(walk, m, n, t->swath_n, walk->product->k - (t->slabs - 1) * t->slab_k, t->slabs == 1);
}

static bool is_in(const tb_range *range, int64_t index)
{
    return index >= range->first && index < range->first + range->count;
}

/* One multiply-add of the product: of row and column of C, at a step of k. */
typedef struct point {
    int64_t row, column, k;
    int multiplied, a_brought, b_brought, c_brought;
} point;

static void take_step(point *point, const tb_step *step)
{
    const bool row = is_in(&step->rows, point->row), column = is_in(&step->columns, point->column);
    point->c_brought += step->brings_c && row && column;
    point->a_brought += step->brings_a && row && is_in(&step->k, point->k);
    point->b_brought += column && is_in(&step->b_k, point->k);
    if (!row || !column || !is_in(&step->k, point->k))
        return;
    CHECK(point->a_brought == 1 && point->b_brought == 1 && point->c_brought == 1,
          "multiplied with %d, %d and %d times what it needs of A, B and C", point->a_brought,
          point->b_brought, point->c_brought);
    point->multiplied++;
}

/* All of it is multiplied once, after what it needs has come, and C is complete band by band, column by column. */
static void walk_whole(walk *walk, check_random *random)
{
    const tb_tiling *t = walk->tiling;
    const int64_t m = walk->product->m, n = walk->product->n, k = walk->product->k;
    const int64_t count = tb_step_count(walk->product, t);
    point points[POINTS];
    for (int i = 0; i < POINTS; i++)
        points[i] = (point){.row = check_between(random, 0, m - 1),
                            .column = check_between(random, 0, n - 1),
                            .k = check_between(random, 0, k - 1)};
    int64_t completed = 0;
    for (int64_t index = 0; index < count; index++) {
        const tb_step step = tb_step_at(walk->product, t, index);
        for (int64_t column = 0; column < step.columns.count; column += step.swath_n)
            multiply(walk, step.rows.count, tb_smaller(step.swath_n, step.columns.count - column),
                     step.k.count, step.k.first == 0);
        for (int i = 0; i < POINTS; i++)
            take_step(&points[i], &step);
        if (!step.completes)
            continue;
        CHECK(completed % n == step.columns.first &&
                  is_in(&step.rows, tb_smaller(completed / n * t->band_m + t->band_m, m) - 1),
              "step %lld completes columns %lld and on after %lld columns of bands of %lld rows",
              (long long)index, (long long)step.columns.first, (long long)completed, (long long)t->band_m);
        completed += step.columns.count;
        for (int i = 0; i < POINTS; i++)
            CHECK(!is_in(&step.columns, points[i].column) ||
                      points[i].row / t->band_m != (completed - 1) / n || points[i].multiplied == 1,
                  "complete with a multiply-add done %d times", points[i].multiplied);
    }
    CHECK(completed == tb_ceil_div(m, t->band_m) * n, "%lld columns of bands complete", (long long)completed);
    for (int i = 0; i < POINTS; i++)
        CHECK(points[i].multiplied == 1, "a multiply-add is done %d times", points[i].multiplied);
}

static void walk_blocks(walk *walk)
{
    const tb_tiling *t = walk->tiling;
    const tb_product *p = walk->product;
    for (int64_t row = 0; row < p->m; row += t->block_m)
        for (int64_t column = 0; column < p->n; column += t->block_n)
            walk_slabs(walk, tb_smaller(t->block_m, p->m - row), tb_smaller(t->block_n, p->n - column));
}

static void a_product_is_cut(const tb_kernel *kernel, const tb_product *product, double bytes,
                             check_random *random)
{
    tb_tiling t;
    tb_passage passages[TB_ROLES];
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        passages[role] = (tb_passage)check_between(random, TB_NO_PASSAGE, TB_STRAIGHT);
    const tb_budget budget = {.kernel = kernel,
                              .chip = &chip,
                              .bytes = bytes,
                              .slot_bytes = SLOT_BYTES,
                              .copy_rate = 100e9,
                              .passages = {passages[TB_A], passages[TB_B], passages[TB_C]}};
    if (!tb_choose_tiling(product, &budget, &t))
        return;
    const long long m = product->m, n = product->n, k = product->k;
    CHECK(t.block_m >= 1 && t.block_m <= m && t.block_n >= 1 && t.block_n <= n && t.slab_k >= 1 &&
              t.slabs * t.slab_k >= k && (t.slabs - 1) * t.slab_k < k && t.swath_n >= 1,
          "%s, %lld x %lld x %lld: blocks of %lld x %lld, %lld slabs of %lld", kernel->name, m, n, k,
          (long long)t.block_m, (long long)t.block_n, (long long)t.slabs, (long long)t.slab_k);
    if (t.whole) {
        CHECK(t.block_m == m && t.next_n >= 1 && t.next_swath_n >= 1 && t.piece_m >= 1 && t.lead >= 0 &&
                  t.lead < t.slabs && t.band_m >= 1 && t.band_m <= m &&
                  (t.piece_m == t.band_m || product->a.transposed),
              "%s, %lld x %lld x %lld: rows %lld, columns %lld, swaths %lld", kernel->name, m, n, k,
              (long long)t.piece_m, (long long)t.next_n, (long long)t.next_swath_n);
        CHECK(t.grows || t.block_n == n || t.swath_n >= tb_smaller(t.next_swath_n, t.block_n),
              "%s, %lld x %lld x %lld: swaths of %lld before others of %lld", kernel->name, m, n, k,
              (long long)t.swath_n, (long long)t.next_swath_n);
    } else {
        CHECK(t.ring_a >= 1 && t.ring_b >= 1 && t.ring_c >= 1 && t.ring_b <= TB_RING_MAXIMUM &&
                  t.swath_n <= t.block_n,
              "%s, %lld x %lld x %lld: rings %lld, %lld, %lld", kernel->name, m, n, k, (long long)t.ring_a,
              (long long)t.ring_b, (long long)t.ring_c);
    }
    walk walk = {.kernel = kernel, .product = product, .tiling = &t};
    if (t.whole)
        walk_whole(&walk, random);
    else
        walk_blocks(&walk);
    CHECK(walk.volume == (double)m * (double)n * (double)k, "%s, %lld x %lld x %lld: covers %g", kernel->name,
          m, n, k, walk.volume);
    CHECK(tb_tiling_bytes(product, &t) + walk.workspace <= bytes,
          "%s, %lld x %lld x %lld: %g and %g of %g bytes", kernel->name, m, n, k,
          tb_tiling_bytes(product, &t), walk.workspace, bytes);
}

/* ---- Triangles -------------------------------------------------------------------------------------------- */

/* What a step brings of an operand, of the point. */
static bool brings(const tb_step *step, const tb_product *product, tb_role role, const point *point)
{
    tb_range rows, columns, k;
    if (!tb_step_brings(step, product, role, &rows, &columns, &k))
        return false;
    const bool row = is_in(&rows, point->row), column = is_in(&columns, point->column),
               at_k = is_in(&k, point->k);
    return role == TB_A ? row && at_k : role == TB_B ? column && at_k : row && column;
}

/* Of one operand A brings what is read as B. */
static bool brings_b(const tb_step *step, const tb_product *product, const tb_tiling *t, point point)
{
    if (!tb_shares_operand(product, t))
        return brings(step, product, TB_B, &point);
    point.row = point.column;
    return brings(step, product, TB_A, &point);
}

/* A multiply-add of the mask is done once, after what it needs has come, and before its element of C is handed over. */
static void walk_point(const tb_product *product, const tb_tiling *t, point point)
{
    const int64_t count = tb_step_count(product, t),
                  position = point.row / t->band_m * product->n + point.column;
    int64_t completed = 0;
    for (int64_t index = 0; index < count; index++) {
        const tb_step step = tb_step_at(product, t, index);
        point.a_brought += brings(&step, product, TB_A, &point);
        point.b_brought += brings_b(&step, product, t, point);
        point.c_brought += brings(&step, product, TB_C, &point);
        if (is_in(&step.rows, point.row) && is_in(&step.columns, point.column) && is_in(&step.k, point.k)) {
            CHECK(point.a_brought == 1 && point.b_brought == 1 &&
                      point.c_brought == !tb_is_zero(product->beta),
                  "multiplied with %d, %d and %d times what it needs of A, B and C", point.a_brought,
                  point.b_brought, point.c_brought);
            point.multiplied++;
        }
        completed += step.completes ? step.columns.count : 0;
        CHECK(completed <= position || point.multiplied == 1, "complete with a multiply-add done %d times",
              point.multiplied);
    }
    CHECK(completed == tb_ceil_div(product->m, t->band_m) * product->n && point.multiplied == 1,
          "%lld columns of bands complete, a multiply-add done %d times", (long long)completed,
          point.multiplied);
}

/* What the kernel needs beside its operands, for that of all products it is launched with that needs most. */
static double workspace_of(const tb_kernel *kernel, const tb_product *product, const tb_tiling *t)
{
    const int64_t count = tb_step_count(product, t);
    double most = 0;
    for (int64_t index = 0; index < count; index++) {
        const tb_step step = tb_step_at(product, t, index);
        for (int64_t column = 0; column < step.columns.count; column += step.swath_n) {
            const tb_range columns = tb_swath_at(&step, column);
            const tb_product part = tb_step_part(&step, product, t, columns);
            const double bytes = (double)tb_make_schedule(kernel, &part, TARGET).workspace;
            most = bytes > most && !tb_is_masked_out(&part) ? bytes : most;
        }
    }
    return most;
}

/* Whether it grows. */
static bool a_triangle_is_cut(const tb_budget *budget, const tb_product *product, check_random *random)
{
    tb_tiling t;
    if (!CHECK(tb_choose_tiling(product, budget, &t), "a triangle cannot be cut") || !t.whole)
        return false;
    const double needs = tb_tiling_needs(budget, product, &t),
                 takes = tb_tiling_bytes(product, &t) + workspace_of(budget->kernel, product, &t);
    CHECK(takes <= needs && needs <= budget->bytes,
          "%s, %lld x %lld, mask %d, grows %d: it takes %g bytes, not %g, of %g", budget->kernel->name,
          (long long)product->n, (long long)product->k, product->mask, t.grows, takes, needs, budget->bytes);
    for (int i = 0; i < POINTS; i++) {
        const int64_t column = check_between(random, 0, product->n - 1);
        const tb_range rows = tb_masked_rows(product, column);
        walk_point(product, &t,
                   (point){.row = check_between(random, rows.first, rows.first + rows.count - 1),
                           .column = column,
                           .k = check_between(random, 0, product->k - 1)});
    }
    return t.grows;
}

static void triangles_are_cut(check_random *random)
{
    static double operand, other;
    const tb_kernel *kernels[] = {tb_find_kernel("dgemm_mma_128x64"), tb_find_kernel("sgemm_bf16x6_sm90")};
    int growing = 0;
    for (int i = 0; i < 40 * SHAPES; i++) {
        const tb_kernel *kernel = kernels[i & 1];
        const bool transpose_a = i & 2, transpose_b = i & 4, one = i & 8;
        const tb_triangle triangle = i & 16 ? TB_LOWER : TB_UPPER;
        const tb_routine routine = i & 1 ? TB_SSYRK : TB_DSYRK;
        const int64_t n = check_between(random, 1, 9000), k = check_between(random, 1, 9000);
        const int64_t lda = transpose_a ? k : n, ldb = transpose_b ? n : k;
        const double beta = i & 32 ? 0.5 : 0;
        tb_product product =
            tb_gemm(routine, transpose_a, transpose_b, n, n, k, 1, &operand, lda, &other, ldb, beta, NULL, n);
        product.mask = triangle;
        if (one)
            product = tb_rank_k(routine, triangle, transpose_a, n, k, 1, &operand, lda, beta, NULL, n);
        const tb_passage passage = i & 64 ? TB_STRAIGHT : TB_BY_SLOTS;
        const tb_budget budget = {.kernel = kernel,
                                  .chip = &chip,
                                  .bytes = i & 128 ? 4e9 : (double)check_between(random, 32 << 20, 400 << 20),
                                  .slot_bytes = SLOT_BYTES,
                                  .copy_rate = 100e9,
                                  .passages = {passage, passage, TB_BY_SLOTS}};
        growing += a_triangle_is_cut(&budget, &product, random);
    }
    CHECK(growing > SHAPES, "%d triangles grow", growing);
}

static tb_budget budget_for(tb_passage passage, double bytes)
{
    return (tb_budget){.kernel = tb_find_kernel("sgemm_bf16x6_sm90"),
                       .chip = &chip,
                       .bytes = bytes,
                       .slot_bytes = 8 << 20,
                       .copy_rate = 117e9,
                       .passages = {passage, passage, passage}};
}

/* What a cut of large squares is forecast to take, over the longer of what the link and the device need: no more than it did
 * when this was written. */
static void a_square_is_cut_well(int64_t n, double most)
{
    const tb_product product = product_square(n);
    const tb_budget budget = budget_for(TB_BY_SLOTS, 100e9);
    tb_tiling t;
    CHECK(tb_choose_tiling(&product, &budget, &t) && t.whole, "%lld: not on the device as a whole",
          (long long)n);
    const double link = 2.0 * sizeof(float) * (double)n * (double)n / chip.link_in;
    const double work = tb_kernel_seconds(budget.kernel, &product, &chip);
    tb_known_size known[TB_SIZES_KNOWN] = {0};
    const double ratio = tb_steps_seconds(&product, &t, &budget, known) / (link > work ? link : work);
    CHECK(ratio >= 1 && ratio < most, "%lld: %.3f of the floor", (long long)n, ratio);
}

/* Where the fastest cut takes more memory than there is, because of its bands, another one is taken that fits. */
static void a_tight_product_is_whole(void)
{
    const tb_product product = product_sized(10240, 8192, 5120);
    tb_tiling free, tight;
    const tb_budget ample = budget_for(TB_STRAIGHT, 100e9), little = budget_for(TB_STRAIGHT, 1.2e9);
    CHECK(tb_choose_tiling(&product, &ample, &free) && free.band_m < product.m, "no bands");
    CHECK(tb_choose_tiling(&product, &little, &tight) && tight.whole, "not on the device as a whole");
}

/* Of what happens in C's place a band of rows is handed over as one, from slots that hold all of it; and a slot holds columns. */
static void what_is_in_place_goes_through_slots(check_random *random)
{
    const tb_kernel *kernel = tb_catalog;
    while (kernel->in_place != TB_SOLVES || kernel->element != TB_FP64)
        kernel++;
    for (int i = 0; i < 400; i++) {
        static const int64_t most[] = {40, 3000, 300000};
        const int64_t m = check_between(random, 1, CHECK_PICK(random, most)),
                      n = check_between(random, 1, CHECK_PICK(random, most));
        const bool left = check_between(random, 0, 1);
        const tb_product product = tb_triangular(TB_SOLVES, TB_FP64, left, TB_LOWER, false, false, false, m,
                                                 n, (tb_scalar){1, 0}, NULL, left ? m : n, NULL, m);
        tb_budget budget = budget_for(TB_BY_SLOTS, 1e12);
        tb_tiling t;
        budget.kernel = kernel;
        budget.slot_bytes = check_between(random, 1, 64) << 16;
        const int64_t in_slot = budget.slot_bytes / (int64_t)sizeof(double);
        const bool is_cut = tb_choose_tiling(&product, &budget, &t);
        if (left)
            CHECK(is_cut == (m <= in_slot), "%lld rows, %lld in a slot", (long long)m, (long long)in_slot);
        else if (is_cut)
            CHECK(tb_ceil_div(n, in_slot / t.band_m) <= TB_SLOTS, "%lld rows of %lld columns, %lld in a slot",
                  (long long)t.band_m, (long long)n, (long long)in_slot);
        else
            CHECK(tb_ceil_div(n, in_slot) > TB_SLOTS, "%lld columns, %lld in a slot", (long long)n,
                  (long long)in_slot);
    }
}

int main(void)
{
    a_tight_product_is_whole();
    a_square_is_cut_well(4096, 1.31);
    a_square_is_cut_well(8192, 1.34);
    a_square_is_cut_well(10240, 1.35);
    a_square_is_cut_well(16384, 1.16);
    check_random random = {.state = check_seed()};
    triangles_are_cut(&random);
    what_is_in_place_goes_through_slots(&random);
    for (size_t row = 0; row < tb_catalog_size; row++)
        for (int i = 0; i < SHAPES && tb_catalog[row].reads == TB_READS_PLAIN; i++) {
            const int64_t m = check_between(&random, 1, i % 4 ? 9000 : 40),
                          n = check_between(&random, 1, i % 3 ? 9000 : 40),
                          k = check_between(&random, 1, 9000);
            const bool transpose_a = i & 1, transpose_b = i >> 1 & 1;
            const tb_routine routine = tb_catalog[row].element == TB_FP64 ? TB_DGEMM : TB_SGEMM;
            const tb_product product = tb_gemm(routine, transpose_a, transpose_b, m, n, k, 1, NULL,
                                               transpose_a ? k : m, NULL, transpose_b ? n : k, 0, NULL, m);
            a_product_is_cut(&tb_catalog[row], &product, (double)check_between(&random, 1 << 20, 400 << 20),
                             &random);
            a_product_is_cut(&tb_catalog[row], &product, 4e9, &random);
        }
    return check_result();
}
