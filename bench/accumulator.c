/* accumulator: how Hopper's tensor cores add. Compares wgmma m64n8k16 (BF16 in, FP32 out) with a model, bit for
 * bit, on random vectors of several spreads of exponents and on directed ones, and prints what holds.
 *
 * The model: the 16 products and the accumulator are aligned to the largest exponent among them, a product's
 * being the sum of its operands'; each is cut off (towards zero) EXTRA_BITS below the last bit of an FP32
 * number of that exponent; what is left is summed exactly, and the sum cut off to 24 bits.
 */
#include "bench/accumulator.h"
#include "lib/device/code.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS     256
#define A_COUNT    (BLOCKS * BENCH_PROBE_M * BENCH_PROBE_K)
#define B_COUNT    (BLOCKS * BENCH_PROBE_N * BENCH_PROBE_K)
#define C_COUNT    (BLOCKS * BENCH_PROBE_M * BENCH_PROBE_N)
#define EXTRA_BITS 2

extern const tb_code tb_own_code;

static struct {
    cudaKernel_t kernel;
    uint16_t a[A_COUNT], b[B_COUNT];
    float c[C_COUNT], d[C_COUNT];
    uint16_t *device_a, *device_b;
    float *device_c, *device_d;
} probe;

static void must(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}
#define MUST(call) must((call), #call)

static void open_probe(void)
{
    cudaLibrary_t library;
    MUST(cudaLibraryLoadData(&library, tb_binary_in(&tb_own_code, "accumulator_probe"), NULL, NULL, 0, NULL,
                             NULL, 0));
    MUST(cudaLibraryGetKernel(&probe.kernel, library, "accumulator_probe"));
    MUST(cudaMalloc((void **)&probe.device_a, sizeof probe.a));
    MUST(cudaMalloc((void **)&probe.device_b, sizeof probe.b));
    MUST(cudaMalloc((void **)&probe.device_c, sizeof probe.c));
    MUST(cudaMalloc((void **)&probe.device_d, sizeof probe.d));
}

