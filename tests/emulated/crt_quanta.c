/* What dgemm_crt's survey decides, on the host (block.h): the quanta of rows of op(A) and columns of op(B), held
 * against the formula of docs/precision.md, which is computed here in double precision from the operands.
 *
 * - Rounding to multiples of quanta errs by no more than the share e of u D that the decision is made for: also where
 * A's quanta are those
 *   of the launch before, which had another B, and where zeros of A and of B leave few terms.
 * - Quanta are no finer than that takes, so that products take no more moduli than they have to.
 * - Integers have less than 63 bits, and there are moduli enough for sums of their products.
 * - With a B that needs no more than the one before, A's residues are not made again.
 *
 * Nothing is multiplied, so that k can be as large as it may be.
 */
#include "kernels/catalog.h"
#include "kernels/crt/schedule_crt.h"
#include "tests/emulated/block.h"
#include "tests/emulated/crt_formula.h"

#include <string.h>

#define TEXT_OF(symbol) #symbol
#define TEXT(symbol)    TEXT_OF(symbol)

/* What the logarithms of the survey err by, and what is spared for the next B (survey.cuh, decide.cuh). */
#define LOGARITHM_ERROR 0.0861
#define SPARE           0.25
#define ROUNDED         0.5
#define SLIGHT          0.02

/* ---- A product ------------------------------------------------------------------------------------------------ */

/* What may be decided for: the shares that decide.cuh has, or that no integers serve. */
typedef enum share { SMALL_SHARE, LARGE_SHARE, NO_SHARE } share;
static const double shares[] = {1.0 / 64, 0.17};

typedef struct launched {
    tb_crt_arguments arguments;
    const char *name;
    double terms, error; /* the latter as a logarithm */
    bool anew;           /* A's quanta are for this B */
} launched;

/* The largest bits of the integers of a side, whose quanta are such that with the other side's numbers they err by
 * little enough. */
static double check_side(const launched *p, tb_role role, const side *own, const side *other, bool fresh)
{
    const int32_t *quanta = role == TB_A ? p->arguments.a.quantum : p->arguments.b.quantum;
    const int64_t numbers = 2 * p->arguments.problem.k - own->zeros - other->zeros;
    const double slack = LOGARITHM_ERROR * (1 + 2 * (double)numbers / p->terms);
    double bits = 0;
    for (int64_t line = 0; line < own->count; line++) {
        const known *one = &own->of[line];
        const double needed = p->error + one->largest - one->deficit / p->terms - other->spread,
                     most = fmax(one->lowest, needed + ROUNDED + SLIGHT),
                     least = needed - ROUNDED - slack - SPARE - SLIGHT;
        CHECK(quanta[line] <= most, "%s: quantum %lld of %c is 2^%d, more than 2^%.2f", p->name,
              (long long)line, "AB"[role], quanta[line], most);
        CHECK(!fresh || quanta[line] >= least, "%s: quantum %lld of %c is 2^%d, less than 2^%.2f", p->name,
              (long long)line, "AB"[role], quanta[line], least);
        bits = fmax(bits, one->norm - quanta[line]);
    }
    CHECK(bits < 63, "%s: integers of %c have %.2f bits", p->name, "AB"[role], bits);
    return bits;
}

/* The product's logarithm of the first so many moduli. */
static double moduli_bits(int count)
{
    static const int moduli[TB_CRT_MODULI] = {256, 255, 253, 251, 247, 241, 239, 233, 229,
                                              227, 223, 217, 211, 199, 197, 193, 191};
    double bits = 0;
    for (int i = 0; i < count && i < TB_CRT_MODULI; i++)
        bits += log2(moduli[i]);
    return bits;
}

static void check_decision(const launched *p, const lines *a, const lines *b)
{
    const int moduli = p->arguments.decision->moduli;
    side of_a = know_lines(a), of_b = know_lines(b);
    find_spread(&of_a, p->terms);
    find_spread(&of_b, p->terms);
    const double bits = check_side(p, TB_A, &of_a, &of_b, p->anew) + check_side(p, TB_B, &of_b, &of_a, true);
    CHECK(bits + 1 < moduli_bits(moduli), "%s: %d moduli for sums of %.2f bits", p->name, moduli, bits + 1);
    free(of_a.of);
    free(of_b.of);
}

static int64_t zeros_of(const lines *x)
{
    const side all = know_lines(x);
    free(all.of);
    return all.zeros;
}

/* ---- Launches: all until it is decided ------------------------------------------------------------------------- */

static tb_crt_arguments last;

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
    const char *end = strrchr(entry->symbol, '_');
    if (strcmp(end, "_survey") != 0 && strcmp(end, "_gather") != 0 && strcmp(end, "_decide") != 0)
        return TB_OK;
    last = *(const tb_crt_arguments *)argument;
    emulated_run(emulated_find(entry->symbol), blocks, 1, threads, shared_bytes, argument);
    return TB_OK;
}

/* Products by launches that may find what the one before has left of A; in a workspace that begins as garbage. */
typedef struct step {
    shape b;
    share share;
    bool keeps; /* A's quanta and residues serve */
    bool again; /* it is the B of the step before */
} step;

enum { STEPS_MOST = 6 };
typedef struct sequence {
    const char *name;
    int64_t k;
    shape a;
    step steps[STEPS_MOST]; /* up to the first of nothing */
} sequence;

#define ALIKE                                                                                                \
    {                                                                                                        \
        .range = 0.01                                                                                        \
    }
#define SPREAD(bits)                                                                                         \
    {                                                                                                        \
        .range = (bits)                                                                                      \
    }

