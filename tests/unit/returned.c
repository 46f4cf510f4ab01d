/* What of C goes back at a time: all that the mask leaves of some columns of a band, without rows before or behind it, and without
 * columns behind it. What is not in it crosses the link for nothing.
 */
#include "lib/streaming/stream_run.h"
#include "tests/check.h"

enum { MOST = 40, TRIALS = 20000 };

static bool belongs(const tb_product *p, int64_t i, int64_t j)
{
    return p->mask == TB_FULL || (p->mask == TB_LOWER ? i - j >= p->diagonal : i - j <= p->diagonal);
}

static tb_product some_product(check_random *random)
{
    static double c[MOST * MOST];
    const int64_t m = check_between(random, 1, MOST), n = check_between(random, 1, MOST);
    tb_product product = tb_gemm(TB_DGEMMT, false, false, m, n, 1, 1, NULL, m, NULL, 1, 0, c, MOST);
    product.mask = (tb_triangle)check_between(random, TB_FULL, TB_UPPER);
    if (product.mask != TB_FULL)
        product.diagonal = check_between(random, -MOST, MOST);
    return product;
}

static void columns_go_back(check_random *random)
{
    static char there[1];
    const tb_product product = some_product(random);
    const int64_t m = product.m, n = product.n, band_m = check_between(random, 1, m),
                  row = band_m * check_between(random, 0, (m - 1) / band_m),
                  column = check_between(random, 0, n - 1), columns = check_between(random, 1, n - column);
    const tb_tiling tiling = {.whole = true, .block_m = m, .band_m = band_m, .block_n = n};
    const tb_plan plan = {.places[TB_C].memory = TB_MEMORY_HOST};
    tb_stream_run run = {.product = &product, .plan = &plan, .tiling = &tiling, .whole_c = true};
    run.operands[TB_C].buffer.memory = there;
    const tb_returned returned = tb_columns_to_return(&run, row / band_m * n + column, columns);
    const tb_matrix *sent = &returned.program;
    const int64_t offset = ((double *)sent->data - (double *)product.c.data), first = offset % product.c.ld;
    int missing = 0, last_column = 0, last_row = 0, all = 0;
    for (int64_t j = column; j < column + columns; j++)
        for (int64_t i = row; i < row + band_m && i < m; i++) {
            const bool is_sent = i >= first && i < first + sent->rows && j < column + sent->columns;
            all += belongs(&product, i, j);
            missing += belongs(&product, i, j) && !is_sent;
            last_column += belongs(&product, i, j) && j == column + sent->columns - 1;
            last_row += belongs(&product, i, j) && i == first + sent->rows - 1;
        }
    CHECK(missing == 0, "mask %d, diagonal %d: %d elements stay on the device", product.mask,
          (int)product.diagonal, missing);
    CHECK(all == 0 || (last_row > 0 && (last_column > 0 || product.mask == TB_UPPER)),
          "mask %d, diagonal %d: %d x %d of %d columns go back", product.mask, (int)product.diagonal,
          (int)sent->rows, (int)sent->columns, (int)columns);
    CHECK(all > 0 || sent->rows == 0 || sent->columns == 0,
          "%d x %d go back of which the mask leaves nothing", (int)sent->rows, (int)sent->columns);
}

int main(void)
{
    check_random random = {.state = check_seed()};
    for (int trial = 0; trial < TRIALS; trial++)
        columns_go_back(&random);
    return check_result();
}
