/* What forecasts of the families that deal steps to blocks say of readings and rounds: a matrix that is both operands is read
 * once; pieces that do not end with tiles read what tiles have in common once each, unless L2 holds it; tiles that are left over
 * after some rounds run beside others; and lines that begin anywhere take small tiles longer.
 */
#include "kernels/catalog.h"
#include "kernels/fp64/schedule_dgemm.h"
#include "kernels/launch.h"
#include "kernels/simt/schedule_simt.h"
#include "tests/check.h"
#include "words/members.h"

#include <math.h>
#include <string.h>

static const tb_target h200 = {.architecture = 90, .multiprocessors = 132, .memory_bytes_a_clock = 18.8};

static void *matrix(int number)
{
    return (void *)(uintptr_t)(4096 * (number + 1));
}

static tb_product product_of(tb_routine routine, int64_t m, int64_t n, int64_t k, int64_t ld)
{
    return tb_gemm(routine, false, true, m, n, k, 1, matrix(0), ld, matrix(1), ld, 0, matrix(2), ld);
}

static double clocks_of(const char *kernel, const tb_product *product)
{
    return tb_prepare(tb_find_kernel(kernel), product, h200).clocks;
}

static void a_matrix_that_is_both_operands_is_read_once(void)
{
    enum { SIDE = 32, K = 1 << 22 };
    static const char *const kernels[] = {"dgemm_mma_32x32", "sgemm_simt_32x32"};
    for (int i = 0; i < 2; i++) {
        const tb_product two = product_of(i == 0 ? TB_DGEMM : TB_SGEMM, SIDE, SIDE, K, SIDE);
        tb_product one = two;
        one.b.data = one.a.data;
        const double ratio = clocks_of(kernels[i], &one) / clocks_of(kernels[i], &two);
        CHECK(ratio > 0.45 && ratio < 0.9, "%s: %g of the clocks", kernels[i], ratio);
    }
}

/* Each product of a batch has an A of its own here, and all have the B that is the first one's A. */
static void a_batch_reads_what_its_first_matrices_do_not_tell(void)
{
    enum { SIDE = 32, K = 1 << 16, PRODUCTS = 1000 };
    static const char *const kernels[] = {"dgemm_mma_64x64_3", "sgemm_simt_32x32"};
    for (int i = 0; i < 2; i++) {
        tb_product batch = product_of(i == 0 ? TB_DGEMM : TB_SGEMM, SIDE, SIDE, K, SIDE);
        for (tb_role role = TB_A; role < TB_ROLES; role++)
            tb_spread(&batch, role, PRODUCTS, role == TB_B ? 0 : SIDE * K, NULL);
        const double two = clocks_of(kernels[i], &batch);
        batch.b.data = batch.a.data;
        const double one = clocks_of(kernels[i], &batch);
        CHECK(one > 0.999 * two, "%s: %g of the clocks", kernels[i], one / two);
    }
}

static void scattered_pieces_read_what_l2_does_not_hold(void)
{
    const tb_kernel *kernel = tb_find_kernel("sgemm_simt_16x128_2");
    static const struct {
        int64_t m, n, k, dealt;
        double least, most;
    } cases[] = {
        {80, 4224, 4736, 165, 4.8, 5},        /* B is 80 MB, which five rows of tiles read; A stays in L2 */
        {80, 4224, 128, 165, 1, 1},           /* both stay there */
        {80, 4224, 4736, 20, 0.1, 0.3},       /* a few tiles, whose panels do */
        {16, 1 << 16, 4736, 512, 1, 1},       /* each panel is of one tile */
        {1600, 130, 100000, 200, 9.36, 9.37}, /* of a tile at the edge no more than there is */
        {4096, 4096, 8192, 8192, 60, 145}     /* everything, as often as there are tiles across */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tb_product product = product_of(TB_SGEMM, cases[i].m, cases[i].n, cases[i].k, 1 << 16);
        const double readings = tb_scattered_readings(kernel, &product, cases[i].dealt, 8);
        CHECK(readings >= cases[i].least - 1e-9 && readings <= cases[i].most + 1e-9, "case %d: %g", (int)i,
              readings);
    }
    /* Fewer columns of tiles than a group has: as many rows of them as there are tiles. */
    const tb_product narrow = product_of(TB_SGEMM, 1 << 16, 128, 4736, 1 << 16);
    const double of_narrow = tb_scattered_readings(kernel, &narrow, 512, 8);
    CHECK(fabs(of_narrow - (512.0 * 16 + 128) / ((1 << 16) + 128)) < 1e-9, "of a column of tiles: %g",
          of_narrow);
    tb_product batch = product_of(TB_SGEMM, 80, 4224, 4736, 4736);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&batch, role, 2, 1 << 30, NULL);
    CHECK(tb_scattered_readings(kernel, &batch, 165, 8) == 0, "of a batch");
}

