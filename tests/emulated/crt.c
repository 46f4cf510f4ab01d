/* dgemm_crt on the host (block.h): its launches as they are on a device, in all their passes, by products of few tiles.
 *
 * - Integers times a power of two for each row of op(A) and column of op(B): C is the exact sum, rounded once, bit for bit.
 * - Numbers with all bits: errors below what docs/precision.md promises.
 * - One number of an operand that is infinite, NaN, or so large or small that integers do not serve, wherever it lies: it is
 * found, and
 *   C is what a loop of multiply-adds makes of it.
 *
 * Operands end where memory that may not be read begins, and between their columns is NaN. The workspace begins as garbage,
 * and ends likewise. Some launches have the A of the one before.
 */
#include "kernels/catalog.h"
#include "kernels/crt/schedule_crt.h"
#include "tests/emulated/block.h"
#include "tests/emulated/crt_operands.h"

#include <float.h>
#include <string.h>

#define TEXT_OF(symbol) #symbol
#define TEXT(symbol)    TEXT_OF(symbol)

enum { SEQUENCES = 20, IN_SEQUENCE = 4 };

/* ---- Products ------------------------------------------------------------------------------------------------ */

typedef struct test {
    lines *a, *b;
    bool embedded, same;
    tb_product given;
    memory c, before;
} test;

/* The index of the number in op(A)'s row and step of k; complex ones may be embedded. */
static int64_t index_in_a(const test *t, int64_t row, int64_t l, int *sign)
{
    *sign = 1;
    if (!t->embedded)
        return row * t->a->k + l;
    const bool lower = row % 2, second = l % 2;
    *sign = !lower && second ? -1 : 1;
    return row / 2 * t->a->k + l - second + (lower != second);
}

/* Errors before the last rounding, in u d: the rms is at most 0.10 (docs/precision.md). */
#define OF_INTEGERS 0.6
/* Roundings of what alpha multiplies: of the sum, of alpha's product, of adding C, and of what is expected. */
#define ROUNDINGS 4

static double expected(const test *t, int64_t i, int64_t j, bool by_integers, double *bound)
{
    const lines *a = t->a, *b = t->b;
    const bool exact = by_integers && a->family->kind == INTEGERS && b->family->kind == INTEGERS;
    __int128 sum = 0;
    long double real = 0, magnitudes = 0;
    for (int64_t l = 0; l < t->given.k; l++) {
        int sign;
        const int64_t in_a = index_in_a(t, i, l, &sign), in_b = j * b->k + l;
        sum += (__int128)sign * a->integers[in_a] * b->integers[in_b];
        const long double product = (long double)sign * a->values[in_a] * b->values[in_b];
        real += product;
        magnitudes += fabsl(product);
    }
    const int64_t row = t->embedded ? i / 2 : i;
    if (exact)
        real = ldexp((double)sum, a->exponents[row] + b->exponents[j]);
    const double product = t->given.alpha.re * (double)real, beta = t->given.beta.re;
    const double old = ((double *)t->before.start)[i + j * t->given.c.ld];
    const double terms = exact         ? 0
                         : by_integers ? OF_INTEGERS
                                       : (double)t->given.k,
                 added = beta == 0 ? 0 : beta * old;
    *bound = 0;
    if (!exact)
        *bound = fabs(t->given.alpha.re) * 0x1p-53 * (double)(terms * magnitudes + ROUNDINGS * fabsl(real)) +
                 0x1p-52 * fabs(added) + DBL_TRUE_MIN;
    if (!exact)
        return (double)(t->given.alpha.re * real + (beta == 0 ? 0 : (long double)beta * old));
    return beta == 0 ? product : fma(beta, old, product);
}

static void check_product(const test *t, bool by_integers, const char *what)
{
    int bad = 0;
    for (int64_t j = 0; j < t->given.n && bad < 3; j++)
        for (int64_t i = 0; i < t->given.c.ld && bad < 3; i++) {
            const double *c = (double *)t->c.start + i + j * t->given.c.ld;
            if (j == t->given.n - 1 && i >= t->given.m)
                break;
            const int64_t below = (t->embedded ? i / 2 : i) - j;
            const bool is_in_c =
                i < t->given.m &&
                (t->given.mask == TB_FULL ||
                 (t->given.mask == TB_LOWER ? below >= t->given.diagonal : below <= t->given.diagonal));
            double bound = 0;
            const double wanted = is_in_c ? expected(t, i, j, by_integers, &bound) : 0;
            const bool holds =
                !is_in_c        ? memcmp(c, (double *)t->before.start + i + j * t->given.c.ld, sizeof *c) == 0
                : isnan(wanted) ? isnan(*c)
                : isinf(wanted) ? *c == wanted
                                : fabs(*c - wanted) <= bound;
            bad += !CHECK(holds, "%s: C(%lld, %lld) is %a, not %a, by %g of %g", what, (long long)i,
                          (long long)j, *c, wanted, *c - wanted, bound);
        }
}

