/* Whether a kernel may call itself FP32, or FP64: its error on families of matrices, beside that of cuBLAS's
 * GEMM without any reduced precision (pedantic), both against sums in double-double. Figures over their limits are
 * drawn again (draws.h).
 *
 * accuracy [kernel=name] [side=rows and columns of C] [from=smallest k] [largest k]. Errors are in units of u d, with u = 2^-24
 * or 2^-53 and d = |A||B|: what one rounding of a sum without cancellation may cost. Of a kernel that promises less (fast), d is
 * more, and so is what is allowed: as docs/precision.md says. A sample of 64 x 64 elements is looked at; it prints
 * a line for every family and k, and at the end what failed.
 */
#include "tests/check.h"
#include "tests/gpu/draws.h"
#include "tests/gpu/sampled_product.h"
#include "lib/device/platform.h"

#include <math.h>
#include <string.h>

#define SAMPLE SAMPLED_SIDE

/* Acceptance against the comparator from this k on; below it an absolute bound. */
#define SMALLEST_K      64
#define UNEVEN_TIMES    2 /* of that, where an eighth of k or less has the large products */
#define MAXIMUM_RATIO   1.25
#define SMALL_K_MAXIMUM 4
#define ZERO_MEAN_SLOPE 0.6

/* The ratio of rms errors that is allowed where both sides do the same arithmetic, or are doubles, of which some families leave
 * the last rounding alone: its noise is 1% (accuracy_chosen.c). */
#define RMS_RATIO 1.03

/* Limits of fast kernels: what they may err beyond the comparator, and what a step of k adds to d for each unit of the row's and
 * the column's largest magnitudes. */
#define FAST_MAXIMUM 8
#define FAST_RMS     4
#define FAST_FLOOR   0x1p-15
#define K_COUNT      6
static const int64_t all_k[K_COUNT] = {16, 64, 256, 1024, 4096, 16384};

typedef struct sides {
    const tb_kernel *kernel;
    int64_t m, n; /* of C */
    sampled_device on;
} sides;

static bool is_fast(const sides *s)
{
    return s->kernel->accuracy == TB_ACCURACY_FAST;
}

/* ---- what is promised --------------------------------------------------------------------------------- */

/* One product by both sides. */
typedef struct both {
    sampled_errors ours, theirs;
} both;

/* What a product draws: all but the numbers. */
typedef struct comparison {
    sides *sides;
    const accuracy_family *family;
    int64_t k;
} comparison;

enum { MAXIMUM, RMS, BIAS, FIGURES };

static both compute_both(const comparison *c, uint64_t seed)
{
    sides *s = c->sides;
    const tb_element element = s->kernel->element;
    sampled_operand a = sampled_make_lines(c->family, element, s->m, c->k, false, seed),
                    b = sampled_make_lines(c->family, element, s->n, c->k, true, seed);
    static sampled_reference r;
    r = (sampled_reference){.a = &a, .b = &b, .floor = is_fast(s) ? FAST_FLOOR : 0};
    sampled_refer(&r);

    sampled_multiply(&s->on, s->kernel, &a, &b);
    const sampled_errors ours = sampled_measure(&r, s->on.sample);
    sampled_multiply_cublas(&s->on, false, &a, &b);
    sampled_errors theirs = sampled_measure(&r, s->on.sample);
    const sampled_errors of_loop = sampled_measure(&r, r.loop);
    if (c->k < SMALLEST_K && s->kernel->accuracy == TB_ACCURACY_IEEE) /* which is the same arithmetic */
        theirs.maximum = fmax(theirs.maximum, of_loop.maximum);
    if (c->family->beyond) { /* an order of summing that is as good as another: extremes differ at random */
        sampled_multiply(&s->on, tb_find_kernel(element == TB_FP64 ? "dgemm_naive" : "sgemm_simt_128x128"),
                         &a, &b);
        sampled_errors of_simt = sampled_measure(&r, s->on.sample);
        theirs.maximum = fmax(theirs.maximum, of_simt.maximum);
        theirs.maximum = fmax(theirs.maximum, of_loop.maximum);
        theirs.rms = fmax(theirs.rms, of_loop.rms);
    }
    if (c->family->uneven_k) { /* doubles are held to cuBLAS alone where they are chosen: accuracy_chosen */
        theirs.maximum = fmax(theirs.maximum, of_loop.maximum);
        theirs.rms = fmax(theirs.rms, of_loop.rms);
    }
    sampled_drop_operand(&a);
    sampled_drop_operand(&b);
    return (both){ours, theirs};
}

/* Nothing but the largest error is promised of short sums; and short is also what has but few large products. */
static bool is_short_sum(const comparison *c)
{
    return c->k < (c->family->uneven_k ? UNEVEN_TIMES : 1) * SMALLEST_K;
}

