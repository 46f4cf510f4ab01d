/* What lib/device/command.h promises of LU: a panel is factored whichever of its forms the device takes for it, pivots are rows of the
 * matrix, and info is that of the first pivot that is 0; rows are exchanged by pivots in device memory, and none beside the matrix. What is
 * malformed is refused, and does nothing. Held against the device that this program is linked with, the simulated one here, a real one in
 * tests/gpu.
 */
#include "kernels/panels/launch_laswp.h"
#include "kernels/panels/launch_panel.h"
#include "lib/device/platform.h"
#include "tests/check.h"
#include "tests/target.h"
#include "words/integers.h"

#include <math.h>
#include <string.h>

enum { POSITION = 192, KEPT = 7 };

static tb_stream *stream;

static void must(tb_status status, const char *step)
{
    if (!CHECK(status == TB_OK, "%s: status %d", step, status))
        exit(check_result());
}
#define MUST(step) must((step), #step)

/* ---- Memory that host and device both reach ----------------------------------------------------------------- */

static void *take(size_t bytes)
{
    void *memory;
    MUST(tb_platform.allocate_pinned(bytes, &memory));
    return memory;
}

static void give(void *memory, size_t bytes)
{
    tb_platform.release_pinned(memory, bytes);
}

static size_t bytes_of(const tb_matrix *a)
{
    return (size_t)(a->ld * a->columns) * tb_bytes_of(a->element);
}

static int parts_of(tb_element element)
{
    return tb_is_complex(element) ? 2 : 1;
}

static double part_of(const tb_matrix *a, int64_t row, int64_t column, int part)
{
    const void *there = tb_at(a, row, column);
    if (part >= parts_of(a->element))
        return 0;
    return tb_real_of(a->element) == TB_FP64 ? ((const double *)there)[part]
                                             : (double)((const float *)there)[part];
}

static void put(const tb_matrix *a, int64_t row, int64_t column, int part, double value)
{
    void *there = tb_at(a, row, column);
    if (tb_real_of(a->element) == TB_FP64)
        ((double *)there)[part] = value;
    else
        ((float *)there)[part] = (float)value;
}

/* All of it, the gaps between columns too. */
static void fill(const tb_matrix *a, check_random *random)
{
    tb_matrix all = *a;
    all.rows = a->ld;
    for (int64_t j = 0; j < all.columns; j++)
        for (int64_t i = 0; i < all.rows; i++)
            for (int part = 0; part < parts_of(a->element); part++)
                put(&all, i, j, part, (double)check_uniform(random));
}

static void swap_rows(const tb_matrix *a, int64_t one, int64_t other)
{
    for (int64_t j = 0; j < a->columns; j++)
        for (int part = 0; part < parts_of(a->element); part++) {
            const double kept = part_of(a, one, j, part);
            put(a, one, j, part, part_of(a, other, j, part));
            put(a, other, j, part, kept);
        }
}

/* ---- Panels ------------------------------------------------------------------------------------------------- */

typedef struct panel {
    tb_factor block;
    tb_matrix before; /* in the program's memory */
    int64_t *info;
    void *workspace; /* NULL: it needs none */
    int64_t steps;
} panel;

/* Set to 0, once. */
static void *take_workspace(size_t bytes)
{
    void *memory, *const zeros = take(bytes);
    memset(zeros, 0, bytes);
    MUST(tb_allocate(0, bytes, &memory));
    const tb_copy clear = tb_copy_of_bytes(TB_HOST_TO_DEVICE, memory, zeros, bytes);
    MUST(tb_enqueue_copy(stream, &clear));
    MUST(tb_synchronize(stream));
    give(zeros, bytes);
    return memory;
}

static panel make(tb_routine routine, int64_t rows, int64_t columns, check_random *random)
{
    const int64_t ld = rows + check_between(random, 0, 3), steps = tb_smaller(rows, columns);
    const size_t workspace = tb_panel_workspace(routine, rows, target_of_device(0));
    panel x = {.block = tb_getrf(routine, rows, columns, NULL, ld,
                                 (tb_pivots){take((size_t)(steps + 1) * sizeof(int32_t)), 32}, NULL),
               .info = take(sizeof(int64_t)),
               .workspace = workspace > 0 ? take_workspace(workspace) : NULL,
               .steps = steps};
    x.block.a.data = take(bytes_of(&x.block.a));
    fill(&x.block.a, random);
    tb_set_pivot(x.block.pivots, steps, KEPT);
    *x.info = 0;
    return x;
}

