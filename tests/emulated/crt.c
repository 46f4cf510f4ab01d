/* dgemm_crt on the host (block.h): its launches as they are on a device, in all their passes, by products of few tiles.
 *
 * - Integers times a power of two for each row of op(A) and column of op(B): C is the exact sum, rounded once, bit for bit.
 * - Numbers with all bits: errors below what docs/precision.md promises.
 * - One number of an operand that is infinite, NaN, or so large or small that integers do not serve, wherever it lies: it is found, and
 *   C is what a loop of multiply-adds makes of it.
 *
 * Operands end where memory that may not be read begins, and between their columns is NaN. The workspace begins as garbage, and ends likewise. Some
 * launches have the A of the one before.
 */
#include "kernels/catalog.h"
#include "kernels/crt/schedule_crt.h"
#include "tests/check.h"
#include "tests/emulated/block.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

enum { SEQUENCES = 40, IN_SEQUENCE = 4, PAGE = 4096 };

/* ---- Memory ------------------------------------------------------------------------------------------------- */

typedef struct memory {
    char *pages, *start;
    size_t bytes;
} memory;

/* So many bytes before a page that may not be touched, all of them 0xff: NaN. */
static memory guarded(size_t bytes)
{
    const size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
    memory memory = {.bytes = pages + PAGE};
    memory.pages = mmap(NULL, memory.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory.pages == MAP_FAILED)
        abort();
    memset(memory.pages, 0xff, pages);
    mprotect(memory.pages + pages, PAGE, PROT_NONE);
    memory.start = memory.pages + pages - bytes;
    return memory;
}

static void release(memory *memory)
{
    munmap(memory->pages, memory->bytes);
}

/* ---- Lines: rows of op(A), or columns of op(B) --------------------------------------------------------------- */

typedef enum kind { INTEGERS, REALS, STRANGE } kind;

typedef struct family {
    const char *name;
    kind kind;
    int bits;
    int exponents;  /* of lines, up and down */
    int zeros;      /* of 100 numbers */
    double strange; /* one number; and what the others are multiplied by, see spread */
    double spread;  /* reals are (u - 1/2) exp(spread (u - 1/2)) */
} family;

