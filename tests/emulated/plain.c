/* The FP32 multiply-adds of kernels that multiply parts, on the host (block.h): products of few tiles, by
 * fewer blocks or more. */
#include "kernels/launch.h"
#include "kernels/simt/simt.h"
#include "kernels/tensor/launch_tensor.h"
#include "kernels/tensor/split.h"
#include "kernels/zeros.h"
#include "tests/emulated/block.h"

typedef float number;
typedef double total;
#define ROUTINE TB_SGEMM
#include "tests/emulated/gemm.h"
#include "tests/emulated/graded.h"

/* Zeros are left out where the family's launch functions leave them out. */
static const bool leaves_out = EMULATED_ARCHITECTURE >= TB_SIMT_ZEROS_FIRST;

enum { PRODUCTS = 300, APART = 8, BLOCKS_MOST = 4 };

extern const int emulated_plain_threads, emulated_plain_bytes;

static int masked, with_zeros, several_tiles;

/* Whether these kernels compute it: one product, and there are steps of k. */
static bool is_theirs(const test *t)
{
    return members_of(t) == 1 && t->given.k > 0;
}

static tb_split_arguments multiply(const tb_product *product, int64_t blocks)
{
    const tb_split_arguments arguments = {.problem = tb_sgemm_of(product),
                                          .order = {.zeros = leaves_out ? tb_zeros_of(product) : 0},
                                          .masked_plainly = tb_split_plain_tiles(product)};
    emulated_run(emulated_find("sgemm_plainly"), blocks, 1, emulated_plain_threads, emulated_plain_bytes,
                 &arguments);
    return arguments;
}

static void one_product(bool is_apart, check_random *random)
{
    static test t;
    if (is_apart)
        draw_apart(&t, random);
    else
        draw(&t, random);
    const tb_product *p = &t.given;
    const int64_t blocks = check_between(random, 1, BLOCKS_MOST);
    if (is_theirs(&t)) {
        const tb_split_arguments arguments = multiply(p, blocks);
        masked += p->mask != TB_FULL;
        with_zeros += arguments.order.zeros != 0;
        several_tiles += arguments.masked_plainly.count > blocks;
        char what[256];
        snprintf(
            what, sizeof what, "%lld blocks, %lld x %lld x %lld %c%c, mask %d, zeros %d, alpha %g, beta %g",
            (long long)blocks, (long long)p->m, (long long)p->n, (long long)p->k, p->a.transposed ? 'T' : 'N',
            p->b.transposed ? 'T' : 'N', (int)p->mask, (int)arguments.order.zeros, p->alpha.re, p->beta.re);
        check_product(&t, what);
    }
    release_operands(&t);
    if (!is_apart)
        release(&t.before);
}

/* Numbers that grow along k are added up as k grows, as a loop does while chains are not cut. */
static void sums_of_graded_numbers_are_accurate(check_random *random)
{
    enum { SIDE = 64, K = TB_SIMT_CHAIN_LEAST };
    static test t;
    t = (test){.given = tb_gemm(ROUTINE, check_between(random, 0, 1), check_between(random, 0, 1), SIDE, SIDE,
                                K, 1, NULL, 0, NULL, 0, 0, NULL, 0)};
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        store(&t, role, 1, check_between(random, 0, 1), random);
    fill_graded(&t, random);
    multiply(&t.given, 1);
    const double error = relative_error(&t);
    CHECK(error <= 1, "rms error %.2f times a loop's", error);
    release_operands(&t);
}

int main(int count, char **arguments)
{
    const int products = count > 1 ? atoi(arguments[1]) : PRODUCTS;
    check_random random = {check_seed()};
    for (int i = 0; i < products; i++) {
        emulated_seed(check_next(&random));
        one_product(i < APART, &random);
    }
    sums_of_graded_numbers_are_accurate(&random);
    printf("%d masked, %d with zeros, %d of several tiles for a block\n", masked, with_zeros, several_tiles);
    CHECK(products < PRODUCTS || (masked > 0 && (with_zeros > 0 || !leaves_out) && several_tiles > 0),
          "something is not tried");
    return check_result();
}