static void keep(panel *x)
{
    x->before = x->block.a;
    x->before.data = malloc(bytes_of(&x->before));
    memcpy(x->before.data, x->block.a.data, bytes_of(&x->before));
}

static void end(panel *x)
{
    give(x->block.a.data, bytes_of(&x->block.a));
    give(x->block.pivots.data, (size_t)(x->steps + 1) * sizeof(int32_t));
    give(x->info, sizeof *x->info);
    if (x->workspace)
        tb_release(0, x->workspace);
    free(x->before.data);
}

static void enqueue(const panel *x)
{
    MUST(tb_enqueue_panel(stream, &x->block, POSITION, x->info, x->workspace));
    MUST(tb_synchronize(stream));
}

/* Rows of L U and of the matrix whose rows were exchanged. By Higham, Accuracy and Stability of Numerical Algorithms, theorem 9.3, with a
 * few roundings more of quotients by reciprocals. */
static bool is_row_of_product(const panel *x, int64_t row)
{
    const tb_matrix *a = &x->block.a;
    for (int64_t j = 0; j < a->columns; j++) {
        long double re = 0, im = 0, sizes = 0;
        for (int64_t k = 0; k <= row && k <= j; k++) {
            const double l[] = {k == row ? 1 : part_of(a, row, k, 0), k == row ? 0 : part_of(a, row, k, 1)},
                         u[] = {part_of(a, k, j, 0), part_of(a, k, j, 1)};
            re += (long double)l[0] * u[0] - (long double)l[1] * u[1];
            im += (long double)l[0] * u[1] + (long double)l[1] * u[0];
            sizes += (fabsl(l[0]) + fabsl(l[1])) * (fabsl(u[0]) + fabsl(u[1]));
        }
        const long double off =
            fabsl(re - part_of(&x->before, row, j, 0)) + fabsl(im - part_of(&x->before, row, j, 1));
        if (!(off <= 2 * (long double)(j + 8) * tb_element_rows[a->element].roundoff * sizes))
            return false;
    }
    return true;
}

static bool gaps_are_kept(const panel *x)
{
    const tb_matrix *a = &x->block.a;
    const size_t gap = (size_t)(a->ld - a->rows) * tb_bytes_of(a->element);
    for (int64_t j = 0; j < a->columns; j++)
        if (memcmp(tb_at(a, a->rows, j), tb_at(&x->before, a->rows, j), gap) != 0)
            return false;
    return true;
}

static void check_factors(const panel *x)
{
    int64_t wrong = 0;
    const char *name = tb_routine_rows[x->block.routine].name;
    const long long rows = x->block.m, columns = x->block.n;
    for (int64_t j = 0; j < x->steps; j++) {
        const int64_t row = tb_pivot_at(x->block.pivots, j) - POSITION - 1;
        if (!CHECK(row >= j && row < x->block.m, "%s, %lld x %lld: pivot %d is row %d", name, rows, columns,
                   (int)j, (int)row))
            return;
        swap_rows(&x->before, j, row);
    }
    for (int64_t i = 0; i < x->block.m; i++)
        wrong += !is_row_of_product(x, i);
    CHECK(wrong == 0 && gaps_are_kept(x) && tb_pivot_at(x->block.pivots, x->steps) == KEPT,
          "%s, %lld x %lld: %d rows are wrong, or something beside it was written", name, rows, columns,
          (int)wrong);
}

static void factors(tb_routine routine, int64_t rows, int64_t columns, check_random *random)
{
    panel x = make(routine, rows, columns, random);
    keep(&x);
    enqueue(&x);
    CHECK(*x.info == 0, "%s: info is %d", tb_routine_rows[routine].name, (int)*x.info);
    check_factors(&x);
    end(&x);
}

