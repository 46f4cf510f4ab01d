#include "bench/device_product.h"

#include <math.h>
#include <stdlib.h>

enum { SETS_MAXIMUM = 64 };

double bench_number_at(tb_element element, const void *numbers, size_t index)
{
    return element == TB_FP64 ? ((const double *)numbers)[index] : (double)((const float *)numbers)[index];
}

static void set_number(tb_element element, void *numbers, size_t index, double number)
{
    if (element == TB_FP64)
        ((double *)numbers)[index] = number;
    else
        ((float *)numbers)[index] = (float)number;
}

/* One sequence of numbers, of which the host keeps what was ever wanted: drawing takes longer than measuring. */
static struct {
    bench_numbers *draw;
    tb_element element;
    void *numbers;
    size_t count;
    uint64_t state;
} drawn = {.draw = bench_normal, .element = TB_ELEMENTS};

void bench_draw(bench_numbers *numbers)
{
    if (drawn.draw != numbers)
        drawn.count = 0;
    drawn.draw = numbers;
}

bool bench_draws_normal(void)
{
    return drawn.draw == bench_normal;
}

/* The numbers from `first` to first + count. */
static void *random_matrices(tb_element element, size_t first, size_t count)
{
    const size_t bytes = tb_bytes_of(element);
    bench_require(drawn.element == TB_ELEMENTS || drawn.element == element, "all products of one element");
    drawn.element = element;
    if (drawn.count == 0)
        drawn.state = 0x9e3779b97f4a7c15;
    if (first + count > drawn.count) {
        drawn.numbers = realloc(drawn.numbers, (first + count) * bytes);
        bench_require(drawn.numbers != NULL, "memory for random numbers");
        for (; drawn.count < first + count; drawn.count++)
            set_number(element, drawn.numbers, drawn.count, drawn.draw(&drawn.state));
    }
    void *device;
    BENCH_CUDA(cudaMalloc(&device, count * bytes));
    BENCH_CUDA(
        cudaMemcpy(device, (char *)drawn.numbers + first * bytes, count * bytes, cudaMemcpyHostToDevice));
    return device;
}

/* Each set begins where cudaMalloc would have put it. */
static size_t aligned(int64_t rows, int64_t columns)
{
    return ((size_t)rows * (size_t)columns + 63) / 64 * 64;
}

void bench_allocate(const bench_gpu *gpu, const bench_routine *routine, int64_t m, int64_t n, int64_t k,
                    bool transpose_a, bool transpose_b, int sets, bench_product *product)
{
    const bool has_b = bench_has_operand(routine, TB_B);
    const size_t element_bytes = tb_bytes_of(routine->element);
    *product = (bench_product){
        .routine = routine,
        .strides = {[TB_A] = aligned(m, k), [TB_B] = has_b ? aligned(k, n) : 0, [TB_C] = aligned(m, n)},
    };
    const size_t *strides = product->strides;
    size_t bytes = (strides[TB_A] + strides[TB_B] + strides[TB_C]) * element_bytes;
    size_t wanted = sets ? (size_t)sets : 2 * gpu->l2_bytes / bytes + 1;
    product->sets = wanted < SETS_MAXIMUM ? (int)wanted : SETS_MAXIMUM;

    size_t count = (size_t)product->sets;
    void *a = random_matrices(routine->element, 0, count * strides[TB_A]);
    void *b = has_b ? random_matrices(routine->element, count * strides[TB_A], count * strides[TB_B]) : NULL;
    void *c;
    BENCH_CUDA(cudaMalloc(&c, count * strides[TB_C] * element_bytes));
    BENCH_CUDA(cudaMemset(c, 0xff, count * strides[TB_C] * element_bytes));
    product->first = bench_product_of(routine, transpose_a, transpose_b, m, n, k, a, b, c);
    product->flop = bench_flop(&product->first);
}

static void round_matrices(tb_element element, void *device, size_t count, int bits)
{
    const size_t bytes = count * tb_bytes_of(element);
    void *host = malloc(bytes);
    bench_require(host != NULL, "memory for rounded numbers");
    BENCH_CUDA(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        int exponent;
        const double fraction = frexp(bench_number_at(element, host, i), &exponent);
        set_number(element, host, i, ldexp(round(ldexp(fraction, bits)), exponent - bits));
    }
    BENCH_CUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    free(host);
}

void bench_round_operands(const bench_product *product, int bits)
{
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (bench_has_operand(product->routine, role))
            round_matrices(product->routine->element, product->first.operands[role].data,
                           (size_t)product->sets * product->strides[role], bits);
}

void bench_release(bench_product *product)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (bench_has_operand(product->routine, role))
            BENCH_CUDA(cudaFree(product->first.operands[role].data));
}

tb_product bench_product_at(const bench_product *product, int64_t turn)
{
    tb_product at_turn = product->first;
    const size_t set = (size_t)(turn % product->sets);
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const size_t stride = product->strides[bench_has_operand(product->routine, role) ? role : TB_A];
        at_turn.operands[role].data = (char *)product->first.operands[role].data +
                                      set * stride * tb_bytes_of(product->routine->element);
    }
    return at_turn;
}
