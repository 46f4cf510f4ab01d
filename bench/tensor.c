/* tensor: every tensor-core kernel of the catalog beside the FP32 kernel that the dispatcher chooses, cuBLAS SGEMM and
 * cuBLAS on the TF32 tensor cores, in one run, for operands in device memory. All passes are in the time. Prints a line
 * for each product: TFLOP/s, and how many times cuBLAS SGEMM that is.
 *
 *   bench/tensor [JSON]
 *
 * Squares with random numbers of 24 bits; the four transpositions; long and short k; and numbers that began as BF16 or
 * FP16, of which the kernels find parts empty.
 */
#include "bench/measure.h"
#include "dispatch/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTENDERS_MAXIMUM = 16, KERNELS_MAXIMUM = 64, ALL_BITS = 24 };

/* Seconds spent on a contender for a product. */
static const double BUDGET = 0.05;

typedef struct row {
    int64_t m, n, k;
    int transposition, bits;
} row;

static const row rows[] = {
    {512, 512, 512, 0, ALL_BITS},       {768, 768, 768, 0, ALL_BITS},    {1024, 1024, 1024, 0, ALL_BITS},
    {1536, 1536, 1536, 0, ALL_BITS},    {2048, 2048, 2048, 0, ALL_BITS}, {3072, 3072, 3072, 0, ALL_BITS},
    {4096, 4096, 4096, 0, ALL_BITS},    {4097, 4097, 4097, 0, ALL_BITS}, {8192, 8192, 8192, 0, ALL_BITS},
    {16384, 16384, 16384, 0, ALL_BITS}, {4096, 4096, 4096, 1, ALL_BITS}, {4096, 4096, 4096, 2, ALL_BITS},
    {4096, 4096, 4096, 3, ALL_BITS},    {8192, 8192, 512, 0, ALL_BITS},  {512, 512, 65536, 0, ALL_BITS},
    {512, 16384, 4096, 0, ALL_BITS},    {4096, 4096, 4096, 0, 8},        {4096, 4096, 4096, 0, 11},
    {8192, 8192, 8192, 0, 8},           {8192, 8192, 8192, 0, 11},
};

typedef struct bench {
    bench_gpu gpu;
    bench_json json;
    tb_facts facts;
    tb_kernel plain[KERNELS_MAXIMUM]; /* FP32 multiply-adds only, that may be chosen */
} bench;

static void collect_plain_kernels(bench *bench)
{
    size_t count = 0;
    for (size_t i = 0; i < tb_catalog_size && count < KERNELS_MAXIMUM; i++)
        if (!tb_catalog[i].forced_only && tb_catalog[i].accuracy == TB_ACCURACY_IEEE)
            bench->plain[count++] = tb_catalog[i];
    bench->facts = (tb_facts){
        .machine = {.readiness = TB_READY, .chips = &bench->gpu.chip, .chip_count = 1},
        .kernels = bench->plain,
        .kernel_count = count,
    };
}

/* cuBLAS SGEMM is the first. */
static int collect_contenders(const bench *bench, const bench_product *product, bench_contender *contenders)
{
    tb_plan plan = {.route = TB_ROUTE_RESIDENT};
    int count = 0;
    contenders[count++] = (bench_contender){.name = "cuBLAS SGEMM"};
    contenders[count++] = (bench_contender){.name = "cuBLAS TF32", .tf32 = true};
    bench_require(tb_choose_kernel(&product->first, &bench->facts, false, &plan), "a kernel for the product");
    contenders[count++] = (bench_contender){.name = plan.kernel->name, .kernel = plan.kernel};
    for (size_t i = 0; i < tb_catalog_size && count < CONTENDERS_MAXIMUM; i++)
        if (tb_catalog[i].accuracy != TB_ACCURACY_IEEE &&
            !bench_refusal(&bench->gpu, &tb_catalog[i], &product->first))
            contenders[count++] = (bench_contender){.name = tb_catalog[i].name, .kernel = &tb_catalog[i]};
    return count;
}

static void report(bench *bench, const row *row, const bench_product *product,
                   const bench_contender *contenders, int count)
{
    char operation[3] = {"NT"[row->transposition / 2], "NT"[row->transposition % 2], 0};
    printf("%lld x %lld x %lld %s, %d bits\n", (long long)row->m, (long long)row->n, (long long)row->k,
           operation, row->bits);
    bench_json_begin(&bench->json, NULL, '{');
    bench_json_integer(&bench->json, "m", row->m);
    bench_json_integer(&bench->json, "n", row->n);
    bench_json_integer(&bench->json, "k", row->k);
    bench_json_text(&bench->json, "transposition", operation);
    bench_json_integer(&bench->json, "bits", row->bits);
    bench_json_begin(&bench->json, "tflops", '{');
    for (int i = 0; i < count; i++) {
        double tflops = product->flop / contenders[i].seconds * 1e-12;
        printf("    %-24s %7.2f TFLOP/s  %5.2f of cuBLAS SGEMM\n", contenders[i].name, tflops,
               contenders[0].seconds / contenders[i].seconds);
        bench_json_number(&bench->json, contenders[i].name, tflops);
    }
    bench_json_end(&bench->json, '}');
    bench_json_end(&bench->json, '}');
    fflush(stdout);
}

static void measure(bench *bench, const row *row)
{
    bench_product product;
    bench_allocate(&bench->gpu, bench_find_routine("sgemm"), row->m, row->n, row->k, row->transposition / 2,
                   row->transposition % 2, 0, &product);
    if (row->bits < ALL_BITS)
        bench_round_operands(&product, row->bits);
    bench_contender contenders[CONTENDERS_MAXIMUM], *turns[CONTENDERS_MAXIMUM];
    int count = collect_contenders(bench, &product, contenders);
    for (int i = 0; i < count; i++) {
        turns[i] = &contenders[i];
        bench_prepare(&bench->gpu, turns[i], &product);
    }
    bench_time(&bench->gpu, turns, count, &product, BUDGET);
    report(bench, row, &product, contenders, count);
    for (int i = 0; i < count; i++)
        bench_dismiss(turns[i]);
    bench_release(&product);
}

int main(int argc, char **argv)
{
    bench bench = {0};
    FILE *file = fopen(argc > 1 ? argv[1] : "/dev/null", "w");
    bench_require(file != NULL, "the file for JSON");
    bench_open(&bench.gpu);
    collect_plain_kernels(&bench);
    bench.json = bench_json_to(file);
    bench_json_begin(&bench.json, NULL, '{');
    bench_describe(&bench.gpu, &bench.json);
    bench_json_begin(&bench.json, "products", '[');
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        measure(&bench, &rows[i]);
    bench_json_end(&bench.json, ']');
    bench_json_end(&bench.json, '}');
    fclose(file);
    bench_close(&bench.gpu);
    return 0;
}
