/* How a streamed product is cut: whatever the shape, the kernel and the memory, everything fits, what the kernel needs
 * beside its operands included, and the pieces cover the product.
 */
#include "dispatch/tiling.h"
#include "lib/integers.h"
#include "tests/check.h"

enum { SHAPES = 100, SLOT_BYTES = 1 << 20 };

#define TARGET ((tb_target){.architecture = 90, .multiprocessors = 132})

static bool is_foreseen(const tb_problem *problem, const tb_tiling *t, const tb_problem *part)
{
    tb_part_size sizes[TB_PART_SIZES];
    const int count = tb_tiling_sizes(problem, t, sizes);
    CHECK(count <= TB_PART_SIZES, "%d sizes", count);
    for (int i = 0; i < count; i++)
        if (sizes[i].rows == part->m && sizes[i].columns == part->n && sizes[i].k == part->k &&
            (sizes[i].beta == 1) == (part->beta == 1))
            return true;
    return false;
}

/* A walk over all products that a tiling makes: how much of C's volume they cover, and what the kernel needs for them. */
typedef struct walk {
    const tb_kernel *kernel;
    const tb_problem *problem;
    const tb_tiling *tiling;
    double volume, workspace;
} walk;

static void multiply(walk *walk, int64_t m, int64_t n, int64_t k, bool first)
{
    const tb_launcher launcher = {.target = TARGET};
    tb_problem part = *walk->problem;
    part.m = m;
    part.n = n;
    part.k = k;
    if (!first)
        part.beta = 1;
    CHECK(is_foreseen(walk->problem, walk->tiling, &part), "%lld x %lld x %lld, beta %g", (long long)m,
          (long long)n, (long long)k, (double)part.beta);
    part.lda = part.ldb = part.ldc = tb_pitched(m + n + k);
    double bytes =
        walk->kernel->workspace ? (double)walk->kernel->workspace(&launcher, walk->kernel, &part) : 0;
    walk->workspace = bytes > walk->workspace ? bytes : walk->workspace;
    walk->volume += (double)m * (double)n * (double)k;
}

static void walk_panels(walk *walk, int64_t m, int64_t n, int64_t panel, int64_t k, bool first)
{
    for (int64_t column = 0; column < n; column += panel)
        multiply(walk, m, tb_smaller(panel, n - column), k, first);
}

static void walk_slabs(walk *walk, int64_t m, int64_t n)
{
    const tb_tiling *t = walk->tiling;
    for (int64_t i = 0; i + 1 < t->slabs; i++)
        multiply(walk, m, n, t->slab_k, i == 0);
    walk_panels(walk, m, n, t->panel_n, walk->problem->k - (t->slabs - 1) * t->slab_k, t->slabs == 1);
}

static void walk_whole(walk *walk)
{
    const tb_tiling *t = walk->tiling;
    const int64_t m = walk->problem->m, n = walk->problem->n, k = walk->problem->k;
    if (t->band_m < m) {
        for (int64_t row = 0; row < m; row += t->band_m)
            walk_panels(walk, tb_smaller(t->band_m, m - row), n, t->panel_n, k, true);
        return;
    }
    if (t->piece_m == m)
        walk_slabs(walk, m, t->block_n);
    else
        for (int64_t row = 0; row < m; row += t->piece_m)
            multiply(walk, tb_smaller(t->piece_m, m - row), t->block_n, k, true);
    for (int64_t column = t->block_n; column < n; column += t->next_n)
        walk_panels(walk, m, tb_smaller(t->next_n, n - column), t->next_panel_n, k, true);
}

static void walk_blocks(walk *walk)
{
    const tb_tiling *t = walk->tiling;
    const tb_problem *p = walk->problem;
    for (int64_t row = 0; row < p->m; row += t->block_m)
        for (int64_t column = 0; column < p->n; column += t->block_n)
            walk_slabs(walk, tb_smaller(t->block_m, p->m - row), tb_smaller(t->block_n, p->n - column));
}

/* Every block of B has its own place, within what is taken for all of them. */
static void b_has_places(const tb_problem *problem, const tb_tiling *t)
{
    const int64_t all = tb_whole_b_floats(problem, t, problem->n);
    int64_t end = 0, width = 0;
    for (int64_t column = 0; column < problem->n; column += width) {
        width = tb_smaller(column == 0 ? t->block_n : t->next_n, problem->n - column);
        const int64_t place = tb_whole_b_floats(problem, t, column);
        CHECK(place >= end && place % 32 == 0, "columns from %lld at %lld, others end at %lld",
              (long long)column, (long long)place, (long long)end);
        end = place + tb_slab_floats(width, problem->k);
    }
    CHECK(end <= all, "%lld of %lld floats", (long long)end, (long long)all);
}

