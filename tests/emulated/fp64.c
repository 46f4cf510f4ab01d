/* dgemm_mma on the host (block.h), as it is on 9.0, by products of few tiles, and by the real launch function: whole tiles, parts of them that
 * a second launch adds up, and clusters whose blocks have a tile between them; batches, masks and zeros; chains of any number. Numbers are
 * integers, so that C is exact whatever the order of summation. Operands end where memory that may not be read begins, between columns is
 * NaN, and the workspace begins as garbage. No read of a fragment waits for banks of shared memory.
 */
#include "kernels/catalog.h"
#include "kernels/fp64/dgemm_mma.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/mask.h"
#include "tests/check.h"
#include "tests/clusters_h200.h"
#include "tests/emulated/block.h"
#include "tests/emulated/guarded.h"
#include "words/batch.h"
#include "words/integers.h"

enum { PRODUCTS = 360, APART = 24, MEMBERS = 3, CHAINS_MOST = 5 };
enum { LARGEST = 9, VOLUME_MOST = 20000000, K_OF_LARGE = 120 };
static const size_t room = (size_t)64 << 20;

static int in_clusters, chains_in_clusters, chains_in_c, in_parts, in_parts_with_zeros, in_batches;

/* ---- Products ------------------------------------------------------------------------------------------------ */

/* The matrices of one operand, of rows or columns of both sorts: an odd address, or leading dimension, or distance between
 * matrices, is copied 8 bytes at a time. */
typedef struct stored {
    int64_t stride;
    memory memory;
} stored;

typedef struct test {
    stored operands[TB_ROLES];
    memory before; /* C's */
    void *members[TB_ROLES][MEMBERS];
    tb_product given;
    int64_t apart; /* by which columns are further apart than in other tests; 0: this is one of those */
} test;

static double *matrix(const test *t, tb_role role, int64_t member)
{
    return (double *)tb_member_at(&t->given.operands[role], member);
}

/* Of C, before the product. */
static const double *matrix_before(const test *t, int64_t member)
{
    const char *now = (const char *)matrix(t, TB_C, member);
    return (const double *)(const void *)(t->before.start + (now - t->operands[TB_C].memory.start));
}

/* Gives an operand its matrices, in an order that is no stride's or in one that is. */
static void store(test *t, tb_role role, int64_t members, bool even, check_random *random)
{
    tb_operand *x = &t->given.operands[role];
    stored *own = &t->operands[role];
    x->ld = tb_larger(x->rows, 1) + check_between(random, 0, 2);
    x->ld += t->apart + (even ? x->ld % 2 : 0);
    own->stride = x->ld * x->columns + (even ? 0 : check_between(random, 0, 1));
    const int64_t of_last = x->rows > 0 && x->columns > 0 ? x->ld * (x->columns - 1) + x->rows : 0;
    const int64_t numbers = own->stride * (members - 1) + of_last;
    const size_t bytes = (size_t)(numbers + (even ? numbers % 2 : 0)) * sizeof(double);
    own->memory = t->apart > 0 ? untouched(bytes) : guarded(bytes);
    for (int64_t i = 0; i < members; i++)
        t->members[role][i] =
            own->memory.start + (i < 2 && members > 2 ? 1 - i : i) * own->stride * (int64_t)sizeof(double);
    x->data = t->members[role][0];
    if (members > 1)
        tb_spread(x, members, own->stride, members > 2 ? t->members[role] : NULL);
    for (int64_t member = 0; member < members; member++)
        for (int64_t column = 0; column < x->columns; column++)
            for (int64_t row = 0; row < x->rows; row++)
                matrix(t, role, member)[row + column * x->ld] =
                    (double)check_between(random, -LARGEST, LARGEST);
}

static int64_t members_of(const test *t)
{
    return tb_members_of(&t->given);
}

static bool is_written(const tb_product *product, int64_t row, int64_t column)
{
    return tb_mask_has((int32_t)product->mask, product->mask_pairs ? 2 : 1, product->diagonal, row, column);
}

static void draw_extents(tb_product *product, int64_t members, check_random *random)
{
    static const int64_t sides[] = {1, 2, 7, 31, 32, 33, 63, 64, 64, 65, 100, 128, 128, 130, 192},
                         ks[] = {0,  1,  2,   7,   9,   16,   17,   31,   32,   33,
                                 64, 77, 100, 256, 511, 1000, 2000, 4100, 8200, 15000};
    product->m = CHECK_PICK(random, sides);
    product->n = CHECK_PICK(random, sides);
    product->k = CHECK_PICK(random, ks);
    if (tb_round_up(product->m, 32) * tb_round_up(product->n, 32) * product->k * members > VOLUME_MOST)
        product->k = K_OF_LARGE;
}

