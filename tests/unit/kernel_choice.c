/* Which kernel is chosen among those that could compute a product. */
#include "dispatch/plan.h"
#include "tests/check.h"
#include "tests/unit/decide_row.h"
#include "words/folded.h"
#include "words/integers.h"

#include <string.h>

/* No plan has a kernel that the device or the operands rule out. */
static void an_old_device_gets_no_new_kernel(void)
{
    const row row = row_on_device(4096, 4096, 4096);
    tb_product product = product_of(&row);
    tb_facts facts = facts_of(&row);
    for (int architecture = 30; architecture <= 130; architecture += 5) {
        tb_chip chip = h200s[0];
        chip.architecture = architecture;
        facts.machine.chips = &chip;
        const tb_kernel *kernel = tb_decide(&product, &facts).kernel;
        if (kernel == NULL)
            CHECK(architecture < 75, "architecture %d gets no kernel", architecture);
        else
            CHECK(tb_kernel_runs_on(kernel, architecture) && tb_kernel_is_free_on(kernel, architecture),
                  "architecture %d gets %s", architecture, kernel->name);
    }
}

static void kernels_for_show_are_never_chosen(void)
{
    for (int64_t n = 1; n <= 8192; n = n * 3 / 2 + 1) {
        const row row = row_on_device(n, n, n);
        tb_product product = product_of(&row);
        tb_facts facts = facts_of(&row);
        tb_plan plan = tb_decide(&product, &facts);
        CHECK(plan.kernel != NULL && !plan.kernel->forced_only, "n = %lld", (long long)n);
    }
}

/* A streamed product is computed swath by swath, each with the kernel's launches: of one that takes longer to launch less is
 * streamed than is computed in place. */
