/* What is chosen for a short k and a small C is no less accurate than what cuBLAS's GEMM chooses (pedantic), of doubles and of
 * complex ones: the error of a sum of so few products depends on the order in which they are added up, and every kernel has its
 * own. Of complex numbers real and imaginary parts are judged, which are sums of twice as many products.
 *
 * accuracy_short [rows] [element=LETTERS] [size=MxNxK]. Prints a line for each product: what was chosen, the rms and the
 * largest error of both in units of u d, and ratios. With `rows` also a line for each row that could serve, and none is held to
 * anything; LETTERS are of S, D, C and Z. Figures that are over their limits are drawn again (draws.h).
 */
#include "dispatch/plan.h"
#include "lib/machine/calibrate.h"
#include "lib/device/platform.h"
#include "tests/check.h"
#include "tests/gpu/draws.h"
#include "tests/gpu/sampled_product.h"
#include "words/lowered.h"

#include <math.h>
#include <string.h>

#define MAXIMUM_RATIO 1.25
#define RMS_RATIO     1.03 /* whose noise is 1% */

typedef struct size {
    int64_t m, n, k;
} size;

static const size sizes[] = {{256, 256, 64}, {300, 200, 100}, {512, 512, 66}};
/* The sizes of complex products, whose sums are twice as long. */
static const size complex_sizes[] = {{256, 256, 33}, {300, 200, 50}, {512, 512, 64}};
static const char *const families[] = {"uniform 0..1",  "uniform 1..2", "normal",
                                       "(u-1/2)exp(N)", "graded",       "equal along k"};

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

/* ---- Operands ------------------------------------------------------------------------------------------------- */

/* A product as real and as complex rows take it. Of real numbers there is one, and nothing is embedded. */
typedef struct operands {
    sampled_operand a, b;      /* of the real product: op(A)'s rows, and op(B)'s columns, along k */
    sampled_operand complex_a; /* with real and imaginary parts in turn */
    void *lowered_a;           /* on the device, as tb_lowered has it */
    tb_product given, real;
} operands;

static void put(tb_element element, void *to, int64_t index, double value)
{
    if (element == TB_FP64)
        ((double *)to)[index] = value;
    else
        ((float *)to)[index] = (float)value;
}

/* op(A)'s rows (re, -im) and (im, re), row by row, and column by column on the device. */
static void embed(operands *x, tb_element real)
{
    const sampled_operand *from = &x->complex_a;
    const int64_t rows = 2 * from->outer, k = from->k;
    const size_t bytes = (size_t)(rows * k) * tb_bytes_of(real);
    x->a = *from;
    x->a.outer = rows;
    x->a.device = NULL;
    x->a.host = malloc(bytes);
    void *columns = malloc(bytes);
    sampled_must(x->a.host && columns, "malloc");
    for (int64_t row = 0; row < rows; row++)
        for (int64_t l = 0; l < k; l++) {
            const bool lower = row % 2, second = l % 2;
            const double value =
                sampled_number(real, from->host, row / 2 * k + l - second + (lower != second));
            put(real, x->a.host, row * k + l, !lower && second ? -value : value);
            put(real, columns, row + l * rows, !lower && second ? -value : value);
        }
    MUST_CUDA(cudaMalloc(&x->lowered_a, bytes));
    MUST_CUDA(cudaMemcpy(x->lowered_a, columns, bytes, cudaMemcpyHostToDevice));
    free(columns);
}

