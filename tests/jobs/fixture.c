/* The objects that a counted call goes through, one for each of FIXTURE_BLAS, FIXTURE_FRONT and FIXTURE_CALLER.
 *
 *   blas     has six names of BLAS and LAPACK, which do little but look at their arguments
 *   front    is linked with it, and hands a call on by a jump, as SciPy's cython_blas does
 *   caller   is linked with nothing: it calls what it is given
 *
 * counts.py opens them RTLD_LOCAL, as Python does its modules.
 */
#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc);
void scipy_dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                  const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
                  const double *beta, double *c, const int *ldc);
void scipy_cblas_dgemm64_(int order, int transa, int transb, long m, long n, long k, double alpha,
                          const double *a, long lda, const double *b, long ldb, double beta, double *c,
                          long ldc);
void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb,
            int *info);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
double dnrm2_(const int *n, const double *x, const int *incx);

#if defined FIXTURE_BLAS

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc)
{
    const int extents = *m + *n + *k + *lda + *ldb + *ldc;
    c[0] += *transa == 'N' && *transb == 'T' ? *alpha * a[0] * b[0] * extents + *beta : 0;
}

void scipy_cblas_dgemm64_(int order, int transa, int transb, long m, long n, long k, double alpha,
                          const double *a, long lda, const double *b, long ldb, double beta, double *c,
                          long ldc)
{
    c[0] += order == 102 && transa == 111 && transb == 112
                ? alpha * a[0] * b[0] * (double)(m + n + k + lda + ldb + ldc) + beta
                : 0;
}

/* Ends with a jump, so that what was jumped to comes back to where this one was called. */
void scipy_dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                  const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
                  const double *beta, double *c, const int *ldc)
{
    dgemm_(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* Made of two products, which are not counted again. */
void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb,
            int *info)
{
    const double one = 1, zero = 0;
    ipiv[0] = 1;
    *info = 0;
    dgemm_("N", "T", n, n, n, &one, a, lda, a, lda, &zero, b, ldb);
    dgemm_("N", "T", n, nrhs, n, &one, a, lda, a, lda, &zero, b, ldb);
}

/* Takes so many microseconds. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info)
{
    (void)uplo, (void)a, (void)lda;
    *info = usleep((useconds_t)*n);
}

double dnrm2_(const int *n, const double *x, const int *incx)
{
    return *n * x[0] + *incx;
}

#elif defined FIXTURE_FRONT

void front_dgemm(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                 const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
                 const double *beta, double *c, const int *ldc)
{
    dgemm_(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* What three products add to C, under different names, and a norm; a solution is asked for as well. */
double front_calls(void)
{
    const int m = 1, n = 2, k = 3, lda = 4, ldb = 5, ldc = 6;
    const double alpha = 0.5, beta = 0.25;
    double a = 2, b = 3, c = 0, x = 0;
    int pivot = 0, info = 1;
    dgemm_("N", "T", &m, &n, &k, &alpha, &a, &lda, &b, &ldb, &beta, &c, &ldc);
    scipy_dgemm_("N", "T", &m, &n, &k, &alpha, &a, &lda, &b, &ldb, &beta, &c, &ldc);
    scipy_cblas_dgemm64_(102, 111, 112, m, n, k, alpha, &a, lda, &b, ldb, beta, &c, ldc);
    dgesv_(&n, &m, &a, &lda, &pivot, &x, &ldb, &info);
    return info == 0 && pivot == 1 && x > 0 ? c + dnrm2_(&n, &a, &m) : -1;
}

/* The same from three threads, and in a forked child that ends without exit handlers. */
static void *call_in_thread(void *result)
{
    *(double *)result = front_calls();
    return NULL;
}

int front_calls_elsewhere(double expected)
{
    pthread_t threads[3];
    double found[3];
    int wrong = 0, status = 1;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, call_in_thread, &found[i]) != 0)
            return -1;
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        wrong += found[i] < expected || found[i] > expected;
    }
    const pid_t child = fork();
    if (child == 0) {
        const double result = front_calls();
        _exit(result < expected || result > expected);
    }
    waitpid(child, &status, 0);
    return wrong + (status != 0);
}

/* A call of so many microseconds, and a short one when that has half of them left. */
static void *call_for(void *microseconds)
{
    int info = 0;
    dpotrf_("L", microseconds, NULL, microseconds, &info);
    return NULL;
}

void front_overlap(int microseconds)
{
    pthread_t thread;
    int none = 0;
    if (pthread_create(&thread, NULL, call_for, &microseconds) != 0)
        return;
    usleep((useconds_t)microseconds / 2);
    call_for(&none);
    pthread_join(thread, NULL);
}

#else

typedef void gemm(const char *, const char *, const int *, const int *, const int *, const double *,
                  const double *, const int *, const double *, const int *, const double *, double *,
                  const int *);

double call(gemm *function)
{
    const int m = 1, n = 2, k = 3, lda = 4, ldb = 5, ldc = 6;
    const double alpha = 0.5, beta = 0.25, a = 2, b = 3;
    double c = 0;
    function("N", "T", &m, &n, &k, &alpha, &a, &lda, &b, &ldb, &beta, &c, &ldc);
    return c;
}

#endif
