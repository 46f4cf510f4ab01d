/* Products one of whose operands is known to be a triangle written out with zeros, by every row of the catalog that serves them,
 * of both operands and triangles, all transpositions, and orders that fill tiles and miss them; the triangle of single numbers,
 * or of blocks of 2 x 2 or, of B, 2 x 1. C is held against the oracle (tests/oracle.h), which multiplies the zeros too. Where
 * FP64 rows forecast that they leave out steps of k, they have to: the other operand is NaN there. Rows of accuracy fast are held
 * against their own promise where that is less (docs/precision.md).
 */
#include "dispatch/plan.h"
#include "kernels/launch.h"
#include "tests/gpu/open_device.h"

#include <math.h>
#include <string.h>

enum { PRODUCTS = 64 };

/* docs/precision.md: what a family of less accuracy than FP32's may lose; and, for each step of k, a share of the largest
 * magnitudes of an element's row of A and column of B. */
#define FAST_ROUNDINGS 8
#define FAST_FLOOR     0x1p-39

/* Half of the last bit of FP32, and its smallest number. */
#define ROUNDOFF 0x1p-24
#define SMALLEST 0x1p-149

/* What is known of a product: which operand is a triangle, the lower or the upper one. */
typedef struct known {
    bool left, lower;
    int rows, columns; /* of a block of it; B may have pairs of rows */
} known;

static bool is_zero(const known *known, int64_t row, int64_t column)
{
    const int64_t below = row / known->rows - column / known->columns;
    return known->lower ? below < 0 : below > 0;
}

static tb_product with_zeros(tb_product product, const known *known)
{
    *(known->left ? &product.a_nonzero : &product.b_nonzero) = known->lower ? TB_LOWER : TB_UPPER;
    product.b_nonzero_pairs = known->rows > known->columns;
    return product;
}

static void launch(tb_stream *stream, const tb_kernel *row, const tb_product *given, void *workspace)
{
    const tb_schedule schedule = tb_make_schedule(row, given, target_of_device(0));
    CHECK(tb_enqueue_launch(stream, row, given, &schedule, workspace, false) == TB_OK, "%s: not launched",
          row->name);
}

/* ---- Numbers ---------------------------------------------------------------------------------------------- */

static matrix draw_matrix(tb_element element, int64_t rows, int64_t columns, bool transposed, bool aligned,
                          check_random *random)
{
    const int64_t length = transposed ? columns : rows, lines = transposed ? rows : columns;
    const int64_t ld = aligned ? (length + 3) / 4 * 4 : length + check_between(random, 0, 3);
    return matrix_make_of(element, length, lines, ld, aligned ? 0 : check_between(random, 0, 3));
}

/* Element (row, column) of op(X). */
static void set_of(const matrix *x, bool transposed, int64_t row, int64_t column, double value)
{
    matrix_set(x, transposed ? row : column, transposed ? column : row, value);
}

/* Whole numbers of tiles, or a little more; a few tiles, or many lines of them. */
static int64_t draw_extent(int64_t tile, check_random *random)
{
    const int64_t kind = check_between(random, 0, 15);
    if (kind < 4)
        return tile * check_between(random, 1, kind == 0 ? 20 : 5) + 2 * (kind % 2);
    return 2 * check_between(random, 1, kind < 12 ? 150 : 500);
}

/* One of A's numbers is too small for parts. */
static bool has_tiny(int number)
{
    return number % 7 == 0;
}

static product draw_product(const tb_kernel *row, const known *known, int number, check_random *random)
{
    static const double betas[] = {0, 0, 1, -0.75};
    const bool aligned = check_between(random, 0, 1);
    product p = {.transpose_a = number / 4 % 2,
                 .transpose_b = number / 8 % 2,
                 .m = draw_extent(row->tile_m, random),
                 .n = draw_extent(row->tile_n, random),
                 .alpha = check_between(random, 0, 1) ? 1 : -0.75,
                 .beta = CHECK_PICK(random, betas),
                 .more_roundings = row->accuracy == TB_ACCURACY_FAST ? FAST_ROUNDINGS : 0};
    p.k = known->left ? p.m : p.n * known->rows / known->columns;
    p.a = draw_matrix(row->element, p.m, p.k, p.transpose_a, aligned, random);
    p.b = draw_matrix(row->element, p.k, p.n, p.transpose_b, aligned, random);
    p.c = draw_matrix(row->element, p.m, p.n, false, aligned, random);
    matrix_fill(&p.a, MATRIX_UNIFORM, random);
    matrix_fill(&p.b, MATRIX_UNIFORM, random);
    if (p.beta != 0) /* else all of C stays canaries */
        matrix_fill(&p.c, MATRIX_UNIFORM, random);
    for (int64_t i = 0; i < p.k; i++)
        for (int64_t j = 0; j < (known->left ? p.k : p.n); j++)
            if (is_zero(known, i, j))
                set_of(known->left ? &p.a : &p.b, known->left ? p.transpose_a : p.transpose_b, i, j, 0);
    if (has_tiny(number))
        set_of(&p.a, p.transpose_a, 0, 0, 0x1p-126);
    return p;
}