static void find_excesses(const comparison *c, const both *errors, double *excesses)
{
    const sampled_errors *ours = &errors->ours, *theirs = &errors->theirs;
    const tb_kernel *kernel = c->sides->kernel;
    const bool fast = kernel->accuracy == TB_ACCURACY_FAST, is_short = is_short_sum(c);
    const bool is_alike = kernel->accuracy == TB_ACCURACY_IEEE || kernel->element == TB_FP64;
    const double room = c->family->beyond ? MAXIMUM_RATIO : is_alike ? RMS_RATIO : 1;
    const double more = fast ? FAST_MAXIMUM : 0, more_rms = fast ? FAST_RMS : 0;
    const double maximum =
        is_short ? fmax(SMALL_K_MAXIMUM, theirs->maximum) : MAXIMUM_RATIO * theirs->maximum;
    excesses[MAXIMUM] = draws_excess(ours->maximum, maximum + more);
    excesses[RMS] = is_short ? -1 : draws_excess(ours->rms, room * theirs->rms + more_rms);
    excesses[BIAS] = is_short ? -1 : draws_excess(fabs(ours->bias), theirs->rms + more_rms);
}

static void compute_again(void *what, uint64_t seed, double *excesses)
{
    const both errors = compute_both(what, seed);
    find_excesses(what, &errors, excesses);
}

/* The errors of the first draw. */
static sampled_errors compare_sides(sides *s, const accuracy_family *family, int64_t k, uint64_t seed)
{
    static const char *const names[FIGURES] = {"maximum", "rms", "bias"};
    comparison c = {.sides = s, .family = family, .k = k};
    const both errors = compute_both(&c, seed);
    const sampled_errors *ours = &errors.ours, *theirs = &errors.theirs;
    printf("%-16s %6" PRId64 "   %8.3f %8.4f %+8.4f   %8.3f %8.4f %+8.4f\n", family->name, k, ours->maximum,
           ours->rms, ours->bias, theirs->maximum, theirs->rms, theirs->bias);
    double excesses[FIGURES];
    find_excesses(&c, &errors, excesses);
    draws figures[FIGURES];
    draws_settle(figures, FIGURES, excesses, compute_again, &c, seed);
    for (int i = 0; i < (is_short_sum(&c) ? 1 : FIGURES); i++) {
        char text[DRAWS_TEXT];
        draws_describe(&figures[i], text);
        CHECK(draws_hold(&figures[i]), "%s, k %" PRId64 ": %s: %s", family->name, k, names[i], text);
        if (figures[i].count > 1)
            printf("%-16s %6" PRId64 "   %s: %s\n", family->name, k, names[i], text);
    }
    return errors.ours;
}

/* How errors grow from one k to another. */
typedef struct growth {
    comparison from, to;
} growth;

static double slope_between(const growth *g, double error_from, double error_to)
{
    return log(error_to / error_from) / log((double)g->to.k / (double)g->from.k);
}

static void grow_again(void *what, uint64_t seed, double *excess)
{
    const growth *g = what;
    const both from = compute_both(&g->from, seed), to = compute_both(&g->to, seed);
    *excess = slope_between(g, from.ours.of_result, to.ours.of_result) - ZERO_MEAN_SLOPE;
}

/* For zero-mean data the error, measured by the result, grows no faster than a random walk: as the root of k. */
static void the_error_grows_slowly(sides *s, const accuracy_family *family, const sampled_errors *all,
                                   int from, int to, uint64_t seed)
{
    growth g = {.from = {.sides = s, .family = family, .k = all_k[from]},
                .to = {.sides = s, .family = family, .k = all_k[to]}};
    const double slope = slope_between(&g, all[from].of_result, all[to].of_result),
                 excess = slope - ZERO_MEAN_SLOPE;
    printf("%-16s slope of the rms error against k: %.3f\n", family->name, slope);
    draws slopes;
    draws_settle(&slopes, 1, &excess, grow_again, &g, seed);
    const double mean = ZERO_MEAN_SLOPE + draws_mean(&slopes);
    CHECK(draws_hold(&slopes), "%s: the error grows with k to the power of %g, in %d draws", family->name,
          mean, slopes.count);
    if (slopes.count > 1)
        printf("%-16s slope in %d draws: %.3f\n", family->name, slopes.count, mean);
}

/* ---- exact results ------------------------------------------------------------------------------------ */

static double fill_identity(const accuracy_position *at, check_random *random)
{
    (void)random;
    return at->outer == at->k;
}

/* Sums of INTEGERS_K products stay below 2^24, and of doubles below 2^53, where the longest come near it. */
enum { INTEGERS_K = 2048 };

static double fill_integers(const accuracy_position *at, check_random *random)
{
    const int64_t most = at->element == TB_FP64 ? 2000000 : 64;
    return (double)check_between(random, -most, most);
}

