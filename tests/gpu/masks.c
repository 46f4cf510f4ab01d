/* Masks on C on a device, by every row of the catalog that serves them: a mask is computed, and what lies outside of it keeps
 * its bytes; then the mask of all that was left out, after which C holds the whole product by the oracle of tests/oracle.h.
 * Shapes and diagonals are drawn, so that triangles, trapezoids, nearly empty and nearly full masks are among them; also
 * transpositions, alignments, beta, and operands that tensor cores leave to FP32 arithmetic.
 */
#include "dispatch/plan.h"
#include "lib/device/device.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/gpu/open_device.h"
#include "tests/oracle.h"

#include <string.h>

enum { PRODUCTS = 48 };

/* docs/precision.md: what a family of less accuracy than FP32's may lose. */
#define FAST_ROUNDINGS 8

static matrix draw_matrix(tb_element element, int64_t rows, int64_t columns, bool transposed, bool aligned,
                          check_random *random)
{
    const int64_t length = transposed ? columns : rows, lines = transposed ? rows : columns;
    const int64_t ld = aligned ? (length + 3) / 4 * 4 : length + check_between(random, 0, 3);
    return matrix_make_of(element, length, lines, ld, aligned ? 0 : check_between(random, 0, 3));
}

/* Many lines of tiles, a few steps of k; or a few tiles, as many steps as are shared out to blocks; or anything. */
static void draw_sizes(const tb_kernel *row, int number, check_random *random, product *p)
{
    static const int64_t most_k[] = {60, 300, 1500, 6000};
    if (number % 12 == 0) {
        p->m = 25 * row->tile_m + check_between(random, -9, 9);
        p->n = (number % 24 == 0 ? p->m : 14 * row->tile_n) + check_between(random, -9, 9);
        p->k = check_between(random, 1, 40);
        return;
    }
    p->m = check_between(random, 1, number % 3 ? 300 : 900);
    p->n = number % 4 ? check_between(random, 1, number % 3 ? 300 : 900) : p->m;
    p->k = number % 13 == 0 ? 0 : check_between(random, 1, CHECK_PICK(random, most_k));
}

static product draw_product(const tb_kernel *row, int number, check_random *random)
{
    static const double betas[] = {0, 1, -0.75};
    const bool aligned = row->alignment > 1 || number % 2 == 0;
    product p = {.transpose_a = check_between(random, 0, 1),
                 .transpose_b = check_between(random, 0, 1),
                 .alpha = check_between(random, 0, 1) ? 1 : -0.75,
                 .beta = CHECK_PICK(random, betas),
                 .more_roundings = row->accuracy == TB_ACCURACY_FAST ? FAST_ROUNDINGS : 0};
    draw_sizes(row, number, random, &p);
    const int64_t k = p.k > 0 ? p.k : 1;
    p.a = draw_matrix(row->element, p.m, k, p.transpose_a, aligned, random);
    p.b = draw_matrix(row->element, k, p.n, p.transpose_b, aligned, random);
    p.c = draw_matrix(row->element, p.m, p.n, false, aligned, random);
    matrix_fill(&p.a, MATRIX_UNIFORM, random);
    matrix_fill(&p.b, MATRIX_UNIFORM, random);
    if (p.beta != 0) /* else all of C stays canaries */
        matrix_fill(&p.c, MATRIX_UNIFORM, random);
    if (number % 5 == 0) /* too small for parts */
        matrix_set(&p.a, 0, 0, 0x1p-126);
    return p;
}

/* A lower mask whose diagonal cuts C or just misses it, or the upper one. */
static void draw_mask(tb_product *given, int number, check_random *random)
{
    given->mask = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
    given->diagonal = number % 4 == 0 ? 0 : check_between(random, -given->n - 1, given->m + 1);
}

/* What that mask leaves. */
static tb_product complement_of(const tb_product *given)
{
    tb_product other = *given;
    other.mask = given->mask == TB_LOWER ? TB_UPPER : TB_LOWER;
    other.diagonal += given->mask == TB_LOWER ? -1 : 1;
    return other;
}

static void *on_device(const matrix *matrix)
{
    void *block = arena_allocate(TB_MEMORY_DEVICE, matrix->bytes);
    arena_copy(block, matrix->block, matrix->bytes);
    return block;
}

static tb_product product_of(const product *p, void *a, void *b, void *c)
{
    return tb_gemm(p->c.element == TB_FP64 ? TB_DGEMM : TB_SGEMM, p->transpose_a, p->transpose_b, p->m, p->n,
                   p->k, p->alpha, matrix_start_in(&p->a, a), p->a.ld, matrix_start_in(&p->b, b), p->b.ld,
                   p->beta, matrix_start_in(&p->c, c), p->c.ld);
}

