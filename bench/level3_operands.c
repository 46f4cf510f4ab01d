#include "bench/level3_operands.h"

#include "bench/expect.h"

#include <cuda_runtime_api.h>
#include <math.h>

/* As operands are filled alike, each begins elsewhere among the same numbers. */
enum { NUMBERS_APART = 977 };

static tb_in_place in_place_of(const bench_routine *routine)
{
    return tb_class_rows[routine->class].in_place;
}

static bool is_in_place(const bench_routine *routine)
{
    return in_place_of(routine) != TB_OUT_OF_PLACE;
}

static size_t real_numbers(const bench_routine *routine, int64_t elements)
{
    return (size_t)elements * (tb_is_complex(routine->element) ? 2 : 1);
}

static void *allocate(const level3_operands *operands, size_t bytes)
{
    void *memory = NULL;
    if (operands->on_host)
        memory = malloc(bytes);
    else
        bench_expect(cudaMalloc(&memory, bytes) == cudaSuccess, "the device has no memory left");
    bench_expect(memory != NULL, "no memory is left");
    return memory;
}

static void release(const level3_operands *operands, void *memory)
{
    if (operands->on_host)
        free(memory);
    else
        cudaFree(memory);
}

static void copy(void *target, const void *source, size_t bytes)
{
    bench_expect(cudaMemcpy(target, source, bytes, cudaMemcpyDefault) == cudaSuccess, "a copy failed");
}

static size_t matrix_bytes(const level3_operands *operands)
{
    const tb_element real = tb_real_of(operands->routine->element);
    return real_numbers(operands->routine, (int64_t)operands->n * operands->n) * tb_bytes_of(real);
}

static void *make_matrix(const level3_operands *operands, tb_role role)
{
    const bench_routine *routine = operands->routine;
    const tb_element real = tb_real_of(routine->element);
    const size_t bytes = matrix_bytes(operands), before = NUMBERS_APART * (size_t)role;
    const size_t first = before * tb_bytes_of(real);
    char *random = malloc(first + bytes);
    void *matrix = allocate(operands, bytes);
    bench_expect(random != NULL, "no memory is left");
    bench_fill_random(real, random, before + bytes / tb_bytes_of(real));
    if (role == TB_A && is_in_place(routine))
        bench_make_triangle(routine->element, random + first, operands->n);
    copy(matrix, random + first, bytes);
    free(random);
    return matrix;
}

static bool has_k(const bench_routine *routine)
{
    return tb_class_rows[routine->class].numbers.k > 0;
}

/* Whether C may have fewer columns, or on the right rows, than the others have. */
static bool may_be_narrow(const bench_routine *routine)
{
    return !bench_updates(routine);
}

level3_operands level3_make_operands(const level3_options *options, const bench_routine *routine, int n,
                                     int sides)
{
    level3_operands operands = {.routine = routine,
                                .n = n,
                                .rows = n,
                                .columns = n,
                                .k = n,
                                .on_host = options->on_host,
                                .right = options->right,
                                .apart = options->apart};
    const bool right = options->right && is_in_place(routine);
    if (may_be_narrow(routine) && options->columns > 0 && options->columns < n)
        *(right ? &operands.rows : &operands.columns) = options->columns;
    if (has_k(routine) && options->k > 0 && options->k < n)
        operands.k = options->k;
    operands.a = make_matrix(&operands, TB_A);
    operands.b = make_matrix(&operands, is_in_place(routine) ? TB_C : TB_B);
    operands.c[0] = make_matrix(&operands, TB_C);
    for (int side = 1; side < sides; side++) {
        operands.c[side] = allocate(&operands, matrix_bytes(&operands));
        copy(operands.c[side], operands.c[0], matrix_bytes(&operands));
    }
    /* Copies within the device may go on, and no stream of the library waits for them. */
    bench_expect(cudaDeviceSynchronize() == cudaSuccess, "a copy failed");
    return operands;
}

void level3_free_operands(const level3_operands *operands)
{
    release(operands, operands->a);
    release(operands, operands->b);
    for (int side = 0; side < LEVEL3_SIDES_MOST; side++)
        release(operands, operands->c[side]);
}

tb_product level3_product_of(const level3_operands *operands, int side)
{
    const bench_routine *routine = operands->routine;
    const bool transpose_b = is_in_place(routine) ? operands->right : bench_updates(routine);
    tb_product product =
        bench_product_of(routine, false, transpose_b, operands->rows, operands->columns, operands->k,
                         operands->a, operands->b, operands->c[operands->shares_c ? 0 : side]);
    if (operands->apart && in_place_of(routine) == TB_MULTIPLIES) /* Fortran's TRMM knows C alone */
        product.operands[operands->right ? TB_A : TB_B].data = operands->b;
    return product;
}

static double number_at(const void *numbers, tb_element real, size_t i)
{
    return real == TB_FP32 ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
}

double level3_difference(const level3_operands *operands, int side)
{
    const tb_element real = tb_real_of(operands->routine->element);
    const size_t numbers = real_numbers(operands->routine, (int64_t)operands->rows * operands->columns);
    const size_t bytes = numbers * tb_bytes_of(real);
    void *result = malloc(bytes), *reference = malloc(bytes);
    double most = 0, largest = 0;
    bench_expect(result != NULL && reference != NULL, "no memory is left");
    copy(result, operands->c[side], bytes);
    copy(reference, operands->c[LEVEL3_REFERENCE], bytes);
    for (size_t i = 0; i < numbers; i++) {
        const double x = number_at(result, real, i), y = number_at(reference, real, i);
        most = isnan(x - y) ? INFINITY : fmax(most, fabs(x - y));
        largest = fmax(largest, fabs(y));
    }
    free(result);
    free(reference);
    return most / largest;
}
