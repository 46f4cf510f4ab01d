/* dgemm_mma, or its rows for complex numbers, on the host (block.h), as it is on 9.0, by products of few tiles, and by the real
 * launch function: whole tiles, parts of them that a second launch adds up, and clusters whose blocks have a tile between them;
 * chains of any number. The workspace begins as garbage. No read of a fragment waits for banks of shared memory.
 */
#include "kernels/catalog.h"
#include "kernels/fp64/dgemm_mma.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/launch.h"
#include "tests/clusters_h200.h"
#include "tests/emulated/block.h"

typedef double real;
#ifdef EMULATED_COMPLEX
#include <complex.h>
typedef double complex number;
typedef double complex total;
#define ROUTINE     TB_ZGEMM
#define VOLUME_MOST 5000000 /* each of them four of reals */
#else
typedef double number;
typedef double total;
#define ROUTINE TB_DGEMM
#endif
#include "tests/emulated/gemm.h"
#include "tests/emulated/short_sums.h"

enum { PRODUCTS = 360, CHAINS_MOST = 5 };

/* The first few products have columns far apart in memory, those behind them two terms. */
enum { APART = 24, TERMS = APART + 60 };
typedef enum kind { IS_ANY, IS_APART, IS_OF_TERMS } kind;
static const size_t room = (size_t)64 << 20;

static int in_clusters, chains_in_clusters, chains_in_c, in_parts, in_parts_with_zeros, in_batches, joined;

/* ---- Launches ------------------------------------------------------------------------------------------------ */

static tb_status find(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher;
    CHECK(emulated_find(entry->symbol), "there is no %s", entry->symbol);
    return TB_OK;
}

/* Runs are cut into as many chains as the test draws, where they may be cut: the launch function cuts none so short as here. */
static const tb_kernel *row;
static int chains_drawn;

static void cut_into_chains(tb_dgemm_arguments *arguments)
{
    if (arguments->second_steps > 0 ||
        (row->chains_in_c && (arguments->cluster > 1 || arguments->problem.beta != 0)))
        return;
    arguments->jump_a = arguments->jump_a / arguments->chains * chains_drawn;
    arguments->jump_b = arguments->jump_b / arguments->chains * chains_drawn;
    arguments->chains = chains_drawn;
    arguments->apart = chains_drawn * arguments->alternating;
}

static tb_status run_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                              int threads, int shared_bytes, const void *argument)
{
    (void)launcher;
    tb_dgemm_arguments arguments;
    memcpy(&arguments, argument, sizeof arguments);
    if (chains_drawn > 0)
        cut_into_chains(&arguments);
    in_clusters += cluster > 1;
    chains_in_clusters += cluster > 1 && arguments.chains > 1;
    chains_in_c += row->chains_in_c && arguments.chains > 1;
    in_parts += entry == &tb_entry_dgemm_mma_reduce;
    in_parts_with_zeros += entry == &tb_entry_dgemm_mma_reduce && arguments.order.zeros;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    if (CHECK(kernel && shared_bytes <= entry->dynamic_shared_bytes, "%s", entry->symbol)) {
        emulated_run(kernel, blocks, cluster, threads, shared_bytes, &arguments);
        CHECK(!entry->early || emulated_waits() == blocks * threads,
              "%s does not wait for the launch before it", entry->symbol);
    }
    return TB_OK;
}

static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    return run_clusters(launcher, entry, blocks, 1, threads, shared_bytes, argument);
}

static void describe(char *text, size_t bytes, const test *t, int multiprocessors)
{
    const tb_product *p = &t->given;
    snprintf(
        text, bytes,
        "%s, %d multiprocessors, %lld of %lld x %lld x %lld %c%c%c%c%s%s%s, alpha %g, beta %g, %d chains",
        row->name, multiprocessors, (long long)members_of(t), (long long)p->m, (long long)p->n,
        (long long)p->k, p->a.transposed ? 'T' : 'N', p->a.conjugated ? 'C' : ' ',
        p->b.transposed ? 'T' : 'N', p->b.conjugated ? 'C' : ' ', p->mask ? ", masked" : "",
        tb_has_zeros(p) ? ", with zeros" : "", p->terms == 2 ? ", two terms" : "", p->alpha.re, p->beta.re,
        chains_drawn);
}

static void release_product(kind kind, test *t)
{
    release_operands(t);
    if (kind != IS_APART)
        release(&t->before);
}

/* An update of rank 2k. */
static void draw_terms(test *t, check_random *random)
{
#ifdef EMULATED_COMPLEX
    static const tb_routine routines[] = {TB_ZSYR2K, TB_ZHER2K};
    const int64_t step = row->tile_k / 2;
#else
    static const tb_routine routines[] = {TB_DSYR2K};
    const int64_t step = row->tile_k;
#endif
    static const double betas[] = {0, 1, -2};
    static const int64_t sides[] = {1, 2, 33, 64, 65, 130, 200};
    const bool even = check_between(random, 0, 2) > 0;
    *t = (test){0};
    t->given = tb_rank_2k(CHECK_PICK(random, routines), check_between(random, 0, 1) ? TB_LOWER : TB_UPPER,
                          check_between(random, 0, 1), CHECK_PICK(random, sides),
                          step * check_between(random, 1, 128 / step), check_between(random, 0, 1) ? 1 : -3,
                          NULL, 0, NULL, 0, CHECK_PICK(random, betas), NULL, 0);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        store(t, role, 1, even, random);
    prepare_c(t);
}