static const family families[] = {
    {"signs", INTEGERS, 1, 0, 0, 0, 0},
    {"24 bits", INTEGERS, 24, 100, 0, 0, 0},
    {"40 bits", INTEGERS, 40, 400, 0, 0, 0},
    {"sparse", INTEGERS, 45, 300, 90, 0, 0},
    {"nothing but zeros", INTEGERS, 8, 0, 100, 0, 0},
    {"reals", REALS, 53, 300, 0, 0, 1},
    {"reals and zeros", REALS, 0, 0, 10, 0, 1},
    {"spread", STRANGE, 0, 0, 0, 0, 150},
    {"infinite", STRANGE, 0, 0, 0, INFINITY, 1},
    {"NaN", STRANGE, 0, 0, 0, NAN, 1},
    {"subnormal", STRANGE, 0, 0, 0, 0x1p-1074, 1},
    {"large", STRANGE, 0, 0, 0, 0x1p500, 1},
    {"large by far", STRANGE, 0, 0, 0, 0x1p60, 1},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* What no integers are made of, whatever is beside it. */
static bool is_beyond(const family *family)
{
    return family->strange != 0 && !(fabs(family->strange) > 0x1p-400 && fabs(family->strange) < 0x1p400);
}

typedef struct lines {
    const family *family;
    int64_t count, k; /* numbers, or parts of complex ones */
    int64_t *integers;
    int *exponents;
    double *values;
    memory memory;
    int64_t ld;
    bool along_k;
} lines;

static double uniform(check_random *random)
{
    return (double)(check_next(random) >> 11) * 0x1p-53;
}

static void draw_line(lines *x, int64_t line, check_random *random)
{
    const family *family = x->family;
    x->exponents[line] =
        family->exponents ? (int)check_between(random, -family->exponents, family->exponents) : 0;
    for (int64_t l = 0; l < x->k; l++) {
        const int64_t at = line * x->k + l;
        const bool zero = check_between(random, 0, 99) < family->zeros;
        const int64_t most = (INT64_C(1) << family->bits) - 1;
        x->integers[at] = zero || family->kind != INTEGERS ? 0 : check_between(random, -most, most);
        const double half = uniform(random) - 0.5,
                     real = zero ? 0 : half * exp(family->spread * (uniform(random) - 0.5));
        x->values[at] = ldexp(family->kind == INTEGERS ? (double)x->integers[at] : real, x->exponents[line]);
    }
}

static lines draw_lines(const family *family, int64_t count, int64_t k, check_random *random)
{
    lines x = {.family = family, .count = count, .k = k};
    x.integers = malloc((size_t)(count * k) * sizeof *x.integers);
    x.values = malloc((size_t)(count * k) * sizeof *x.values);
    x.exponents = malloc((size_t)count * sizeof *x.exponents);
    for (int64_t line = 0; line < count; line++)
        draw_line(&x, line, random);
    if (family->kind == STRANGE && family->strange != 0)
        x.values[check_between(random, 0, count * k - 1)] = family->strange;
    return x;
}

static void free_lines(lines *x)
{
    free(x->integers);
    free(x->values);
    free(x->exponents);
    release(&x->memory);
}

/* Where a number lies in memory: of A's row `row` of those stored, which are twice as many where complex numbers are embedded. */
static void store_lines(lines *x, bool is_embedded, bool along_k, check_random *random)
{
    const int64_t rows = is_embedded ? 2 * x->count : x->count;
    x->along_k = along_k;
    const int64_t length = x->along_k ? x->k : rows, columns = x->along_k ? rows : x->k;
    x->ld = length + check_between(random, 0, 2);
    x->memory = guarded((size_t)(x->ld * (columns - 1) + length) * sizeof(double));
    double *to = (double *)x->memory.start;
    for (int64_t line = 0; line < x->count; line++)
        for (int64_t l = 0; l < x->k; l++) {
            const double value = x->values[line * x->k + l];
            if (!is_embedded)
                to[x->along_k ? l + line * x->ld : line + l * x->ld] = value;
            else { /* a real part, or an imaginary one: re, -im; im, re */
                const bool is_imaginary = l % 2;
                to[2 * line + is_imaginary + (l - is_imaginary) * x->ld] = value;
                to[2 * line + !is_imaginary + (l - is_imaginary + 1) * x->ld] = is_imaginary ? -value : value;
            }
        }
}

/* ---- Products ------------------------------------------------------------------------------------------------ */

typedef struct test {
    lines *a, *b;
    bool embedded, same;
    tb_product given;
    memory c, before;
} test;

/* Of op(A)'s row and step of k, with the numbers that complex ones are embedded as. */
static int64_t index_in_a(const test *t, int64_t row, int64_t l, int *sign)
{
    *sign = 1;
    if (!t->embedded)
        return row * t->a->k + l;
    const bool lower = row % 2, second = l % 2;
    *sign = !lower && second ? -1 : 1;
    return row / 2 * t->a->k + l - second + (lower != second);
}

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
    const double terms = exact ? 0 : by_integers ? 1 : (double)t->given.k, added = beta == 0 ? 0 : beta * old;
    *bound = 0;
    if (!exact)
        *bound = fabs(t->given.alpha.re) * (double)(terms * 0x1p-53 * magnitudes + 0x1p-52 * fabsl(real)) +
                 0x1p-52 * fabs(added) + DBL_TRUE_MIN;
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
    if (CHECK(kernel, "there is no %s", entry->symbol))
        emulated_run(kernel, blocks, threads, shared_bytes, argument);
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

/* Whether integers take it, where that is certain: few terms, of which zeros leave fewer, leave little that may be rounded; and of one
 * term magnitudes do not differ. */
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
    t.given.a.embedded = embedded;
    draw_c(&t, random);
    return t;
}

/* Of the families that integers serve, or so many times of 100 another one. */
static const family *draw_family(int strange, check_random *random)
{
    enum { SERVED = 7 };
    return &families[check_between(random, 0, 99) < strange ? check_between(random, SERVED, FAMILIES - 1)
                                                            : check_between(random, 0, SERVED - 1)];
}

/* One A, and B of several. Sometimes the last B is A, turned. */
static void one_sequence(size_t room, char *workspace, check_random *random)
{
    static const int64_t ks[] = {1, 2, 15, 63, 64, 65, 130, 257, 300};
    const bool embedded = check_between(random, 0, 2) == 0, along_k = check_between(random, 0, 3) > 0;
    const int64_t k = CHECK_PICK(random, ks);
    lines a = draw_lines(draw_family(10, random), draw_side(random), embedded ? k + k % 2 : k, random);
    store_lines(&a, embedded, !embedded && along_k, random);
    memset(workspace, (int)check_between(random, 0, 255), room);
    const int count = (int)check_between(random, 1, IN_SEQUENCE);
    for (int i = 0; i < count; i++) {
        const bool same = !embedded && i == count - 1 && check_between(random, 0, 1);
        lines b =
            same ? a
                 : draw_lines(draw_family(i < count - 1 ? 50 : 10, random), draw_side(random), a.k, random);
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
    row = tb_find_kernel(EMULATED_ROW);
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
