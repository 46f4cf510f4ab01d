/* Exchanges of rows on the host (block.h), by the real launch function, against a loop that does them one by one. */
#include "kernels/panels/getrf.h"
#include "kernels/panels/launch_laswp.h"
#include "lib/call/portable_panel.h"
#include "tests/check.h"
#include "tests/emulated/block.h"
#include "tests/emulated/guarded.h"

static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    (void)launcher;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    if (CHECK(kernel != NULL, "there is no %s", entry->symbol))
        emulated_run(kernel, blocks, 1, threads, shared_bytes, argument);
    return TB_OK;
}

static void exchange_by_loop(const tb_matrix *a, int64_t first, int64_t count, const int32_t *pivots,
                             bool backwards)
{
    const size_t bytes = tb_bytes_of(a->element);
    char kept[16];
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < count; i++) {
            const int64_t step = backwards ? count - 1 - i : i, row = pivots[step] - INT64_C(1);
            if (row < 0 || row >= a->rows)
                continue;
            char *const one = tb_at(a, first + step, j), *const other = tb_at(a, row, j);
            memcpy(kept, one, bytes);
            memcpy(one, other, bytes);
            memcpy(other, kept, bytes);
        }
}

/* A few are no rows of the matrix. */
static int32_t draw_pivot(int64_t least, int64_t rows, check_random *random)
{
    const int32_t none[] = {0, -1, INT32_MIN, INT32_MAX, (int32_t)rows + 1};
    return check_between(random, 0, 19) == 0 ? CHECK_PICK(random, none)
                                             : (int32_t)check_between(random, least + 1, rows);
}

/* downwards: no pivot is above its row, as GETRF's are. */
static void try_exchange(tb_element element, int64_t rows, int64_t columns, int64_t first, int64_t count,
                         bool backwards, bool downwards, check_random *random)
{
    const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 3}, .launch = run};
    const int64_t ld = rows + check_between(random, 0, 3);
    const size_t bytes = (size_t)(ld * (columns - 1) + rows) * tb_bytes_of(element);
    memory memory = guarded(bytes);
    for (size_t i = 0; i < bytes; i++)
        memory.start[i] = (char)check_next(random);
    char *const expected = malloc(bytes);
    memcpy(expected, memory.start, bytes);
    int32_t *const pivots = malloc((size_t)count * sizeof *pivots);
    for (int64_t i = 0; i < count; i++)
        pivots[i] = draw_pivot(downwards ? first + i : 0, rows, random);
    tb_matrix a = {.data = expected, .rows = rows, .columns = columns, .ld = ld, .element = element};
    exchange_by_loop(&a, first, count, pivots, backwards);
    a.data = memory.start;
    emulated_seed(check_next(random));
    const tb_row_exchange exchange = {
        .matrix = a, .first = first, .count = count, .pivots = {pivots, 32}, .backwards = backwards};
    CHECK(tb_launch_laswp(&launcher, &exchange) == TB_OK, "not launched");
    CHECK(memcmp(expected, memory.start, bytes) == 0,
          "element %d, %lld x %lld, ld %lld, pivots of rows %lld to %lld, %s, %s: not as by a loop",
          (int)element, (long long)rows, (long long)columns, (long long)ld, (long long)first,
          (long long)(first + count), backwards ? "backwards" : "in order", downwards ? "downwards" : "any");
    free(pivots);
    free(expected);
    release(&memory);
}

/* ---- With a panel ------------------------------------------------------------------------------------------- */

/* Small whole numbers, of which sums are exact. */
static void set_whole(const tb_matrix *a, int64_t i, int64_t j, check_random *random)
{
    for (int part = 0; part < (tb_is_complex(a->element) ? 2 : 1); part++) {
        const double value = (double)check_between(random, -2, 2);
        if (tb_real_of(a->element) == TB_FP64)
            ((double *)tb_at(a, i, j))[part] = value;
        else
            ((float *)tb_at(a, i, j))[part] = (float)value;
    }
}

/* L has few numbers that are not 0, so that none becomes large. */
static void draw_panel(const tb_matrix *a, int64_t first, int64_t count, int64_t panel, check_random *random)
{
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++)
            set_whole(a, i, j, random);
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = j + 1; i < count; i++)
            if (check_between(random, 0, 5) > 0)
                memset(tb_at(a, first + i, panel + j), 0, tb_bytes_of(a->element));
}

static void try_panel(tb_element element, int64_t columns, int64_t count, int64_t panel, check_random *random)
{
    const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 3}, .launch = run};
    const int64_t first = check_between(random, 0, 5), rows = first + count + check_between(random, 0, 90),
                  ld = rows + check_between(random, 0, 3);
    const size_t bytes = (size_t)(ld * (columns - 1) + rows) * tb_bytes_of(element);
    memory memory = guarded(bytes);
    memset(memory.start, 0, bytes);
    tb_matrix a = {.data = memory.start, .rows = rows, .columns = columns, .ld = ld, .element = element};
    int32_t pivots[TB_PANEL_EXCHANGED_MOST];
    for (int64_t i = 0; i < count; i++)
        pivots[i] = draw_pivot(first + i, rows, random);
    draw_panel(&a, first, count, panel, random);
    tb_row_exchange exchange = {.matrix = a,
                                .first = first,
                                .count = count,
                                .pivots = {pivots, 32},
                                .has_panel = true,
                                .panel = panel};
    exchange.matrix.data = malloc(bytes);
    memcpy(exchange.matrix.data, a.data, bytes);
    tb_exchange_rows(&exchange);
    char *const expected = exchange.matrix.data;
    exchange.matrix.data = a.data;
    emulated_seed(check_next(random));
    CHECK(tb_launch_laswp(&launcher, &exchange) == TB_OK, "not launched");
    CHECK(memcmp(expected, memory.start, bytes) == 0,
          "element %d, %lld x %lld, a panel of %lld from row %lld and column %lld: not as by loops",
          (int)element, (long long)rows, (long long)columns, (long long)count, (long long)first,
          (long long)panel);
    free(expected);
    release(&memory);
}

int main(void)
{
    static const int64_t counts[] = {1, 2, 31, 32, 200, 512, 513, 1100};
    check_random random = {check_seed()};
    for (int element = 0; element < TB_ELEMENTS; element++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (int way = 0; way < 4; way++) {
                const int64_t first = check_between(&random, 0, 5),
                              rows = first + counts[i] + check_between(&random, 0, 2 * counts[i]);
                try_exchange((tb_element)element, rows, check_between(&random, 1, 70), first, counts[i],
                             way % 2, way / 2, &random);
            }
    for (int element = 0; element < TB_ELEMENTS; element++)
        for (int64_t count = 1; count <= TB_PANEL_EXCHANGED_MOST; count += count == 8 ? 23 : 7) {
            try_panel((tb_element)element, count, count, 0, &random);
            try_panel((tb_element)element, count + 70, count, 0, &random);
            try_panel((tb_element)element, count + 70, count, 70, &random);
            try_panel((tb_element)element, count + 70, count, check_between(&random, 1, 69), &random);
        }
    return check_result();
}
