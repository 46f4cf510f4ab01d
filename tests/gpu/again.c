/* What a kernel has made of A serves the next launches, with B of other widths, or with A's own transpose as
 * B: each result against the oracle of tests/oracle.h. Numbers that a family leaves to FP32 arithmetic, or
 * splits otherwise, lie in A, in one of the B, in both or in neither.
 */
#include "kernels/catalog.h"
#include "lib/device/device.h"
#include "dispatch/plan.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/gpu/open_device.h"
#include "tests/oracle.h"

#include <math.h>

enum { LAUNCHES = 4, K_MOST = 1500 };

/* Most kernels keep nothing of A. */
enum { ROUNDS = 1, SPLIT_ROUNDS = 8 };

/* docs/precision.md: what a family of less accuracy than FP32's may lose. */
#define FAST_ROUNDINGS 8

static matrix draw_matrix(tb_element element, int64_t rows, int64_t columns, bool transposed,
                          check_random *random)
{
    const int64_t length = transposed ? columns : rows, lines = transposed ? rows : columns;
    matrix drawn = matrix_make_of(element, length, lines, (length + 3) / 4 * 4, 0);
    matrix_fill(&drawn, MATRIX_UNIFORM, random);
    return drawn;
}

/* An infinity, or a number whose parts would be subnormal. */
static void spoil(matrix *matrix, check_random *random)
{
    const double smallest = matrix->element == TB_FP64 ? 0x1p-1022 : 0x1p-126;
    matrix_set(matrix, check_between(random, 0, matrix->lines - 1), 0,
               check_between(random, 0, 1) ? (double)INFINITY : smallest);
}

static void *on_device(const matrix *matrix)
{
    void *block = arena_allocate(TB_MEMORY_DEVICE, matrix->bytes);
    arena_copy(block, matrix->block, matrix->bytes);
    return block;
}

/* Numbers of magnitudes that differ too much for parts of FP16. */
static void widen(matrix *matrix, check_random *random)
{
    for (int64_t line = 0; line < matrix->lines; line++)
        for (int64_t i = 0; i < matrix->length; i++)
            matrix_set(matrix, line, i,
                       ldexp((double)check_uniform(random), -(int)check_between(random, 0, 40)));
}

static void perhaps_change(matrix *matrix, check_random *random)
{
    const int64_t choice = check_between(random, 0, 7);
    if (choice < 2)
        spoil(matrix, random);
    else if (choice < 4)
        widen(matrix, random);
}

/* Products of one A with several B, and their operands on the device. */
typedef struct series {
    product products[LAUNCHES];
    tb_product launched[LAUNCHES]; /* the same, as kernels are given them */
    tb_schedule schedules[LAUNCHES];
    void *a, *b[LAUNCHES], *c[LAUNCHES], *workspace;
} series;

static series make_series(const tb_kernel *kernel, check_random *random)
{
    static const float scalars[] = {0, 1, -0.75f};
    series s = {.workspace = NULL};
    const product first = {.transpose_a = check_between(random, 0, 1),
                           .m = check_between(random, 1, 700),
                           .k = check_between(random, 1, K_MOST),
                           .more_roundings = kernel->accuracy == TB_ACCURACY_FAST ? FAST_ROUNDINGS : 0};
    matrix a = draw_matrix(kernel->element, first.m, first.k, first.transpose_a, random);
    perhaps_change(&a, random);
    s.a = on_device(&a);
    size_t bytes = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        product *p = &s.products[i];
        *p = first;
        const bool is_a = check_between(random, 0, 3) == 0;
        p->transpose_b = is_a ? !p->transpose_a : check_between(random, 0, 1);
        p->n = is_a ? p->m : check_between(random, 1, 900);
        p->alpha = scalars[check_between(random, 1, 2)];
        p->beta = scalars[check_between(random, 0, 2)];
        p->a = a;
        p->b = is_a ? a : draw_matrix(kernel->element, p->k, p->n, p->transpose_b, random);
        p->c = draw_matrix(kernel->element, p->m, p->n, false, random);
        if (!is_a)
            perhaps_change(&p->b, random);
        s.b[i] = is_a ? s.a : on_device(&p->b);
        s.c[i] = on_device(&p->c);
        s.launched[i] = product_on_device(p, s.a, s.b[i], s.c[i]);
        s.schedules[i] = tb_make_schedule(kernel, &s.launched[i], target_of_device(0));
        const size_t needed = s.schedules[i].workspace;
        bytes = needed > bytes ? needed : bytes;
    }
    s.workspace = bytes > 0 ? arena_allocate(TB_MEMORY_DEVICE, bytes) : NULL;
    return s;
}

static void release_series(series *s)
{
    for (int i = 0; i < LAUNCHES; i++) {
        if (s->b[i] != s->a) {
            arena_release(TB_MEMORY_DEVICE, s->b[i]);
            matrix_free(&s->products[i].b);
        }
        arena_release(TB_MEMORY_DEVICE, s->c[i]);
        matrix_free(&s->products[i].c);
    }
    arena_release(TB_MEMORY_DEVICE, s->a);
    if (s->workspace)
        arena_release(TB_MEMORY_DEVICE, s->workspace);
    matrix_free(&s->products[0].a);
}

static void check_series(tb_stream *stream, const tb_kernel *kernel, check_random *random)
{
    series s = make_series(kernel, random);
    for (int i = 0; i < LAUNCHES; i++) {
        const tb_status status =
            tb_enqueue_launch(stream, kernel, &s.launched[i], &s.schedules[i], s.workspace, i > 0);
        CHECK(status == TB_OK, "%s: launch %d: status %d", kernel->name, i, status);
    }
    CHECK(tb_synchronize(stream) == TB_OK, "%s: not finished", kernel->name);
    for (int i = 0; i < LAUNCHES; i++) {
        const product *p = &s.products[i];
        matrix result = matrix_clone(&p->c);
        char message[256];
        arena_copy(result.block, s.c[i], result.bytes);
        CHECK(product_holds(p, &result, message, sizeof message),
              "%s, launch %d: %lld x %lld x %lld %c%c, beta %g: %s", kernel->name, i, (long long)p->m,
              (long long)p->n, (long long)p->k, p->transpose_a ? 'T' : 'N', p->transpose_b ? 'T' : 'N',
              p->beta, message);
        matrix_free(&result);
    }
    release_series(&s);
}

int main(void)
{
    tb_device_description description;
    tb_stream *stream = open_device(&description);
    check_random random = {.state = check_seed()};
    int kernels = 0;
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *kernel = &tb_catalog[i];
        const bool is_rung = kernel->k_limit > 0 && kernel->element == TB_FP32; /* of the ladder */
        if (!tb_kernel_runs_on(kernel, description.architecture) || is_rung || kernel->short_side > 0 ||
            kernel->reads != TB_READS_PLAIN)
            continue;
        kernels++;
        const int rounds = kernel->accuracy == TB_ACCURACY_IEEE ? ROUNDS : SPLIT_ROUNDS;
        for (int round = 0; round < rounds; round++)
            check_series(stream, kernel, &random);
    }
    CHECK(kernels > 0, "no kernel ran");
    tb_destroy_stream(stream);
    return check_result();
}