static int64_t draw_side(check_random *random)
{
    static const int64_t sides[] = {1, 2, 31, 64, 65, 127, 128, 129, 260};
    return CHECK_PICK(random, sides);
}

static void draw_c(test *t, check_random *random)
{
    static const double alphas[] = {1, 1, -1, -0.75}, betas[] = {0, 0, 1, -0.5};
    const int64_t m = t->given.m, n = t->given.n, ld = m + check_between(random, 0, 2);
    const size_t bytes = (size_t)(ld * (n - 1) + m) * sizeof(double);
    t->given.alpha.re = CHECK_PICK(random, alphas);
    const bool exact = t->a->family->kind == INTEGERS && t->b->family->kind == INTEGERS;
    t->given.beta.re = exact ? CHECK_PICK(random, betas) : 0;
    t->c = guarded(bytes);
    t->before = guarded(bytes);
    for (int64_t j = 0; j < n && t->given.beta.re != 0; j++)
        for (int64_t i = 0; i < m; i++)
            ((double *)t->before.start)[i + j * ld] = uniform(random);
    memcpy(t->c.start, t->before.start, bytes);
    t->given.c.data = t->c.start;
    t->given.c.ld = ld;
    if (check_between(random, 0, 3) == 0) {
        t->given.mask = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
        t->given.mask_pairs = t->embedded;
        t->given.diagonal = check_between(random, -n, m);
    }
}

/* ---- Launches ------------------------------------------------------------------------------------------------ */

static tb_status find(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher;
    CHECK(emulated_find(entry->symbol), "there is no %s", entry->symbol);
    return TB_OK;
}

static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    (void)launcher;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    CHECK(shared_bytes <= entry->dynamic_shared_bytes, "%s: %d bytes of shared memory", entry->symbol,
          shared_bytes);
    if (CHECK(kernel, "there is no %s", entry->symbol)) {
        emulated_run(kernel, blocks, 1, threads, shared_bytes, argument);
        CHECK(!entry->early || emulated_waits() == blocks * threads,
              "%s does not wait for the launch before it", entry->symbol);
    }
    return TB_OK;
}

static const tb_kernel *row;
static tb_target target;

/* What a rectangle has of C is drawn, too; and how many moduli there may be. */
static tb_schedule prepare(const test *t, check_random *random)
{
    tb_schedule schedule = tb_prepare(row, &t->given, target);
    tb_crt_deal deal = *TB_DEAL(&schedule, tb_crt_deal);
    const int64_t side = TB_CRT_SIDE * tb_crt_parts_of(&t->given);
    if (check_between(random, 0, 2) == 0 && deal.rows > side)
        deal.rows = side;
    if (check_between(random, 0, 2) == 0 && deal.columns > side)
        deal.columns = side;
    if (check_between(random, 0, 2) == 0)
        deal.moduli_most = (int32_t)check_between(random, 2, TB_CRT_MODULI);
    TB_SET_DEAL(&schedule, tb_crt_deal, deal);
    return schedule;
}

/* Whether integers take it, where that is certain: few terms, of which zeros leave fewer, leave little that may be rounded;
 * and of one term magnitudes do not differ. */
static void check_decision(const test *t, int32_t moduli, int32_t most, const char *what)
{
    const family *a = t->a->family, *b = t->b->family;
    const bool beyond = is_beyond(a) || is_beyond(b), strange = a->kind == STRANGE || b->kind == STRANGE,
               long_enough = t->given.k >= 130, plain = !a->zeros && !b->zeros && a->bits > 1 && b->bits > 1;
    if (beyond || (strange && long_enough && !a->zeros && !b->zeros))
        CHECK(moduli == 0, "%s: %d moduli", what, moduli);
    if (!strange && most == TB_CRT_MODULI && a->kind == b->kind && plain &&
        (a->kind == INTEGERS || long_enough))
        CHECK(moduli > 0, "%s: %d moduli", what, moduli);
}

