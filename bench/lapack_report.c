#include "bench/lapack_report.h"

#include "bench/driver.h"
#include "bench/expect.h"

#include <math.h>
#include <unistd.h>

/* Right results stay below 2, and from a matrix of 10 on below 0.8. */
static const double residual_most = 5;

/* Beside cuSOLVER, and beside OpenBLAS: how many times as long we may take. */
static const double slower_on_device = 1.05, slower_on_host = 1.03;

static void describe_machine(const lapack_sides *sides, bench_json *json)
{
    bench_json_begin(json, "machine", '{');
    bench_json_text(json, "gpu", sides->has_device ? bench_device_name() : "none");
    bench_json_integer(json, "processors", sysconf(_SC_NPROCESSORS_ONLN));
    bench_json_integer(json, "cusolver", sides->cusolver);
    bench_json_number(json, "link", sides->link);
    bench_json_end(json, '}');
}

lapack_report lapack_open_report(const lapack_options *options, const lapack_sides *sides)
{
    const char *name = options->json ? options->json : "/dev/null", *cache = getenv("TILEBLAS_OPERAND_CACHE");
    FILE *file = fopen(name, "w");
    bench_expect(file != NULL, name);
    lapack_report report = {.sides = sides, .json = bench_json_to(file), .options = options};
    bench_json_begin(&report.json, NULL, '{');
    describe_machine(sides, &report.json);
    bench_json_text(&report.json, "memory", options->on_host ? "pageable" : "device");
    bench_json_text(&report.json, "operand_cache", cache ? cache : "1");
    bench_json_begin(&report.json, "factorizations", '[');
    return report;
}

void lapack_close_report(lapack_report *report)
{
    bench_json_end(&report->json, ']');
    bench_json_end(&report->json, '}');
    bench_expect(fclose(report->json.file) == 0, "the results could not be written");
}

static const char *triangle_of(bool upper)
{
    return upper ? "upper" : "lower";
}

static void describe_matrices(const lapack_options *options, const lapack_routine *routine)
{
    if (routine->stores_triangle)
        printf("%s triangle, ", triangle_of(options->upper));
    if (options->rows > 0)
        printf("%d rows, ", options->rows);
    if (routine->has_right_sides && options->right_sides > 0)
        printf("%d right-hand sides, ", options->right_sides);
    else if (routine->has_right_sides)
        printf("n right-hand sides, ");
}

void lapack_report_routine(const lapack_report *report, const lapack_routine *routine, tb_element element)
{
    const lapack_sides *sides = report->sides;
    char name[LAPACK_NAME_BYTES];
    printf("\n%s, ", lapack_name(routine, element, name));
    describe_matrices(report->options, routine);
    printf("%s memory, %s\n%6s", sides->on_host ? "ordinary" : "device",
           sides->has_device ? bench_device_name() : "no device", "n");
    for (int side = 0; side < sides->count; side++)
        if (!sides->list[side].missing)
            printf("  %8s ms  GFLOP/s residual", sides->list[side].name);
    if (!isnan(sides->link))
        printf("  link's floor ms");
    printf("  times as fast as %s\n", sides->list[LAPACK_REFERENCE].name);
}

static double floor_of(const lapack_sides *sides, const lapack_operands *operands)
{
    const double elements = operands->routine->elements_moved(operands);
    return elements * (double)tb_bytes_of(operands->element) / sides->link;
}

static double ratio_of(const lapack_times *times)
{
    return times->seconds[LAPACK_REFERENCE] / times->seconds[LAPACK_OURS];
}

static void write_matrix(lapack_report *report, const lapack_operands *operands, const lapack_times *times)
{
    bench_json *json = &report->json;
    const lapack_sides *sides = report->sides;
    char name[LAPACK_NAME_BYTES];
    bench_json_begin(json, NULL, '{');
    bench_json_text(json, "routine", lapack_name(operands->routine, operands->element, name));
    if (operands->routine->stores_triangle)
        bench_json_text(json, "triangle", triangle_of(operands->upper));
    bench_json_integer(json, "m", operands->m);
    bench_json_integer(json, "n", operands->n);
    if (operands->right_sides > 0)
        bench_json_integer(json, "right_hand_sides", operands->right_sides);
    bench_json_begin(json, "seconds", '{');
    for (int side = 0; side < sides->count; side++)
        bench_json_number(json, sides->list[side].key, times->seconds[side]);
    if (sides->on_host)
        bench_json_number(json, "floor", floor_of(sides, operands));
    bench_json_end(json, '}');
    bench_json_begin(json, "residuals", '{');
    for (int side = 0; side < sides->count; side++)
        bench_json_number(json, sides->list[side].key, times->residuals[side]);
    bench_json_end(json, '}');
    bench_json_number(json, "ratio", ratio_of(times));
    bench_json_integer(json, "rounds", times->rounds);
    bench_json_end(json, '}');
    fflush(json->file);
}

static void print_side(const lapack_operands *operands, const lapack_times *times, int side)
{
    const double flop = operands->routine->flop(operands) * (tb_is_complex(operands->element) ? 4 : 1);
    if (isnan(times->seconds[side]))
        printf("  %11s %8s %8s", "-", "-", "-");
    else
        printf("  %11.3f %8.1f %8.1e", 1e3 * times->seconds[side], 1e-9 * flop / times->seconds[side],
               times->residuals[side]);
}

static void print_judgement(const lapack_sides *sides, const lapack_times *times)
{
    const double ratio = ratio_of(times), most = sides->on_host ? slower_on_host : slower_on_device;
    if (isnan(ratio))
        printf("  -");
    else
        printf("  %.3f%s", ratio, ratio * most < 1 ? " slower" : "");
}

/* Says which sides' results are wrong. */
static void print_wrong(lapack_report *report, const lapack_times *times)
{
    for (int side = 0; side < report->sides->count; side++)
        if (times->residuals[side] > residual_most) {
            printf("  %s IS WRONG", report->sides->list[side].name);
            report->has_wrong = true;
        }
}

void lapack_report_matrix(lapack_report *report, const lapack_operands *operands, const lapack_times *times)
{
    const lapack_sides *sides = report->sides;
    printf("%6d", operands->n);
    for (int side = 0; side < sides->count; side++)
        if (!sides->list[side].missing)
            print_side(operands, times, side);
    if (!isnan(sides->link))
        printf("  %15.3f", 1e3 * floor_of(sides, operands));
    print_judgement(sides, times);
    print_wrong(report, times);
    printf("\n");
    write_matrix(report, operands, times);
}
