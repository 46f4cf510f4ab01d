/* A forwarder: a library that exports the names of BLAS and hands each call, through pointers, to the library that an
 * environment variable names. It does so by calls, as wrappers do, or by jumps, as libblastrampoline's trampolines do,
 * after which a call returns straight to the program: that is for the compiler's option -foptimize-sibling-calls.
 * Where FORWARDER_TRIES is set it makes a call before its own names lead anywhere, as libblastrampoline does to find out how
 * wide integers are. Built several times, by macros:
 *
 *   FORWARDER_BACKEND   the variable's name
 *   FORWARDER_SMALL     where it is defined, the variable that names a library for products of up to FORWARDER_LARGEST
 *                       multiply-adds, as a wrapper has that offloads larger ones
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CBLAS_PARAMETERS(type)                                                                               \
    int layout, int transpose_a, int transpose_b, int m, int n, int k, type alpha, const type *a, int lda,   \
        const type *b, int ldb, type beta, type *c, int ldc
#define CBLAS_ARGUMENTS layout, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define FORTRAN_PARAMETERS(type)                                                                             \
    const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,              \
        const type *alpha, const type *a, const int *lda, const type *b, const int *ldb, const type *beta,   \
        type *c, const int *ldc
#define FORTRAN_ARGUMENTS transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc

#define DGEMV_PARAMETERS                                                                                     \
    const char *transpose, const int *m, const int *n, const double *alpha, const double *a, const int *lda, \
        const double *x, const int *step_x, const double *beta, double *y, const int *step_y

typedef struct backend {
    void (*cblas_sgemm)(CBLAS_PARAMETERS(float));
    void (*cblas_dgemm)(CBLAS_PARAMETERS(double));
    void (*sgemm_)(FORTRAN_PARAMETERS(float), size_t length_a, size_t length_b);
    void (*dgemm_)(FORTRAN_PARAMETERS(double), size_t length_a, size_t length_b);
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

#define HAND_ON(cblas, fortran, type)                                                                        \
    void cblas(CBLAS_PARAMETERS(type));                                                                      \
    void cblas(CBLAS_PARAMETERS(type))                                                                       \
    {                                                                                                        \
        choose(m, n, k)->cblas(CBLAS_ARGUMENTS);                                                             \
    }                                                                                                        \
    void fortran(FORTRAN_PARAMETERS(type), size_t length_a, size_t length_b);                                \
    void fortran(FORTRAN_PARAMETERS(type), size_t length_a, size_t length_b)                                 \
    {                                                                                                        \
        choose(*m, *n, *k)->fortran(FORTRAN_ARGUMENTS, length_a, length_b);                                  \
    }

HAND_ON(cblas_sgemm, sgemm_, float)
HAND_ON(cblas_dgemm, dgemm_, double)

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
