/* precision: the error of every kernel of the catalog that is not of FP32 multiply-adds against k, beside
 * cuBLAS SGEMM (pedantic) and cuBLAS on the TF32 tensor cores; or of every FP64 kernel, beside cuBLAS DGEMM.
 * For products whose error is known (tests/gpu/sampled_product.h). Prints the largest and the rms error in
 * units of u d, with u = 2^-24 or 2^-53 and d = |A||B|.
 *
 *   bench/precision [JSON [float|double]]
 */
#include "bench/json.h"
#include "tests/gpu/sampled_product.h"
#include "lib/device/platform.h"

#include <string.h>

enum { CONTENDERS_MAXIMUM = 16 };

static const int64_t all_k[] = {16, 64, 256, 1024, 4096, 16384, 65536};
static const char *const families[] = {"uniform 0..1", "normal", "(u-1/2)exp(N)", "equal along k"};

typedef struct contender {
    const char *name;
    const tb_kernel *kernel; /* NULL: cuBLAS */
    bool tf32;
} contender;

typedef struct bench {
    tb_element element;
    sampled_device on;
    bench_json json;
    int count;
    contender contenders[CONTENDERS_MAXIMUM];
} bench;

static void collect_contenders(bench *bench, int architecture)
{
    const bool of_doubles = bench->element == TB_FP64;
    bench->contenders[bench->count++] = (contender){.name = of_doubles ? "cuBLAS DGEMM" : "cuBLAS SGEMM"};
    if (!of_doubles)
        bench->contenders[bench->count++] = (contender){.name = "cuBLAS TF32", .tf32 = true};
    for (size_t i = 0; i < tb_catalog_size && bench->count < CONTENDERS_MAXIMUM; i++) {
        const tb_kernel *kernel = &tb_catalog[i];
        if (kernel->element == bench->element && (of_doubles || kernel->accuracy != TB_ACCURACY_IEEE) &&
            kernel->reads == TB_READS_PLAIN && tb_kernel_runs_on(kernel, architecture))
            bench->contenders[bench->count++] = (contender){.name = kernel->name, .kernel = kernel};
    }
}

static void measure(bench *bench, const accuracy_family *family, int64_t k)
{
    const uint64_t seed = 1;
    sampled_operand a = sampled_make_lines(family, bench->element, SAMPLED_M, k, false, seed),
                    b = sampled_make_lines(family, bench->element, SAMPLED_N, k, true, seed);
    static sampled_reference reference;
    reference = (sampled_reference){.a = &a, .b = &b};
    sampled_refer(&reference);
    bench_json_begin(&bench->json, NULL, '{');
    bench_json_text(&bench->json, "family", family->name);
    bench_json_integer(&bench->json, "k", k);
    bench_json_begin(&bench->json, "errors", '{');
    for (int i = 0; i < bench->count; i++) {
        const contender *contender = &bench->contenders[i];
        if (contender->kernel)
            sampled_multiply(&bench->on, contender->kernel, &a, &b);
        else
            sampled_multiply_cublas(&bench->on, contender->tf32, &a, &b);
        sampled_errors errors = sampled_measure(&reference, bench->on.sample);
        printf("%-16s %6lld  %-22s %12.3f %12.4f %+12.4f\n", family->name, (long long)k, contender->name,
               errors.maximum, errors.rms, errors.bias);
        bench_json_begin(&bench->json, contender->name, '{');
        bench_json_number(&bench->json, "maximum", errors.maximum);
        bench_json_number(&bench->json, "rms", errors.rms);
        bench_json_number(&bench->json, "bias", errors.bias);
        bench_json_end(&bench->json, '}');
    }
    bench_json_end(&bench->json, '}');
    bench_json_end(&bench->json, '}');
    fflush(stdout);
    sampled_drop_operand(&a);
    sampled_drop_operand(&b);
}

int main(int argc, char **argv)
{
    static bench bench;
    bench.element = argc > 2 && strcmp(argv[2], "double") == 0 ? TB_FP64 : TB_FP32;
    FILE *file = fopen(argc > 1 ? argv[1] : "/dev/null", "w");
    sampled_must(file != NULL, "opening the file for JSON");
    int devices;
    tb_device_description description;
    MUST_TB(tb_platform.open(&devices));
    MUST_TB(tb_device_at(0)->describe(0, &description));
    MUST_TB(tb_device_at(0)->open_device(0));
    sampled_open(&bench.on);
    collect_contenders(&bench, description.architecture);
    bench.json = bench_json_to(file);
    bench_json_begin(&bench.json, NULL, '{');
    bench_json_text(&bench.json, "gpu", description.name);
    bench_json_text(&bench.json, "element", bench.element == TB_FP64 ? "double" : "float");
    bench_json_begin(&bench.json, "products", '[');
    printf("%-16s %6s  %-22s %12s %12s %12s\n", "family", "k", "", "largest", "rms", "bias");
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t i = 0; i < sizeof all_k / sizeof *all_k; i++)
            for (int family = 0; family < accuracy_family_count; family++)
                if (strcmp(accuracy_families[family].name, families[f]) == 0)
                    measure(&bench, &accuracy_families[family], all_k[i]);
    bench_json_end(&bench.json, ']');
    bench_json_end(&bench.json, '}');
    fclose(file);
    return 0;
}