/* Of some products a triangle of C is wanted alone; of some, but of no batch, an operand is a triangle. */
static void draw_triangles(tb_product *product, int64_t members, check_random *random)
{
    static const int64_t sides[] = {2, 33, 64, 130, 192, 300, 420};
    const tb_triangle triangle = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
    const int64_t side = CHECK_PICK(random, sides);
    switch (check_between(random, 0, members > 1 ? 4 : 7)) {
    case 0:
    case 1:
        product->mask = triangle;
        product->mask_pairs = product->m % 2 == 0 && check_between(random, 0, 3) == 0;
        product->diagonal = check_between(random, -product->n, product->m);
        break;
    case 5:
        product->a_nonzero = triangle;
        product->m = product->k = side;
        product->n = tb_smaller(product->n, 65);
        break;
    case 6:
        product->b_nonzero = triangle;
        product->n = product->k = side;
        product->m = tb_smaller(product->m, 65);
        break;
    default:
        break;
    }
}

static void clear_beyond(const tb_operand *x, double *matrix, tb_triangle triangle)
{
    for (int64_t column = 0; column < x->columns && triangle != TB_FULL; column++)
        for (int64_t row = 0; row < x->rows; row++) {
            const int64_t below = x->transposed ? column - row : row - column;
            if (triangle == TB_LOWER ? below < 0 : below > 0)
                matrix[row + column * x->ld] = 0;
        }
}

/* What is written, and not read, is NaN before. */
static void prepare_c(test *t)
{
    const tb_product *p = &t->given;
    const memory *c = &t->operands[TB_C].memory;
    const size_t bytes = (size_t)(guard_of(c) - c->start);
    t->before = guarded(bytes);
    memcpy(t->before.start, c->start, bytes);
    for (int64_t i = 0; i < p->m * p->n * members_of(t) && p->beta.re == 0; i++) {
        const int64_t row = i % p->m, column = i / p->m % p->n;
        if (is_written(p, row, column))
            memset(&matrix(t, TB_C, i / (p->m * p->n))[row + column * p->c.ld], 0xff, sizeof(double));
    }
}

/* No int has the distance of a tile's last column from its first one, or of a panel's, in elements. */
static void draw_apart(test *t, check_random *random)
{
    enum { M = 130, N = 66, K = 33 };
    const bool even = check_between(random, 0, 1);
    *t = (test){.apart = INT64_C(1) << 29};
    t->given = tb_gemm(TB_DGEMM, check_between(random, 0, 1), check_between(random, 0, 1), M, N, K, 1, NULL,
                       0, NULL, 0, 0, NULL, 0);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        store(t, role, 1, even, random);
}

static void draw(test *t, check_random *random)
{
    static const double alphas[] = {1, 1, -3}, betas[] = {0, 0, 1, -2};
    *t = (test){0};
    const bool even = check_between(random, 0, 2) > 0;
    const int64_t members = check_between(random, 0, 4) == 0 ? check_between(random, 2, MEMBERS) : 1;
    tb_product drawn = {0};
    draw_extents(&drawn, members, random);
    draw_triangles(&drawn, members, random);
    t->given =
        tb_gemm(TB_DGEMM, check_between(random, 0, 1), check_between(random, 0, 1), drawn.m, drawn.n, drawn.k,
                CHECK_PICK(random, alphas), NULL, 0, NULL, 0, CHECK_PICK(random, betas), NULL, 0);
    t->given.mask = drawn.mask;
    t->given.mask_pairs = drawn.mask_pairs;
    t->given.diagonal = drawn.diagonal;
    t->given.a_nonzero = drawn.a_nonzero;
    t->given.b_nonzero = drawn.b_nonzero;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        store(t, role, members, even, random);
    for (int64_t member = 0; member < members; member++) {
        clear_beyond(&t->given.a, matrix(t, TB_A, member), t->given.a_nonzero);
        clear_beyond(&t->given.b, matrix(t, TB_B, member), t->given.b_nonzero);
    }
    prepare_c(t);
}