static void a_product_is_cut(const tb_kernel *kernel, const tb_problem *problem, double bytes)
{
    tb_tiling t;
    const tb_budget budget = {.kernel = kernel,
                              .target = TARGET,
                              .bytes = bytes,
                              .slot_bytes = SLOT_BYTES,
                              .straight = problem->m & 1,
                              .bands = problem->n % 8 != 0};
    if (!tb_choose_tiling(problem, &budget, &t))
        return;
    const long long m = problem->m, n = problem->n, k = problem->k;
    CHECK(t.block_m >= 1 && t.block_m <= m && t.block_n >= 1 && t.block_n <= n && t.slab_k >= 1 &&
              t.slabs * t.slab_k >= k && (t.slabs - 1) * t.slab_k < k && t.panel_n >= 1,
          "%s, %lld x %lld x %lld: blocks of %lld x %lld, %lld slabs of %lld", kernel->name, m, n, k,
          (long long)t.block_m, (long long)t.block_n, (long long)t.slabs, (long long)t.slab_k);
    if (t.whole) {
        CHECK(t.block_m == m && t.next_n >= 1 && t.next_panel_n >= 1 && t.piece_m >= 1 &&
                  (t.piece_m == m || (problem->transpose_a && t.slabs == 1)),
              "%s, %lld x %lld x %lld: rows %lld, columns %lld, panels %lld", kernel->name, m, n, k,
              (long long)t.piece_m, (long long)t.next_n, (long long)t.next_panel_n);
        b_has_places(problem, &t);
    } else {
        CHECK(t.ring_a >= 1 && t.ring_b >= 1 && t.ring_c >= 1 && t.ring_b <= TB_RING_MAXIMUM &&
                  t.panel_n <= t.block_n,
              "%s, %lld x %lld x %lld: rings %lld, %lld, %lld", kernel->name, m, n, k, (long long)t.ring_a,
              (long long)t.ring_b, (long long)t.ring_c);
    }
    walk walk = {.kernel = kernel, .problem = problem, .tiling = &t};
    if (t.whole)
        walk_whole(&walk);
    else
        walk_blocks(&walk);
    CHECK(walk.volume == (double)m * (double)n * (double)k, "%s, %lld x %lld x %lld: covers %g", kernel->name,
          m, n, k, walk.volume);
    CHECK(tb_tiling_bytes(problem, &t) + walk.workspace <= bytes,
          "%s, %lld x %lld x %lld: %g and %g of %g bytes", kernel->name, m, n, k,
          tb_tiling_bytes(problem, &t), walk.workspace, bytes);
}

/* Multiply-adds that an H200 does while the link moves a float. */
#define WORK_A_FLOAT 4800.0

/* Whether a first block of so many columns takes no longer to compute than A and its columns of B to load, and leaves enough to
 * compute while C travels back. */
static bool is_not_too_wide(double n, double columns)
{
    return n * columns <= WORK_A_FLOAT * (n + columns) && (n - columns) * n >= WORK_A_FLOAT * n;
}

/* Of large squares: as wide as that allows, but for a panel. */
static void the_first_block_is_wide(int64_t n)
{
    const tb_problem problem = {.m = n, .n = n, .k = n, .alpha = 1};
    const tb_budget budget = {.kernel = tb_find_kernel("sgemm_bf16x6_sm90"),
                              .target = TARGET,
                              .bytes = 100e9,
                              .slot_bytes = 8 << 20};
    tb_tiling t;
    CHECK(tb_choose_tiling(&problem, &budget, &t) && t.whole, "%lld: not on the device as a whole",
          (long long)n);
    const double columns = (double)t.block_n, panel = (double)t.next_panel_n;
    CHECK(is_not_too_wide((double)n, columns - panel) && !is_not_too_wide((double)n, columns + panel),
          "%lld: %g columns, panels of %g", (long long)n, columns, panel);
}

int main(void)
{
    for (int64_t n = 6144; n <= 20480; n += 2048)
        the_first_block_is_wide(n);
    check_random random = {.state = check_seed()};
    for (size_t row = 0; row < tb_catalog_size; row++)
        for (int i = 0; i < SHAPES; i++) {
            tb_problem problem = {.transpose_a = i & 1,
                                  .transpose_b = i >> 1 & 1,
                                  .m = check_between(&random, 1, i % 4 ? 9000 : 40),
                                  .n = check_between(&random, 1, i % 3 ? 9000 : 40),
                                  .k = check_between(&random, 1, 9000),
                                  .alpha = 1};
            a_product_is_cut(&tb_catalog[row], &problem, (double)check_between(&random, 1 << 20, 400 << 20));
            a_product_is_cut(&tb_catalog[row], &problem, 4e9);
        }
    return check_result();
}
