/* A matrix product through cblas.h, as any C program writes it, checked entry by entry without a BLAS. The only
 * lines that know TileBLAS are the two calls of tileblas.h: one waits for the GPU, one says where the product ran.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <tileblas.h>

enum { M = 1600, N = 1200, K = 1000 };

/* Small whole numbers, so that every product and sum is exact in float32, in whatever order it is computed. */
static void fill(float *matrix, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        matrix[i] = (float)(seed >> 28) - 8.0f;
    }
}

static void multiply_plainly(const float *a, const float *b, float *c)
{
    for (size_t i = 0; i < M; i++)
        for (size_t l = 0; l < K; l++)
            for (size_t j = 0; j < N; j++)
                c[i * N + j] += a[i * K + l] * b[l * N + j];
}

int main(void)
{
    float *a = malloc(sizeof(float) * M * K);
    float *b = malloc(sizeof(float) * K * N);
    float *c = malloc(sizeof(float) * M * N);
    float *expected = calloc((size_t)M * N, sizeof(float));
    if (a == NULL || b == NULL || c == NULL || expected == NULL)
        return EXIT_FAILURE;
    fill(a, (size_t)M * K, 1);
    fill(b, (size_t)K * N, 2);

    /* By default the CPU answers while the GPU starts, and this program would be over before that. */
    tileblas_set_option("START", "wait");
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1.0f, a, K, b, N, 0.0f, c, N);

    char plan[256];
    tileblas_last_plan(plan, sizeof plan);
    printf("TileBLAS %s, C(%d x %d) = A(%d x %d) B(%d x %d)\n", tileblas_version(), M, N, M, K, K, N);
    printf("route: %s\n", plan);

    multiply_plainly(a, b, expected);
    size_t wrong = 0;
    for (size_t i = 0; i < (size_t)M * N; i++)
        wrong += c[i] != expected[i];
    printf("result: %zu of %d entries differ from a plain C loop\n", wrong, M * N);

    free(a);
    free(b);
    free(c);
    free(expected);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
