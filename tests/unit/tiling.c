/* How a streamed product is cut: whatever the shape, the kernel and the memory, everything fits, what the kernel needs
 * beside its operands included, and the pieces cover the product.
 */
#include "dispatch/tiling.h"
#include "tests/check.h"

enum { SHAPES = 400, MULTIPROCESSORS = 132, ROWS_MOST = 1 << 18 };

static void a_product_is_cut(const tb_kernel *kernel, const tb_problem *problem, double bytes)
{
    tb_tiling t;
    if (!tb_choose_tiling(problem, kernel, MULTIPROCESSORS, bytes, ROWS_MOST, &t))
        return;
    const tb_launcher launcher = {.architecture = kernel->architecture, .multiprocessors = MULTIPROCESSORS};
    tb_problem slab = *problem;
    slab.m = t.block_m;
    slab.n = t.block_n;
    slab.k = t.slab_k < problem->k ? t.slab_k : problem->k;
    slab.lda = slab.ldb = slab.ldc = tb_pitched(t.block_m + t.block_n + t.slab_k);
    double workspace = kernel->workspace ? (double)kernel->workspace(&launcher, kernel, &slab) : 0;
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