static double fill_positive_integers(const accuracy_position *at, check_random *random)
{
    return fabs(fill_integers(at, random));
}

static double fill_normal_times_256(const accuracy_position *at, check_random *random)
{
    (void)at;
    return 256 * accuracy_normal(random);
}

static void multiply_families(sides *s, const accuracy_family *of_a, const accuracy_family *of_b, int64_t k,
                              uint64_t seed, sampled_operand *a, sampled_operand *b)
{
    *a = sampled_make_lines(of_a, s->kernel->element, s->m, k, false, seed);
    *b = sampled_make_lines(of_b, s->kernel->element, s->n, k, true, seed);
    sampled_multiply(&s->on, s->kernel, a, b);
}

static size_t bytes_of_c(const sides *s)
{
    return tb_bytes_of(s->kernel->element) * (size_t)(s->m * s->n);
}

static void the_identity_changes_nothing(sides *s, uint64_t seed)
{
    sampled_operand a, b;
    multiply_families(s, &(accuracy_family){.name = "I", .fill = fill_identity}, &accuracy_families[4], s->m,
                      seed, &a, &b);
    CHECK(memcmp(s->on.host_c, b.host, bytes_of_c(s)) == 0, "I * B is not B");
    sampled_drop_operand(&a);
    sampled_drop_operand(&b);
}

static void integers_are_exact(sides *s, uint64_t seed)
{
    const accuracy_family integers[] = {{.name = "integers", .fill = fill_integers},
                                        {.name = "positive integers", .fill = fill_positive_integers}};
    for (int i = 0; i < 2; i++) {
        sampled_operand a, b;
        multiply_families(s, &integers[i], &integers[i], INTEGERS_K, seed, &a, &b);
        static sampled_reference r;
        r = (sampled_reference){.a = &a, .b = &b};
        sampled_refer(&r);
        CHECK(sampled_measure(&r, s->on.sample).maximum == 0, "products of %s are not exact",
              integers[i].name);
        sampled_drop_operand(&a);
        sampled_drop_operand(&b);
    }
}

/* 256 times A, or alpha. Of doubles k is long enough for several chains. */
static void powers_of_two_commute(sides *s, bool of_alpha, uint64_t seed)
{
    enum { K = 4096 };
    const accuracy_family larger = {.name = "256 normal", .fill = fill_normal_times_256};
    const tb_element element = s->kernel->element;
    sampled_operand a, b;
    void *first = malloc(bytes_of_c(s));
    sampled_must(first != NULL, "malloc");
    multiply_families(s, &accuracy_families[2], &accuracy_families[2], K, seed, &a, &b);
    memcpy(first, s->on.host_c, bytes_of_c(s));
    sampled_drop_operand(&a);
    sampled_drop_operand(&b);
    s->on.alpha = of_alpha ? 256 : 1;
    multiply_families(s, of_alpha ? &accuracy_families[2] : &larger, &accuracy_families[2], K, seed, &a, &b);
    s->on.alpha = 1;
    size_t different = 0;
    for (int64_t i = 0; i < s->m * s->n; i++)
        different += sampled_number(element, s->on.host_c, i) != 256 * sampled_number(element, first, i);
    CHECK(different == 0, "%s differs from 256 (A * B) in %zu elements",
          of_alpha ? "C where alpha is 256" : "256 A * B", different);
    sampled_drop_operand(&a);
    sampled_drop_operand(&b);
    free(first);
}

/* The position of a family by its name. */
static const accuracy_family *family_named(const char *name)
{
    for (int i = 0; i < accuracy_family_count; i++)
        if (strcmp(accuracy_families[i].name, name) == 0)
            return &accuracy_families[i];
    sampled_must(false, name);
    return NULL;
}

/* The survey chooses other parts than sgemm_bf16x6_sm90's for families whose numbers are of like size, and else the same. */
static void the_survey_chooses(sides *s, uint64_t seed)
{
    static const struct {
        const char *name;
        bool narrow;
    } cases[] = {{"normal", true},          {"uniform 1..2", true},     {"(u-1/2)exp(4N)", false},
                 {"A D, 1/D B", false},     {"graded", true},           {"subnormal", false},
                 {"eleven binades", false}, {"seven binades", true},    {"32nd, 32 times", false},
                 {"32nd, 8 times", true},   {"32nd, 10.6 times", true}, {"8th, 13.5 times", true},
                 {"4th, 21 times", true},   {"2nd, 60 times", true}};
    /* Long enough for a survey of like rows, and cut alike by both: bits depend on that. */
    const int64_t k = 800;
    const tb_kernel *own = s->kernel;
    float *first = malloc(sizeof(float) * (size_t)(s->m * s->n));
    sampled_must(first != NULL, "malloc");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const accuracy_family *family = family_named(cases[i].name);
        sampled_operand a, b;
        multiply_families(s, family, family, k, seed, &a, &b);
        memcpy(first, s->on.host_c, sizeof(float) * (size_t)(s->m * s->n));
        sampled_drop_operand(&a);
        sampled_drop_operand(&b);
        s->kernel = tb_find_kernel("sgemm_bf16x6_sm90");
        multiply_families(s, family, family, k, seed, &a, &b);
        s->kernel = own;
        CHECK((memcmp(first, s->on.host_c, sizeof(float) * (size_t)(s->m * s->n)) != 0) == cases[i].narrow,
              "%s: other parts were chosen", family->name);
        sampled_drop_operand(&a);
        sampled_drop_operand(&b);
    }
    free(first);
}