static double expected(const test *t, int64_t member, int64_t row, int64_t column)
{
    const tb_product *p = &t->given;
    const bool written = is_written(p, row, column);
    const double old = written && p->beta.re == 0 ? 0 : matrix_before(t, member)[row + column * p->c.ld];
    if (!written)
        return old;
    const double *a = matrix(t, TB_A, member) + row * (p->a.transposed ? p->a.ld : 1),
                 *b = matrix(t, TB_B, member) + column * (p->b.transposed ? 1 : p->b.ld);
    const int64_t step_a = p->a.transposed ? 1 : p->a.ld, step_b = p->b.transposed ? p->b.ld : 1;
    double sum = 0;
    for (int64_t l = 0; l < p->k; l++)
        sum += a[l * step_a] * b[l * step_b];
    return p->alpha.re * sum + p->beta.re * old;
}

/* What lies between columns and matrices is still NaN; so what C has is made NaN here. */
static void check_product(const test *t, const char *what)
{
    const tb_product *p = &t->given;
    int bad = 0;
    for (int64_t i = 0; i < p->m * p->n * members_of(t); i++) {
        const int64_t row = i % p->m, column = i / p->m % p->n, member = i / (p->m * p->n);
        double *found = &matrix(t, TB_C, member)[row + column * p->c.ld];
        const double wanted = expected(t, member, row, column);
        if (bad < 3)
            bad += !CHECK(*found == wanted, "%s: C(%lld, %lld) of %lld is %g, not %g", what, (long long)row,
                          (long long)column, (long long)member, *found, wanted);
        memset(found, 0xff, sizeof *found);
    }
    const memory *c = &t->operands[TB_C].memory;
    for (const char *byte = c->pages; byte < guard_of(c) && t->apart == 0; byte++)
        if (*byte != (char)0xff) {
            CHECK(false, "%s: written %lld bytes behind the beginning of C", what,
                  (long long)(byte - c->start));
            break;
        }
}

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
    if (row->chains_in_c && (arguments->cluster > 1 || arguments->problem.beta != 0))
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
    if (CHECK(kernel && shared_bytes <= entry->dynamic_shared_bytes, "%s", entry->symbol))
        emulated_run(kernel, blocks, cluster, threads, shared_bytes, &arguments);
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
    snprintf(text, bytes,
             "%s, %d multiprocessors, %lld of %lld x %lld x %lld %c%c%s%s, alpha %g, beta %g, %d chains",
             row->name, multiprocessors, (long long)members_of(t), (long long)p->m, (long long)p->n,
             (long long)p->k, p->a.transposed ? 'T' : 'N', p->b.transposed ? 'T' : 'N',
             p->mask ? ", masked" : "", tb_has_zeros(p) ? ", with zeros" : "", p->alpha.re, p->beta.re,
             chains_drawn);
}

static void one_product(bool is_apart, char *workspace, check_random *random)
{
    static const int multiprocessors[] = {1, 2, 8, 40, 132, 132, 132};
    static test t;
    if (is_apart)
        draw_apart(&t, random);
    else
        draw(&t, random);
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
    if (CHECK(schedule.workspace <= room, "%s: %zu bytes", what, schedule.workspace)) {
        memset(workspace, (int)check_between(random, 0, 255), schedule.workspace);
        CHECK(row->launch(&launcher, row, &t.given, &schedule, workspace) == TB_OK, "%s", what);
        check_product(&t, what);
    }
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        release(&t.operands[role].memory);
    if (!is_apart)
        release(&t.before);
}

int main(int count, char **arguments)
{
    static const char *const rows[] = {"dgemm_mma_32x32",    "dgemm_mma_32x64_2", "dgemm_mma_64x32",
                                       "dgemm_mma_64x64_2",  "dgemm_mma_64x64_3", "dgemm_mma_128x64",
                                       "dgemm_mma_128x64_8", "dgemm_mma_128x128"};
    const int products = count > 1 ? atoi(arguments[1]) : PRODUCTS;
    check_random random = {check_seed()};
    memory workspace = guarded(room);
    for (int i = 0; i < products; i++) {
        emulated_seed(check_next(&random));
        row = tb_find_kernel(rows[(size_t)i % (sizeof rows / sizeof *rows)]);
        one_product(i < APART, workspace.start, &random);
    }
    release(&workspace);
    printf("%d in clusters, %d of several chains; %d of several chains in C; %d in parts, %d with zeros; %d "
           "batches\n",
           in_clusters, chains_in_clusters, chains_in_c, in_parts, in_parts_with_zeros, in_batches);
    CHECK(emulated_bank_conflicts() == 0, "%lld reads of shared memory wait for others",
          (long long)emulated_bank_conflicts());
    return check_result();
}
