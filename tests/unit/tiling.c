/* How a streamed product is cut: whatever the shape, the kernel and the memory, everything fits, what the kernel needs
 * beside its operands included, and the pieces cover the product.
 */
#include "dispatch/part_schedules.h"
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

static tb_part_schedules schedules;

/* A walk over all products that a tiling makes: how much of C's volume they cover, and how many are not among those kept. */
typedef struct walk {
    const tb_budget *budget;
    const tb_product *product; /* or its rows that this is of */
    const tb_tiling *tiling;
    char *memory; /* where operands lie on the device, one behind the other */
    double volume;
    int64_t count, on_the_fly;
} walk;

/* So many parts of a product are looked at one by one, and then some. */
#define PARTS_CHECKED 200
#define PARTS_SKIPPED 61

/* What follows an int in some families' deals is whatever was there. */
static bool is_same(const tb_schedule *one, const tb_schedule *other)
{
    tb_schedule both[] = {*one, *other};
    for (int i = 0; i < 2; i++)
        memset(both[i].deal + sizeof(int), 0, sizeof(int64_t) - sizeof(int));
    return memcmp(&both[0], &both[1], sizeof both[0]) == 0;
}

/* Asks as a launch does: the schedule is the one that would be made for it, and needs no more than what was found beforehand. */
static void part_is_scheduled(walk *walk, const tb_product *part)
{
    walk->volume += (double)part->m * (double)part->n * (double)part->k;
    if (tb_is_masked_out(part) || (walk->count++ > PARTS_CHECKED && walk->count % PARTS_SKIPPED > 0))
        return;
    const tb_schedule *schedule = tb_schedule_of_part(&schedules, part);
    const tb_schedule anew = tb_prepare(walk->budget->kernel, part, tb_target_of(&chip));
    walk->on_the_fly += schedule == &schedules.made[TB_PARTS_KEPT];
    CHECK(is_same(schedule, &anew) && anew.workspace <= schedules.workspace,
          "%s, %lld x %lld x %lld: %g clocks and %zu bytes, not %g and %zu; of %zu",
          walk->budget->kernel->name, (long long)part->m, (long long)part->n, (long long)part->k,
          schedule->clocks, schedule->workspace, anew.clocks, anew.workspace, schedules.workspace);
}

/* Places operands as lib/streaming/stream_steps.c has them lie. */
static void place(const walk *walk, tb_role role, const tb_step *step, tb_product *part)
{
    const tb_product *product = walk->product;
    const bool in_place = product->in_place != TB_OUT_OF_PLACE,
               shares = tb_shares_operand(product, walk->tiling);
    tb_operand *operand = &part->operands[role];
    char *there = walk->memory + ((int64_t)(role == TB_B && shares ? TB_A : role) << 44);
    tb_range rows, columns;
    tb_stored_ranges(product, role, step->rows, step->columns, step->k, &rows, &columns);
    if (role != TB_C && walk->budget->stays[role])
        return;
    if (role != TB_C && in_place) {
        *operand = product->operands[role];
        operand->data = tb_is_in_place_of(product, role) ? part->c.data : there;
        operand->ld =
            tb_is_in_place_of(product, role) ? operand->ld : tb_pitched(operand->rows, operand->element);
    } else {
        const bool folds =
            role == TB_C && !walk->tiling->whole && walk->budget->passages[TB_C] != TB_NO_PASSAGE;
        if (!walk->tiling->whole && role != TB_C)
            there += step->k.first / walk->tiling->slab_k *
                     tb_slab_bytes(tb_larger(part->m, part->n), walk->tiling->slab_k, operand->element);
        tb_place_there(product, walk->tiling, role, there, rows.first,
                       folds ? columns.first % (2 * walk->tiling->block_n) : columns.first, &operand->matrix);
    }
}