static void streamed_products_are_forecast_by_swaths(void)
{
    const row in_place = row_on_device(4000, 4000, 4000);
    const row streamed = {4000, 4000, 4000, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    const row larger = {8000, 8000, 8000, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    const row *const all[] = {&in_place, &streamed, &larger};
    static const char *const chosen[] = {"sgemm_split_sm90", "sgemm_bf16x6_sm90", "sgemm_split_sm90"};
    for (int i = 0; i < 3; i++) {
        const tb_product product = product_of(all[i]);
        tb_facts facts = facts_of(all[i]);
        facts.accuracy = TB_ACCURACY_FP32;
        const tb_plan plan = tb_decide(&product, &facts);
        CHECK(plan.kernel && strcmp(plan.kernel->name, chosen[i]) == 0, "n = %lld: %s, not %s",
              (long long)product.n, plan.kernel ? plan.kernel->name : "none", chosen[i]);
    }
    const tb_kernel *kernel = tb_find_kernel("sgemm_bf16x6_sm90");
    for (int64_t n = 512; n <= 16384; n *= 2) {
        const row row = row_on_device(n, n, n);
        const tb_product product = product_of(&row);
        const double whole = tb_kernel_seconds(kernel, &product, &h200s[0]),
                     by_swaths = tb_kernel_seconds_by_swaths(kernel, &product, &h200s[0]);
        CHECK(n < 2048 ? by_swaths == whole : by_swaths > whole, "n = %lld: %g and %g", (long long)n, whole,
              by_swaths);
    }
}

/* Large products of double precision go to INT8 tensor cores, by the row for the chip, unless multiply-adds alone are
 * demanded. */
static void large_doubles_go_to_integers(void)
{
    static const struct {
        int architecture, multiprocessors;
        double clock, memory_rate;
        const char *kernel;
    } chips[] = {{75, 40, 1.59e9, 320e9, "dgemm_crt_sm75"},
                 {80, 108, 1.41e9, 1555e9, "dgemm_crt_sm80"},
                 {89, 128, 2.52e9, 1008e9, "dgemm_crt_sm80"},
                 {90, 132, 1.76e9, 4.2e12, "dgemm_crt_sm90"},
                 {120, 170, 2.4e9, 1792e9, "dgemm_crt_sm80"}};
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        for (tb_accuracy accuracy = TB_ACCURACY_IEEE; accuracy <= TB_ACCURACY_FP32; accuracy++) {
            const row row = row_on_device(8192, 8192, 8192);
            const tb_product product = product_of_element(&row, TB_FP64);
            tb_chip chip = h200s[0];
            chip.architecture = chips[i].architecture;
            chip.multiprocessors = chips[i].multiprocessors;
            chip.clock = chips[i].clock;
            chip.memory_rate = chips[i].memory_rate;
            tb_facts facts = facts_of(&row);
            facts.machine.chips = &chip;
            facts.accuracy = accuracy;
            const tb_kernel *kernel = tb_decide(&product, &facts).kernel;
            CHECK(kernel != NULL &&
                      (accuracy == TB_ACCURACY_IEEE ? strstr(kernel->name, "_crt_") == NULL
                                                    : strcmp(kernel->name, chips[i].kernel) == 0),
                  "architecture %d, accuracy %d: by %s", chip.architecture, (int)accuracy,
                  kernel ? kernel->name : "none");
        }
}

/* Where multiply-adds alone are demanded, a small C is computed by small tiles, a large one by those that read least. */
static void doubles_go_to_tiles_of_their_size(void)
{
    static const struct {
        int64_t n;
        const char *kernel;
    } cases[] = {{256, "dgemm_mma_32x32"}, {4096, "dgemm_mma_128x128"}, {8192, "dgemm_mma_128x128"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const row row = row_on_device(cases[i].n, cases[i].n, cases[i].n);
        const tb_product product = product_of_element(&row, TB_FP64);
        tb_facts facts = facts_of(&row);
        facts.accuracy = TB_ACCURACY_IEEE;
        const tb_kernel *kernel = tb_decide(&product, &facts).kernel;
        CHECK(kernel != NULL && strcmp(kernel->name, cases[i].kernel) == 0, "n = %lld: by %s, not %s",
              (long long)cases[i].n, kernel ? kernel->name : "none", cases[i].kernel);
    }
}

/* A kernel that is faster than all others, with a promise of its own. */
static const char *chosen_beside_a_faster_one(tb_accuracy promise, tb_accuracy demanded, int64_t n)
{
    const row row = row_on_device(n, n, n);
    tb_kernel kernels[2] = {*tb_find_kernel("tiled"), *tb_find_kernel("tiled")};
    kernels[1].name = "faster";
    kernels[1].efficiency *= 2;
    kernels[1].accuracy = promise;
    kernels[1].least_extent = 512;
    tb_product product = product_of(&row);
    tb_facts facts = facts_of(&row);
    facts.kernels = kernels;
    facts.kernel_count = 2;
    facts.accuracy = demanded;
    static char name[16];
    tb_plan plan = tb_decide(&product, &facts);
    snprintf(name, sizeof name, "%s", plan.kernel ? plan.kernel->name : "none");
    return name;
}

static void chosen_kernels_promise_what_is_demanded(void)
{
    static const struct {
        tb_accuracy promise, demanded;
        int64_t n;
        const char *kernel;
    } cases[] = {
        {TB_ACCURACY_IEEE, TB_ACCURACY_IEEE, 512, "faster"},
        {TB_ACCURACY_FP32, TB_ACCURACY_IEEE, 512, "tiled"},
        {TB_ACCURACY_FP32, TB_ACCURACY_FP32, 512, "faster"},
        {TB_ACCURACY_FAST, TB_ACCURACY_FP32, 512, "tiled"},
        {TB_ACCURACY_FAST, TB_ACCURACY_FAST, 512, "faster"},
        {TB_ACCURACY_IEEE, TB_ACCURACY_FAST, 512, "faster"},
        {TB_ACCURACY_IEEE, TB_ACCURACY_IEEE, 508, "tiled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *kernel = chosen_beside_a_faster_one(cases[i].promise, cases[i].demanded, cases[i].n);
        CHECK(strcmp(kernel, cases[i].kernel) == 0, "case %zu: %s", i, kernel);
    }
}

/* An H100 with 80 GB is an H200 with 0.68 of its memory rate. */
static tb_chip h100(void)
{
    tb_chip chip = h200s[0];
    chip.memory_rate = 2.93e12;
    chip.memory_bytes_a_clock = 12.8;
    return chip;
}

/* Splitting long operands into parts takes as long as memory moves them, and more than the tensor cores gain where C has a short
 * side: on an H100 that is so for products for which it is not on an H200, or hardly. */
static void a_slower_memory_chooses_what_reads_less(void)
{
    static const struct {
        int64_t m, n, k;
        bool splits;
    } cases[] = {{256, 256, 65536, false},
                 {8192, 128, 8192, false},
                 {128, 8192, 8192, false},
                 {512, 512, 65536, true},
                 {4096, 4096, 4096, true}};
    const tb_chip slower = h100();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const row row = row_on_device(cases[i].m, cases[i].n, cases[i].k);
        const tb_product product = product_of(&row);
        tb_facts facts = facts_of(&row);
        facts.accuracy = TB_ACCURACY_FP32;
        facts.machine.chips = &slower;
        const tb_kernel *kernel = tb_decide(&product, &facts).kernel;
        CHECK((kernel->accuracy == TB_ACCURACY_FP32) == cases[i].splits, "%lld x %lld x %lld by %s",
              (long long)row.m, (long long)row.n, (long long)row.k, kernel->name);
    }
}

/* The catalog has preferred rows later. */
static void of_equal_forecasts_the_later_row_is_chosen(void)
{
    const tb_kernel *naive = tb_find_kernel("naive");
    static tb_kernel rows[3];
    const row row = row_on_device(100, 100, 100);
    const tb_product product = product_of(&row);
    tb_facts facts = facts_of(&row);
    for (int slowest = 0; slowest < 3; slowest++) {
        for (int i = 0; i < 3; i++) {
            memcpy(&rows[i], naive, sizeof rows[i]);
            rows[i].efficiency *= i == slowest ? 0.5 : 1;
        }
        facts.kernels = rows;
        facts.kernel_count = 3;
        const int expected = slowest == 2 ? 1 : 2;
        CHECK(tb_decide(&product, &facts).kernel == &rows[expected], "row %d is slower: not row %d", slowest,
              expected);
    }
}

/* Nor is a kernel forecast to be faster there; and if it is bound by memory, to be slower. */
static void no_kernel_is_faster_with_a_slower_memory(void)
{
    const tb_chip slower = h100();
    const row bound = row_on_device(65536, 4, 4096);
    check_random random = {.state = 1};
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *kernel = &tb_catalog[i];
        for (int j = 0; j < 30 && kernel->prepare && kernel->reads == TB_READS_PLAIN; j++) {
            const int64_t m = check_between(&random, 1, 5000), n = check_between(&random, 1, 500),
                          k = check_between(&random, 1, 20000);
            const row row = row_on_device(m, n, k);
            const tb_product product = product_of_element(j == 0 ? &bound : &row, kernel->element);
            const double here = tb_prepare(kernel, &product, tb_target_of(&h200s[0])).clocks,
                         there = tb_prepare(kernel, &product, tb_target_of(&slower)).clocks;
            CHECK(there >= here, "%s: %g clocks, %g with a slower memory", kernel->name, here, there);
            CHECK(j > 0 || kernel->short_side == 0 || there > 1.3 * here,
                  "%s: %g clocks, %g with a slower memory", kernel->name, here, there);
        }
    }
}

/* Where C has a short side, a kernel is chosen that reads the long operand once, whichever that is and however it lies; not where
 * a tile reads it as often, or where it is soon read. */
static void short_sides_go_to_skinny_kernels(void)
{
    static const struct {
        int64_t m, n, k;
        bool skinny[TB_REAL_ELEMENTS];
    } cases[] = {{4096, 1, 4096, {true, true}},     {1, 4096, 4096, {true, true}},
                 {4097, 1, 4097, {true, true}},     {1, 4097, 4097, {true, true}},
                 {100000, 1, 64, {true, true}},     {16384, 4, 4096, {true, true}},
                 {8, 16384, 4096, {true, true}},    {1000, 1, 1000, {false, false}},
                 {16384, 32, 4096, {false, false}}, {4096, 4096, 4096, {false, false}}};
    const tb_chip slower = h100(), *const chips[] = {&h200s[0], &slower};
    for (size_t i = 0; i < 2 * 4 * TB_REAL_ELEMENTS * sizeof cases / sizeof *cases; i++) {
        const size_t number = i / (2 * 4 * TB_REAL_ELEMENTS);
        const tb_element element = (tb_element)(i / 8 % TB_REAL_ELEMENTS);
        const row row = row_on_device(cases[number].m, cases[number].n, cases[number].k);
        tb_product product = product_of_element(&row, element);
        if (i % 2)
            lay_across(&product.a);
        if (i / 2 % 2)
            lay_across(&product.b);
        tb_facts facts = facts_of(&row);
        facts.accuracy = TB_ACCURACY_IEEE;
        facts.machine.chips = chips[i / 4 % 2];
        const char *name = tb_decide(&product, &facts).kernel->name;
        CHECK((strstr(name, "gemm_skinny") != NULL) == cases[number].skinny[element],
              "%lld x %lld x %lld %c%c, chip %d: by %s", (long long)row.m, (long long)row.n, (long long)row.k,
              product.a.transposed ? 'T' : 'N', product.b.transposed ? 'T' : 'N', (int)(i / 4 % 2), name);
    }
}

/* With a short k, tiles that all run at a time are faster than smaller ones in two rounds. */
static void short_k_goes_in_one_round(void)
{
    const row row = row_on_device(704, 3192, 124);
    const tb_product product = product_of(&row);
    tb_facts facts = facts_of(&row);
    facts.accuracy = TB_ACCURACY_IEEE;
    const tb_kernel *kernel = tb_decide(&product, &facts).kernel;
    const int64_t tiles = tb_ceil_div(row.m, kernel->tile_m) * tb_ceil_div(row.n, kernel->tile_n);
    CHECK(tiles <= (int64_t)kernel->blocks * h200s[0].multiprocessors, "%lld tiles by %s", (long long)tiles,
          kernel->name);
}

/* Rows that batches are for serve single products where they are fastest, too. */
static void rows_for_batches_serve_single_products(void)
{
    row row = row_on_device(956, 1097, 496);
    tb_product product = product_of(&row);
    lay_across(&product.a);
    tb_facts facts = facts_of(&row);
    facts.accuracy = TB_ACCURACY_IEEE;
    const tb_kernel *kernel = tb_decide(&product, &facts).kernel;
    CHECK(strcmp(kernel->name, "sgemm_simt_32x32") == 0, "by %s", kernel->name);
}

/* Where lines along k begin within sectors, B is read less often: 16 rows of C at a time read it five times. */
static void split_sectors_are_counted(void)
{
    row row = row_on_device(76, 4262, 4692);
    const tb_product product = product_of(&row);
    tb_facts facts = facts_of(&row);
    facts.accuracy = TB_ACCURACY_IEEE;
    const tb_kernel *kernel = tb_decide(&product, &facts).kernel;
    CHECK(kernel->tile_m > 16, "by %s", kernel->name);
}

/* One term with another, or what is folded: the forecasts that are compared are of as much. */
static void terms_count_alike_whichever_rows_have_them(void)
{
    static double memory[4] __attribute__((aligned(128)));
    int by_complex_rows = 0, lowered = 0;
    for (int64_t n = 100; n < 5000; n += 300) {
        const row row = row_on_device(n, n, n);
        const tb_product one = tb_rank_2k(TB_ZHER2K, TB_LOWER, false, n, n, 1, memory, n, memory, n, 1,
                                          memory, n),
                         term = tb_term_of(&one, 0);
        tb_facts facts = facts_of(&row);
        facts.accuracy = TB_ACCURACY_FP32;
        const tb_plan plan = tb_decide(&one, &facts);
        const tb_product alone = plan.folds ? tb_to_be_folded(&one) : term;
        const tb_kernel *of_both = plan.kernel, *of_one = tb_decide(&alone, &facts).kernel;
        CHECK(of_both == of_one, "n = %lld: %s, a term %s", (long long)n, of_both->name, of_one->name);
        by_complex_rows += of_both->reads == TB_READS_COMPLEX;
        lowered += of_both->reads != TB_READS_COMPLEX;
    }
    CHECK(by_complex_rows > 0 && lowered > 0, "%d by rows for complex operands, %d not", by_complex_rows,
          lowered);
}

int main(void)
{
    terms_count_alike_whichever_rows_have_them();
    an_old_device_gets_no_new_kernel();
    kernels_for_show_are_never_chosen();
    streamed_products_are_forecast_by_swaths();
    large_doubles_go_to_integers();
    doubles_go_to_tiles_of_their_size();
    chosen_kernels_promise_what_is_demanded();
    short_k_goes_in_one_round();
    rows_for_batches_serve_single_products();
    split_sectors_are_counted();
    short_sides_go_to_skinny_kernels();
    a_slower_memory_chooses_what_reads_less();
    no_kernel_is_faster_with_a_slower_memory();
    of_equal_forecasts_the_later_row_is_chosen();
    return check_result();
}
