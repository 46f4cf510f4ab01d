/* dgemm_mma on the host (block.h), as it is on 9.0, by products of few tiles, and by the real launch function: whole tiles, parts of them that
 * a second launch adds up, and clusters whose blocks have a tile between them. Numbers are integers, so that C is exact whatever the
 * order of summation. Operands end where memory that may not be read begins, between columns is NaN, and the workspace begins as garbage.
 */
#include "kernels/catalog.h"
#include "kernels/fp64/dgemm_mma.h"
#include "kernels/fp64/launch_dgemm.h"
#include "tests/check.h"
#include "tests/clusters_h200.h"
#include "tests/emulated/block.h"
#include "tests/emulated/guarded.h"

enum { PRODUCTS = 80, LARGEST = 9, VOLUME_MOST = 20000000, K_OF_LARGE = 300 };
static const size_t room = (size_t)32 << 20;

static int in_clusters, chains_in_clusters, in_parts;

/* ---- Products ------------------------------------------------------------------------------------------------ */

/* Rows or columns of both sorts: an odd address, or leading dimension, is copied 8 bytes at a time. */
typedef struct stored {
    int64_t rows, columns, ld;
    memory memory;
} stored;

static double *at(const stored *x, int64_t row, int64_t column)
{
    return (double *)(void *)x->memory.start + row + column * x->ld;
}

static stored store(int64_t rows, int64_t columns, bool even, check_random *random)
{
    stored x = {.rows = rows, .columns = columns, .ld = rows + check_between(random, 0, 2)};
    x.ld += even ? x.ld % 2 : 0;
    const int64_t numbers = x.ld * (columns - 1) + rows;
    x.memory = guarded((size_t)(numbers + (even ? numbers % 2 : 0)) * sizeof(double));
    for (int64_t column = 0; column < columns; column++)
        for (int64_t row = 0; row < rows; row++)
            *at(&x, row, column) = (double)check_between(random, -LARGEST, LARGEST);
    return x;
}

typedef struct test {
    stored a, b, c, before;
    tb_product given;
} test;

static test draw(check_random *random)
{
    static const int64_t sides[] = {1, 2, 7, 31, 32, 33, 63, 64, 65, 100, 130},
                         ks[] = {1,   2,   7,    16,   31,   32,    33,    64,    100,
                                 256, 511, 1000, 2000, 4100, 15000, 60001, 100001};
    static const double alphas[] = {1, -3}, betas[] = {0, 0, 1, -2};
    /* Few clusters have k in several chains: of a C without a short side. */
    const bool in_chains = check_between(random, 0, 19) == 0;
    const int64_t m = in_chains ? 130 : CHECK_PICK(random, sides),
                  n = in_chains ? 129 : CHECK_PICK(random, sides),
                  drawn = in_chains ? 4100 : CHECK_PICK(random, ks),
                  k = !in_chains && m * n * drawn > VOLUME_MOST ? K_OF_LARGE : drawn;
    const bool even = check_between(random, 0, 1), along_k_a = check_between(random, 0, 1),
               along_k_b = check_between(random, 0, 1);
    test t = {.a = along_k_a ? store(k, m, even, random) : store(m, k, even, random),
              .b = along_k_b ? store(k, n, even, random) : store(n, k, even, random),
              .c = store(m, n, even, random)};
    t.before = t.c;
    t.before.memory = guarded(t.c.memory.bytes);
    memcpy(t.before.memory.start, t.c.memory.start, (size_t)(t.c.ld * (n - 1) + m) * sizeof(double));
    t.given = tb_gemm(TB_DGEMM, along_k_a, !along_k_b, m, n, k, CHECK_PICK(random, alphas), at(&t.a, 0, 0),
                      t.a.ld, at(&t.b, 0, 0), t.b.ld, CHECK_PICK(random, betas), at(&t.c, 0, 0), t.c.ld);
    for (int64_t column = 0; column < n && t.given.beta.re == 0; column++) /* not read */
        memset(at(&t.c, 0, column), 0xff, (size_t)m * sizeof(double));
    if (check_between(random, 0, 4) == 0) {
        t.given.mask = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
        t.given.diagonal = check_between(random, -n, m);
        if (t.given.beta.re == 0)
            t.given.beta.re = 1;
        for (int64_t column = 0; column < n; column++)
            memcpy(at(&t.c, 0, column), at(&t.before, 0, column), (size_t)m * sizeof(double));
    }
    return t;
}