static void launch(tb_stream *stream, const tb_kernel *row, const tb_product *given)
{
    const tb_schedule schedule = tb_make_schedule(row, given, target_of_device(0));
    void *workspace = schedule.workspace > 0 ? arena_allocate(TB_MEMORY_DEVICE, schedule.workspace) : NULL;
    const tb_status status = tb_enqueue_launch(stream, row, given, &schedule, workspace, false);
    CHECK(status == TB_OK && tb_synchronize(stream) == TB_OK, "%s: not launched", row->name);
    if (workspace)
        arena_release(TB_MEMORY_DEVICE, workspace);
}

/* Bytes of C that differ, inside the mask or outside. */
static int64_t count_changes(const tb_product *given, const matrix *before, const matrix *after, bool inside)
{
    const size_t size = tb_bytes_of(before->element);
    const char *x = matrix_start_in(before, before->block), *y = matrix_start_in(after, after->block);
    int64_t changes = 0;
    for (int64_t column = 0; column < given->n; column++)
        for (int64_t row = 0; row < given->m; row++) {
            const bool belongs =
                given->mask == TB_LOWER ? row - column >= given->diagonal : row - column <= given->diagonal;
            const size_t at = (size_t)(row + column * before->ld) * size;
            changes += belongs == inside && memcmp(x + at, y + at, size) != 0;
        }
    return changes;
}

static void check_product(tb_stream *stream, const tb_kernel *row, const product *p, int number,
                          check_random *random)
{
    void *a = on_device(&p->a), *b = on_device(&p->b), *c = on_device(&p->c);
    tb_product given = product_of(p, a, b, c);
    draw_mask(&given, number, random);
    const tb_product other = complement_of(&given);
    matrix once = matrix_clone(&p->c), twice = matrix_clone(&p->c);
    launch(stream, row, &given);
    arena_copy(once.block, c, once.bytes);
    launch(stream, row, &other);
    arena_copy(twice.block, c, twice.bytes);
    char message[256] = "";
    const int64_t outside = count_changes(&given, &p->c, &once, false),
                  again = count_changes(&other, &once, &twice, false);
    const bool holds = product_holds(p, &twice, message, sizeof message);
    CHECK(
        outside == 0 && again == 0 && holds,
        "%s, number %d: %lld x %lld x %lld %c%c, beta %g, %s from %lld: %lld elements outside changed, %lld "
        "by the other mask; %s",
        row->name, number, (long long)p->m, (long long)p->n, (long long)p->k, p->transpose_a ? 'T' : 'N',
        p->transpose_b ? 'T' : 'N', p->beta, given.mask == TB_LOWER ? "lower" : "upper",
        (long long)given.diagonal, (long long)outside, (long long)again, message);
    void *blocks[] = {a, b, c};
    for (int i = 0; i < 3; i++)
        arena_release(TB_MEMORY_DEVICE, blocks[i]);
    matrix_free(&once);
    matrix_free(&twice);
}

static void check_row(tb_stream *stream, const tb_kernel *row, check_random *random)
{
    for (int number = 0; number < PRODUCTS; number++) {
        product p = draw_product(row, number, random);
        check_product(stream, row, &p, number, random);
        matrix *matrices[] = {&p.a, &p.b, &p.c};
        for (int i = 0; i < 3; i++)
            matrix_free(matrices[i]);
    }
}

static bool is_asked_for(const tb_kernel *kernel, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(kernel->name, names[i]) == 0)
            return true;
    return count == 0;
}

/* Arguments name the only rows that are to be tested. */
int main(int argc, char **argv)
{
    tb_device_description description;
    tb_stream *stream = open_device(&description);
    const tb_chip chip = {.architecture = description.architecture,
                          .multiprocessors = description.multiprocessors};
    check_random random = {.state = check_seed()};
    int served = 0;
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *row = &tb_catalog[i];
        tb_product any = tb_gemm(row->element == TB_FP64 ? TB_DGEMM : TB_SGEMM, false, false, 1, 1, 1, 1,
                                 NULL, 1, NULL, 1, 0, NULL, 1);
        any.mask = TB_LOWER;
        if (!is_asked_for(row, argc - 1, argv + 1) || !tb_kernel_serves(row, &any, &chip, true))
            continue;
        check_row(stream, row, &random);
        served++;
    }
    printf("%d rows\n", served);
    tb_destroy_stream(stream);
    return check_result();
}
