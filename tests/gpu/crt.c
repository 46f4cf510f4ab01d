/* dgemm_crt on a device, by the numbers it is made for and by those that it has to leave to others:
 *
 * - Integers times a power of two for each row of op(A) and column of op(B): C is the exact sum, rounded once, and then alpha and
 *   beta, bit for bit, signs of zeros among them. Sums are longer than a double, so that no other arithmetic gives the same.
 * - Numbers with all bits: the error before the last rounding is what docs/precision.md says, the rms of each row and column of C
 * and
 *   the largest. Most of their sums nearly cancel, so that the last rounding does not hide it.
 * - Infinities, NaN, numbers beyond the limits: classes are those of a loop of multiply-adds, and errors within its bound.
 *
 * Some products are of complex numbers, embedded as they are lowered (words/lowered.h); some have one matrix for A and B, turned
 * or not.
 *
 * Products come in pairs that share the workspace, and nobody waits between the two. Some share A, too: the second finds what the
 * first has made of it. The workspace does not begin as zeros. Outside of C, and of its mask, bytes stay as they were.
 */
#include "kernels/crt/crt.h"
#include "lib/device/device.h"
#include "tests/check.h"
#include "tests/gpu/crt_promises.h"
#include "tests/gpu/open_device.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

enum { PAIRS = 132, LONG_PAIRS = 12000, GARBAGE = 0x5b };

/* Multiply-adds on the host for one product, in integers of 128 bits. */
#define VOLUME_MOST      (INT64_C(1) << 23)
#define ROOM             ((size_t)1 << 30)
#define LEAST_FOR_AN_RMS 40

/* ---- A product ---------------------------------------------------------------------------------------------- */

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

/* Steps of k of reals. Numbers of nearly one magnitude are rounded only where there are so many that quanta are twice their last
 * bits. */
static int64_t draw_long(const family *family, bool is_long, check_random *random)
{
    if (!is_long)
        return check_between(random, 300, 400);
    return family->spread == ALIKE || family->spread == REPEATED ? check_between(random, 60000, TB_CRT_K_MOST)
                                                                 : check_between(random, 4000, LONG_PAIRS);
}

static void draw_sizes(const family *family, check_random *random, int64_t *m, int64_t *n, int64_t *k)
{
    static const int64_t sides[] = {1, 2, 17, 63, 64, 65, 127, 128, 129, 200, 255, 256, 257, 300},
                         ks[] = {1,   2,   63,   64,   65,   127,  128,  129,
                                 200, 257, 1000, 1025, 1100, 2049, 3000, 4096};
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
        *k = real ? draw_long(family, is_long, random) : CHECK_PICK(random, ks);
        if (family->shifted == NEAR) /* a larger share of u d would let these be rounded */
            *k = check_between(random, 2500, family->k_most);
        *k = *k < family->k_most ? *k : family->k_most;
    } while (!real && *m * *n * *k > VOLUME_MOST);
}

/* B, where it is A's matrix. */
static lines turn_lines(const lines *a)
{
    lines b = *a;
    const size_t bytes = (size_t)(a->count * a->k) * sizeof(double);
    b.along_k = !a->along_k;
    b.integers = must_allocate(bytes);
    for (int64_t line = 0; line < a->count; line++)
        for (int64_t l = 0; l < a->k; l++)
            b.integers[line * a->k + l] = a->integers[l * a->k + line];
    return b;
}

/* C and the rest of a product. */
static void draw_rest(test *t, int64_t n, check_random *random)
{
    const lines *a = &t->a;
    const int64_t m = a->count, k = a->k;
    t->given = tb_gemm(TB_DGEMM, a->along_k, !t->b.along_k, m, n, k, 1, a->device, a->ld, t->b.device,
                       t->b.ld, 0, NULL, m);
    t->given.expanded[TB_A].embedded = a->embedded;
    if (t->family->kind != REALS && check_between(random, 0, 2) == 0) {
        t->given.mask = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
        t->given.mask_pairs = a->embedded;
        t->given.diagonal = check_between(random, -n, a->embedded ? m / 2 : m);
    }
    draw_scalars(t, random);
    draw_c(t, random);
}

