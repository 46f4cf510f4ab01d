/* dgemm_crt on a device, by the numbers it is made for and by those that it has to leave to others:
 *
 * - Integers times a power of two for each row of op(A) and column of op(B): C is the exact sum, rounded once, and then alpha and
 *   beta, bit for bit, signs of zeros among them. Sums are longer than a double, so that no other arithmetic gives the same.
 * - Numbers with all bits: the rms error before the last rounding is what docs/precision.md says, in each row and column of C.
 * - Infinities, NaN, numbers beyond the limits: classes are those of a loop of multiply-adds, and errors within its bound.
 *
 * Products come in pairs that share the workspace, and nobody waits between the two. Some share A, too: the second finds what the
 * first has made of it. The workspace does not begin as zeros. Outside of C, and of its mask, bytes stay as they were.
 */
#include "kernels/crt/crt.h"
#include "lib/device/device.h"
#include "tests/check.h"
#include "tests/gpu/crt_lines.h"
#include "tests/gpu/open_device.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

enum { PAIRS = 114, GARBAGE = 0x5b };

/* Multiply-adds on the host for one product, in integers of 128 bits. */
#define VOLUME_MOST      (INT64_C(1) << 23)
#define ROOM             ((size_t)512 << 20)
#define ROUNDOFF         0x1p-53
#define RMS_MOST         0.125 /* 0.10 u d, of which a row or a column is a sample */
#define LEAST_FOR_AN_RMS 40

__extension__ typedef __int128 wide;

/* ---- A product ---------------------------------------------------------------------------------------------- */

typedef struct test {
    const tb_kernel *kernel;
    const family *family; /* of B */
    bool keeps_a;         /* it is that of the launch before */
    lines a, b;
    tb_product given;
    double *before, *after;
    void *device_c;
    size_t bytes_c;
} test;

static wide sum_of(const test *t, int64_t i, int64_t j)
{
    const int64_t *x = t->a.integers + i * t->a.k, *y = t->b.integers + j * t->b.k;
    wide sum = 0;
    for (int64_t l = 0; l < t->a.k; l++)
        sum += (wide)x[l] * y[l];
    return sum;
}

/* The sum, rounded once. */
static double exact_product(const test *t, int64_t i, int64_t j)
{
    return t->given.alpha.re * ldexp((double)sum_of(t, i, j), t->a.exponents[i] + t->b.exponents[j]);
}

static void draw_scalars(test *t, check_random *random)
{
    static const double alphas[] = {1,         1,       1,       -1,       -0.75, 0x1p-1060,
                                    0x1p-1074, DBL_MAX, -0x1p60, INFINITY, NAN},
                        betas[] = {0, 0, 1, 1, -0.75, 0x1p-1074, DBL_MAX, NAN};
    const bool any = t->a.integers;
    t->given.alpha.re = any ? CHECK_PICK(random, alphas) : check_between(random, 0, 1) ? 1 : -0.5;
    t->given.beta.re = any ? CHECK_PICK(random, betas) : 0;
}

/* Where C is added to, some of it takes the product away. */
static void draw_c(test *t, check_random *random)
{
    const int64_t m = t->given.m, n = t->given.n, ld = m + check_between(random, 0, 3);
    t->bytes_c = (size_t)(ld * n) * sizeof(double);
    t->before = must_allocate(t->bytes_c);
    t->after = must_allocate(t->bytes_c);
    t->device_c = arena_allocate(TB_MEMORY_DEVICE, t->bytes_c);
    memset(t->before, 0xff, t->bytes_c);
    for (int64_t j = 0; j < n && t->given.beta.re != 0; j++)
        for (int64_t i = 0; i < m; i++)
            t->before[i + j * ld] = check_between(random, 0, 2) ? normal(random) : -exact_product(t, i, j);
    arena_copy(t->device_c, t->before, t->bytes_c);
    t->given.c.data = t->device_c;
    t->given.c.ld = ld;
}

