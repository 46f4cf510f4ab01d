#include "bench/lapack_operands.h"

#include "bench/driver.h"
#include "bench/expect.h"

#include <string.h>

void *lapack_allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    bench_expect(memory != NULL, "no memory is left");
    return memory;
}

/* All but the numbers. */
static lapack_matrix allocate_matrix(size_t bytes, bool on_host, bool has_device)
{
    lapack_matrix matrix = {.bytes = bytes, .made = lapack_allocate(bytes)};
    if (has_device)
        matrix.on_device = bench_allocate_on_device(bytes);
    matrix.data = on_host ? lapack_allocate(bytes) : matrix.on_device;
    if (!on_host)
        matrix.made_on_device = bench_allocate_on_device(bytes);
    return matrix;
}

/* No number of b's is one of a's: the generator always gives the same ones. */
static void fill(const lapack_operands *operands)
{
    const size_t a_bytes = operands->a.bytes, b_bytes = operands->b.bytes;
    char *numbers = lapack_allocate(a_bytes + b_bytes);
    bench_fill_random(operands->element, numbers, (a_bytes + b_bytes) / tb_bytes_of(operands->element));
    memcpy(operands->a.made, numbers, a_bytes);
    if (b_bytes > 0)
        memcpy(operands->b.made, numbers + a_bytes, b_bytes);
    free(numbers);
    if (operands->routine->make)
        operands->routine->make(operands, operands->a.made);
}

static int right_sides_of(const lapack_options *options, const lapack_routine *routine, int n)
{
    if (!routine->has_right_sides)
        return 0;
    return options->right_sides > 0 ? options->right_sides : n;
}

lapack_operands lapack_make_operands(const lapack_options *options, bool has_device,
                                     const lapack_routine *routine, tb_element element, int n)
{
    const size_t bytes = tb_bytes_of(element), columns = (size_t)n;
    lapack_operands operands = {.routine = routine,
                                .element = element,
                                .upper = options->upper,
                                .m = options->rows > 0 ? options->rows : n,
                                .n = n,
                                .right_sides = right_sides_of(options, routine, n)};
    operands.a = allocate_matrix((size_t)operands.m * columns * bytes, options->on_host, has_device);
    if (operands.right_sides > 0)
        operands.b =
            allocate_matrix(columns * (size_t)operands.right_sides * bytes, options->on_host, has_device);
    operands.pivots = lapack_allocate(columns * sizeof *operands.pivots);
    operands.tau = lapack_allocate(columns * bytes);
    fill(&operands);
    for (int i = 0; i < 2; i++) {
        const lapack_matrix *matrix = i == 0 ? &operands.a : &operands.b;
        if (matrix->made_on_device)
            bench_copy(matrix->made_on_device, matrix->made, matrix->bytes);
    }
    return operands;
}

static bool is_on_host(const lapack_matrix *matrix)
{
    return matrix->data != matrix->on_device;
}

static void free_matrix(const lapack_matrix *matrix)
{
    if (is_on_host(matrix))
        free(matrix->data);
    bench_free_on_device(matrix->on_device);
    bench_free_on_device(matrix->made_on_device);
    free(matrix->made);
}

void lapack_free_operands(const lapack_operands *operands)
{
    free_matrix(&operands->a);
    free_matrix(&operands->b);
    free(operands->pivots);
    free(operands->tau);
}

static void refill(const lapack_matrix *matrix)
{
    if (matrix->bytes == 0)
        return;
    if (is_on_host(matrix)) {
        memcpy(matrix->data, matrix->made, matrix->bytes);
        return;
    }
    bench_copy(matrix->data, matrix->made_on_device, matrix->bytes);
    bench_await_device(); /* copies within the device may go on */
}

void lapack_refill(const lapack_operands *operands)
{
    refill(&operands->a);
    refill(&operands->b);
}

void lapack_send(const lapack_operands *operands)
{
    bench_copy(operands->a.on_device, operands->a.data, operands->a.bytes);
    if (operands->b.bytes > 0)
        bench_copy(operands->b.on_device, operands->b.data, operands->b.bytes);
}

void lapack_bring_back(const lapack_operands *operands)
{
    bench_copy(operands->a.data, operands->a.on_device, operands->a.bytes);
    if (operands->b.bytes > 0)
        bench_copy(operands->b.data, operands->b.on_device, operands->b.bytes);
}

/* In ordinary memory: the matrix itself, or a copy. */
static void *read_matrix(const lapack_matrix *matrix)
{
    if (matrix->bytes == 0 || is_on_host(matrix))
        return matrix->data;
    void *copy = lapack_allocate(matrix->bytes);
    bench_copy(copy, matrix->data, matrix->bytes);
    return copy;
}

static void free_read(const lapack_matrix *matrix, void *read)
{
    if (read != matrix->data)
        free(read);
}

double lapack_residual(const lapack_operands *operands)
{
    void *a = read_matrix(&operands->a), *b = read_matrix(&operands->b);
    const double residual = operands->routine->residual(operands, a, b);
    free_read(&operands->a, a);
    free_read(&operands->b, b);
    return residual;
}