/* One matrix for A and B. Turned, it is square, and of integers without powers of two. */
static bool draw_one_operand(test *t, const family *family, bool turned, int64_t m, int64_t k,
                             check_random *random)
{
    struct family own = *family;
    if (turned) {
        own.exponents = 0;
        k = m;
    }
    if ((own.kind != REALS && m * m * k > VOLUME_MOST) || k > own.k_most || (turned && own.kind != INTEGERS))
        return false;
    t->same = true;
    t->a = draw_lines(&own, NULL, false, m, k, random);
    t->b = turned ? turn_lines(&t->a) : t->a;
    draw_rest(t, m, random);
    return true;
}

/* Whether there is an exact sum, or one of reals that integers take, where A is of a family and B of another. */
static bool goes_with(const family *a, const family *b, int64_t k)
{
    const bool much = a->spread >= 0 && b->spread == ONE_LARGE,
               much_too = b->spread >= 0 && a->spread == ONE_LARGE;
    return a->kind == b->kind && b->k_most >= k && !(a->kind == REALS && (much || much_too));
}

/* Now and then an A of reals that integers take gets a B that they do not take: for the launch behind it A is to be surveyed
 * again. */
static const family *draw_family_of_b(const family *of_a, int64_t k, check_random *random)
{
    const family *wide = of_a;
    for (int i = 0; i < FAMILIES; i++)
        if (families[i].kind == REALS && families[i].spread > wide->spread)
            wide = &families[i];
    return goes_with(of_a, wide, k) && check_between(random, 0, 2) == 0 ? wide : of_a;
}

static test draw_test(const tb_kernel *kernel, const family *family, check_random *random)
{
    test t = {.kernel = kernel, .family = family};
    int64_t m, n, k;
    draw_sizes(family, random, &m, &n, &k);
    const int shape = (int)check_between(random, 0, 5);
    if (shape < 2 && draw_one_operand(&t, family, shape == 0, m, k, random))
        return t;
    const bool embedded = shape < 4 && k > 1 && k <= LONG_PAIRS;
    t.a =
        draw_lines(family, NULL, embedded, embedded ? (m + 1) / 2 : m, embedded && k % 2 ? k + 1 : k, random);
    t.family = draw_family_of_b(family, t.a.k, random);
    t.b = draw_lines(t.family, &t.a, embedded, n, t.a.k, random);
    draw_rest(&t, n, random);
    return t;
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
    test next = {.kernel = first->kernel, .family = other, .keeps_a = true, .a = first->a};
    next.b = draw_lines(other, &first->a, first->a.embedded, n, first->a.k, random);
    draw_rest(&next, n, random);
    return next;
}

static void free_test(test *t)
{
    if (!t->same)
        free_lines(&t->b);
    else if (t->b.integers != t->a.integers)
        free(t->b.integers);
    if (!t->keeps_a)
        free_lines(&t->a);
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
    const tb_schedule schedule = tb_make_schedule(t->kernel, &t->given, target_of_device(0));
    CHECK(schedule.workspace <= ROOM, "%zu bytes of workspace", schedule.workspace);
    const tb_status status =
        tb_enqueue_launch(device->stream, t->kernel, &t->given, &schedule, device->workspace, t->keeps_a);
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

/* Whether integers may take as many moduli as there are: with fewer, where FP64 units are forecast to be faster, sums would be
 * theirs. */
static bool is_for_integers(const device *device, const test *t)
{
    const tb_launcher noting = {.target = device->target,
                                .load = note_nothing,
                                .launch = note_launch,
                                .launch_clusters = note_clusters};
    const tb_schedule schedule = tb_make_schedule(t->kernel, &t->given, target_of_device(0));
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
    kept kept = {0};
    for (int i = 0; i < 2; i++) {
        test *t = &pair[i];
        if (t->family->kind == REALS)
            t->promise = decide(&t->a, &t->b, t->keeps_a, t->same && t->b.along_k == t->a.along_k, &kept);
        launch(device, t);
    }
    CHECK(tb_synchronize(device->stream) == TB_OK, "%s: the device fails", kernel->name);
    for (int i = 1; i >= 0; i--) {
        check_test(&pair[i]);
        free_test(&pair[i]);
    }
}

/* Arguments name the only rows that are to be tested. */
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
    tb_destroy_stream(device.stream);
    if (rows == 0)
        SKIP("no such kernel here");
    return check_result();
}