static void draw_sizes(const family *family, check_random *random, int64_t *m, int64_t *n, int64_t *k)
{
    static const int64_t sides[] = {1, 2, 17, 63, 64, 65, 127, 128, 129, 200, 255, 256, 257, 300},
                         ks[] = {1, 2, 63, 64, 65, 127, 128, 129, 200, 257, 1000, 1025, 1100, 2049, 3000};
    const bool real = family->kind == REALS,
               is_long = family->spread == ONE_LARGE || check_between(random, 0, 2) > 0;
    if (!real &&
        check_between(random, 0, 5) == 0) { /* more tiles of all moduli than the device has multiprocessors */
        *m = check_between(random, 500, 1100);
        *n = check_between(random, 500, 1100);
        *k = check_between(random, 1, 6);
        *k = *k < family->k_most ? *k : family->k_most;
        return;
    }
    do {
        *m = real ? check_between(random, LEAST_FOR_AN_RMS, 50) : CHECK_PICK(random, sides);
        *n = real ? check_between(random, LEAST_FOR_AN_RMS, 50) : CHECK_PICK(random, sides);
        *k = real ? check_between(random, is_long ? 4000 : 300, is_long ? 12000 : 400)
                  : CHECK_PICK(random, ks);
        *k = *k < family->k_most ? *k : family->k_most;
    } while (!real && *m * *n * *k > VOLUME_MOST);
}

/* What is left: B, C and the rest of a product of a, in which B is of another family, maybe. */
static test draw_rest(const tb_kernel *kernel, const family *family, const lines *a, int64_t n,
                      check_random *random)
{
    test t = {.kernel = kernel, .family = family, .a = *a};
    const int64_t m = a->count, k = a->k;
    t.b = draw_lines(family, true, n, k, a->alike, random);
    t.given = tb_gemm(TB_DGEMM, a->along_k, !t.b.along_k, m, n, k, 1, a->device, a->ld, t.b.device, t.b.ld, 0,
                      NULL, m);
    if (family->kind != REALS && check_between(random, 0, 2) == 0) {
        t.given.mask = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
        t.given.diagonal = check_between(random, -n, m);
    }
    draw_scalars(&t, random);
    draw_c(&t, random);
    return t;
}

static test draw_test(const tb_kernel *kernel, const family *family, check_random *random)
{
    int64_t m, n, k;
    draw_sizes(family, random, &m, &n, &k);
    const lines a = draw_lines(family, false, m, k, draw_alike(k, random), random);
    return draw_rest(kernel, family, &a, n, random);
}

/* Whether there is an exact sum, or one of reals that integers take, where A is of a family and B of another. */
static bool goes_with(const family *a, const family *b, int64_t k)
{
    const bool much = a->spread >= 0 && b->spread == ONE_LARGE,
               much_too = b->spread >= 0 && a->spread == ONE_LARGE;
    return a->kind == b->kind && b->k_most >= k && !(a->kind == REALS && (much || much_too));
}

/* The same A, and a B of another family: of reals often the next one, whose magnitudes differ more. */
static test draw_next(const test *first, check_random *random)
{
    const family *own = first->family, *other = own + 1;
    int64_t m, n, k;
    while (other == &families[FAMILIES] || !goes_with(own, other, first->a.k) ||
           (other == own + 1 && check_between(random, 0, 3) == 0))
        other = &families[check_between(random, 0, FAMILIES - 1)];
    do {
        draw_sizes(own, random, &m, &n, &k);
    } while (own->kind != REALS && first->a.count * n * first->a.k > VOLUME_MOST);
    test next = draw_rest(first->kernel, other, &first->a, n, random);
    next.keeps_a = true;
    return next;
}

static void describe(const test *t, char *text, size_t size)
{
    const tb_product *p = &t->given;
    snprintf(text, size, "%s, %s%s: %lld x %lld x %lld %c%c, alpha %g, beta %g, mask %d from %lld",
             t->kernel->name, t->family->name, t->keeps_a ? " again" : "", (long long)p->m, (long long)p->n,
             (long long)p->k, p->a.transposed ? 'T' : 'N', p->b.transposed ? 'T' : 'N', p->alpha.re,
             p->beta.re, (int)p->mask, (long long)p->diagonal);
}

/* ---- What is promised --------------------------------------------------------------------------------------- */