static void launch(const test *t, char *workspace, size_t room, bool same_a, check_random *random)
{
    const tb_launcher launcher = {.target = target, .same_a = same_a, .load = find, .launch = run};
    const tb_schedule schedule = prepare(t, random);
    char what[256];
    snprintf(what, sizeof what, "%s x %s%s%s%s, %lld x %lld x %lld, %s%s", t->a->family->name,
             t->b->family->name, t->embedded ? ", pairs" : "", t->same ? ", one operand" : "",
             t->given.mask ? ", masked" : "", (long long)t->given.m, (long long)t->given.n,
             (long long)t->given.k, same_a ? "the same A" : "",
             TB_DEAL(&schedule, tb_crt_deal)->survey_k > 256 ? ", long" : "");
    if (!CHECK(schedule.workspace <= room, "%s: %zu bytes", what, schedule.workspace))
        return;
    CHECK(row->launch(&launcher, row, &t->given, &schedule, workspace) == TB_OK, "%s", what);
    const int32_t moduli = ((const tb_crt_decision *)workspace)->moduli;
    check_decision(t, moduli, TB_DEAL(&schedule, tb_crt_deal)->moduli_most, what);
    check_product(t, moduli > 0, what);
}

/* ---- Sequences ------------------------------------------------------------------------------------------------ */

static test draw_test(lines *a, lines *b, bool embedded, check_random *random)
{
    test t = {.a = a, .b = b, .embedded = embedded};
    const int64_t m = embedded ? 2 * a->count : a->count;
    t.given = tb_gemm(TB_DGEMM, a->along_k, !b->along_k, m, b->count, a->k, 1, a->memory.start, a->ld,
                      b->memory.start, b->ld, 0, NULL, m);
    t.given.expanded[TB_A].embedded = embedded;
    draw_c(&t, random);
    return t;
}

/* Draws among the families that integers serve, or so many times of 100 another one; fewer than 0: among those that take few
 * moduli or some more. */
static const family *draw_family(int strange, check_random *random)
{
    enum { FEW = 3, SERVED = 9 };
    if (strange < 0)
        return &families[check_between(random, 0, FEW - 1)];
    return &families[check_between(random, 0, 99) < strange ? check_between(random, SERVED, FAMILIES - 1)
                                                            : check_between(random, 0, SERVED - 1)];
}

/* Bytes that a workspace begins as. Those of 0x42 make floats, and so bits, of 48, and quanta of 2^30 and more. */
static int garbage(check_random *random)
{
    static const int often[] = {0, 0x42, 0x42, 0xff};
    return check_between(random, 0, 1) ? CHECK_PICK(random, often) : (int)check_between(random, 0, 255);
}

/* One A, and B of several. Sometimes the last B is A, turned. */
static void one_sequence(size_t room, char *workspace, check_random *random)
{
    static const int64_t ks[] = {1, 2, 15, 63, 64, 65, 130, 257, 300};
    const bool embedded = check_between(random, 0, 2) == 0, along_k = check_between(random, 0, 3) > 0;
    const bool few = check_between(random, 0, 2) == 0; /* A's planes come and go */
    const int64_t k = CHECK_PICK(random, ks);
    lines a = draw_lines(draw_family(few ? -1 : 10, random), few ? 3 : draw_side(random),
                         embedded ? k + k % 2 : k, random);
    store_lines(&a, embedded, !embedded && along_k, random);
    memset(workspace, garbage(random), room);
    const int count = few ? 2 * IN_SEQUENCE : (int)check_between(random, 1, IN_SEQUENCE);
    for (int i = 0; i < count; i++) {
        const bool same = !embedded && i == count - 1 && check_between(random, 0, 1);
        lines b = same ? a
                       : draw_lines(draw_family(few      ? -1
                                                : i == 0 ? 60
                                                         : 20,
                                                random),
                                    few ? 5 : draw_side(random), a.k, random);
        if (!same)
            store_lines(&b, false, embedded ? along_k : check_between(random, 0, 1) > 0, random);
        test t = draw_test(&a, &b, embedded, random);
        t.same = same;
        launch(&t, workspace, room, i > 0, random);
        release(&t.c);
        release(&t.before);
        if (!same)
            free_lines(&b);
    }
    free_lines(&a);
}

int main(int count, char **arguments)
{
    const int sequences = count > 1 ? atoi(arguments[1]) : SEQUENCES;
    check_random random = {check_seed()};
    const size_t room = (size_t)64 << 20;
    row = tb_find_kernel(TEXT(EMULATED_ROW));
    memory workspace = guarded(room);
    for (int i = 0; i < sequences; i++) {
        target = (tb_target){.architecture = EMULATED_ARCHITECTURE,
                             .multiprocessors = (int)check_between(&random, 1, 4)};
        emulated_seed(check_next(&random));
        one_sequence(room, workspace.start, &random);
    }
    release(&workspace);
    return check_result();
}
