#include "bench/level3_report.h"

#include "bench/expect.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <unistd.h>

static int cublas_version(void)
{
    int major = 0, minor = 0, patch = 0;
    bench_expect(cublasGetProperty(MAJOR_VERSION, &major) == CUBLAS_STATUS_SUCCESS &&
                     cublasGetProperty(MINOR_VERSION, &minor) == CUBLAS_STATUS_SUCCESS &&
                     cublasGetProperty(PATCH_LEVEL, &patch) == CUBLAS_STATUS_SUCCESS,
                 "cuBLAS does not tell its version");
    return 10000 * major + 100 * minor + patch; /* as cublasGetVersion, which needs a handle */
}

static void describe_machine(bench_json *json)
{
    struct cudaDeviceProp properties;
    bench_expect(cudaGetDeviceProperties(&properties, 0) == cudaSuccess, "there is no device");
    bench_json_begin(json, "machine", '{');
    bench_json_text(json, "gpu", properties.name);
    bench_json_integer(json, "processors", sysconf(_SC_NPROCESSORS_ONLN));
    bench_json_integer(json, "cublas", cublas_version());
    bench_json_end(json, '}');
}

level3_report level3_open_report(const level3_options *options, const level3_sides *sides)
{
    const char *name = options->json ? options->json : "/dev/null", *cache = getenv("TILEBLAS_OPERAND_CACHE");
    FILE *file = fopen(name, "w");
    bench_expect(file != NULL, name);
    level3_report report = {.sides = sides, .json = bench_json_to(file)};
    bench_json_begin(&report.json, NULL, '{');
    describe_machine(&report.json);
    bench_json_text(&report.json, "memory", options->on_host ? "pageable" : "device");
    bench_json_text(&report.json, "operand_cache", cache ? cache : "1");
    bench_json_text(&report.json, "side", options->right ? "right" : "left");
    bench_json_text(&report.json, "trmm", options->apart ? "apart" : "in place");
    bench_json_begin(&report.json, "products", '[');
    return report;
}

void level3_close_report(level3_report *report)
{
    bench_json_end(&report->json, ']');
    bench_json_end(&report->json, '}');
    bench_expect(fclose(report->json.file) == 0, "the results could not be written");
}

/* The side of cublasXt that took least, or the first where all refused; 0: there are none. */
static int best_xt(const level3_times *times)
{
    int best = times->sides > LEVEL3_XT ? LEVEL3_XT : 0;
    for (int side = LEVEL3_XT + 1; side < times->sides; side++)
        if (isnan(times->seconds[best]) || times->seconds[side] < times->seconds[best])
            best = side;
    return best;
}

static void write_product(level3_report *report, const level3_operands *operands, const level3_times *times,
                          int xt)
{
    bench_json *json = &report->json;
    const level3_side *sides = report->sides->list;
    bench_json_begin(json, NULL, '{');
    bench_json_text(json, "routine", operands->routine->name);
    bench_json_integer(json, "n", operands->n);
    bench_json_integer(json, "rows", operands->rows);
    bench_json_integer(json, "columns", operands->columns);
    bench_json_integer(json, "k", operands->k);
    bench_json_begin(json, "seconds", '{');
    for (int side = 0; side < LEVEL3_XT; side++)
        bench_json_number(json, sides[side].key, times->seconds[side]);
    if (xt)
        bench_json_number(json, sides[xt].key, times->seconds[xt]);
    bench_json_end(json, '}');
    bench_json_number(json, "ratio", times->ratio);
    if (xt)
        bench_json_integer(json, "cublasxt_block", sides[xt].block);
    bench_json_integer(json, "rounds", times->rounds);
    bench_json_number(json, "difference", times->difference);
    bench_json_end(json, '}');
}

static void print_beside(const level3_report *report, const level3_times *times, int side, double flop,
                         double ratio)
{
    printf("   %s %8.3f ms %7.2f   ratio %6.3f", report->sides->list[side].name, 1e3 * times->seconds[side],
           1e-12 * flop / times->seconds[side], ratio);
}

void level3_report_product(level3_report *report, const level3_operands *operands, const level3_times *times)
{
    const tb_product product = level3_product_of(operands, LEVEL3_OURS);
    const double flop = bench_flop(&product), ours = times->seconds[LEVEL3_OURS];
    const int xt = best_xt(times);
    printf("%-7s %6d  %8.3f ms %7.2f TFLOP/s", operands->routine->name, operands->n, 1e3 * ours,
           1e-12 * flop / ours);
    print_beside(report, times, LEVEL3_REFERENCE, flop, times->ratio);
    report->log_sum += log(times->ratio);
    if (xt) {
        print_beside(report, times, xt, flop, times->seconds[xt] / ours);
        printf(" (block %d)", report->sides->list[xt].block);
        report->log_sum_xt += log(times->seconds[xt] / ours);
    }
    printf("   differ by %.1e\n", times->difference);
    report->count++;
    write_product(report, operands, times, xt);
    fflush(report->json.file);
}

void level3_report_means(level3_report *report, const bench_routine *routine)
{
    printf("%s: geometric mean %.3f of %d", routine->name, exp(report->log_sum / report->count),
           report->count);
    if (report->sides->has_xt)
        printf(", beside cublasXt %.3f", exp(report->log_sum_xt / report->count));
    printf("\n");
    report->log_sum = report->log_sum_xt = 0;
    report->count = 0;
}