/* Every part. Most tilings have no more of them than are kept. */
static double parts_are_scheduled(const tb_budget *budget, const tb_product *product, const tb_tiling *tiling,
                                  bool all_are_kept)
{
    static tb_part_schedules before;
    walk walk = {.budget = budget, .memory = (char *)((uintptr_t)1 << 50)};
    tb_schedule_parts(product, tiling, budget, &schedules);
    before = schedules;
    for (int64_t row = 0; row < product->m; row += tiling->block_m) {
        tb_tiling own;
        const tb_product rows = tb_rows_of_tiling(product, tiling, row, &own);
        const int64_t count = tb_step_count(&rows, &own);
        walk.product = &rows;
        walk.tiling = &own;
        for (int64_t i = 0; i < count; i++) {
            const tb_step step = tb_step_at(&rows, &own, i);
            tb_product part = tb_subproduct(&rows, step.rows, step.columns, step.k);
            place(&walk, TB_C, &step, &part);
            place(&walk, TB_B, &step, &part);
            place(&walk, TB_A, &step, &part);
            for (int64_t column = 0; column < part.n; column += step.swath_n) {
                const tb_product swath = tb_swath_of(&part, &own, column, step.swath_n);
                part_is_scheduled(&walk, &swath);
            }
        }
    }
    CHECK(memcmp(before.made, schedules.made, (size_t)before.count * sizeof *before.made) == 0,
          "%s, %lld x %lld x %lld: what is kept has changed", budget->kernel->name, (long long)product->m,
          (long long)product->n, (long long)product->k);
    CHECK(walk.on_the_fly == 0 || !all_are_kept, "%s, %lld x %lld x %lld: %lld parts are not kept",
          budget->kernel->name, (long long)product->m, (long long)product->n, (long long)product->k,
          (long long)walk.on_the_fly);
    return walk.volume;
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
static void walk_whole(const tb_product *product, const tb_tiling *t, check_random *random)
{
    const int64_t m = product->m, n = product->n, k = product->k, count = tb_step_count(product, t);
    point points[POINTS];
    for (int i = 0; i < POINTS; i++)
        points[i] = (point){.row = check_between(random, 0, m - 1),
                            .column = check_between(random, 0, n - 1),
                            .k = check_between(random, 0, k - 1)};
    int64_t completed = 0;
    for (int64_t index = 0; index < count; index++) {
        const tb_step step = tb_step_at(product, t, index);
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
                              .passages = {passages[TB_A], passages[TB_B], passages[TB_C]},
                              .stays = {passages[TB_A] == TB_NO_PASSAGE, passages[TB_B] == TB_NO_PASSAGE}};
    if (!tb_choose_tiling(product, &budget, &t))
        return;
    const long long m = product->m, n = product->n, k = product->k;
    CHECK(t.block_m >= 1 && t.block_m <= m && t.block_n >= 1 && t.block_n <= n && t.slab_k >= 1 &&
              t.slabs * t.slab_k >= k && (t.slabs - 1) * t.slab_k < k && t.swath_n >= 1,
          "%s, %lld x %lld x %lld: blocks of %lld x %lld, %lld slabs of %lld", kernel->name, m, n, k,
          (long long)t.block_m, (long long)t.block_n, (long long)t.slabs, (long long)t.slab_k);
    if (t.whole) {
        CHECK(t.block_m == m && t.next_n >= 1 && t.next_swath_n >= 1 && t.piece_m >= 1 && t.band_m >= 1 &&
                  t.band_m <= m && (t.piece_m == t.band_m || product->a.transposed),
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
    if (t.whole)
        walk_whole(product, &t, random);
    const double volume = parts_are_scheduled(&budget, product, &t, true);
    CHECK(volume == (double)m * (double)n * (double)k, "%s, %lld x %lld x %lld: covers %g", kernel->name, m,
          n, k, volume);
    CHECK(tb_tiling_needs(&budget, product, &t) <= bytes, "%s, %lld x %lld x %lld: %g of %g bytes",
          kernel->name, m, n, k, tb_tiling_needs(&budget, product, &t), bytes);
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

/* Where there is one operand, A brings what is read as B. */
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

/* Whether it grows. */
static bool a_triangle_is_cut(const tb_budget *budget, const tb_product *product, check_random *random)
{
    tb_tiling t;
    if (!CHECK(tb_choose_tiling(product, budget, &t), "a triangle cannot be cut") || !t.whole)
        return false;
    const double needs = tb_tiling_needs(budget, product, &t);
    parts_are_scheduled(budget, product, &t, false);
    CHECK(needs <= budget->bytes, "%s, %lld x %lld, mask %d, grows %d: it takes %g of %g bytes",
          budget->kernel->name, (long long)product->n, (long long)product->k, product->mask, t.grows, needs,
          budget->bytes);
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

/* Where bands take more memory than there is, because each has a place of its own, another cut is taken that fits. */
static void a_tight_product_is_whole(void)
{
    const tb_product product = product_sized(20100, 8192, 5120);
    tb_tiling free, tight;
    const tb_budget ample = budget_for(TB_STRAIGHT, 100e9);
    CHECK(tb_choose_tiling(&product, &ample, &free) && free.band_m < product.m, "no bands");
    const tb_budget little = budget_for(TB_STRAIGHT, tb_tiling_needs(&ample, &product, &free) - 1);
    CHECK(tb_choose_tiling(&product, &little, &tight) && tight.whole && tight.band_m == product.m,
          "not on the device as a whole");
}

/* A band of rows of what happens in C's place is handed over as one, from slots that hold all of it; and a slot holds columns. */
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
        if (is_cut && m < 3000 && n < 3000)
            parts_are_scheduled(&budget, &product, &t, false);
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

/* A C that stays on the device has one place there, from which it is written where it lies, also where rows of it are computed
 * one after the other. */
static void what_stays_has_one_place(void)
{
    const int64_t m = 8691, n = 2060;
    const tb_product product = tb_triangular(TB_MULTIPLIES, TB_FP32, false, TB_LOWER, false, false, false, m,
                                             n, (tb_scalar){1, 0}, NULL, n, NULL, m);
    for (int stays = 0; stays < 2; stays++) {
        tb_budget budget = budget_for(TB_BY_SLOTS, 100e9);
        tb_tiling t = {0};
        budget.kernel = tb_find_kernel("strmm_block");
        budget.passages[TB_C] = stays ? TB_NO_PASSAGE : TB_BY_SLOTS;
        const bool is_cut = tb_choose_tiling(&product, &budget, &t);
        CHECK(is_cut && t.band_m < m && t.apart == !stays, "%s: bands of %lld rows, apart %d",
              stays ? "stays" : "goes back", (long long)t.band_m, t.apart);
    }
}

/* Of all that a cut depends on but the room, which whoever remembers a cut compares himself. */
static void cuts_are_told_apart(void)
{
    static const tb_kernel *const kernel = tb_catalog;
    const tb_chip smaller = {.architecture = 90, .multiprocessors = 66}, older = {.architecture = 80};
    const tb_product product =
        tb_gemm(TB_SGEMM, false, false, 900, 800, 700, 1, NULL, 900, NULL, 700, 0, NULL, 900);
    const tb_budget budget = {.kernel = kernel, .chip = &chip, .slot_bytes = 1 << 20, .copy_rate = 1e10};
    tb_budget others[9];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        others[i] = budget;
    others[0].kernel = kernel + 1;
    others[1].chip = &smaller;
    others[2].chip = &older;
    others[3].slot_bytes *= 2;
    others[4].copy_rate *= 2;
    others[5].passages[TB_B] = TB_STRAIGHT;
    others[6].passages[TB_C] = TB_STRAIGHT;
    others[7].stays[TB_A] = true;
    others[8].stays[TB_B] = true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(tb_hash_of_cut(&product, &others[i]) != tb_hash_of_cut(&product, &budget),
              "budget %d is cut for as another one", (int)i);
}

int main(void)
{
    cuts_are_told_apart();
    a_tight_product_is_whole();
    what_stays_has_one_place();
    a_square_is_cut_well(4096, 1.31);
    a_square_is_cut_well(8192, 1.34);
    a_square_is_cut_well(10240, 1.39);
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