static double expected(const test *t, int64_t row, int64_t column)
{
    const tb_product *p = &t->given;
    const int64_t below = row - column;
    double sum = 0;
    if (p->mask != TB_FULL && (p->mask == TB_LOWER ? below < p->diagonal : below > p->diagonal))
        return *at(&t->before, row, column);
    for (int64_t l = 0; l < p->k; l++)
        sum += (p->a.transposed ? *at(&t->a, l, row) : *at(&t->a, row, l)) *
               (p->b.transposed ? *at(&t->b, column, l) : *at(&t->b, l, column));
    return p->alpha.re * sum + (p->beta.re == 0 ? 0 : p->beta.re * *at(&t->before, row, column));
}

static void check_product(const test *t, const char *what)
{
    int bad = 0;
    for (int64_t column = 0; column < t->given.n; column++)
        for (int64_t row = 0; row < t->given.m && bad < 3; row++) {
            const double wanted = expected(t, row, column), found = *at(&t->c, row, column);
            bad += !CHECK(found == wanted, "%s: C(%lld, %lld) is %g, not %g", what, (long long)row,
                          (long long)column, found, wanted);
        }
    for (int64_t column = 0; column + 1 < t->given.n; column++) /* what lies between columns is still NaN */
        for (int64_t row = t->given.m; row < t->c.ld; row++)
            CHECK(*(uint64_t *)(void *)at(&t->c, row, column) == UINT64_MAX, "%s: written below column %lld",
                  what, (long long)column);
}

/* ---- Launches ------------------------------------------------------------------------------------------------ */

static tb_status find(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher;
    CHECK(emulated_find(entry->symbol), "there is no %s", entry->symbol);
    return TB_OK;
}

static tb_status run_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                              int threads, int shared_bytes, const void *argument)
{
    (void)launcher;
    const tb_dgemm_arguments *arguments = argument;
    in_clusters += cluster > 1;
    chains_in_clusters += cluster > 1 && arguments->chains > 1;
    in_parts += entry == &tb_entry_dgemm_mma_reduce;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    if (CHECK(kernel && shared_bytes <= entry->dynamic_shared_bytes, "%s", entry->symbol))
        emulated_run(kernel, blocks, cluster, threads, shared_bytes, argument);
    return TB_OK;
}

static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    return run_clusters(launcher, entry, blocks, 1, threads, shared_bytes, argument);
}

static void one_product(char *workspace, check_random *random)
{
    static const char *const rows[] = {"dgemm_mma_32x64_2", "dgemm_mma_64x32", "dgemm_mma_64x64_3"};
    static const int multiprocessors[] = {1, 2, 8, 40, 132, 132, 132};
    test t = draw(random);
    const tb_kernel *row = tb_find_kernel(CHECK_PICK(random, rows));
    const int count = CHECK_PICK(random, multiprocessors);
    const tb_launcher launcher = {.target = {.architecture = 90,
                                             .multiprocessors = count,
                                             .clusters = count == 132 ? &clusters_h200 : NULL},
                                  .load = find,
                                  .launch = run,
                                  .launch_clusters = run_clusters};
    const tb_schedule schedule = tb_prepare(row, &t.given, launcher.target);
    char what[128];
    snprintf(what, sizeof what, "%s, %d multiprocessors, %lld x %lld x %lld%s", row->name, count,
             (long long)t.given.m, (long long)t.given.n, (long long)t.given.k,
             t.given.mask ? ", masked" : "");
    memset(workspace, (int)check_between(random, 0, 255), room);
    if (CHECK(schedule.workspace <= room, "%s: %zu bytes", what, schedule.workspace)) {
        CHECK(row->launch(&launcher, row, &t.given, &schedule, workspace) == TB_OK, "%s", what);
        check_product(&t, what);
    }
    stored *all[] = {&t.a, &t.b, &t.c, &t.before};
    for (int i = 0; i < 4; i++)
        release(&all[i]->memory);
}

int main(int count, char **arguments)
{
    const int products = count > 1 ? atoi(arguments[1]) : PRODUCTS;
    check_random random = {check_seed()};
    memory workspace = guarded(room);
    for (int i = 0; i < products; i++) {
        emulated_seed(check_next(&random));
        one_product(workspace.start, &random);
    }
    release(&workspace);
    printf("%d in clusters, %d of several chains; %d in parts\n", in_clusters, chains_in_clusters, in_parts);
    return check_result();
}