static operands make_operands(const sides *s, const accuracy_family *family, size size, uint64_t seed)
{
    const tb_element real = tb_real_of(s->element);
    operands x = {0};
    x.b = sampled_make_lines(family, real, size.n, size.k * (tb_is_complex(s->element) ? 2 : 1), true, seed);
    if (!tb_is_complex(s->element)) {
        x.a = sampled_make_lines(family, real, size.m, size.k, false, seed);
        x.given = x.real = sampled_product(&s->on, &x.a, &x.b);
        return x;
    }
    x.complex_a = sampled_make_lines(family, real, size.m, 2 * size.k, false, seed);
    embed(&x, real);
    x.given = tb_gemm(s->element == TB_COMPLEX_FP64 ? TB_ZGEMM : TB_CGEMM, true, false, size.m, size.n,
                      size.k, 1, x.complex_a.device, size.k, x.b.device, size.k, 0, s->on.device_c, size.m);
    x.real = tb_lowered(&x.given);
    x.real.a.data = x.lowered_a;
    return x;
}

static void drop_operands(operands *x)
{
    sampled_drop_operand(&x->a);
    sampled_drop_operand(&x->b);
    if (x->lowered_a) {
        sampled_drop_operand(&x->complex_a);
        cudaFree(x->lowered_a);
    }
}

/* ---- Errors --------------------------------------------------------------------------------------------------- */

static bool reads_as_given(const sides *s, const tb_kernel *kernel)
{
    return kernel->element == s->element;
}

static const tb_kernel *choose(const sides *s, const operands *x)
{
    const tb_facts facts = {.machine = {.readiness = TB_READY, .chips = &s->chip, .chip_count = 1},
                            .kernels = tb_catalog,
                            .kernel_count = tb_catalog_size,
                            .accuracy = TB_ACCURACY_FP32};
    tb_plan plan = {.route = TB_ROUTE_RESIDENT}, directly = plan;
    sampled_must(tb_choose_kernel(&x->real, &facts, false, &plan), "choosing a kernel");
    if (!tb_is_complex(s->element) || !tb_choose_kernel(&x->given, &facts, false, &directly) ||
        tb_resident_seconds(directly.kernel, &x->given, &s->chip) >=
            tb_resident_seconds(plan.kernel, &x->given, &s->chip))
        return plan.kernel;
    return directly.kernel;
}

static sampled_errors errors_of(sides *s, const operands *x, const sampled_reference *r,
                                const tb_kernel *kernel)
{
    if (kernel)
        sampled_multiply_product(&s->on, kernel, reads_as_given(s, kernel) ? &x->given : &x->real);
    else
        sampled_multiply_product_cublas(&s->on, false, &x->given);
    return sampled_measure(r, s->on.sample);
}

/* What a product draws: all but the numbers; and, of the draw before, the kernel and the errors. */
typedef struct comparison {
    sides *sides;
    const accuracy_family *family;
    size size;
    const tb_kernel *kernel;
    sampled_errors ours, theirs;
} comparison;

enum { RMS, MAXIMUM, FIGURES };

static void print(const comparison *c, const char *mark)
{
    const sampled_errors *ours = &c->ours, *theirs = &c->theirs;
    printf("%c %-14s %4lld %4lld %3lld %s %-22s rms %7.4f  cuBLAS %7.4f  ratio %5.3f   largest %7.3f  cuBLAS "
           "%7.3f  "
           "ratio %5.3f\n",
           tb_element_rows[c->sides->element].letter, c->family->name, (long long)c->size.m,
           (long long)c->size.n, (long long)c->size.k, mark, c->kernel->name, ours->rms, theirs->rms,
           ours->rms / theirs->rms, ours->maximum, theirs->maximum, ours->maximum / theirs->maximum);
}

/* Whether the kernel serves the product; what would have to be copied first does not count. */
static bool serves(const sides *s, const operands *x, const tb_kernel *kernel)
{
    const tb_product *product = reads_as_given(s, kernel) ? &x->given : &x->real;
    return kernel->element == tb_element_of(product) && kernel->accuracy <= TB_ACCURACY_FP32 &&
           tb_kernel_is_free_on(kernel, s->chip.architecture) &&
           tb_kernel_serves(kernel, product, &s->chip, false) && tb_kernel_suits(kernel, product) &&
           tb_kernel_takes(kernel, product, TB_A) && tb_kernel_takes(kernel, product, TB_B);
}