static bool is_same(double x, double y)
{
    return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

static bool is_exact(const test *t, int64_t i, int64_t j, double got)
{
    const double product = exact_product(t, i, j), beta = t->given.beta.re;
    return is_same(got, beta == 0 ? product : fma(beta, t->before[i + j * t->given.c.ld], product));
}

/* The error of C = alpha A B before the last rounding, and d. */
static double excess_of(const test *t, int64_t i, int64_t j, double got, double *magnitude)
{
    const int64_t k = t->a.k;
    const double *x = t->a.reals + i * k, *y = t->b.reals + j * k, alpha = t->given.alpha.re;
    double sum = 0, lost = 0;
    *magnitude = 0;
    for (int64_t l = 0; l < k; l++) {
        const double product = x[l] * y[l], next = sum + product, part = next - sum;
        lost += (sum - (next - part)) + (product - part) + fma(x[l], y[l], -product);
        sum = next;
        *magnitude += fabs(alpha * product);
    }
    const double error = fabs((got - alpha * sum) - alpha * lost);
    return fmax(0, error - ROUNDOFF * fabs(got));
}

/* Of one alpha, a power of two. */
static bool is_as_a_loop(const test *t, int64_t i, int64_t j, double got)
{
    const int64_t k = t->a.k;
    double loop = 0;
    long double sum = 0, magnitude = 0;
    for (int64_t l = 0; l < k; l++) {
        const double x = value_at(&t->a, i, l), y = value_at(&t->b, j, l);
        loop = fma(x, y, loop);
        sum += (long double)x * y;
        magnitude += fabsl((long double)x * y);
    }
    loop *= t->given.alpha.re;
    if (!isfinite(loop))
        return isnan(loop) ? isnan(got) : got == loop;
    const long double room = (long double)(k + 4) * (ROUNDOFF * magnitude + 0x1p-1074L);
    return isfinite(got) && fabsl(got - t->given.alpha.re * sum) <= room;
}

/* Each line's numbers of C are a sample of errors. */
static void errors_are_small(const test *t, const char *text)
{
    const int64_t m = t->given.m, n = t->given.n;
    double *of_row = calloc((size_t)m, sizeof *of_row), *of_column = calloc((size_t)n, sizeof *of_column),
           most = 0;
    if (!of_row || !of_column)
        abort();
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double magnitude;
            const double excess = excess_of(t, i, j, t->after[i + j * t->given.c.ld], &magnitude),
                         relative = excess / (ROUNDOFF * magnitude);
            of_row[i] += relative * relative;
            of_column[j] += relative * relative;
        }
    for (int64_t i = 0; i < m; i++)
        most = fmax(most, of_row[i] / (double)n);
    for (int64_t j = 0; j < n; j++)
        most = fmax(most, of_column[j] / (double)m);
    /* Where one operand has one sign, the errors of a line of the other are all alike: a sample of one. Numbers that differ too much
     * are left to a loop, of which each step may round at the size of the sum. */
    const bool is_positive = fmin(t->a.spread, t->b.spread) == POSITIVE,
               is_native = fmax(t->a.spread, t->b.spread) > 4;
    const double bound = is_native ? sqrt((double)t->a.k) : is_positive ? 4 * RMS_MOST : RMS_MOST;
    CHECK(sqrt(most) <= bound, "%s: rms error %g u d in a row or column", text, sqrt(most));
    free(of_row);
    free(of_column);
}

static void check_elements(test *t, const char *text)
{
    int64_t wrong = 0, first = -1;
    for (int64_t j = 0; j < t->given.n && t->family->kind != REALS; j++) {
        const tb_range rows = tb_masked_rows(&t->given, j);
        for (int64_t i = rows.first; i < rows.first + rows.count; i++) {
            const int64_t at = i + j * t->given.c.ld;
            const bool holds =
                t->a.integers ? is_exact(t, i, j, t->after[at]) : is_as_a_loop(t, i, j, t->after[at]);
            wrong += !holds;
            if (!holds && first < 0)
                first = at;
        }
    }
    const int64_t ld = t->given.c.ld, i = first % ld, j = first / ld;
    CHECK(wrong == 0, "%s: %lld wrong, C(%lld, %lld) = %a, product %a", text, (long long)wrong, (long long)i,
          (long long)j, first >= 0 ? t->after[first] : 0,
          first >= 0 && t->a.integers ? exact_product(t, i, j) : 0);
}

static void check_test(test *t)
{
    char text[256];
    describe(t, text, sizeof text);
    arena_copy(t->after, t->device_c, t->bytes_c);
    check_elements(t, text);
    if (t->family->kind == REALS)
        errors_are_small(t, text);
    for (int64_t j = 0; j < t->given.n; j++) {
        const tb_range rows = tb_masked_rows(&t->given, j);
        if (rows.count > 0)
            memcpy(t->after + rows.first + j * t->given.c.ld, t->before + rows.first + j * t->given.c.ld,
                   (size_t)rows.count * sizeof(double));
    }
    CHECK(memcmp(t->after, t->before, t->bytes_c) == 0, "%s: bytes outside of C have changed", text);
}