/* Panels in turn with the same workspace, where they need one. Columns without pivot stop nothing; info says which is the first of all. */
static void no_pivots(tb_routine routine, int64_t rows, check_random *random)
{
    panel x = make(routine, rows, 8, random);
    for (int64_t column = 3; column < 6; column += 2)
        for (int64_t row = 0; row < rows; row++)
            for (int part = 0; part < parts_of(x.block.a.element); part++)
                put(&x.block.a, row, column, part, 0);
    keep(&x);
    enqueue(&x);
    CHECK(*x.info == POSITION + 4, "%lld rows without pivot: info is %d", (long long)rows, (int)*x.info);
    CHECK(tb_pivot_at(x.block.pivots, 3) == POSITION + 4, "of zeros the first row stays");
    check_factors(&x);
    memcpy(x.block.a.data, x.before.data, bytes_of(&x.before));
    *x.info = KEPT;
    enqueue(&x);
    CHECK(*x.info == KEPT, "info, which was set, is %d", (int)*x.info);
    end(&x);
}

static void panels(check_random *random)
{
    static const int64_t sizes[][2] = {{1, 1}, {5, 5}, {3, 32}, {32, 32}, {256, 31}, {300, 8}, {3000, 5}};
    for (tb_routine routine = TB_SGETRF; routine <= TB_ZGETRF; routine++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            factors(routine, sizes[i][0], sizes[i][1], random);
    factors(TB_DGETRF, 30000, 3, random); /* more than a cluster has room for */
    no_pivots(TB_DGETRF, 40, random);
    no_pivots(TB_CGETRF, 700, random);
    no_pivots(TB_DGETRF, 25000, random);
}

/* ---- Refusals ----------------------------------------------------------------------------------------------- */

static void refuses(const panel *x, const char *what, tb_factor block, int64_t position)
{
    CHECK(tb_enqueue_panel(stream, &block, position, x->info, x->workspace) == TB_UNSUPPORTED,
          "%s is not refused", what);
}

#define REFUSES(change)                                                                                      \
    do {                                                                                                     \
        tb_factor block = x.block;                                                                           \
        change;                                                                                              \
        refuses(&x, #change, block, POSITION);                                                               \
    } while (0)

static void refused_panels(check_random *random)
{
    panel x = make(TB_DGETRF, 500, 20, random);
    keep(&x);
    REFUSES(block.n = block.a.columns = tb_panel_order(TB_DGETRF) + 1);
    REFUSES(block.n = block.a.columns = 0);
    REFUSES(block.n = block.a.columns = -1);
    REFUSES(block.m = block.a.rows = 0);
    REFUSES(block.m = block.a.rows = -1);
    REFUSES(block.m = block.a.rows = block.a.ld = tb_panel_rows(TB_DGETRF, target_of_device(0)) + 1);
    REFUSES(block.m++);
    REFUSES(block.n++);
    REFUSES(block.a.ld = 499);
    REFUSES(block.a.element = TB_FP32);
    REFUSES(block.pivots.data = NULL);
    REFUSES(block.pivots.bits = 64);
    REFUSES(block.routine = TB_DPOTRF);
    refuses(&x, "a position before the matrix", x.block, -1);
    refuses(&x, "a row that 32 bits do not hold", x.block, INT32_MAX - 499);
    if (x.workspace)
        CHECK(tb_enqueue_panel(stream, &x.block, 0, x.info, NULL) == TB_UNSUPPORTED, "no workspace");
    MUST(tb_synchronize(stream));
    CHECK(memcmp(x.block.a.data, x.before.data, bytes_of(&x.before)) == 0 && *x.info == 0,
          "what is refused was done");
    end(&x);
}

/* ---- Exchanges ---------------------------------------------------------------------------------------------- */

static int32_t draw_row(int64_t rows, check_random *random)
{
    const int32_t none[] = {0, -1, INT32_MIN, INT32_MAX, (int32_t)rows + 1};
    return check_between(random, 0, 19) == 0 ? CHECK_PICK(random, none)
                                             : (int32_t)check_between(random, 1, rows);
}

static void exchanges(tb_element element, int64_t first, int64_t count, bool backwards, check_random *random)
{
    const int64_t rows = first + count + check_between(random, 0, 90);
    const size_t pivots_bytes = (size_t)count * sizeof(int32_t);
    tb_matrix a = {.rows = rows,
                   .columns = check_between(random, 1, 90),
                   .ld = rows + check_between(random, 0, 3),
                   .element = element};
    int32_t *const pivots = take(pivots_bytes);
    a.data = take(bytes_of(&a));
    fill(&a, random);
    tb_matrix expected = a;
    expected.data = malloc(bytes_of(&a));
    memcpy(expected.data, a.data, bytes_of(&a));
    for (int64_t i = 0; i < count; i++)
        pivots[i] = draw_row(rows, random);
    for (int64_t i = 0; i < count; i++) {
        const int64_t step = backwards ? count - 1 - i : i;
        if (pivots[step] >= 1 && pivots[step] <= rows)
            swap_rows(&expected, first + step, pivots[step] - 1);
    }
    const tb_row_exchange exchange = {
        .matrix = a, .first = first, .count = count, .pivots = {pivots, 32}, .backwards = backwards};
    MUST(tb_enqueue_row_exchange(stream, &exchange));
    MUST(tb_synchronize(stream));
    CHECK(memcmp(a.data, expected.data, bytes_of(&a)) == 0, "%lld rows from %lld of element %d",
          (long long)count, (long long)first, (int)element);
    give(a.data, bytes_of(&a));
    give(pivots, pivots_bytes);
    free(expected.data);
}

#define REFUSES_EXCHANGE(change)                                                                             \
    do {                                                                                                     \
        tb_row_exchange exchange = {                                                                         \
            .matrix = a, .first = 3, .count = 7, .pivots = {pivots, 32}, .backwards = false};                \
        change;                                                                                              \
        CHECK(tb_enqueue_row_exchange(stream, &exchange) == TB_UNSUPPORTED, "%s is not refused", #change);   \
    } while (0)

static void refused_exchanges(void)
{
    int32_t *const pivots = take(7 * sizeof *pivots);
    double *const numbers = take(10 * sizeof *numbers);
    const tb_matrix a = {.data = numbers, .rows = 10, .columns = 1, .ld = 10, .element = TB_FP64};
    for (int i = 0; i < 10; i++)
        numbers[i] = i;
    for (int i = 0; i < 7; i++)
        pivots[i] = 1;
    REFUSES_EXCHANGE(exchange.first++);
    REFUSES_EXCHANGE(exchange.first = -1);
    REFUSES_EXCHANGE(exchange.count++);
    REFUSES_EXCHANGE(exchange.count = -1);
    REFUSES_EXCHANGE(exchange.matrix.rows = -1);
    REFUSES_EXCHANGE(exchange.matrix.columns = -1);
    REFUSES_EXCHANGE(exchange.matrix.ld = 9);
    REFUSES_EXCHANGE(exchange.matrix.element = TB_ELEMENTS);
    REFUSES_EXCHANGE(exchange.pivots.data = NULL);
    REFUSES_EXCHANGE(exchange.pivots.bits = 64);
    MUST(tb_synchronize(stream));
    for (int i = 0; i < 10; i++)
        CHECK(numbers[i] == i, "what is refused was done");
    give(pivots, 7 * sizeof *pivots);
    give(numbers, 10 * sizeof *numbers);
}

int main(void)
{
    int devices;
    check_random random = {check_seed()};
    if (tb_platform.open(&devices) != TB_OK)
        SKIP("no device");
    MUST(tb_device_at(0)->open_device(0));
    MUST(tb_create_stream(0, &stream));
    panels(&random);
    refused_panels(&random);
    for (int element = 0; element < TB_ELEMENTS; element++)
        for (int way = 0; way < 2; way++) {
            exchanges((tb_element)element, check_between(&random, 0, 5), 40, way, &random);
            exchanges((tb_element)element, check_between(&random, 0, 5), 1100, way, &random);
        }
    refused_exchanges();
    tb_destroy_stream(stream);
    return check_result();
}
