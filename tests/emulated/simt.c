/* sgemm_simt on the host (block.h), as it is on the chip EMULATED_ARCHITECTURE, by products of few tiles, and by the
 * real launch function: whole tiles, parts of them that a second launch adds up, whose steps follow each other or
 * are taken in turn, and clusters whose blocks have a tile between them. The workspace begins as garbage. And how
 * accurate sums are of numbers that grow along k.
 */
#include "kernels/catalog.h"
#include "kernels/simt/launch_simt.h"
#include "kernels/simt/simt.h"
#include "tests/clusters_h200.h"
#include "tests/emulated/block.h"

typedef float number;
typedef double total;
#define ROUTINE TB_SGEMM
#include "tests/emulated/gemm.h"
#include "tests/emulated/graded.h"

enum { PRODUCTS = 420, APART = 12 };
static const size_t room = (size_t)64 << 20;

static const tb_kernel *row;
static int whole, in_parts, in_turn, in_clusters, with_totals, with_zeros, in_batches;

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
    const tb_simt_arguments *arguments = argument;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    if (CHECK(kernel && shared_bytes <= entry->dynamic_shared_bytes, "%s", entry->symbol)) {
        emulated_run(kernel, blocks, cluster, threads, shared_bytes, arguments);
        CHECK(!entry->early || emulated_waits() == blocks * threads,
              "%s does not wait for the launch before it", entry->symbol);
    }
    if (entry == &tb_entry_simt_reduce)
        return TB_OK;
    whole += arguments->whole > 0;
    in_parts += cluster == 1 && arguments->pieces > 0;
    in_turn += cluster == 1 && arguments->alternating > 1;
    in_clusters += cluster > 1;
    with_totals += arguments->totals;
    with_zeros += arguments->order.zeros != 0;
    return TB_OK;
}

static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    return run_clusters(launcher, entry, blocks, 1, threads, shared_bytes, argument);
}

/* Steps are dealt to pieces of any number: evenly, so that those of a tile have its steps in turn, or not. */
static void deal_otherwise(tb_schedule *schedule, check_random *random)
{
    enum { PIECES_MOST = 60 };
    tb_simt_schedule own = *TB_DEAL(schedule, tb_simt_schedule);
    own.whole = check_between(random, 0, 2) ? 0 : check_between(random, 0, own.tiles - 1);
    const int64_t tiles = own.tiles - own.whole,
                  a_tile = tb_smaller(own.steps, tb_larger(PIECES_MOST / tiles, 1));
    own.pieces = check_between(random, 0, 1) ? tiles * check_between(random, 1, a_tile)
                                             : check_between(random, 1, tiles * a_tile);
    own.cluster = 1;
    TB_SET_DEAL(schedule, tb_simt_schedule, own);
    schedule->workspace = (size_t)(2 * own.pieces * row->tile_m * row->tile_n) * sizeof(number);
}

static void describe(char *text, size_t bytes, const test *t, int multiprocessors)
{
    const tb_product *p = &t->given;
    snprintf(text, bytes, "%s, %d multiprocessors, %lld of %lld x %lld x %lld %c%c%s%s, alpha %g, beta %g",
             row->name, multiprocessors, (long long)members_of(t), (long long)p->m, (long long)p->n,
             (long long)p->k, p->a.transposed ? 'T' : 'N', p->b.transposed ? 'T' : 'N',
             p->mask ? ", masked" : "", tb_has_zeros(p) ? ", with zeros" : "", p->alpha.re, p->beta.re);
}

static tb_launcher launcher_of(int multiprocessors)
{
    const bool clusters = EMULATED_ARCHITECTURE >= 90 && multiprocessors == 132;
    return (tb_launcher){.target = {.architecture = EMULATED_ARCHITECTURE,
                                    .multiprocessors = multiprocessors,
                                    .clusters = clusters ? &clusters_h200 : NULL},
                         .load = find,
                         .launch = run,
                         .launch_clusters = run_clusters};
}

static void multiply(const test *t, const tb_launcher *launcher, const tb_schedule *schedule, char *workspace,
                     check_random *random)
{
    char what[256];
    describe(what, sizeof what, t, launcher->target.multiprocessors);
    if (!CHECK(schedule->workspace <= room, "%s: %zu bytes", what, schedule->workspace))
        return;
    memset(workspace, (int)check_between(random, 0, 255), schedule->workspace);
    CHECK(row->launch(launcher, row, &t->given, schedule, workspace) == TB_OK, "%s", what);
}

