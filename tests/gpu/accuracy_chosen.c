/* What is chosen is no less accurate than what cuBLAS's GEMM chooses (pedantic): small C with a k that cuBLAS
 * splits, and long k whose numbers are near the exponent's limits, which parts do not hold. A sample of 64 x
 * 64 elements beside sums in double-double; errors in units of u d, with u = 2^-24 or 2^-53 and d = |A||B|.
 *
 * accuracy_chosen [element=float|double] [precision=ieee|fp32] [size=MxNxK] prints a line for every product:
 * what was chosen, the rms and the largest error of both, and the ratios of either. Those over their limits are drawn again
 * (draws.h).
 */
#include "dispatch/plan.h"
#include "lib/machine/calibrate.h"
#include "lib/device/platform.h"
#include "tests/check.h"
#include "tests/gpu/draws.h"
#include "tests/gpu/sampled_product.h"

#include <math.h>
#include <string.h>

/* The ratios that are allowed of the largest of 4096 errors, which is a noisy figure, and of the rms error, whose noise is 1%. */
#define MAXIMUM_RATIO 1.25
#define RMS_RATIO     1.03

/* Larger C goes to shapes that do not cut chains (docs/kernels.md): in precision ieee a plain loop is what they are held to. Of
 * doubles all C here are cut, as cuBLAS cuts them. */
#define SMALL_C         600000
#define SMALL_C_DOUBLES 3000000

/* Where a part of k has the large products, floats are held to a loop whatever their C; and with so few steps of k, of which an
 * eighth or less counts, to what is promised of short sums: docs/lab/simt.md says what cuBLAS has. */
#define UNEVEN_K        256
#define SMALL_K_MAXIMUM 4

typedef struct size {
    int64_t m, n, k;
} size;

static const size sizes[] = {{193, 321, 500},   {256, 256, 1024},  {128, 128, 700},     {320, 200, 640},
                             {512, 512, 1000},  {333, 777, 1555},  {1024, 1152, 1024},  {1024, 1152, 4096},
                             {256, 256, 16384}, {256, 256, 65536}, {1024, 1152, 16384}, {700, 900, 128}};
static const char *const families[] = {"uniform 0..1",  "normal",   "(u-1/2)exp(N)",
                                       "equal along k", "graded k", "blocks"};

/* A size of doubles that dgemm_crt computes. */
static const size large = {3584, 3584, 4096};

/* fp32 comes to FP32 arithmetic with these families, for these sizes. */
static const size long_sizes[] = {{1024, 1152, 4096}, {1024, 1152, 65536}};
static const char *const limits[] = {"huge", "near largest", "tiny", "near smallest", "subnormal"};

typedef struct sides {
    tb_element element;
    sampled_device on;
    tb_chip chip;
} sides;

static const accuracy_family *family_named(const char *name)
{
    for (int i = 0; i < accuracy_family_count; i++)
        if (strcmp(accuracy_families[i].name, name) == 0)
            return &accuracy_families[i];
    sampled_must(false, name);
    return NULL;
}

static const tb_kernel *choose(const sides *s, const tb_product *product, tb_accuracy accuracy)
{
    const tb_facts facts = {.machine = {.readiness = TB_READY, .chips = &s->chip, .chip_count = 1},
                            .kernels = tb_catalog,
                            .kernel_count = tb_catalog_size,
                            .accuracy = accuracy};
    tb_plan plan = {.route = TB_ROUTE_RESIDENT};
    sampled_must(tb_choose_kernel(product, &facts, false, &plan), "choosing a kernel");
    return plan.kernel;
}

/* What a product draws: all but the numbers; and, of the draw before, the kernel and the errors. */
typedef struct comparison {
    sides *sides;
    const accuracy_family *family;
    size size;
    tb_accuracy accuracy;
    const tb_kernel *kernel;
    sampled_errors ours, theirs, loop;
} comparison;

enum { RMS, MAXIMUM, FIGURES };

static void compute(comparison *c, uint64_t seed)
{
    sides *s = c->sides;
    sampled_operand a = sampled_make_lines(c->family, s->element, c->size.m, c->size.k, false, seed),
                    b = sampled_make_lines(c->family, s->element, c->size.n, c->size.k, true, seed);
    static sampled_reference r;
    r = (sampled_reference){.a = &a, .b = &b};
    sampled_refer(&r);
    const tb_product product = sampled_product(&s->on, &a, &b);
    c->kernel = choose(s, &product, c->accuracy);
    sampled_multiply(&s->on, c->kernel, &a, &b);
    c->ours = sampled_measure(&r, s->on.sample);
    sampled_multiply_cublas(&s->on, false, &a, &b);
    c->theirs = sampled_measure(&r, s->on.sample);
    c->loop = sampled_measure(&r, r.loop);
    sampled_drop_operand(&a);
    sampled_drop_operand(&b);
}