static void free_test(test *t)
{
    if (!t->keeps_a)
        free_lines(&t->a);
    free_lines(&t->b);
    arena_release(TB_MEMORY_DEVICE, t->device_c);
    free(t->before);
    free(t->after);
}

/* ---- Pairs -------------------------------------------------------------------------------------------------- */

typedef struct device {
    tb_stream *stream;
    tb_target target;
    void *workspace;
} device;

static void launch(const device *device, const test *t)
{
    const tb_schedule schedule = tb_device.prepare(device->stream, t->kernel, &t->given);
    CHECK(schedule.workspace <= ROOM, "%zu bytes of workspace", schedule.workspace);
    const tb_status status = (t->keeps_a ? tb_device.launch_again : tb_device.launch)(
        device->stream, t->kernel, &t->given, &schedule, device->workspace);
    CHECK(status == TB_OK, "%s: status %d", t->kernel->name, (int)status);
}

static int32_t moduli_most;

static tb_status note_nothing(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher, (void)entry;
    return TB_OK;
}

static tb_status note_launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                             int shared_bytes, const void *argument)
{
    (void)launcher, (void)blocks, (void)threads, (void)shared_bytes;
    if (strstr(entry->symbol, "_survey"))
        moduli_most = ((const tb_crt_arguments *)argument)->moduli_most;
    return TB_OK;
}

static tb_status note_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                               int threads, int shared_bytes, const void *argument)
{
    (void)cluster;
    return note_launch(launcher, entry, blocks, threads, shared_bytes, argument);
}

/* Whether integers may take as many moduli as there are: with fewer, where FP64 units are forecast to be faster, sums would be theirs. */
static bool is_for_integers(const device *device, const test *t)
{
    const tb_launcher noting = {.target = device->target,
                                .load = note_nothing,
                                .launch = note_launch,
                                .launch_clusters = note_clusters};
    const tb_schedule schedule = tb_device.prepare(device->stream, t->kernel, &t->given);
    moduli_most = 0;
    CHECK(t->kernel->launch(&noting, t->kernel, &t->given, &schedule, device->workspace) == TB_OK,
          "%s: not launched", t->kernel->name);
    return moduli_most == TB_CRT_MODULI;
}

static test draw_for_integers(const device *device, const tb_kernel *kernel, const family *family,
                              const test *before, check_random *random)
{
    for (;;) {
        test t = before ? draw_next(before, random) : draw_test(kernel, family, random);
        if (is_for_integers(device, &t))
            return t;
        free_test(&t);
    }
}

static void check_pair(const device *device, const tb_kernel *kernel, int number, check_random *random)
{
    const family *const first = &families[number % FAMILIES],
                        *const other = &families[check_between(random, 0, FAMILIES - 1)];
    const bool keeps_a = first->kind == REALS || check_between(random, 0, 1);
    test pair[2];
    pair[0] = draw_for_integers(device, kernel, first, NULL, random);
    pair[1] = draw_for_integers(device, kernel, other, keeps_a ? &pair[0] : NULL, random);
    for (int i = 0; i < 2; i++)
        launch(device, &pair[i]);
    CHECK(tb_device.synchronize(device->stream) == TB_OK, "%s: the device fails", kernel->name);
    for (int i = 1; i >= 0; i--) {
        check_test(&pair[i]);
        free_test(&pair[i]);
    }
}

/* With arguments, only the rows that they name. */
int main(int argc, char **argv)
{
    tb_device_description description;
    device device = {.stream = open_device(&description)};
    device.target =
        (tb_target){.architecture = description.architecture, .multiprocessors = description.multiprocessors};
    device.workspace = arena_allocate(TB_MEMORY_DEVICE, ROOM);
    check_random random = {.state = check_seed()};
    int rows = 0;
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *kernel = &tb_catalog[i];
        if (!strstr(kernel->name, "_crt_") || !tb_kernel_runs_on(kernel, description.architecture) ||
            (argc > 1 && strcmp(argv[1], kernel->name) != 0))
            continue;
        CHECK(cudaMemset(device.workspace, GARBAGE, ROOM) == cudaSuccess &&
                  cudaDeviceSynchronize() == cudaSuccess,
              "cudaMemset");
        for (int number = 0; number < PAIRS; number++)
            check_pair(&device, kernel, number, &random);
        rows++;
    }
    arena_release(TB_MEMORY_DEVICE, device.workspace);
    tb_device.destroy_stream(device.stream);
    if (rows == 0)
        SKIP("no such kernel here");
    return check_result();
}
