#include "bench/regret_products.h"

#include "bench/expect.h"
#include "words/lowered.h"

#include <cuda_runtime_api.h>

#include <math.h>
#include <stdlib.h>

enum { EXTENT_MAXIMUM = 16384 };

/* Operands of at most this size, and products that the host does in a second or two. */
#define BYTES_MAXIMUM  1.08e9
#define VOLUME_MAXIMUM 2e12

const char *const regret_memory_names[REGRET_MEMORIES] = {"pageable", "pinned", "device"};

static int draw_extent(void)
{
    return (int)exp(log(EXTENT_MAXIMUM) * ((double)rand() / RAND_MAX));
}

static bool is_too_large(const tb_product *p)
{
    double bytes = 0;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        bytes = fmax(bytes, (double)tb_matrix_bytes(&p->operands[role].matrix));
    return tb_volume(p) > VOLUME_MAXIMUM || bytes > BYTES_MAXIMUM;
}

tb_product regret_draw_product(const bench_routine *routine)
{
    for (;;) {
        const int m = draw_extent(), n = draw_extent(), k = draw_extent();
        const bool transpose_a = rand() & 1, transpose_b = rand() & 1;
        const tb_product p =
            bench_product_of(routine, transpose_a, bench_updates(routine) ? !transpose_a : transpose_b, m, n,
                             k, NULL, NULL, NULL);
        if (!is_too_large(&p))
            return p;
    }
}

static void *allocate(regret_memory memory, size_t bytes)
{
    void *matrix = NULL;
    if (memory == REGRET_PAGEABLE)
        matrix = malloc(bytes);
    else if (memory == REGRET_PINNED)
        bench_expect(cudaMallocHost(&matrix, bytes) == cudaSuccess, "no pinned memory");
    else
        bench_expect(cudaMalloc(&matrix, bytes) == cudaSuccess, "no device memory");
    bench_expect(matrix != NULL, "out of memory");
    return matrix;
}

static void release(regret_memory memory, void *matrix)
{
    if (memory == REGRET_PAGEABLE)
        free(matrix);
    else if (memory == REGRET_PINNED)
        cudaFreeHost(matrix);
    else
        cudaFree(matrix);
}

static void *make_matrix(regret_memory memory, const tb_operand *operand)
{
    const size_t bytes = tb_matrix_bytes(&operand->matrix), count = bytes / tb_bytes_of(operand->element);
    void *matrix = allocate(memory, bytes),
         *host = memory == REGRET_DEVICE ? allocate(REGRET_PAGEABLE, bytes) : matrix;
    bench_fill_random(operand->element, host, count);
    if (operand->structure == TB_TRIANGULAR)
        bench_make_triangle(operand->element, host, operand->rows);
    if (memory == REGRET_DEVICE) {
        bench_expect(cudaMemcpy(matrix, host, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "copying");
        free(host);
    }
    return matrix;
}

/* Whether the product has a matrix of its own there: B may be A, and one of the two C. */
static bool has_matrix(const tb_product *p, tb_role role)
{
    return bench_has_operand(&tb_routine_rows[p->routine], role) && !tb_is_in_place_of(p, role);
}

void regret_make_operands(regret_memory memory, tb_product *p)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (has_matrix(p, role))
            p->operands[role].data = make_matrix(memory, &p->operands[role]);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (!has_matrix(p, role))
            p->operands[role].data = tb_is_in_place_of(p, role) ? p->c.data : p->a.data;
}

void regret_release_operands(regret_memory memory, const tb_product *p)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (has_matrix(p, role))
            release(memory, p->operands[role].data);
}

const char *regret_letters(const tb_product *p)
{
    static const char *const of_factors[2][2] = {{"NN", "NT"}, {"TN", "TT"}}, *const of_left[] = {"LN", "LT"},
                             *const of_right[] = {"RN", "RT"};
    if (p->a.structure != TB_GENERAL)
        return of_left[p->a.transposed];
    if (p->b.structure != TB_GENERAL)
        return of_right[p->b.transposed];
    return of_factors[p->a.transposed][p->b.transposed];
}