static void one_product(bool is_apart, char *workspace, check_random *random)
{
    static const int multiprocessors[] = {1, 2, 8, 40, 132, 132, 132};
    static test t;
    if (is_apart)
        draw_apart(&t, random);
    else
        draw(&t, random);
    const tb_launcher launcher = launcher_of(CHECK_PICK(random, multiprocessors));
    tb_schedule schedule = tb_prepare(row, &t.given, launcher.target);
    const tb_simt_schedule *own = TB_DEAL(&schedule, tb_simt_schedule);
    const bool leaves_out = tb_simt_order_of(row, own, &t.given, launcher.target).zeros != 0;
    if (own->tiles > 0 && own->pieces == 0 && !leaves_out && check_between(random, 0, 2) > 0)
        deal_otherwise(&schedule, random);
    in_batches += members_of(&t) > 1;
    multiply(&t, &launcher, &schedule, workspace, random);
    char what[256];
    describe(what, sizeof what, &t, launcher.target.multiprocessors);
    check_product(&t, what);
    release_operands(&t);
    if (!is_apart)
        release(&t.before);
}

/* Numbers that grow along k are added up as k grows, so that errors are no larger than a loop's; and where a tile is
 * cut evenly, by all of its pieces alike, so that they are smaller. */
static void sums_of_graded_numbers_are_accurate(bool cut, char *workspace, check_random *random)
{
    enum { SIDE = 64, K = 1024, K_CUT = 4096 };
    const int multiprocessors = cut ? 132 : 1;
    const double most = cut ? 0.42 : 1;
    for (int i = 0; i < 2; i++) {
        static test t;
        t = (test){.given = tb_gemm(ROUTINE, i > 0, check_between(random, 0, 1), SIDE, SIDE, cut ? K_CUT : K,
                                    1, NULL, 0, NULL, 0, 0, NULL, 0)};
        for (tb_role role = TB_A; role < TB_ROLES; role++)
            store(&t, role, 1, check_between(random, 0, 1), random);
        fill_graded(&t, random);
        const tb_launcher launcher = launcher_of(multiprocessors);
        const tb_schedule schedule = tb_prepare(row, &t.given, launcher.target);
        multiply(&t, &launcher, &schedule, workspace, random);
        const double error = relative_error(&t);
        char what[256];
        describe(what, sizeof what, &t, multiprocessors);
        CHECK(error <= most, "%s: rms error %.2f times a loop's", what, error);
        release_operands(&t);
    }
}

int main(int count, char **arguments)
{
#ifdef EMULATED_FEW
    static const char *const rows[] = {"sgemm_simt_64x64_2", "sgemm_simt_64x64"};
#else
    static const char *const rows[] = {"sgemm_simt_32x32_4", "sgemm_simt_64x64_2", "sgemm_simt_64x64"};
#endif
    const int products = count > 1 ? atoi(arguments[1]) : PRODUCTS;
    check_random random = {check_seed()};
    memory workspace = guarded(room);
    for (int i = 0; i < products; i++) {
        emulated_seed(check_next(&random));
        row = tb_find_kernel(rows[(size_t)i % (sizeof rows / sizeof *rows)]);
        one_product(i < APART, workspace.start, &random);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        row = tb_find_kernel(rows[i]);
        sums_of_graded_numbers_are_accurate(false, workspace.start, &random);
        sums_of_graded_numbers_are_accurate(true, workspace.start, &random);
    }
    release(&workspace);
    printf("%d with whole tiles, %d in parts, %d of these in turn, %d in clusters; %d with totals, %d with "
           "zeros; %d batches\n",
           whole, in_parts, in_turn, in_clusters, with_totals, with_zeros, in_batches);
    const bool has_all = EMULATED_ARCHITECTURE < 90 || (in_clusters > 0 && with_totals > 0 && with_zeros > 0);
    CHECK(products < PRODUCTS || (has_all && in_parts > in_turn && in_turn > 0 && whole > 0),
          "something is not tried");
    return check_result();
}