static void run_probe(void)
{
    bench_probe_arguments arguments = {probe.device_a, probe.device_b, probe.device_c, probe.device_d};
    void *pointers[] = {&arguments};
    MUST(cudaMemcpy(probe.device_a, probe.a, sizeof probe.a, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(probe.device_b, probe.b, sizeof probe.b, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(probe.device_c, probe.c, sizeof probe.c, cudaMemcpyHostToDevice));
    MUST(cudaLaunchKernel((const void *)probe.kernel, (struct dim3){BLOCKS, 1, 1}, (struct dim3){128, 1, 1},
                          pointers, 0, NULL));
    MUST(cudaMemcpy(probe.d, probe.device_d, sizeof probe.d, cudaMemcpyDeviceToHost));
}

static double bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* The bits of a number that BF16 holds. */
static uint16_t bf16_bits(double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static float cut_off(double value)
{
    float rounded = (float)value;
    return fabs((double)rounded) > fabs(value) ? nextafterf(rounded, 0) : rounded;
}

static float model(const uint16_t *a, const uint16_t *b, float c, int extra_bits)
{
    double terms[BENCH_PROBE_K + 1] = {c};
    int largest = c != 0 ? ilogb(c) : INT32_MIN;
    for (int k = 0; k < BENCH_PROBE_K; k++) {
        double x = bf16(a[k]), y = bf16(b[k]);
        terms[k + 1] = x * y;
        if (x * y != 0 && ilogb(x) + ilogb(y) > largest)
            largest = ilogb(x) + ilogb(y);
    }
    if (largest == INT32_MIN)
        return 0;
    double unit = ldexp(1, largest - 23 - extra_bits), sum = 0;
    for (int i = 0; i <= BENCH_PROBE_K; i++)
        sum += trunc(terms[i] / unit); /* whole numbers below 2^53 */
    return cut_off(sum * unit);
}

/* ---- random vectors ----------------------------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(void)
{
    static uint64_t state = 1;
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Random sign and significand, one of `spread` exponents around zero. */
static uint16_t random_bf16(int spread)
{
    uint64_t exponent = 127 - (uint64_t)spread / 2 + next_random() % (uint64_t)spread;
    return (uint16_t)((next_random() & 0x807f) | exponent << 7);
}

static long count_differences(int extra_bits)
{
    long differences = 0;
    for (int i = 0; i < C_COUNT; i++) {
        int row = i / BENCH_PROBE_N,
            column = i / (BENCH_PROBE_M * BENCH_PROBE_N) * BENCH_PROBE_N + i % BENCH_PROBE_N;
        float expected =
            model(probe.a + row * BENCH_PROBE_K, probe.b + column * BENCH_PROBE_K, probe.c[i], extra_bits);
        differences += expected != probe.d[i];
    }
    return differences;
}

static bool compare_random(int spread)
{
    for (int i = 0; i < A_COUNT; i++)
        probe.a[i] = random_bf16(spread);
    for (int i = 0; i < B_COUNT; i++)
        probe.b[i] = random_bf16(spread);
    for (int i = 0; i < C_COUNT; i++)
        probe.c[i] = (float)(bf16(random_bf16(spread)) * (1 + ldexp((double)(next_random() >> 40), -32)));
    run_probe();
    printf("random, %2d exponents: of %d results differ from the model", spread, C_COUNT);
    long with_model = 0;
    for (int extra_bits = 0; extra_bits <= 4; extra_bits++) {
        long differences = count_differences(extra_bits);
        printf("%s %ld with %d extra bits", extra_bits > 0 ? "," : "", differences, extra_bits);
        if (extra_bits == EXTRA_BITS)
            with_model = differences;
    }
    printf("\n");
    return with_model == 0;
}

/* ---- directed vectors --------------------------------------------------------------------------------- */

/* Sums of the form c + count products x * y + one product u * v, in element 0. */
typedef struct directed {
    const char *what;
    double c;
    int count;
    double x, y, u, v;
    double expected;
} directed;

static const directed all_directed[] = {
    {"an addend of half the last bit is cut off: 1 + 2^-24", 1, 1, 0x1p-24, 1, 0, 0, 1},
    {"towards zero, not down: -1 - 2^-24", -1, 1, -0x1p-24, 1, 0, 0, -1},
    {"extra bits: 1 + 16 * 2^-25", 1, 16, 0x1p-25, 1, 0, 0, 1 + 0x1p-21},
    {"no more of them: 1 + 16 * 2^-26", 1, 16, 0x1p-26, 1, 0, 0, 1},
    {"seen from below: 1 - 2^-25", 1, 1, -0x1p-25, 1, 0, 0, 1 - 0x1p-24},
    {"seen from below: 1 - 2^-26", 1, 1, -0x1p-26, 1, 0, 0, 1},
    {"products align with each other too: 1 * 1 + 15 * 2^-25", 0, 15, 0x1p-25, 1, 1, 1, 1 + 3 * 0x1p-23},
    {"products align with each other too: 1 * 1 + 15 * 2^-26", 0, 15, 0x1p-26, 1, 1, 1, 1},
    {"BF16 subnormals are numbers: 2^-133 * 1", 0, 1, 0x1p-133, 1, 0, 0, 0x1p-133},
    {"FP32 subnormals are results: 2^-100 * 2^-40", 0, 1, 0x1p-100, 0x1p-40, 0, 0, 0x1p-140},
    {"and are kept: 2^-149 + 0", 0x1p-149, 0, 0, 0, 0, 0, 0x1p-149},
    {"below them there is nothing: 2^-133 * 2^-133", 0, 1, 0x1p-133, 0x1p-133, 0, 0, 0},
    {"inside, exponents go further: 2 * 2^-150", 0, 2, 0x1p-75, 0x1p-75, 0, 0, 0x1p-149},
    {"upwards too: 2^254 - 2^254", 0, 1, 0x1p127, 0x1p127, -0x1p127, 0x1p127, 0},
    {"beyond FLT_MAX is infinity: 2^127 * 2", 0, 1, 0x1p127, 2, 0, 0, INFINITY},
    {"infinity stays: Inf * 1", 0, 1, INFINITY, 1, 0, 0, INFINITY},
    {"infinity times zero: Inf * 0", 0, 1, INFINITY, 0, 0, 0, NAN},
    {"infinity minus infinity", 0, 1, INFINITY, 1, -INFINITY, 1, NAN},
};

static bool try_directed(const directed *test)
{
    memset(probe.a, 0, sizeof probe.a);
    memset(probe.b, 0, sizeof probe.b);
    memset(probe.c, 0, sizeof probe.c);
    probe.c[0] = (float)test->c;
    for (int k = 0; k < test->count; k++) {
        probe.a[k] = bf16_bits(test->x);
        probe.b[k] = bf16_bits(test->y);
    }
    if (test->u != 0) {
        probe.a[BENCH_PROBE_K - 1] = bf16_bits(test->u);
        probe.b[BENCH_PROBE_K - 1] = bf16_bits(test->v);
    }
    run_probe();
    double result = probe.d[0];
    bool holds = result == test->expected || (isnan(result) && isnan(test->expected));
    printf("%-58s %.10g%s\n", test->what, result, holds ? "" : "  UNEXPECTED");
    return holds;
}

int main(void)
{
    struct cudaDeviceProp device;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
        printf("skipped: no GPU of compute capability 9\n");
        return 77;
    }
    open_probe();
    printf("wgmma.m64n8k16.f32.bf16.bf16 on %s; model: one alignment for 16 products and the accumulator, %d "
           "extra "
           "bits, truncation\n",
           device.name, EXTRA_BITS);
    bool holds = true;
    static const int spreads[] = {1, 2, 4, 8, 16, 32, 60};
    for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++)
        holds &= compare_random(spreads[i]);
    for (size_t i = 0; i < sizeof all_directed / sizeof *all_directed; i++)
        holds &= try_directed(&all_directed[i]);
    printf("%s\n", holds ? "the model holds" : "THE MODEL DOES NOT HOLD");
    return holds ? EXIT_SUCCESS : EXIT_FAILURE;
}
