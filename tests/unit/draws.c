/* Figures drawn at random, held to limits (tests/gpu/draws.h): lists as long as all accuracy programs' together, of ratios whose
 * true value is 1, pass in every run; true excesses fail; and few figures are drawn again.
 *
 * The seed is always the same: this is a test of a rule, and of other seeds' 20 thousand runs the rule itself may fail one.
 */
#include "tests/gpu/draws.h"
#include "tests/check.h"

#include <math.h>

enum { RUNS = 1000, LIST = 4000, ALONE = 4000 };

/* A figure: its true value, the standard deviation of its logarithm, and its limit. */
typedef struct source {
    double value, deviation, limit;
    check_random *random;
} source;

/* Largest errors have logarithms that differ like a logistic variable, whose tails are heavier than a normal one's: they are
 * maxima, and the difference of two of these (Gumbel's) is one. */
static double logistic(double deviation, check_random *random)
{
    const double share = ((double)(check_next(random) >> 11) + 0.5) * 0x1p-53;
    return deviation * sqrt(3) / M_PI * log(share / (1 - share));
}

static void draw(void *what, uint64_t seed, double *excess)
{
    const source *s = what;
    (void)seed;
    *excess = draws_excess(s->value * exp(logistic(s->deviation, s->random)), s->limit);
}

static draws judge(source *s)
{
    draws figure;
    double first;
    draw(s, 0, &first);
    draws_settle(&figure, 1, &first, draw, s, 0);
    return figure;
}

/* The noisiest of largest and of rms errors, and the usual ones (draws.h). */
static const source noises[] = {{.value = 1, .deviation = 0.35, .limit = 1.25},
                                {.value = 1, .deviation = 0.15, .limit = 1.25},
                                {.value = 1, .deviation = 0.04, .limit = 1.03},
                                {.value = 1, .deviation = 0.02, .limit = 1.03}};

static void true_ratios_of_one_pass(check_random *random)
{
    int failed_runs = 0, over = 0;
    int64_t made = 0;
    for (int run = 0; run < RUNS; run++) {
        bool holds = true;
        for (int i = 0; i < LIST; i++) {
            /* Where few products rule a sum the deviation is the larger one: in a tenth of all. */
            source s = noises[2 * (i % 2) + (i / 2 % 10 > 0)];
            s.random = random;
            const draws figure = judge(&s);
            holds = holds && draws_hold(&figure);
            over += figure.count > 1;
            made += figure.count;
        }
        failed_runs += !holds;
    }
    printf("%.3f of the figures are over their limits at first; there are %.2f draws of each\n",
           over / (1.0 * RUNS * LIST), (double)made / RUNS / LIST);
    CHECK(failed_runs == 0, "%d of %d runs fail where all true ratios are 1", failed_runs, RUNS);
    CHECK(over > RUNS, "noise that is never over a limit: %d of %d", over, RUNS * LIST);
    CHECK(made < INT64_C(3) * RUNS * LIST, "%" PRId64 " draws of %d figures", made, RUNS * LIST);
}

/* An excess that a first draw shows is told from chance, nearly always, and shows in half of the first draws at least. */
static void excesses_fail(source s, check_random *random)
{
    int shown = 0, failed = 0;
    s.random = random;
    for (int i = 0; i < ALONE; i++) {
        const draws figure = judge(&s);
        shown += figure.count > 1 || !draws_hold(&figure);
        failed += !draws_hold(&figure);
    }
    printf("%.2f beside %.2f, deviation %.2f: of %d %d are over at first, %d fail\n", s.value, s.limit,
           s.deviation, ALONE, shown, failed);
    CHECK(shown > ALONE / 2, "%g beside %g is over in %d of %d", s.value, s.limit, shown, ALONE);
    CHECK(failed > 0.9 * shown, "%g beside %g, deviation %g, fails in %d of %d", s.value, s.limit,
          s.deviation, failed, shown);
}

static bool one_holds(double figure, double limit)
{
    draws d = {0};
    draws_add(&d, draws_excess(figure, limit));
    return draws_hold(&d);
}

static void some_figures_are_no_chance(void)
{
    CHECK(one_holds(1, 1) && one_holds(0, 0) && one_holds(0, 1), "what is at its limit holds");
    CHECK(!one_holds(1.001, 1) && !one_holds(1e-300, 0), "what is over its limit does not");
    const double never[] = {NAN, INFINITY, DRAWS_GROSS + 1};
    for (int i = 0; i < 3; i++) {
        draws d = {0};
        draws_add(&d, draws_excess(never[i], 1));
        CHECK(!draws_are_open(&d), "%g is drawn again", never[i]);
        for (int draw = 1; draw < DRAWS_MOST; draw++)
            draws_add(&d, draws_excess(0, 1));
        CHECK(!draws_hold(&d), "%g is made up for", never[i]);
    }
    draws slope = {0};
    draws_add(&slope, NAN);
    CHECK(!draws_hold(&slope), "a slope that is NaN holds");
}

static void alike(void *what, uint64_t seed, double *excesses)
{
    int *made = what;
    (void)seed;
    ++*made;
    excesses[0] = excesses[1] = 0.1;
}

/* The one of a case's two figures that is within its limit is left alone. */
static void open_figures_alone_are_drawn_again(void)
{
    int made = 0;
    draws figures[2];
    draws_settle(figures, 2, (const double[]){-0.1, 0.1}, alike, &made, 0);
    CHECK(figures[0].count == 1 && draws_hold(&figures[0]), "a figure within its limit was drawn again");
    CHECK(figures[1].count == DRAWS_FEWEST && !draws_hold(&figures[1]), "draws that are alike: %d",
          figures[1].count);
    CHECK(made == DRAWS_FEWEST - 1, "%d further draws", made);
}

/* An operand has thousands of lines, and each may be drawn of a neighbour of its seed. */
static void seeds_are_far_apart(uint64_t first)
{
    CHECK(draws_seed(first, 0) == first, "the first draw has another seed");
    for (int i = 0; i < DRAWS_MOST; i++)
        for (int j = 0; j < i; j++) {
            const uint64_t difference = draws_seed(first, i) - draws_seed(first, j);
            CHECK(difference > 1 << 20 && -difference > 1 << 20, "draws %d and %d share numbers", i, j);
        }
}

int main(void)
{
    const uint64_t seed = 1;
    check_random random = {.state = seed};
    true_ratios_of_one_pass(&random);
    excesses_fail((source){.value = 1.35, .deviation = 0.35, .limit = 1.25}, &random);
    excesses_fail((source){.value = 1.35, .deviation = 0.15, .limit = 1.25}, &random);
    excesses_fail((source){.value = 1.08, .deviation = 0.04, .limit = 1.03}, &random);
    excesses_fail((source){.value = 1.08, .deviation = 0.02, .limit = 1.03}, &random);
    excesses_fail((source){.value = 1.10, .deviation = 0.02, .limit = 1.00}, &random);
    some_figures_are_no_chance();
    open_figures_alone_are_drawn_again();
    seeds_are_far_apart(seed);
    return check_result();
}