/* What both operands read is so many times the one matrix. */
static void scattered_pieces_of_one_matrix_read_it_as_both(void)
{
    const tb_kernel *kernel = tb_find_kernel("dgemm_mma_32x32");
    const tb_product two = product_of(TB_DGEMM, 256, 256, 1 << 20, 256);
    tb_product one = two;
    one.b.data = one.a.data;
    const double of_two = tb_scattered_readings(kernel, &two, 64, 8),
                 of_one = tb_scattered_readings(kernel, &one, 64, 8);
    CHECK(of_two > 7.9 && fabs(of_one - 2 * of_two) < 1e-9, "%g, two matrices %g", of_one, of_two);
}

/* Complex numbers of A are half as many bytes as what they stand for: L2 holds twice as many rows. */
static void scattered_pieces_read_complex_numbers_as_they_lie(void)
{
    const tb_kernel *complex = tb_find_kernel("zgemm_mma_64x64_3"),
                    *real = tb_find_kernel("dgemm_mma_64x64_3");
    if (!CHECK(complex && real, "there are no such rows"))
        return;
    const tb_product product = product_of(TB_DGEMM, 1024, 1024, 4096, 1024);
    const double of_complex = tb_scattered_readings(complex, &product, 256, 8),
                 of_real = tb_scattered_readings(real, &product, 256, 8);
    CHECK(fabs(of_real - 16) < 1e-9, "of real numbers: %g", of_real);
    CHECK(fabs(of_complex - (0.5 + 16) / 1.5) < 1e-9, "of complex ones: %g", of_complex);
}

/* Also of complex rows: what is added up are reals. */
static void workspace_is_of_reals(void)
{
    static const char *const names[] = {"zgemm_mma_64x64_3", "dgemm_mma_64x64_3"};
    const tb_target without_clusters = {.architecture = 80, .multiprocessors = 108};
    const tb_product product = product_of(TB_DGEMM, 64, 64, 1 << 16, 64);
    for (int i = 0; i < 2; i++) {
        const tb_kernel *kernel = tb_find_kernel(names[i]);
        const tb_schedule prepared = tb_prepare(kernel, &product, without_clusters);
        const tb_dgemm_schedule *schedule = TB_DEAL(&prepared, tb_dgemm_schedule);
        const size_t tile = sizeof(double) * (size_t)(kernel->tile_m * kernel->tile_n);
        CHECK(schedule->pieces > 0 && prepared.workspace == 2 * tile * (size_t)schedule->pieces,
              "%s: %zu bytes for %lld pieces", names[i], prepared.workspace, (long long)schedule->pieces);
    }
}

/* So products whose long operand L2 does not hold are not dealt evenly. */
static void pieces_end_with_tiles_where_they_would_be_scattered(void)
{
    const tb_product of_floats = product_of(TB_SGEMM, 88, 2416, 4272, 1 << 14),
                     of_doubles = product_of(TB_DGEMM, 96, 2024, 2976, 1 << 14);
    const tb_schedule simt = tb_prepare(tb_find_kernel("sgemm_simt_16x128_2"), &of_floats, h200),
                      fp64 = tb_prepare(tb_find_kernel("dgemm_mma_32x64_2"), &of_doubles, h200);
    const tb_simt_schedule *floats = TB_DEAL(&simt, tb_simt_schedule);
    const tb_dgemm_schedule *doubles = TB_DEAL(&fp64, tb_dgemm_schedule);
    CHECK(floats->pieces == 0 || floats->pieces % (floats->tiles - floats->whole) == 0, "floats: %lld pieces",
          (long long)floats->pieces);
    CHECK(doubles->pieces == 0 || doubles->pieces % (doubles->tiles - doubles->whole) == 0,
          "doubles: %lld pieces", (long long)doubles->pieces);
}

/* Where there are enough of them, the device computes as many tiles in a given time however their number divides into rounds;
 * what is left after a single round has a multiprocessor for itself, which three blocks would share. */
static void tiles_left_after_some_rounds_run_beside_others(void)
{
    const tb_kernel *kernel = tb_find_kernel("dgemm_mma_64x64_3");
    double clocks[10];
    for (int tiles = 1; tiles < 10; tiles++) {
        const tb_product product =
            product_of(TB_DGEMM, 12 * kernel->tile_m, 11 * tiles * kernel->tile_n, 2048, 1 << 16);
        const tb_schedule prepared = tb_prepare(kernel, &product, h200);
        const tb_dgemm_schedule *schedule = TB_DEAL(&prepared, tb_dgemm_schedule);
        clocks[tiles] = prepared.clocks;
        CHECK(tiles <= 6 || schedule->pieces == 0, "%d tiles each: %lld pieces", tiles,
              (long long)schedule->pieces);
    }
    for (int tiles = 7; tiles < 9; tiles++) {
        const double ratio = 6 * clocks[tiles] / (tiles * clocks[6]);
        CHECK(ratio > 0.99 && ratio < 1.01, "%d tiles each: %g, 6: %g", tiles, clocks[tiles], clocks[6]);
    }
    CHECK(clocks[4] > 1.02 * 4 / 3 * clocks[3], "4 tiles each: %g, 3: %g", clocks[4], clocks[3]);
}

