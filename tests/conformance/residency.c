/* Programs that keep their matrices on the device: the very first call of a process may have device pointers;
 * a call runs behind the work already in the default stream, or in the stream given by tileblas_set_stream,
 * and returns when C is ready.
 */
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/oracle.h"

#include "include/tileblas.h"

#include <string.h>

#define SIZE  130
#define LD    132
#define STALL 0.05 /* seconds: far longer than the product takes */

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

static float *place(const matrix *matrix, tb_memory memory)
{
    float *block = arena_allocate(memory, matrix->bytes);
    arena_copy(block, matrix->block, matrix->bytes);
    return block;
}

/* C := A B, with A arriving in the stream only after a while. */
static void multiply_late(void *stream, tb_memory memory_of_b, check_random *random, const char *what)
{
    product p = {.m = SIZE, .n = SIZE, .k = SIZE, .alpha = 1, .exact = true};
    matrix *matrices[] = {&p.a, &p.b, &p.c};
    for (int i = 0; i < 3; i++) {
        *matrices[i] = matrix_make(SIZE, SIZE, LD, 0);
        matrix_fill(matrices[i], i < 2 ? MATRIX_INTEGERS : MATRIX_NANS, random);
    }
    matrix nothing = matrix_clone(&p.a);
    matrix_fill(&nothing, MATRIX_NANS, random);
    float *arriving = place(&p.a, TB_MEMORY_DEVICE), *a = place(&nothing, TB_MEMORY_DEVICE);
    float *b = place(&p.b, memory_of_b), *c = place(&p.c, TB_MEMORY_DEVICE);

    arena_stall(stream, STALL);
    arena_copy_later(stream, a, arriving, p.a.bytes);
    cblas_sgemm(102, 111, 111, SIZE, SIZE, SIZE, 1, a + p.a.first, LD, b + p.b.first, LD, 0, c + p.c.first,
                LD);

    char message[256] = "", plan[256];
    const char *route = memory_of_b == TB_MEMORY_DEVICE ? "resident" : "streamed";
    matrix result = matrix_clone(&p.c);
    arena_copy(result.block, c, result.bytes);
    CHECK(product_holds(&p, &result, message, sizeof message), "%s: %s", what, message);
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, route, strlen(route)) == 0, "%s: the plan is \"%s\"", what, plan);

    arena_wait(stream);
    float *blocks[] = {arriving, a, c};
    for (int i = 0; i < 3; i++)
        arena_release(TB_MEMORY_DEVICE, blocks[i]);
    arena_release(memory_of_b, b);
    matrix *spent[] = {&p.a, &p.b, &p.c, &nothing, &result};
    for (int i = 0; i < 5; i++)
        matrix_free(spent[i]);
}

/* Where B lies decides whether the call is resident or streamed; A and C are on the device. */
static void multiply_in_each_stream(tb_memory memory_of_b, check_random *random)
{
    multiply_late(NULL, memory_of_b, random, "behind the default stream");

    void *stream = arena_create_stream();
    tileblas_set_stream(stream);
    multiply_late(stream, memory_of_b, random, "in the program's own stream");
    tileblas_set_stream(NULL);
    arena_destroy_stream(stream);

    multiply_late(NULL, memory_of_b, random, "back in the default stream");
}

int main(void)
{
    if (!arena_has_device())
        SKIP("no device");
    check_random random = {.state = check_seed()};
    multiply_in_each_stream(TB_MEMORY_DEVICE, &random); /* its first call is the process's first */
    multiply_in_each_stream(TB_MEMORY_HOST, &random);
    return check_result();
}