static void *on_device(const matrix *matrix)
{
    void *block = arena_allocate(TB_MEMORY_DEVICE, matrix->bytes);
    arena_copy(block, matrix->block, matrix->bytes);
    return block;
}

/* C, as the row computes it. */
static matrix compute(tb_stream *stream, const tb_kernel *row, const product *p, const known *known)
{
    void *a = on_device(&p->a), *b = on_device(&p->b), *c = on_device(&p->c);
    const tb_product given = with_zeros(product_on_device(p, a, b, c), known);
    const size_t bytes = tb_make_schedule(row, &given, target_of_device(0)).workspace;
    void *workspace = bytes > 0 ? arena_allocate(TB_MEMORY_DEVICE, bytes) : NULL;
    matrix after = matrix_clone(&p->c);
    launch(stream, row, &given, workspace);
    CHECK(tb_synchronize(stream) == TB_OK, "%s: the device fails", row->name);
    arena_copy(after.block, c, after.bytes);
    void *blocks[] = {a, b, c, workspace};
    for (int i = 0; i < 4; i++)
        if (blocks[i])
            arena_release(TB_MEMORY_DEVICE, blocks[i]);
    return after;
}

/* ---- What a fast row does not promise --------------------------------------------------------------------- */

/* Element (row, column) of op(X), of floats. */
static double number_of(const matrix *x, bool transposed, int64_t row, int64_t column)
{
    return matrix_elements(x)[(transposed ? row : column) * x->ld + (transposed ? column : row)];
}

/* An element of C: what it is in double, the sum d of its terms' magnitudes, and what of these the promise adds to d's share. */
typedef struct element {
    double expected, magnitude, floor;
} element;

static element element_of(const product *p, int64_t i, int64_t j)
{
    double sum = 0, magnitude = 0, largest_a = 0, largest_b = 0;
    for (int64_t l = 0; l < p->k; l++) {
        const double a = number_of(&p->a, p->transpose_a, i, l), b = number_of(&p->b, p->transpose_b, l, j);
        sum += a * b;
        magnitude += fabs(a * b);
        largest_a = fmax(largest_a, fabs(a));
        largest_b = fmax(largest_b, fabs(b));
    }
    const double before = p->beta == 0 ? 0 : p->beta * number_of(&p->c, false, i, j);
    return (element){.expected = p->alpha * sum + before,
                     .magnitude = fabs(p->alpha) * magnitude + fabs(before),
                     .floor = FAST_FLOOR * (double)p->k * fabs(p->alpha) * largest_a * largest_b};
}

/* A fast row scales each row of A by its largest number. The number that is too small for parts is lost beside larger ones, and
 * with it an element of C that has no other term, as the zeros leave it in B's first column. The oracle knows of no such
 * loss: elements of this row of A for which the promise allows more than the oracle does are held against the promise here,
 * and left out there. */
