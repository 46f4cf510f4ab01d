#include "bench/contender.h"

#include "bench/expect.h"
#include "bench/sides.h"
#include "bench/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *make_host(const tb_matrix *operand, bool pinned)
{
    void *matrix;
    if (pinned)
        bench_expect_cuda(cudaMallocHost(&matrix, tb_matrix_bytes(operand)));
    else
        matrix = malloc(tb_matrix_bytes(operand));
    bench_expect(matrix, "out of memory");
    bench_fill_random(operand->element, matrix, tb_matrix_bytes(operand) / tb_bytes_of(operand->element));
    return matrix;
}

/* Its numbers are as random as in host memory: what a kernel takes depends on it, by way of the power that it needs. */
static void *make_device(const tb_matrix *operand)
{
    void *matrix, *host = make_host(operand, false);
    bench_expect_cuda(cudaMalloc(&matrix, tb_matrix_bytes(operand)));
    bench_expect_cuda(cudaMemcpy(matrix, host, tb_matrix_bytes(operand), cudaMemcpyHostToDevice));
    free(host);
    return matrix;
}

/* C = A B, or of rank-k routines C = A B^T: column-major, nowhere yet. */
static tb_product make_product(int m, int n, int k)
{
    return bench_product_of(bench_served.routine, false, bench_updates(bench_served.routine), m, n, k, NULL,
                            NULL, NULL);
}

static void prepare(const bench_side *side)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_matrix *host = &bench_served.host.operands[role].matrix,
                  *device = &bench_served.device.operands[role].matrix;
        const bool is_a = !bench_has_operand(bench_served.routine, role);
        if (side->wants_host)
            host->data = is_a ? bench_served.host.a.data : make_host(host, bench_served.pinned);
        if (side->wants_device)
            device->data = is_a ? bench_served.device.a.data : make_device(device);
    }
}

static void release(void)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        void *host = bench_served.host.operands[role].data, *device = bench_served.device.operands[role].data;
        if (!bench_has_operand(bench_served.routine, role))
            continue;
        if (bench_served.pinned && host)
            bench_expect_cuda(cudaFreeHost(host));
        else
            free(host);
        if (device)
            bench_expect_cuda(cudaFree(device));
    }
    bench_served.host = bench_served.device = (tb_product){0};
}

static bool peak_is_of_runs;

/* From here on the most that is resident is counted anew. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    peak_is_of_runs = file && fputs("5", file) >= 0;
    if (file && fclose(file) != 0)
        peak_is_of_runs = false;
}

/* This process's memory, in bytes; -1 where nobody tells. field is one of /proc/self/status, its colon with it. */
static double resident(const char *field)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    double kib = -1;
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            sscanf(line + strlen(field), "%lf", &kib);
    if (file)
        fclose(file);
    return kib < 0 ? -1 : 1024 * kib;
}

/* What was resident before the side was opened: the benchmark itself, and what it is linked to. */
static double resident_at_first;

/* What the side has added at most: beside that, and the operands where they are ordinary memory; bytes, or -1 where nobody
 * tells. */
static double peak_added(const bench_side *side)
{
    const size_t operands = bench_bytes_in(bench_served.routine, &bench_served.host) +
                            tb_matrix_bytes(&bench_served.host.c.matrix);
    const double peak = resident("VmHWM:");
    if (peak < 0 || !peak_is_of_runs || bench_served.pinned)
        return -1;
    return peak - resident_at_first - (side->wants_host ? (double)operands : 0);
}

int bench_serve(const char *name, const char *routine_name)
{
    bench_served.routine = bench_find_routine(routine_name);
    bench_expect(bench_served.routine, "no such routine");
    const bench_side *side = bench_find_side(name);
    bench_expect(side, "no such contender");
    resident_at_first = resident("VmRSS:");
    side->open();
    char line[128], memory[16];
    while (fgets(line, sizeof line, stdin)) {
        int m, n, k;
        if (sscanf(line, "prepare %d %d %d %15s", &m, &n, &k, memory) == 4) {
            bench_served.host = bench_served.device = make_product(m, n, k);
            bench_served.pinned = strcmp(memory, "pinned") == 0;
            prepare(side);
            forget_peak();
            printf("ready\n");
        } else if (strcmp(line, "run\n") == 0) {
            if (side->before)
                side->before();
            double start = tb_seconds();
            side->run();
            printf("%.9f\n", tb_seconds() - start);
        } else {
            printf("released %.0f\n", peak_added(side));
            release();
        }
        fflush(stdout);
    }
    return 0;
}
