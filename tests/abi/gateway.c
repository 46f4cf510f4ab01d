/* Modules between a program and its BLAS (hosts.c), built by macros:
 *
 *   GATEWAY_JUMPS=name   jump_sgemm, which jumps to the function of that name, as those of SciPy's cython_blas do
 *   GATEWAY_CALLS=name   call_directly, which calls it; besides version and destroyed, by which a plugin is known
 *   otherwise            call_through, which calls through a pointer
 *   GATEWAY_VERSION      of a plugin
 */
#include <stddef.h>
#include <stdio.h>

#define PARAMETERS                                                                                           \
    const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,              \
        const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,                  \
        const float *beta, float *c, const int *ldc
#define ARGUMENTS transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define LENGTHS   size_t length_1, size_t length_2

typedef void sgemm(PARAMETERS, LENGTHS);

/* C := A A of matrices of ones; too large to go on at a glance where n is 100. Whether C is right. */
static inline int multiply(sgemm *function, int n)
{
    static float a[100 * 100], c[100 * 100];
    const float one = 1, zero = 0;
    for (int i = 0; i < n * n; i++)
        a[i] = 1, c[i] = -1;
    function("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);
    for (int i = 0; i < n * n; i++)
        if (c[i] != (float)n)
            return 0;
    return 1;
}

#if defined GATEWAY_JUMPS
void GATEWAY_JUMPS(PARAMETERS, LENGTHS);
void jump_sgemm(PARAMETERS, LENGTHS)
{
    GATEWAY_JUMPS(ARGUMENTS, length_1, length_2);
}
#elif defined GATEWAY_CALLS
void GATEWAY_CALLS(PARAMETERS, LENGTHS);
static int *told_when_unloaded;
int call_directly(int n)
{
    return multiply(GATEWAY_CALLS, n);
}
int version(int *told)
{
    told_when_unloaded = told;
    return GATEWAY_VERSION;
}
__attribute__((destructor)) static void tell(void)
{
    if (told_when_unloaded)
        *told_when_unloaded = GATEWAY_VERSION;
}
#else
int call_through(sgemm *function, int n)
{
    return multiply(function, n);
}
#endif