static void print(const comparison *c)
{
    const sampled_errors *ours = &c->ours, *theirs = &c->theirs;
    printf("%-14s %5lld %5lld %6lld  %-4s %-22s rms %7.4f  cuBLAS %7.4f  loop %7.4f  ratio %5.3f   largest "
           "%7.3f  "
           "cuBLAS %7.3f  ratio %5.3f\n",
           c->family->name, (long long)c->size.m, (long long)c->size.n, (long long)c->size.k,
           c->sides->element == TB_FP64      ? "fp64"
           : c->accuracy == TB_ACCURACY_IEEE ? "ieee"
                                             : "fp32",
           c->kernel->name, ours->rms, theirs->rms, c->loop.rms, ours->rms / theirs->rms, ours->maximum,
           theirs->maximum, ours->maximum / theirs->maximum);
    fflush(stdout);
}

static void find_excesses(const comparison *c, double *excesses)
{
    const sampled_errors *theirs = &c->theirs, *loop = &c->loop;
    const bool is_double = c->sides->element == TB_FP64;
    const bool is_uneven = c->family->uneven_k && !is_double;
    const bool as_loop = is_uneven || (c->accuracy == TB_ACCURACY_IEEE &&
                                       c->size.m * c->size.n > (is_double ? SMALL_C_DOUBLES : SMALL_C));
    const double rms = as_loop ? fmax(theirs->rms, loop->rms) : theirs->rms;
    /* Near the limits extremes differ at random (accuracy.c). */
    const double maximum =
        as_loop || c->family->beyond ? fmax(theirs->maximum, loop->maximum) : theirs->maximum;
    const bool is_short = is_uneven && c->size.k < UNEVEN_K;
    excesses[RMS] = is_short ? -1 : draws_excess(c->ours.rms, RMS_RATIO * rms);
    excesses[MAXIMUM] =
        draws_excess(c->ours.maximum, fmax(MAXIMUM_RATIO * maximum, is_short ? SMALL_K_MAXIMUM : 0));
}

static void compute_again(void *what, uint64_t seed, double *excesses)
{
    compute(what, seed);
    find_excesses(what, excesses);
}

static void compare(sides *s, const char *family, size size, tb_accuracy accuracy, uint64_t seed)
{
    static const char *const names[FIGURES] = {"rms", "maximum"};
    comparison c = {.sides = s, .family = family_named(family), .size = size, .accuracy = accuracy};
    double excesses[FIGURES];
    compute(&c, seed);
    print(&c);
    find_excesses(&c, excesses);
    draws figures[FIGURES];
    draws_settle(figures, FIGURES, excesses, compute_again, &c, seed);
    for (int i = 0; i < FIGURES; i++) {
        char text[DRAWS_TEXT];
        draws_describe(&figures[i], text);
        CHECK(draws_hold(&figures[i]), "%s, %lld x %lld x %lld, %s: %s: %s", family, (long long)size.m,
              (long long)size.n, (long long)size.k, c.kernel->name, names[i], text);
        if (figures[i].count > 1)
            printf("%-14s %5lld %5lld %6lld  %s: %s\n", family, (long long)size.m, (long long)size.n,
                   (long long)size.k, names[i], text);
    }
}

static void compare_all(sides *s, tb_accuracy accuracy, const size *only, uint64_t seed)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t i = 0; accuracy_is_for(family_named(families[f]), s->element) &&
                           i < (only ? 1 : sizeof sizes / sizeof *sizes);
             i++)
            compare(s, families[f], only ? *only : sizes[i], accuracy, seed);
    for (size_t f = 0; f < sizeof limits / sizeof *limits; f++)
        for (size_t i = 0; i < (only ? 1 : sizeof long_sizes / sizeof *long_sizes); i++)
            compare(s, limits[f], only ? *only : long_sizes[i], accuracy, seed);
}

int main(int argc, char **argv)
{
    bool wanted[] = {[TB_ACCURACY_IEEE] = true, [TB_ACCURACY_FP32] = true};
    size given = {0};
    static sides s;
    for (int i = 1; i < argc; i++) {
        long long m, n, k;
        if (sscanf(argv[i], "size=%lldx%lldx%lld", &m, &n, &k) == 3)
            given = (size){m, n, k};
        else if (strcmp(argv[i], "element=double") == 0)
            s.element = TB_FP64;
        else if (strncmp(argv[i], "precision=", 10) == 0)
            wanted[strcmp(argv[i] + 10, "ieee") == 0 ? TB_ACCURACY_FP32 : TB_ACCURACY_IEEE] = false;
    }
    int devices;
    tb_device_description description;
    if (tb_platform.open(&devices) != TB_OK || tb_device_at(0)->describe(0, &description) != TB_OK ||
        tb_device_at(0)->open_device(0) != TB_OK)
        SKIP("no device");
    s.chip = tb_presume_chip(0, &description);
    s.chip.open = true;
    s.chip.clusters = tb_device_at(0)->clusters(0);
    const uint64_t seed = check_seed();
    sampled_open(&s.on);
    for (int accuracy = TB_ACCURACY_IEEE; accuracy <= TB_ACCURACY_FP32; accuracy++) {
        /* The precisions of doubles differ where products are large. */
        const bool is_large = s.element == TB_FP64 && accuracy == TB_ACCURACY_FP32;
        if (wanted[accuracy])
            compare_all(&s, (tb_accuracy)accuracy, given.m > 0 ? &given : is_large ? &large : NULL, seed);
    }
    return check_result();
}
