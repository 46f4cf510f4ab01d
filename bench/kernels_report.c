#include "bench/kernels_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Products with less than this share of what cuBLAS reaches are listed. */
static const double LEAST_RATIO = 0.92;

void kernels_open_report(kernels_report *report, const kernels_options *options, const bench_gpu *gpu)
{
    const char *name = options->json ? options->json : "/dev/null";
    FILE *file = fopen(name, "w");
    bench_require(file != NULL, name);
    *report = (kernels_report){.json = bench_json_to(file), .regret = options->regret};
    bench_json_begin(&report->json, NULL, '{');
    bench_describe(gpu, &report->json);
    bench_json_text(&report->json, "routine", options->routine->name);
    report->copy_rate = bench_copy_rate(gpu);
    bench_json_number(&report->json, "copy_bytes_per_second", report->copy_rate);
    printf("a copy within the device's memory: %.2f TB/s\n", report->copy_rate * 1e-12);
    bench_json_begin(&report->json, "groups", '[');
    report->slow = open_memstream(&report->slow_lines, &report->slow_size);
    bench_require(report->slow != NULL, "memory");
}

void kernels_close_report(kernels_report *report)
{
    bench_json_end(&report->json, ']');
    bench_json_end(&report->json, '}');
    fclose(report->json.file);
    fclose(report->slow);
    printf("\nunder %.2f of cuBLAS:%s\n%s", LEAST_RATIO, report->slow_size > 0 ? "" : " none",
           report->slow_lines);
    free(report->slow_lines);
}

kernels_tally kernels_begin_group(kernels_report *report, const char *name)
{
    printf("\n%s\n", name);
    bench_json_begin(&report->json, NULL, '{');
    bench_json_text(&report->json, "name", name);
    bench_json_begin(&report->json, "products", '[');
    return (kernels_tally){.least = INFINITY};
}

void kernels_end_group(kernels_report *report, const char *name, const kernels_tally *tally)
{
    const double mean = tally->count > 0 ? exp(tally->log_sum / tally->count) : NAN;
    printf("%s: geometric mean %.3f, least %.3f of cuBLAS over %d products", name, mean, tally->least,
           tally->count);
    if (report->regret)
        printf(", worst choice %.0f%% off the best", 100 * tally->worst_regret);
    printf("\n");
    bench_json_end(&report->json, ']');
    bench_json_number(&report->json, "geometric_mean", mean);
    bench_json_number(&report->json, "least", tally->least);
    bench_json_end(&report->json, '}');
}

/* Bytes a second over the rate of a copy; NaN for products that do more than read their operands. */
static double share_of_copy(const kernels_report *report, const tb_product *p, double seconds)
{
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    const double elements = m * k + k * n + (tb_is_zero(p->beta) ? 1 : 2) * m * n;
    const double bytes = (double)tb_bytes_of(tb_element_of(p)) * elements;
    return fmin(m, n) <= 16 ? bytes / seconds / report->copy_rate : NAN;
}

static const kernels_candidate *best_of(const kernels_times *times)
{
    const kernels_candidate *best = &times->candidates[0];
    for (int i = 1; i < times->count; i++)
        if (times->candidates[i].seconds < best->seconds)
            best = &times->candidates[i];
    return best;
}

/* How much longer the chosen kernel took than the best: 0.1 for a tenth. */
static double regret_of(const kernels_times *times)
{
    return times->candidates[0].seconds / best_of(times)->seconds - 1;
}

/* A product's line: what is chosen, and with --regret what would be best. */
static void print_product(const kernels_report *report, FILE *to, const bench_product *product,
                          const kernels_times *times)
{
    const tb_product *p = &product->first;
    const kernels_candidate *ours = &times->candidates[0], *best = best_of(times);
    fprintf(
        to,
        "%7lld %7lld %7lld %c%c beta %g  %7.2f  cuBLAS %7.2f TFLOP/s  ratio %5.3f  %s %.1f us, forecast %.1f",
        (long long)p->m, (long long)p->n, (long long)p->k, "NT"[p->a.transposed], "NT"[p->b.transposed],
        p -> beta.re, product->flop / ours->seconds * 1e-12, product->flop / times->cublas * 1e-12,
        times->cublas / ours->seconds, ours->name, 1e6 * ours->seconds, 1e6 * ours->forecast);
    const double share = share_of_copy(report, p, ours->seconds);
    if (!isnan(share))
        fprintf(to, "  %.0f%% of a copy", 100 * share);
    const double regret = regret_of(times);
    if (regret > 0.02)
        fprintf(to, "  %s would be %.0f%% faster: ratio %5.3f, %.1f us, forecast %.1f", best->name,
                100 * regret, times->cublas / best->seconds, 1e6 * best->seconds, 1e6 * best->forecast);
    fprintf(to, "\n");
}

static void write_candidates(bench_json *json, const kernels_times *times)
{
    bench_json_begin(json, "candidates", '{');
    for (int i = 0; i < times->count; i++) {
        bench_json_begin(json, times->candidates[i].name, '{');
        bench_json_number(json, "seconds", times->candidates[i].seconds);
        bench_json_number(json, "forecast", times->candidates[i].forecast);
        bench_json_end(json, '}');
    }
    bench_json_end(json, '}');
}

static void write_product(kernels_report *report, const bench_product *product, const kernels_times *times)
{
    bench_json *json = &report->json;
    const tb_product *p = &product->first;
    const double seconds = times->candidates[0].seconds;
    const char operation[3] = {"NT"[p->a.transposed], "NT"[p->b.transposed], 0};
    bench_json_begin(json, NULL, '{');
    if (report->regret)
        write_candidates(json, times);
    bench_json_integer(json, "m", p->m);
    bench_json_integer(json, "n", p->n);
    bench_json_integer(json, "k", p->k);
    bench_json_text(json, "transposition", operation);
    bench_json_number(json, "beta", p->beta.re);
    bench_json_text(json, "kernel", times->candidates[0].name);
    bench_json_number(json, "tflops", product->flop / seconds * 1e-12);
    bench_json_number(json, "cublas_tflops", product->flop / times->cublas * 1e-12);
    bench_json_number(json, "share_of_copy", share_of_copy(report, p, seconds));
    bench_json_number(json, "regret", report->regret ? regret_of(times) : NAN);
    bench_json_end(json, '}');
}

void kernels_report_product(kernels_report *report, const bench_product *product, const kernels_times *times,
                            kernels_tally *tally)
{
    const double ratio = times->cublas / times->candidates[0].seconds;
    print_product(report, stdout, product, times);
    if (ratio < LEAST_RATIO)
        print_product(report, report->slow, product, times);
    write_product(report, product, times);
    tally->count++;
    tally->log_sum += log(ratio);
    tally->least = fmin(tally->least, ratio);
    tally->worst_regret = fmax(tally->worst_regret, regret_of(times));
}
