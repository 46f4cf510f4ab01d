/* Matrices whose last element lies more than 2^31 floats behind their first: every offset in a kernel has 64
 * bits. The matrices are small, their leading dimensions enormous; one at a time is stored so.
 */
#include "kernels/catalog.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/matrix.h"

#include "include/tileblas.h"

#include <string.h>

#define M 16
#define N 3
#define K 5

/* Where the last line of the enormous matrix begins, at least, and what its block must hold. */
#define FAR   (INT64_C(1) << 31)
#define BYTES ((size_t)(FAR + 1024) * sizeof(float))

void cblas_sgemm_64(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *,
                    int64_t, float, float *, int64_t);

/* The lines of a small host matrix, ld floats apart on the device, or back. */
static void scatter(const matrix *matrix, float *device, int64_t ld)
{
    for (int64_t line = 0; line < matrix->lines; line++)
        arena_copy(device + line * ld, matrix_elements(matrix) + line * matrix->ld,
                   (size_t)matrix->length * sizeof(float));
}

static void gather(matrix *matrix, const float *device, int64_t ld)
{
    for (int64_t line = 0; line < matrix->lines; line++)
        arena_copy(matrix_elements(matrix) + line * matrix->ld, device + line * ld,
                   (size_t)matrix->length * sizeof(float));
}

/* Puts the last of so many lines FAR from the first; a multiple of 4, so that every kernel takes it. */
static int64_t enormous_ld(int64_t lines)
{
    return (FAR / (lines - 1) / 4 + 1) * 4;
}

/* far: which of A, B and C, 0 to 2, is the one in the large block. */
static void multiply_far(const tb_kernel *kernel, bool transpose_a, bool transpose_b, int far, float *block,
                         check_random *random)
{
    product p = {.transpose_a = transpose_a,
                 .transpose_b = transpose_b,
                 .m = M,
                 .n = N,
                 .k = K,
                 .alpha = 1,
                 .beta = -1,
                 .exact = true};
    p.a = transpose_a ? matrix_make(K, M, 8, 0) : matrix_make(M, K, M, 0);
    p.b = transpose_b ? matrix_make(N, K, 4, 0) : matrix_make(K, N, 8, 0);
    p.c = matrix_make(M, N, M, 0);
    matrix *matrices[] = {&p.a, &p.b, &p.c};
    float *start[3];
    int64_t ld[3];
    for (int i = 0; i < 3; i++) {
        matrix_fill(matrices[i], MATRIX_INTEGERS, random);
        ld[i] = i == far ? enormous_ld(matrices[i]->lines) : matrices[i]->ld;
        start[i] = i == far ? block : arena_allocate(TB_MEMORY_DEVICE, matrices[i]->bytes);
        scatter(matrices[i], start[i], ld[i]);
    }
    cblas_sgemm_64(102, transpose_a ? 112 : 111, transpose_b ? 112 : 111, M, N, K, (float)p.alpha, start[0],
                   ld[0], start[1], ld[1], (float)p.beta, start[2], ld[2]);

    matrix c = matrix_clone(&p.c);
    gather(&c, start[2], ld[2]);
    char message[256] = "", plan[256];
    tileblas_last_plan(plan, sizeof plan);
    CHECK(product_holds(&p, &c, message, sizeof message), "%s, transposes %d %d, %c far: %s", plan,
          transpose_a, transpose_b, "ABC"[far], message);
    CHECK(strstr(plan, kernel->name) != NULL, "the plan for %s is \"%s\"", kernel->name, plan);
    matrix_free(&c);
    for (int i = 0; i < 3; i++)
        if (i != far)
            arena_release(TB_MEMORY_DEVICE, start[i]);
    for (int i = 0; i < 3; i++)
        matrix_free(matrices[i]);
}

int main(void)
{
    if (!arena_has_device())
        SKIP("no device");
    if (arena_free_bytes() < BYTES + (BYTES >> 4))
        SKIP("needs %zu MiB of device memory", BYTES >> 20);
    check_random random = {.state = check_seed()};
    float *block = arena_allocate(TB_MEMORY_DEVICE, BYTES);
    for (size_t row = 0; row < tb_catalog_size; row++) {
        if (tb_catalog[row].element != TB_FP32)
            continue;
        tileblas_set_option("KERNEL", tb_catalog[row].name);
        for (int transposition = 0; transposition < 4; transposition++)
            for (int far = 0; far < 3; far++)
                multiply_far(&tb_catalog[row], transposition / 2 != 0, transposition % 2 != 0, far, block,
                             &random);
    }
    arena_release(TB_MEMORY_DEVICE, block);
    return check_result();
}
