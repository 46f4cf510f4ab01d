/* How a streamed product is cut: whatever the shape, the kernel and the memory, everything fits, what the kernel needs
 * beside its operands included, and the pieces cover the product.
 */
#include "dispatch/tiling.h"
#include "tests/check.h"

enum { SHAPES = 400, MULTIPROCESSORS = 132, ROWS_MOST = 1 << 18 };

static bool is_foreseen(const tb_problem *problem, const tb_tiling *t, const tb_problem *part)
{
    tb_part_size sizes[TB_PART_SIZES];
    const int count = tb_tiling_sizes(problem, t, sizes);
    for (int i = 0; i < count; i++)
        if (sizes[i].columns == part->n && sizes[i].k == part->k && (sizes[i].beta == 1) == (part->beta == 1))
            return true;
    return false;
}

/* Of the first slab, or of another one, which is added to it. */
static double workspace_of(const tb_kernel *kernel, const tb_problem *problem, const tb_tiling *t, int64_t m,
                           int64_t n, int64_t k, bool first)
{
    const tb_launcher launcher = {.architecture = kernel->architecture, .multiprocessors = MULTIPROCESSORS};
    tb_problem part = *problem;
    part.m = m;
    part.n = n;
    part.k = k;
    if (!first)
        part.beta = 1;
    CHECK(is_foreseen(problem, t, &part), "%lld columns, %lld of k, beta %g", (long long)n, (long long)k,
          (double)part.beta);
    part.lda = part.ldb = part.ldc = tb_pitched(m + n + k);
    return kernel->workspace ? (double)kernel->workspace(&launcher, kernel, &part) : 0;
}

static double larger(double x, double y)
{
    return x > y ? x : y;
}

/* Of so many columns: all slabs but the last at once, the last panel by panel. */
static double workspace_of_block(const tb_kernel *kernel, const tb_problem *problem, const tb_tiling *t,
                                 int64_t m, int64_t columns)
{
    const int64_t last_k = problem->k - (t->slabs - 1) * t->slab_k, rest = columns % t->panel_n;
    const bool alone = t->slabs == 1;
    double most = 0;
    if (!alone)
        most = workspace_of(kernel, problem, t, m, columns, t->slab_k, true);
    if (t->slabs > 2)
        most = larger(most, workspace_of(kernel, problem, t, m, columns, t->slab_k, false));
    if (columns >= t->panel_n)
        most = larger(most, workspace_of(kernel, problem, t, m, t->panel_n, last_k, alone));
    return rest > 0 ? larger(most, workspace_of(kernel, problem, t, m, rest, last_k, alone)) : most;
}

/* What the kernel needs for any product that the tiling makes it multiply. */
static double most_workspace(const tb_kernel *kernel, const tb_problem *problem, const tb_tiling *t)
{
    double most = 0;
    for (int64_t row = 0; row < problem->m; row += t->block_m) {
        const int64_t m = problem->m - row < t->block_m ? problem->m - row : t->block_m;
        if (row > 0 && m == t->block_m)
            continue; /* as the first */
        int64_t width = 0, before = 0;
        for (int64_t column = 0; column < problem->n; column += width, before = width) {
            width = column == 0 ? t->block_n : t->next_n;
            width = problem->n - column < width ? problem->n - column : width;
            if (width != before)
                most = larger(most, workspace_of_block(kernel, problem, t, m, width));
        }
    }
    return most;
}

static void a_product_is_cut(const tb_kernel *kernel, const tb_problem *problem, double bytes)
{
    tb_tiling t;
    if (!tb_choose_tiling(problem, kernel, MULTIPROCESSORS, bytes, ROWS_MOST, &t))
        return;
    double workspace = most_workspace(kernel, problem, &t);
    CHECK(tb_tiling_bytes(problem, &t) + workspace <= bytes, "%s, %lld x %lld x %lld: %g and %g of %g bytes",
          kernel->name, (long long)problem->m, (long long)problem->n, (long long)problem->k,
          tb_tiling_bytes(problem, &t), workspace, bytes);
    CHECK(t.block_m >= 1 && t.block_m <= problem->m && t.block_n >= 1 && t.block_n <= problem->n &&
              t.slabs * t.slab_k >= problem->k && t.ring_a >= 1 && t.ring_b >= 1 && t.panel_n >= 1 &&
              t.panel_n <= t.block_n && t.next_n >= 1 && t.next_n <= t.block_n && t.ring_b <= TB_RING_MAXIMUM,
          "%s, %lld x %lld x %lld: blocks of %lld x %lld, %lld slabs of %lld", kernel->name,
          (long long)problem->m, (long long)problem->n, (long long)problem->k, (long long)t.block_m,
          (long long)t.block_n, (long long)t.slabs, (long long)t.slab_k);
}

int main(void)
{
    check_random random = {.state = check_seed()};
    for (size_t row = 0; row < tb_catalog_size; row++)
        for (int i = 0; i < SHAPES; i++) {
            tb_problem problem = {.m = check_between(&random, 1, i % 4 ? 9000 : 40),
                                  .n = check_between(&random, 1, i % 3 ? 9000 : 40),
                                  .k = check_between(&random, 1, 9000),
                                  .alpha = 1};
            a_product_is_cut(&tb_catalog[row], &problem, (double)check_between(&random, 1 << 20, 400 << 20));
        }
    return check_result();
}
