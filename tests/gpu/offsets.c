/* Matrices whose last element lies more than 2^31 elements behind their first: every offset in a kernel has
 * 64 bits. The matrices are small, their leading dimensions enormous; one at a time is stored so.
 */
#include "kernels/catalog.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/conformance/spellings.h"
#include "tests/oracle.h"

#include "include/tileblas.h"

#include <string.h>

#define M 16
#define N 3
#define K 5

/* Where the last line of the enormous matrix begins, at least, and what its block must hold, in elements. */
#define FAR      (INT64_C(1) << 31)
#define ELEMENTS ((size_t)FAR + 1024)

/* The lines of a small host matrix, ld elements apart on the device, or back. */
static void move_lines(const matrix *matrix, char *device, int64_t ld, bool to_device)
{
    const int64_t bytes = (int64_t)tb_bytes_of(matrix->element);
    for (int64_t line = 0; line < matrix->lines; line++) {
        char *here = (char *)matrix_start_in(matrix, matrix->block) + line * matrix->ld * bytes;
        char *there = device + line * ld * bytes;
        arena_copy(to_device ? there : here, to_device ? here : there, (size_t)(matrix->length * bytes));
    }
}

/* Puts the last of so many lines FAR from the first; a multiple of 4, so that every kernel takes it. */
static int64_t enormous_ld(int64_t lines)
{
    return (FAR / (lines - 1) / 4 + 1) * 4;
}

/* far: which of A, B and C, 0 to 2, is the one in the large block. */
static void multiply_far(const tb_kernel *kernel, bool transpose_a, bool transpose_b, int far, void *block,
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
    const tb_element element = kernel->element;
    p.a = transpose_a ? matrix_make_of(element, K, M, 8, 0) : matrix_make_of(element, M, K, M, 0);
    p.b = transpose_b ? matrix_make_of(element, N, K, 4, 0) : matrix_make_of(element, K, N, 8, 0);
    p.c = matrix_make_of(element, M, N, M, 0);
    matrix *matrices[] = {&p.a, &p.b, &p.c};
    void *start[3];
    int64_t ld[3];
    for (int i = 0; i < 3; i++) {
        matrix_fill(matrices[i], MATRIX_INTEGERS, random);
        ld[i] = i == far ? enormous_ld(matrices[i]->lines) : matrices[i]->ld;
        start[i] = i == far ? block : arena_allocate(TB_MEMORY_DEVICE, matrices[i]->bytes);
        move_lines(matrices[i], start[i], ld[i], true);
    }
    const call_arguments arguments = {.transpose_a = transpose_a ? 112 : 111,
                                      .transpose_b = transpose_b ? 112 : 111,
                                      .m = M,
                                      .n = N,
                                      .k = K,
                                      .lda = ld[0],
                                      .ldb = ld[1],
                                      .ldc = ld[2],
                                      .alpha = p.alpha,
                                      .beta = p.beta,
                                      .a = start[0],
                                      .b = start[1],
                                      .c = start[2]};
    CHECK(call_routine(spelling_named(element == TB_FP64 ? "cblas_dgemm_64" : "cblas_sgemm_64"), &arguments),
          "the name is not exported");

    matrix c = matrix_clone(&p.c);
    move_lines(&c, start[2], ld[2], false);
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

/* All rows of the element; false when the device has no room for such a matrix. */
static bool check_element(tb_element element, check_random *random)
{
    const size_t bytes = ELEMENTS * tb_bytes_of(element);
    if (arena_free_bytes() < bytes + (bytes >> 4)) {
        printf("skipped: element %c, which needs %zu MiB of device memory\n", tb_element_rows[element].letter,
               bytes >> 20);
        return false;
    }
    void *block = arena_allocate(TB_MEMORY_DEVICE, bytes);
    for (size_t row = 0; row < tb_catalog_size; row++) {
        if (tb_catalog[row].element != element || tb_catalog[row].reads != TB_READS_PLAIN)
            continue;
        tileblas_set_option("KERNEL", tb_catalog[row].name);
        for (int transposition = 0; transposition < 4; transposition++)
            for (int far = 0; far < 3; far++)
                multiply_far(&tb_catalog[row], transposition / 2 != 0, transposition % 2 != 0, far, block,
                             random);
    }
    arena_release(TB_MEMORY_DEVICE, block);
    return true;
}

int main(void)
{
    if (!arena_has_device())
        SKIP("no device");
    check_random random = {.state = check_seed()};
    int elements = 0;
    for (tb_element element = TB_FP32; element < TB_ELEMENTS; element++)
        elements += check_element(element, &random);
    if (elements == 0)
        SKIP("not enough device memory");
    return check_result();
}