static void hold_to_promise(const product *p, matrix *after)
{
    for (int64_t j = 0; j < p->n; j++) {
        const element element = element_of(p, 0, j);
        const double allowed =
                         (double)(p->k + 3 + FAST_ROUNDINGS) * (ROUNDOFF * element.magnitude + SMALLEST),
                     got = number_of(after, false, 0, j);
        if (element.floor <= allowed)
            continue;
        CHECK(fabs(got - element.expected) <= allowed + element.floor,
              "C(0, %lld) is %.9g, not %.9g: beyond %g", (long long)j, got, element.expected,
              allowed + element.floor);
        matrix_set(after, j, 0, element.expected);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------------------- */

static void free_product(product *p)
{
    matrix *matrices[] = {&p->a, &p->b, &p->c};
    for (int i = 0; i < 3; i++)
        matrix_free(matrices[i]);
}

static void describe(const product *p, const known *known, char *text, size_t size)
{
    snprintf(text, size, "%lld x %lld x %lld %c%c, beta %g, %s is %s in blocks of %d x %d", (long long)p->m,
             (long long)p->n, (long long)p->k, p->transpose_a ? 'T' : 'N', p->transpose_b ? 'T' : 'N',
             p->beta, known->left ? "A" : "B", known->lower ? "lower" : "upper", known->rows, known->columns);
}

static void check_row(tb_stream *stream, const tb_kernel *row, check_random *random)
{
    for (int number = 0; number < PRODUCTS; number++) {
        const bool left = number % 2, pairs = !left && number % 5 == 0, blocks = pairs || number % 3 == 0;
        const known known = {.left = left,
                             .lower = number / 2 % 2,
                             .rows = blocks ? 2 : 1,
                             .columns = blocks && !pairs ? 2 : 1};
        char text[256], message[256] = "";
        product p = draw_product(row, &known, number, random);
        matrix after = compute(stream, row, &p, &known);
        if (row->accuracy == TB_ACCURACY_FAST && has_tiny(number))
            hold_to_promise(&p, &after);
        const bool holds = product_holds(&p, &after, message, sizeof message);
        describe(&p, &known, text, sizeof text);
        CHECK(holds, "%s, number %d: %s: %s", row->name, number, text, message);
        matrix_free(&after);
        free_product(&p);
    }
}

/* W is NaN where it meets zeros alone from the middle on, or before it. What lies more than a tile and a step away from there is
 * computed without. */
static void steps_are_left_out(tb_stream *stream, const tb_kernel *row, check_random *random)
{
    enum { ORDER = 1200, OTHER = 300, MIDDLE = 600, AWAY = 300 };
    for (int kind = 0; kind < 4; kind++) {
        const known known = {.left = kind % 2, .lower = kind / 2, .rows = 1, .columns = 1};
        const int64_t m = known.left ? ORDER : OTHER, n = known.left ? OTHER : ORDER;
        product p = {.m = m, .n = n, .k = ORDER, .alpha = 1};
        p.a = draw_matrix(row->element, m, ORDER, false, true, random);
        p.b = draw_matrix(row->element, ORDER, n, false, true, random);
        p.c = draw_matrix(row->element, m, n, false, true, random);
        matrix_fill(&p.a, MATRIX_UNIFORM, random);
        matrix_fill(&p.b, MATRIX_UNIFORM, random);
        for (int64_t i = 0; i < ORDER; i++)
            for (int64_t j = 0; j < ORDER; j++)
                if (is_zero(&known, i, j))
                    set_of(known.left ? &p.a : &p.b, false, i, j, 0);
        /* Lines before the middle need the steps before them, or those behind it the steps behind. */
        const bool first_half = known.left == known.lower;
        for (int64_t step = 0; step < ORDER; step++)
            for (int64_t i = 0; i < OTHER; i++)
                if ((step < MIDDLE) != first_half)
                    set_of(known.left ? &p.b : &p.a, false, known.left ? step : i, known.left ? i : step,
                           NAN);
        matrix after = compute(stream, row, &p, &known);
        const double *c = matrix_start_in(&after, after.block);
        int64_t wrong = 0;
        for (int64_t line = first_half ? 0 : MIDDLE + AWAY; line < (first_half ? MIDDLE - AWAY : ORDER);
             line++)
            for (int64_t i = 0; i < OTHER; i++)
                wrong += isnan(c[known.left ? line + i * after.ld : i + line * after.ld]);
        CHECK(wrong == 0, "%s: %s %s: %lld elements depend on what meets zeros alone", row->name,
              known.left ? "A" : "B", known.lower ? "lower" : "upper", (long long)wrong);
        matrix_free(&after);
        free_product(&p);
    }
}

/* A product of so many in which the row's forecast is less for what is known. */
static bool leaves_out(const tb_kernel *row, tb_target target)
{
    const tb_product whole = tb_gemm(row->element == TB_FP64 ? TB_DGEMM : TB_SGEMM, false, false, 4096, 4096,
                                     4096, 1, NULL, 4096, NULL, 4096, 0, NULL, 4096);
    const tb_product known = with_zeros(whole, &(struct known){.left = true, .lower = true});
    return row->prepare &&
           tb_prepare(row, &known, target).clocks < 0.8 * tb_prepare(row, &whole, target).clocks;
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
    tb_chip chip = {.architecture = description.architecture,
                    .multiprocessors = description.multiprocessors,
                    .clock = 1e3 * description.clock_khz,
                    .memory_rate = description.memory_bytes_per_second};
    chip.memory_bytes_a_clock = tb_memory_bytes_a_clock(tb_target_of(&chip), chip.clock, chip.memory_rate);
    check_random random = {.state = check_seed()};
    int served = 0, shorter = 0;
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *row = &tb_catalog[i];
        const tb_product any = tb_gemm(row->element == TB_FP64 ? TB_DGEMM : TB_SGEMM, false, false, 1, 1, 1,
                                       1, NULL, 1, NULL, 1, 0, NULL, 1);
        if (row->k_limit > 0 || row->alignment > 1 || !is_asked_for(row, argc - 1, argv + 1) ||
            !tb_kernel_serves(row, &any, &chip, true))
            continue;
        check_row(stream, row, &random);
        served++;
        if (!leaves_out(row, tb_target_of(&chip)))
            continue;
        shorter++;
        if (row->element == TB_FP64) /* FP32's are computed otherwise where there are NaNs */
            steps_are_left_out(stream, row, &random);
    }
    printf("%d rows, %d of them leave out steps\n", served, shorter);
    CHECK(argc > 1 || shorter > 0, "no row leaves out steps of k");
    tb_destroy_stream(stream);
    return check_result();
}