static double fill_exceptions(const accuracy_position *at, check_random *random)
{
    static const double exceptions[] = {INFINITY, -INFINITY, NAN, 0};
    double value = accuracy_normal(random);
    bool exceptional =
        accuracy_shared_uniform(at->in_b ? 7 : 6, at->outer) < 0.3 && check_next(random) % 256 == 0;
    return exceptional ? CHECK_PICK(random, exceptions) : value;
}

static void infinities_and_nans_are_those_of_a_loop(sides *s, uint64_t seed)
{
    const accuracy_family exceptions = {.name = "exceptions", .fill = fill_exceptions};
    sampled_operand a, b;
    multiply_families(s, &exceptions, &exceptions, 300, seed, &a, &b);
    static sampled_reference r;
    r = (sampled_reference){.a = &a, .b = &b};
    sampled_refer(&r);
    for (int column = 0; column < SAMPLE; column++)
        for (int row = 0; row < SAMPLE; row++) {
            const double ours = s->on.sample[column][row], loop = r.loop[column][row];
            CHECK(isnan(ours) == isnan(loop) && isinf(ours) == isinf(loop) &&
                      (!isinf(ours) || signbit(ours) == signbit(loop)),
                  "row %d, column %d: %g where a loop has %g", row, column, ours, loop);
        }
    sampled_drop_operand(&a);
    sampled_drop_operand(&b);
}

int main(int argc, char **argv)
{
    sides s = {.kernel = tb_find_kernel("sgemm_bf16x6_sm90"), .m = SAMPLED_M, .n = SAMPLED_N};
    int64_t first_k = 0, largest_k = all_k[K_COUNT - 1];
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "kernel=", 7) == 0)
            s.kernel = tb_find_kernel(argv[i] + 7);
        else if (strncmp(argv[i], "side=", 5) == 0)
            s.m = s.n = atoll(argv[i] + 5);
        else if (strncmp(argv[i], "from=", 5) == 0)
            first_k = atoll(argv[i] + 5);
        else
            largest_k = atoll(argv[i]);
    int devices;
    tb_device_description description;
    if (tb_platform.open(&devices) != TB_OK || tb_device_at(0)->describe(0, &description) != TB_OK ||
        tb_device_at(0)->open_device(0) != TB_OK)
        SKIP("no device");
    if (!s.kernel || !tb_kernel_runs_on(s.kernel, description.architecture))
        SKIP("no such kernel here");
    uint64_t seed = check_seed();

    sampled_open(&s.on);
    printf("%s on %s, %lld x %lld\n", s.kernel->name, description.name, (long long)s.m, (long long)s.n);
    printf("%-16s %6s   %8s %8s %8s   %8s %8s %8s\n", "family", "k", "max", "rms", "bias", "cuBLAS", "rms",
           "bias");
    for (int f = 0; f < accuracy_family_count; f++) {
        if (!accuracy_is_for(&accuracy_families[f], s.kernel->element))
            continue;
        sampled_errors all[K_COUNT];
        int first = 1, last = 0; /* the smallest k says little of how errors grow */
        for (int i = 0; i < K_COUNT; i++)
            if (all_k[i] >= first_k && all_k[i] <= largest_k) {
                all[i] = compare_sides(&s, &accuracy_families[f], all_k[i], seed);
                last = i;
            } else if (all_k[i] < first_k)
                first = i + 1;
        if (accuracy_families[f].zero_mean && last > first + 1) /* a factor of 16 in k, at least */
            the_error_grows_slowly(&s, &accuracy_families[f], all, first, last, seed);
    }
    if (!is_fast(&s))
        the_identity_changes_nothing(&s, seed);
    if (strcmp(s.kernel->name, "sgemm_split_sm90") == 0)
        the_survey_chooses(&s, seed);
    integers_are_exact(&s, seed);
    powers_of_two_commute(&s, false, seed);
    powers_of_two_commute(&s, true, seed);
    infinities_and_nans_are_those_of_a_loop(&s, seed);
    return check_result();
}