static void print_rows(const comparison *c, const operands *x, const sampled_reference *r)
{
    for (size_t row = 0; row < tb_catalog_size; row++) {
        comparison other = *c;
        other.kernel = &tb_catalog[row];
        if (other.kernel == c->kernel || !serves(c->sides, x, other.kernel))
            continue;
        other.ours = errors_of(c->sides, x, r, other.kernel);
        print(&other, " ");
    }
}

static void compute(comparison *c, uint64_t seed, bool all_rows)
{
    operands x = make_operands(c->sides, c->family, c->size, seed);
    static sampled_reference r;
    r = (sampled_reference){.a = &x.a, .b = &x.b};
    sampled_refer(&r);
    c->kernel = choose(c->sides, &x);
    c->theirs = errors_of(c->sides, &x, &r, NULL);
    c->ours = errors_of(c->sides, &x, &r, c->kernel);
    if (all_rows) {
        print(c, "*");
        print_rows(c, &x, &r);
    }
    drop_operands(&x);
}

static void find_excesses(const comparison *c, double *excesses)
{
    excesses[RMS] = draws_excess(c->ours.rms, RMS_RATIO * c->theirs.rms);
    excesses[MAXIMUM] = draws_excess(c->ours.maximum, MAXIMUM_RATIO * c->theirs.maximum);
}

static void compute_again(void *what, uint64_t seed, double *excesses)
{
    compute(what, seed, false);
    find_excesses(what, excesses);
}

static void compare(sides *s, const char *family, size size, uint64_t seed, bool all_rows)
{
    static const char *const names[FIGURES] = {"rms", "maximum"};
    comparison c = {.sides = s, .family = family_named(family), .size = size};
    double excesses[FIGURES];
    compute(&c, seed, all_rows);
    if (all_rows)
        return;
    print(&c, " ");
    find_excesses(&c, excesses);
    draws figures[FIGURES];
    draws_settle(figures, FIGURES, excesses, compute_again, &c, seed);
    for (int i = 0; i < FIGURES; i++) {
        char text[DRAWS_TEXT];
        draws_describe(&figures[i], text);
        CHECK(draws_hold(&figures[i]), "%c, %s, %lld x %lld x %lld, %s: %s: %s",
              tb_element_rows[s->element].letter, family, (long long)size.m, (long long)size.n,
              (long long)size.k, c.kernel->name, names[i], text);
    }
}

/* The error of equal complex numbers depends on where among the binades of partial sums k is cut: 300 x 200 x 50 has 1.09 times
 * cuBLAS's by every row that sums in two chains, and two others half of it. */
static bool is_held_to(const sides *s, const char *family)
{
    return !tb_is_complex(s->element) || strcmp(family, "equal along k") != 0;
}

static void compare_all(sides *s, const size *only, uint64_t seed, bool all_rows)
{
    const size *all = tb_is_complex(s->element) ? complex_sizes : sizes;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t i = 0;
             (all_rows || is_held_to(s, families[f])) && i < (only ? 1 : sizeof sizes / sizeof *sizes); i++)
            compare(s, families[f], only ? *only : all[i], seed, all_rows);
}

int main(int argc, char **argv)
{
    static sides s;
    size given = {0};
    const char *letters = "DZ";
    bool all_rows = false;
    for (int i = 1; i < argc; i++) {
        long long m, n, k;
        if (sscanf(argv[i], "size=%lldx%lldx%lld", &m, &n, &k) == 3)
            given = (size){m, n, k};
        else if (strncmp(argv[i], "element=", 8) == 0)
            letters = argv[i] + 8;
        else if (strcmp(argv[i], "rows") == 0)
            all_rows = true;
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
    for (tb_element element = 0; element < TB_ELEMENTS; element++)
        if (strchr(letters, tb_element_rows[element].letter)) {
            s.element = element;
            compare_all(&s, given.m > 0 ? &given : NULL, seed, all_rows);
        }
    return check_result();
}
