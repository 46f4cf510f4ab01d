/* A forwarder: a library that exports the names of BLAS and hands each call, through pointers, to the library that an
 * environment variable names. It does so by calls, as wrappers do, or by jumps, as libblastrampoline's trampolines do,
 * after which a call returns straight to the program: that is for the compiler's option -foptimize-sibling-calls.
 * Where FORWARDER_LACKS_SYRK is set its names of SYRK lead nowhere. Where FORWARDER_TRIES is set it makes a call
 * before its own names lead anywhere, as libblastrampoline does to find out how wide integers are. Built several
 * times, by macros:
 *
 *   FORWARDER_BACKEND   the variable's name
 *   FORWARDER_SMALL     where it is defined, the variable that names a library for products of up to FORWARDER_LARGEST
 *                       multiply-adds, as a wrapper has that offloads larger ones
 */
#include "tests/abi/classes.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DGEMV_PARAMETERS                                                                                     \
    const char *transpose, const int *m, const int *n, const double *alpha, const double *a, const int *lda, \
        const double *x, const int *step_x, const double *beta, double *y, const int *step_y

typedef struct backend {
    void (*cblas_sgemm)(GEMM_CBLAS_PARAMETERS(int, float));
    void (*cblas_dgemm)(GEMM_CBLAS_PARAMETERS(int, double));
    void (*cblas_ssyrk)(RANK_K_CBLAS_PARAMETERS(int, float));
    void (*cblas_cgemm)(GEMM_CBLAS_PARAMETERS(int, complex_float));
    void (*cblas_zhemm)(SYMM_CBLAS_PARAMETERS(int, complex_double));
    void (*cblas_strmm)(TRIANGULAR_CBLAS_PARAMETERS(int, float));
    void (*sgemm_)(GEMM_FORTRAN_PARAMETERS(int, float), GEMM_LENGTHS);
    void (*dgemm_)(GEMM_FORTRAN_PARAMETERS(int, double), GEMM_LENGTHS);
    void (*ssyrk_)(RANK_K_FORTRAN_PARAMETERS(int, float), RANK_K_LENGTHS);
    void (*cgemm_)(GEMM_FORTRAN_PARAMETERS(int, complex_float), GEMM_LENGTHS);
    void (*zhemm_)(SYMM_FORTRAN_PARAMETERS(int, complex_double), SYMM_LENGTHS);
    void (*strmm_)(TRIANGULAR_FORTRAN_PARAMETERS(int, float), TRIANGULAR_LENGTHS);
    void (*dgemv)(DGEMV_PARAMETERS, size_t length);
    int (*isamax)(const int *n, const float *x, const int *increment);
} backend;

static backend large;
#ifdef FORWARDER_SMALL
static backend small;
#endif

static void try_out(const backend *backend)
{
    const int n = 2, increment = 1;
    const float x[] = {1, 2};
    if (backend->isamax(&n, x, &increment) != 2) {
        fprintf(stderr, "forwarder: isamax_ answers wrongly\n");
        _Exit(2);
    }
}

static void open_backend(const char *variable, backend *opened)
{
    const char *path = getenv(variable);
    void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "forwarder: %s: %s\n", variable, path ? dlerror() : "not set");
        _Exit(2);
    }
    backend found;
    *(void **)&found.cblas_sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&found.cblas_dgemm = dlsym(library, "cblas_dgemm");
    *(void **)&found.sgemm_ = dlsym(library, "sgemm_");
    *(void **)&found.dgemm_ = dlsym(library, "dgemm_");
    *(void **)&found.cblas_ssyrk = dlsym(library, "cblas_ssyrk");
    *(void **)&found.ssyrk_ = dlsym(library, "ssyrk_");
    *(void **)&found.cblas_cgemm = dlsym(library, "cblas_cgemm");
    *(void **)&found.cgemm_ = dlsym(library, "cgemm_");
    *(void **)&found.cblas_zhemm = dlsym(library, "cblas_zhemm");
    *(void **)&found.zhemm_ = dlsym(library, "zhemm_");
    *(void **)&found.cblas_strmm = dlsym(library, "cblas_strmm");
    *(void **)&found.strmm_ = dlsym(library, "strmm_");
    if (getenv("FORWARDER_LACKS_SYRK"))
        found.cblas_ssyrk = NULL, found.ssyrk_ = NULL;
    *(void **)&found.dgemv = dlsym(library, "dgemv_");
    *(void **)&found.isamax = dlsym(library, "isamax_");
    if (getenv("FORWARDER_TRIES"))
        try_out(&found);
    *opened = found;
}

__attribute__((constructor)) static void open_backends(void)
{
    open_backend(FORWARDER_BACKEND, &large);
#ifdef FORWARDER_SMALL
    open_backend(FORWARDER_SMALL, &small);
    large.isamax = small.isamax; /* not every TileBLAS has it */
#endif
}

static const backend *choose(int64_t m, int64_t n, int64_t k)
{
#ifdef FORWARDER_SMALL
    if (m * n * k <= FORWARDER_LARGEST)
        return &small;
#endif
    (void)m, (void)n, (void)k;
    return &large;
}

#define GEMM_LENGTH_ARGUMENTS       length_1, length_2
#define RANK_K_LENGTH_ARGUMENTS     length_1, length_2
#define SYMM_LENGTH_ARGUMENTS       length_1, length_2
#define TRIANGULAR_LENGTH_ARGUMENTS length_1, length_2, length_3, length_4

/* Where the backend lacks a name nothing is done, as libblastrampoline does. */
#define HAND_ON(class, cblas, fortran, type, m, k)                                                           \
    void cblas(class##_CBLAS_PARAMETERS(int, type));                                                         \
    void cblas(class##_CBLAS_PARAMETERS(int, type))                                                          \
    {                                                                                                        \
        const backend *chosen = choose(m, n, k);                                                             \
        if (chosen->cblas)                                                                                   \
            chosen->cblas(class##_CBLAS_ARGUMENTS);                                                          \
    }                                                                                                        \
    void fortran(class##_FORTRAN_PARAMETERS(int, type), class##_LENGTHS);                                    \
    void fortran(class##_FORTRAN_PARAMETERS(int, type), class##_LENGTHS)                                     \
    {                                                                                                        \
        const backend *chosen = choose(*m, *n, *k);                                                          \
        if (chosen->fortran)                                                                                 \
            chosen->fortran(class##_FORTRAN_ARGUMENTS, class##_LENGTH_ARGUMENTS);                            \
    }

HAND_ON(GEMM, cblas_sgemm, sgemm_, float, m, k)
HAND_ON(GEMM, cblas_dgemm, dgemm_, double, m, k)
HAND_ON(GEMM, cblas_cgemm, cgemm_, complex_float, m, k)
HAND_ON(RANK_K, cblas_ssyrk, ssyrk_, float, n, k)
HAND_ON(SYMM, cblas_zhemm, zhemm_, complex_double, m, n) /* as if A were on the right */
HAND_ON(TRIANGULAR, cblas_strmm, strmm_, float, m, n)

void dgemv_(DGEMV_PARAMETERS, size_t length);
int isamax_(const int *n, const float *x, const int *increment);

void dgemv_(DGEMV_PARAMETERS, size_t length)
{
    large.dgemv(transpose, m, n, alpha, a, lda, x, step_x, beta, y, step_y, length);
}

int isamax_(const int *n, const float *x, const int *increment)
{
    return large.isamax(n, x, increment);
}
