/* The tensor-core kernels leave out products with parts of numbers that hold nothing. That must change no bit: a
 * product whose first operand fits into fewer parts is computed by itself, and again with one more row of numbers that
 * need all three, which makes the kernel compute everything; all other rows are the same bit for bit.
 */
#include "kernels/catalog.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"

#include "include/tileblas.h"
#include "lib/machine.h"

#include <stdlib.h>
#include <string.h>

/* The additional row is in the same tile as the row before it. */
enum { M = 255, N = 200, K = 1700 };

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

static float *on_device(const float *matrix, size_t floats)
{
    float *copy = arena_allocate(TB_MEMORY_DEVICE, floats * sizeof *copy);
    arena_copy(copy, matrix, floats * sizeof *copy);
    return copy;
}

/* C of so many rows; the operands have room for one row more. */
static float *multiply(int m, const float *a, const float *b, const char *kernel)
{
    const size_t floats = (size_t)(M + 1) * N;
    float *c = malloc(floats * sizeof *c);
    float *device = arena_allocate(TB_MEMORY_DEVICE, floats * sizeof *c);
    cblas_sgemm(102, 111, 111, m, N, K, 1, a, M + 1, b, K, 0, device, M + 1);
    char plan[256];
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strstr(plan, kernel) != NULL, "the plan for %s is \"%s\"", kernel, plan);
    arena_copy(c, device, floats * sizeof *c);
    arena_release(TB_MEMORY_DEVICE, device);
    return c;
}

static void check_kernel(const char *kernel, int bits_a, int bits_b, check_random *random)
{
    const size_t floats_a = (size_t)(M + 1) * K, floats_b = (size_t)K * N;
    float *a = fill(floats_a, bits_a, random), *b = fill(floats_b, bits_b, random);
    for (int k = 0; k < K; k++)
        a[M + k * (M + 1)] = draw(random, 24);
    float *device_a = on_device(a, floats_a), *device_b = on_device(b, floats_b);
    float *few = multiply(M, device_a, device_b, kernel), *all = multiply(M + 1, device_a, device_b, kernel);
    long different = 0, zeros = 0;
    for (int column = 0; column < N; column++)
        for (int row = 0; row < M; row++) {
            const float *x = &few[row + column * (M + 1)], *y = &all[row + column * (M + 1)];
            different += memcmp(x, y, sizeof *x) != 0;
            zeros += *x == 0;
        }
    CHECK(different == 0 && zeros < M * N / 10, "%s, %d and %d bits: %ld elements differ, %ld are 0", kernel,
          bits_a, bits_b, different, zeros);
    float *host[] = {a, b, few, all}, *device[] = {device_a, device_b};
    for (int i = 0; i < 4; i++)
        free(host[i]);
    for (int i = 0; i < 2; i++)
        arena_release(TB_MEMORY_DEVICE, device[i]);
}

int main(void)
{
    static const char *const kernels[] = {"sgemm_bf16x6_sm90", "sgemm_bf16x9_sm90", "sgemm_fp16x3_sm90",
                                          "sgemm_bf16x6_sm80"};
    static const int bits[] = {8, 16, 24};
    if (!arena_has_device())
        SKIP("no device");
    tb_machine_start(&(tb_plan){.start = TB_START_NOW});
    const tb_machine machine = tb_machine_facts();
    const tb_problem any = {.m = M, .n = N, .k = K};
    if (machine.chip_count == 0)
        SKIP("no device");
    int served = 0;
    check_random random = {.state = check_seed()};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!tb_kernel_serves(tb_find_kernel(kernels[i]), &any, &machine.chips[0], true))
            continue;
        served++;
        tileblas_set_option("KERNEL", kernels[i]);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                check_kernel(kernels[i], bits[a], bits[b], &random);
    }
    if (served == 0)
        SKIP("no such kernel here");
    return check_result();
}