static const sequence sequences[] = {
    {"numbers that differ more and more",
     257,
     ALIKE,
     {{.b = ALIKE},
      {.b = SPREAD(7)},
      {.b = SPREAD(7), .keeps = true, .again = true},
      {.b = ALIKE, .keeps = true},
      {.b = SPREAD(7.5)}}},
    {"by the larger share", 300, SPREAD(7), {{.b = SPREAD(9), .share = LARGE_SHARE}}},
    {"too different",
     300,
     SPREAD(20),
     {{.b = SPREAD(20), .share = NO_SHARE}, {.b = ALIKE, .share = NO_SHARE}}},
    {"zeros at the ends",
     1024,
     {.range = 0.01, .first_zeros = 7},
     {{.b = {.range = 0.01, .last_zeros = 7}},
      {.b = {.range = 0.01, .last_zeros = 7}, .keeps = true, .again = true},
      {.b = {.range = 0.01, .last_zeros = 2}}}},
    {"more and more zeros",
     1024,
     {.range = 0.01, .first_zeros = 4},
     {{.b = ALIKE}, {.b = {.range = 0.01, .last_zeros = 6}}, {.b = {.range = 0.01, .last_zeros = 10}}}},
    {"zeros of one alone",
     1024,
     {.range = 0.01, .last_zeros = 14},
     {{.b = ALIKE}, {.b = ALIKE, .keeps = true, .again = true}}},
    {"integers of 62 bits", 64, {.bits = 20, .range = 42}, {{.b = {.bits = 8, .range = 8}}}},
    {"integers of 63 bits",
     64,
     {.bits = 20, .range = 43},
     {{.b = {.bits = 8, .range = 8}, .share = NO_SHARE}}},
    {"of B, 63 bits", 64, {.bits = 8, .range = 8}, {{.b = {.bits = 20, .range = 43}, .share = NO_SHARE}}},
    {"as many steps as there may be", TB_CRT_K_MOST, ALIKE, {{.b = ALIKE}, {.b = SPREAD(4)}}},
};
enum { SEQUENCES = sizeof sequences / sizeof *sequences };

static const tb_kernel *row;

/* Runs a step; `before`: whether another one left its A in the workspace. */
static void run_step(const sequence *s, const step *step, const lines *a, const lines *b, bool embedded,
                     bool before, char *workspace, size_t room)
{
    const int64_t m = embedded ? 2 * a->count : a->count;
    tb_product product = tb_gemm(TB_DGEMM, a->along_k, !b->along_k, m, b->count, a->k, 1, a->memory.start,
                                 a->ld, b->memory.start, b->ld, 0, NULL, m);
    product.expanded[TB_A].embedded = embedded;
    const tb_target target = {.architecture = EMULATED_ARCHITECTURE, .multiprocessors = 2};
    tb_schedule schedule = tb_prepare(row, &product, target);
    tb_crt_deal deal = *TB_DEAL(&schedule, tb_crt_deal);
    deal.moduli_most = TB_CRT_MODULI;
    TB_SET_DEAL(&schedule, tb_crt_deal, deal);
    const tb_launcher launcher = {.target = target, .same_a = before, .load = find, .launch = run};
    if (!CHECK(schedule.workspace <= room, "%s: %zu bytes", s->name, schedule.workspace) ||
        !CHECK(row->launch(&launcher, row, &product, &schedule, workspace) == TB_OK, "%s", s->name))
        return;
    const tb_crt_decision *decision = last.decision;
    CHECK((decision->moduli > 0) == (step->share != NO_SHARE), "%s%s, step %d: %d moduli", s->name,
          embedded ? ", pairs" : "", (int)(step - s->steps), decision->moduli);
    CHECK(!step->keeps || !decision->makes_a, "%s%s, step %d: A's residues are made again", s->name,
          embedded ? ", pairs" : "", (int)(step - s->steps));
    if (decision->moduli == 0)
        return;
    launched p = {.arguments = last, .name = s->name, .anew = !before};
    p.terms = (double)(a->k - zeros_of(a) - zeros_of(b));
    p.error = log2(shares[step->share]) + log2(p.terms) - 53;
    check_decision(&p, a, b);
}

static void run_sequence(const sequence *s, bool embedded, char *workspace, size_t room, check_random *random)
{
    const bool along_k = !embedded && check_between(random, 0, 1);
    const int64_t k = s->k + (embedded ? s->k % 2 : 0), most = s->k > 2048 ? 3 : 70;
    lines a = draw(&s->a, check_between(random, 1, most), k, embedded, along_k, random), b = {0};
    memset(workspace, check_between(random, 0, 1) ? 0x42 : 0xff, (size_t)1 << 16);
    for (int i = 0; i < STEPS_MOST; i++) {
        const step *step = &s->steps[i];
        if (step->b.range == 0)
            break;
        if (!step->again) {
            if (i > 0)
                free_lines(&b);
            b = draw(&step->b, check_between(random, 1, most), k, false,
                     embedded || check_between(random, 0, 1), random);
        }
        run_step(s, step, &a, &b, embedded, i > 0, workspace, room);
    }
    free_lines(&a);
    free_lines(&b);
}

int main(void)
{
    check_random random = {check_seed()};
    const size_t room = (size_t)4 << 30;
    memory workspace = untouched(room);
    row = tb_find_kernel(TEXT(EMULATED_ROW));
    emulated_seed(check_next(&random));
    for (int i = 0; i < SEQUENCES; i++)
        for (int embedded = 0; embedded < 2; embedded++)
            run_sequence(&sequences[i], embedded, workspace.start, room, &random);
    release(&workspace);
    return check_result();
}
