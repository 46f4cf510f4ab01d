/* The tensor-core kernels leave out products with parts of numbers that hold nothing, chunk by chunk. That must change no
 * bit: a product whose first operand fits into fewer parts, or has blocks of zeros, is computed by itself, and again with
 * a row in every piece of 64 that needs all parts everywhere; all other rows are the same bit for bit.
 */
#include "kernels/catalog.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"

#include "include/tileblas.h"
#include "lib/machine/machine.h"
#include "lib/machine/start.h"

#include <stdlib.h>
#include <string.h>

enum { M = 255, N = 200, K = 1700, PIECE = 64, BLOCK_M = 128, BLOCK_K = 32 };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

/* Whole numbers of so many bits: 8 fill one part, 16 two, 24 three of BF16 or two of FP16. */
static float draw(check_random *random, int bits)
{
    return (float)check_between(random, 1 - (1 << bits), (1 << bits) - 1) * 0x1p-10f;
}

static float *fill(size_t floats, int bits, check_random *random)
{
    float *matrix = malloc(floats * sizeof *matrix);
    for (size_t i = 0; i < floats; i++)
        matrix[i] = draw(random, bits);
    return matrix;
}

static bool is_hole(int row, int k)
{
    return (row / BLOCK_M + k / BLOCK_K) % 3 == 0;
}

static void pierce(float *a)
{
    for (int k = 0; k < K; k++)
        for (int row = 0; row < M; row++)
            if (is_hole(row, k))
                a[row + k * M] = 0;
}

static float *on_device(const float *matrix, size_t floats)
{
    float *copy = arena_allocate(TB_MEMORY_DEVICE, floats * sizeof *copy);
    arena_copy(copy, matrix, floats * sizeof *copy);
    return copy;
}

static float *multiply(const float *a, const float *b, const char *kernel)
{
    const size_t floats = (size_t)M * N;
    float *c = malloc(floats * sizeof *c);
    float *device = arena_allocate(TB_MEMORY_DEVICE, floats * sizeof *c);
    cblas_sgemm(102, 111, 111, M, N, K, 1, a, M, b, K, 0, device, M);
    char plan[256];
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strstr(plan, kernel) != NULL, "the plan for %s is \"%s\"", kernel, plan);
    arena_copy(c, device, floats * sizeof *c);
    arena_release(TB_MEMORY_DEVICE, device);
    return c;
}

typedef struct data {
    int bits_a, bits_b;
    bool holes; /* in A */
} data;

static void check_kernel(const char *kernel, const data *data, check_random *random)
{
    const size_t floats_a = (size_t)M * K, floats_b = (size_t)K * N;
    float *a = fill(floats_a, data->bits_a, random), *b = fill(floats_b, data->bits_b, random);
    if (data->holes)
        pierce(a);
    float *device_a = on_device(a, floats_a), *device_b = on_device(b, floats_b);
    for (int k = 0; k < K; k++)
        for (int row = 0; row < M; row += PIECE)
            a[row + k * M] = draw(random, 24);
    float *device_full = on_device(a, floats_a);
    float *few = multiply(device_a, device_b, kernel), *all = multiply(device_full, device_b, kernel);
    long different = 0, zeros = 0;
    for (int column = 0; column < N; column++)
        for (int row = 0; row < M; row++) {
            const float *x = &few[row + column * M], *y = &all[row + column * M];
            different += row % PIECE != 0 && memcmp(x, y, sizeof *x) != 0;
            zeros += *x == 0;
        }
    CHECK(different == 0 && zeros < M * N / 10, "%s, %d and %d bits%s: %ld elements differ, %ld are 0",
          kernel, data->bits_a, data->bits_b, data->holes ? ", holes" : "", different, zeros);
    float *host[] = {a, b, few, all}, *device[] = {device_a, device_b, device_full};
    for (int i = 0; i < 4; i++)
        free(host[i]);
    for (int i = 0; i < 3; i++)
        arena_release(TB_MEMORY_DEVICE, device[i]);
}

int main(void)
{
    static const char *const kernels[] = {"sgemm_bf16x6_sm90", "sgemm_bf16x9_sm90", "sgemm_fp16x3_sm90",
                                          "sgemm_bf16x6_sm80", "sgemm_split_sm90"};
    static const int bits[] = {8, 16, 24};
    if (!arena_has_device())
        SKIP("no device");
    tb_machine_start(&(tb_plan){.start = TB_START_NOW}, NULL);
    const tb_machine machine = tb_machine_facts();
    const tb_product any = tb_gemm(TB_SGEMM, false, false, M, N, K, 1, NULL, M, NULL, K, 0, NULL, M);
    if (machine.chip_count == 0)
        SKIP("no device");
    int served = 0;
    check_random random = {.state = check_seed()};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!tb_kernel_serves(tb_find_kernel(kernels[i]), &any, &machine.chips[0], true))
            continue;
        served++;
        tileblas_set_option("KERNEL", kernels[i]);
        for (int choice = 0; choice < 18; choice++) {
            const data data = {bits[choice % 3], bits[choice / 3 % 3], choice / 9};
            check_kernel(kernels[i], &data, &random);
        }
    }
    if (served == 0)
        SKIP("no such kernel here");
    return check_result();
}