/* Rows that copy 16 bytes at a time take no others; two terms have to lie alike. */
static bool is_taken(kind kind, const test *t)
{
    return tb_kernel_takes(row, &t->given, TB_A) && tb_kernel_takes(row, &t->given, TB_B) &&
           (kind != IS_OF_TERMS || tb_kernel_joins(row, &t->given));
}

static void draw_until_taken(kind kind, test *t, check_random *random)
{
    for (;;) {
        if (kind == IS_APART)
            draw_apart(t, random);
        else if (kind == IS_OF_TERMS)
            draw_terms(t, random);
        else
            draw(t, random);
        if (is_taken(kind, t))
            return;
        release_product(kind, t);
    }
}

static void one_product(kind kind, char *workspace, check_random *random)
{
    static const int multiprocessors[] = {1, 2, 8, 40, 132, 132, 132};
    static test t;
    draw_until_taken(kind, &t, random);
    chains_drawn = check_between(random, 0, 1) ? (int)check_between(random, 1, CHAINS_MOST) : 0;
    const int count = CHECK_PICK(random, multiprocessors);
    const tb_launcher launcher = {.target = {.architecture = 90,
                                             .multiprocessors = count,
                                             .clusters = count == 132 ? &clusters_h200 : NULL},
                                  .load = find,
                                  .launch = run,
                                  .launch_clusters = run_clusters};
    const tb_schedule schedule = tb_prepare(row, &t.given, launcher.target);
    char what[256];
    describe(what, sizeof what, &t, count);
    in_batches += members_of(&t) > 1;
    joined += kind == IS_OF_TERMS;
    if (CHECK(schedule.workspace <= room, "%s: %zu bytes", what, schedule.workspace)) {
        memset(workspace, (int)check_between(random, 0, 255), schedule.workspace);
        CHECK(row->launch(&launcher, row, &t.given, &schedule, workspace) == TB_OK, "%s", what);
        check_product(&t, what);
    }
    release_product(kind, &t);
}

int main(int count, char **arguments)
{
#if defined EMULATED_COMPLEX && defined EMULATED_FEW
    static const char *const rows[] = {"zgemm_mma_32x32", "zgemm_mma_64x64_3"};
#elif defined EMULATED_FEW
    static const char *const rows[] = {"dgemm_mma_32x32", "dgemm_mma_64x64_2", "dgemm_mma_64x64_4",
                                       "dgemm_mma_128x64_8"};
#elif defined EMULATED_COMPLEX
    static const char *const rows[] = {"zgemm_mma_32x32",   "zgemm_mma_64x32",  "zgemm_mma_64x64",
                                       "zgemm_mma_64x64_3", "zgemm_mma_128x64", "zgemm_mma_128x128"};
#else
    static const char *const rows[] = {"dgemm_mma_32x32",   "dgemm_mma_32x64_2",  "dgemm_mma_64x32",
                                       "dgemm_mma_64x64_2", "dgemm_mma_64x64_3",  "dgemm_mma_64x64_4",
                                       "dgemm_mma_128x64",  "dgemm_mma_128x64_8", "dgemm_mma_128x128"};
#endif
    const int products = count > 1 ? atoi(arguments[1]) : PRODUCTS;
    check_random random = {check_seed()};
    memory workspace = guarded(room);
    for (int i = 0; i < products; i++) {
        emulated_seed(check_next(&random));
        row = tb_find_kernel(rows[(size_t)i % (sizeof rows / sizeof *rows)]);
        one_product(i < APART                 ? IS_APART
                    : i < TERMS && row->joins ? IS_OF_TERMS
                                              : IS_ANY,
                    workspace.start, &random);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        row = tb_find_kernel(rows[i]);
        if (!row->chains_in_c && strcmp(row->name, "dgemm_mma_128x64_8") != 0) {
            chains_drawn = 0; /* two sums, where threads have registers for both */
            short_sums_are_of_chains(row,
                                     &(tb_launcher){.target = {.architecture = 90, .multiprocessors = 1},
                                                    .load = find,
                                                    .launch = run,
                                                    .launch_clusters = run_clusters},
                                     &random);
        }
    }
    release(&workspace);
    printf("%d in clusters, %d of several chains; %d of several chains in C; %d in parts, %d with zeros; %d "
           "batches, %d of two terms\n",
           in_clusters, chains_in_clusters, chains_in_c, in_parts, in_parts_with_zeros, in_batches, joined);
    CHECK(emulated_bank_conflicts() == 0, "%lld reads of shared memory wait for others",
          (long long)emulated_bank_conflicts());
    return check_result();
}