static void lines_that_begin_anywhere_take_small_tiles_longer(void)
{
    static const struct {
        const char *kernel;
        double least, most;
    } cases[] = {
        {"dgemm_mma_32x32", 1.15, 1.35}, {"dgemm_mma_64x32", 1.1, 1.35}, {"dgemm_mma_128x128", 1, 1.02}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tb_product aligned = product_of(TB_DGEMM, 3072, 3072, 3072, 3072),
                         anywhere = product_of(TB_DGEMM, 3072, 3072, 3072, 3073);
        const double ratio = clocks_of(cases[i].kernel, &anywhere) / clocks_of(cases[i].kernel, &aligned);
        CHECK(ratio >= cases[i].least && ratio <= cases[i].most, "%s: %g times the clocks", cases[i].kernel,
              ratio);
    }
}

/* The row of dgemm_mma that is forecast to take least, of those that take operands that lie so; of equal ones the later. */
static const char *fastest_row(const tb_product *product)
{
    const tb_kernel *fastest = NULL;
    double least = HUGE_VAL;
    for (size_t i = 0; i < tb_catalog_size; i++) {
        if (strncmp(tb_catalog[i].name, "dgemm_mma", strlen("dgemm_mma")) != 0 ||
            !tb_kernel_takes(&tb_catalog[i], product, TB_A) ||
            !tb_kernel_takes(&tb_catalog[i], product, TB_B))
            continue;
        const double clocks = tb_prepare(&tb_catalog[i], product, h200).clocks;
        if (clocks <= least) {
            fastest = &tb_catalog[i];
            least = clocks;
        }
    }
    return fastest ? fastest->name : "none";
}

/* Efficiencies were fitted together: one of them that is off takes squares from other rows, or leaves its own to them. */
static void squares_have_the_rows_that_were_fitted_to_them(void)
{
    static const struct {
        int64_t n;
        const char *row;
    } cases[] = {{768, "dgemm_mma_64x64_4"},  {896, "dgemm_mma_64x64_3"},  {1024, "dgemm_mma_64x64"},
                 {1152, "dgemm_mma_64x64_3"}, {1536, "dgemm_mma_64x64_4"}, {1600, "dgemm_mma_64x64_3"},
                 {1920, "dgemm_mma_64x64_3"}, {2304, "dgemm_mma_128x64"},  {3648, "dgemm_mma_64x64_4"},
                 {4096, "dgemm_mma_128x128"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t n = cases[i].n;
        const tb_product product =
            tb_gemm(TB_DGEMM, false, false, n, n, n, 1, matrix(0), n, matrix(1), n, 0, matrix(2), n);
        const char *row = fastest_row(&product);
        CHECK(strcmp(row, cases[i].row) == 0, "%lld: %s, not %s", (long long)n, row, cases[i].row);
    }
}

/* 528 tiles of 64 x 64: four for each multiprocessor of 132. */
static void a_triangle_of_one_whole_round_has_four_blocks_a_multiprocessor(void)
{
    tb_product product = product_of(TB_DGEMM, 2048, 2048, 2048, 2048);
    product.mask = TB_LOWER;
    const char *row = fastest_row(&product);
    CHECK(strcmp(row, "dgemm_mma_64x64_4") == 0, "%s", row);
    product.a.ld = 2049;
    row = fastest_row(&product);
    CHECK(strcmp(row, "dgemm_mma_64x64") == 0, "not aligned: %s", row);
}

int main(void)
{
    a_matrix_that_is_both_operands_is_read_once();
    a_batch_reads_what_its_first_matrices_do_not_tell();
    scattered_pieces_read_what_l2_does_not_hold();
    scattered_pieces_of_one_matrix_read_it_as_both();
    scattered_pieces_read_complex_numbers_as_they_lie();
    workspace_is_of_reals();
    pieces_end_with_tiles_where_they_would_be_scattered();
    tiles_left_after_some_rounds_run_beside_others();
    lines_that_begin_anywhere_take_small_tiles_longer();
    squares_have_the_rows_that_were_fitted_to_them();
    a_triangle_of_one_whole_round_has_four_blocks_a_multiprocessor();
    return check_result();
}
