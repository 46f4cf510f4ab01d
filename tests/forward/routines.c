/* A program that uses a bit of everything in BLAS, CBLAS, LAPACK and, where it is there, LAPACKE, and checks each
 * result by its meaning, without another BLAS. It knows nothing of TileBLAS: built against OpenBLAS and against
 * TileBLAS, by changing one word in the link line, it does the same.
 *
 * Built with ROUTINES_BITS=64 it is a program for libblas64.so.3 and liblapack64.so.3.
 */
#include "tests/check.h"

#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if ROUTINES_BITS == 64
typedef int64_t integer;
#define LAPACKE "liblapacke64.so.3"
#else
typedef int integer;
#define LAPACKE "liblapacke.so.3"
#endif

float sasum_(const integer *n, const float *x, const integer *step);
float sdot_(const integer *n, const float *x, const integer *step_x, const float *y, const integer *step_y);
double dnrm2_(const integer *n, const double *x, const integer *step);
double dznrm2_(const integer *n, const double _Complex *x, const integer *step);
integer idamax_(const integer *n, const double *x, const integer *step);
void drotg_(double *a, double *b, double *c, double *s);
float _Complex cdotc_(const integer *n, const float _Complex *x, const integer *step_x,
                      const float _Complex *y, const integer *step_y);
double _Complex zdotu_(const integer *n, const double _Complex *x, const integer *step_x,
                       const double _Complex *y, const integer *step_y);
void cblas_cdotc_sub(integer n, const void *x, integer step_x, const void *y, integer step_y, void *result);
double cblas_ddot(integer n, const double *x, integer step_x, const double *y, integer step_y);
size_t cblas_idamax(integer n, const double *x, integer step);
void cblas_daxpy(integer n, double alpha, const double *x, integer step_x, double *y, integer step_y);
void dgemv_(const char *transpose, const integer *m, const integer *n, const double *alpha, const double *a,
            const integer *lda, const double *x, const integer *step_x, const double *beta, double *y,
            const integer *step_y, size_t length);
void cblas_dgemm(int layout, int transpose_a, int transpose_b, integer m, integer n, integer k, double alpha,
                 const double *a, integer lda, const double *b, integer ldb, double beta, double *c,
                 integer ldc);
void cblas_zgemm(int layout, int transpose_a, int transpose_b, integer m, integer n, integer k,
                 const void *alpha, const void *a, integer lda, const void *b, integer ldb, const void *beta,
                 void *c, integer ldc);
void cblas_sgemm(int layout, int transpose_a, int transpose_b, integer m, integer n, integer k, float alpha,
                 const float *a, integer lda, const float *b, integer ldb, float beta, float *c, integer ldc);
void dsyrk_(const char *uplo, const char *transpose, const integer *n, const integer *k, const double *alpha,
            const double *a, const integer *lda, const double *beta, double *c, const integer *ldc,
            size_t length_uplo, size_t length_transpose);
void dtrsm_(const char *side, const char *uplo, const char *transpose, const char *diagonal, const integer *m,
            const integer *n, const double *alpha, const double *a, const integer *lda, double *b,
            const integer *ldb, size_t length_side, size_t length_uplo, size_t length_transpose,
            size_t length_diagonal);
double dlamch_(const char *what, size_t length);
integer ilaenv_(const integer *what, const char *name, const char *options, const integer *n1,
                const integer *n2, const integer *n3, const integer *n4, size_t length_name,
                size_t length_options);
#define DECLARE_SOLVES(potrs, posv, getrs, gesv, trtrs, type)                                                \
    void potrs(const char *uplo, const integer *n, const integer *columns, type *a, const integer *lda,      \
               type *b, const integer *ldb, integer *info, size_t length);                                   \
    void posv(const char *uplo, const integer *n, const integer *columns, type *a, const integer *lda,       \
              type *b, const integer *ldb, integer *info, size_t length);                                    \
    void getrs(const char *transpose, const integer *n, const integer *columns, type *a, const integer *lda, \
               integer *pivots, type *b, const integer *ldb, integer *info, size_t length);                  \
    void gesv(const integer *n, const integer *columns, type *a, const integer *lda, integer *pivots,        \
              type *b, const integer *ldb, integer *info);                                                   \
    void trtrs(const char *uplo, const char *transpose, const char *diagonal, const integer *n,              \
               const integer *columns, type *a, const integer *lda, type *b, const integer *ldb,             \
               integer *info, size_t length_uplo, size_t length_transpose, size_t length_diagonal)
DECLARE_SOLVES(spotrs_, sposv_, sgetrs_, sgesv_, strtrs_, float);
DECLARE_SOLVES(dpotrs_, dposv_, dgetrs_, dgesv_, dtrtrs_, double);
DECLARE_SOLVES(cpotrs_, cposv_, cgetrs_, cgesv_, ctrtrs_, float _Complex);
DECLARE_SOLVES(zpotrs_, zposv_, zgetrs_, zgesv_, ztrtrs_, double _Complex);
void spotrf_(const char *uplo, const integer *n, float *a, const integer *lda, integer *info, size_t length);
void dpotrf_(const char *uplo, const integer *n, double *a, const integer *lda, integer *info, size_t length);
void cpotrf_(const char *uplo, const integer *n, float _Complex *a, const integer *lda, integer *info,
             size_t length);
void zpotrf_(const char *uplo, const integer *n, double _Complex *a, const integer *lda, integer *info,
             size_t length);
void dsyev_(const char *job, const char *uplo, const integer *n, double *a, const integer *lda, double *w,
            double *work, const integer *size, integer *info, size_t length_job, size_t length_uplo);
void zheev_(const char *job, const char *uplo, const integer *n, double _Complex *a, const integer *lda,
            double *w, double _Complex *work, const integer *size, double *rwork, integer *info,
            size_t length_job, size_t length_uplo);
void sgesvd_(const char *job_u, const char *job_v, const integer *m, const integer *n, float *a,
             const integer *lda, float *s, float *u, const integer *ldu, float *vt, const integer *ldvt,
             float *work, const integer *size, integer *info, size_t length_u, size_t length_v);

enum { N = 40 }; /* a matrix is N x N */
static const integer n = N, one_step = 1, two_steps = 2;

/* Whole numbers, so that sums are exact. */
static double element(int i, int j)
{
    return (i * 5 + j * 3) % 7 - 3;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-10 * (1 + fabs(b));
}

static void check_vectors(void)
{
    double x[N], y[N], sum = 0;
    float f[N];
    float _Complex cx[N], cy[N], c_sum = 0, c_result;
    double _Complex zx[N], z_sum = 0;
    for (int i = 0; i < N; i++) {
        x[i] = element(i, 1);
        y[i] = element(1, i);
        f[i] = (float)x[i];
        cx[i] = (float)x[i] + (float)y[i] * I;
        cy[i] = (float)y[i] - 2 * I;
        zx[i] = cx[i];
        sum += x[i] * y[i];
        c_sum += conjf(cx[i]) * cy[i];
        z_sum += zx[i] * zx[i];
    }
    float f_sum = 0, f_dot = 0;
    double squares = 0;
    for (int i = 0; i < N; i++) {
        f_sum += fabsf(f[i]);
        f_dot += i % 2 ? 0 : f[i] * f[i / 2];
        squares += x[i] * x[i];
    }
    const integer half = N / 2;
    CHECK(cblas_ddot(N, x, 1, y, 1) == sum, "cblas_ddot");
    CHECK(sasum_(&n, f, &one_step) == f_sum, "sasum_");
    CHECK(sdot_(&half, f, &two_steps, f, &one_step) == f_dot, "sdot_");
    CHECK(is_near(dnrm2_(&n, x, &one_step), sqrt(squares)), "dnrm2_");
    CHECK(cdotc_(&n, cx, &one_step, cy, &one_step) == c_sum, "cdotc_, as gfortran returns it");
    cblas_cdotc_sub(N, cx, 1, cy, 1, &c_result);
    CHECK(c_result == c_sum, "cblas_cdotc_sub");
    CHECK(zdotu_(&n, zx, &one_step, zx, &one_step) == z_sum, "zdotu_");
    CHECK(
        is_near(dznrm2_(&n, zx, &one_step) * dznrm2_(&n, zx, &one_step), squares + cblas_ddot(N, y, 1, y, 1)),
        "dznrm2_");
    x[23] = -100;
    CHECK(idamax_(&n, x, &one_step) == 24, "idamax_");
    CHECK(cblas_idamax(N, x, 1) == 23, "cblas_idamax");
    double before = y[23];
    cblas_daxpy(N, 2, x, 1, y, 1);
    CHECK(y[23] == before - 200, "cblas_daxpy");
    double a = 3, b = 4, c, s;
    drotg_(&a, &b, &c, &s);
    CHECK(is_near(a, 5) && is_near(c, 0.6) && is_near(s, 0.8), "drotg_");
}

static void check_products(void)
{
    static double a[N * N], b[N * N], c[N * N], d[N * N];
    static float fa[N * N], fc[N * N];
    static double _Complex z[N * N], zc[N * N];
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            a[i + j * N] = fa[i + j * N] = (float)element(i, j);
            b[i + j * N] = element(j, i + 1);
            z[i + j * N] = element(i, j) + element(j, i) * I;
        }
    const double one = 1, zero = 0;
    const double _Complex z_one = 1, z_zero = 0;
    cblas_dgemm(102, 111, 112, N, N, N, 1, a, N, b, N, 0, c, N);
    cblas_sgemm(102, 112, 111, N, N, N, 1, fa, N, fa, N, 0, fc, N);
    cblas_zgemm(101, 111, 113, N, N, N, &z_one, z, N, z, N, &z_zero, zc, N);
    dsyrk_("U", "T", &n, &n, &one, a, &n, &zero, d, &n, 1, 1);
    long wrong[4] = {0};
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double ab = 0, aa = 0;
            double _Complex zz = 0;
            for (int k = 0; k < N; k++) {
                ab += a[i + k * N] * b[j + k * N];
                aa += a[k + i * N] * a[k + j * N];
                zz += z[i * N + k] * conj(z[j * N + k]);
            }
            wrong[0] += c[i + j * N] != ab;
            wrong[1] += fc[i + j * N] != (float)aa;
            wrong[2] += zc[i * N + j] != zz;
            wrong[3] += i <= j && d[i + j * N] != aa;
        }
    CHECK(wrong[0] == 0, "cblas_dgemm: %ld wrong", wrong[0]);
    CHECK(wrong[1] == 0, "cblas_sgemm: %ld wrong", wrong[1]);
    CHECK(wrong[2] == 0, "cblas_zgemm: %ld wrong", wrong[2]);
    CHECK(wrong[3] == 0, "dsyrk_: %ld wrong", wrong[3]);

    /* A triangle with a large diagonal: solve, and multiply back. */
    double x[N], y[N] = {0};
    static double triangle[N * N];
    for (int j = 0; j < N; j++) {
        x[j] = element(j, 2);
        for (int i = 0; i <= j; i++)
            triangle[i + j * N] = element(i, j) + (i == j) * 100;
    }
    dtrsm_("L", "U", "N", "N", &n, &one_step, &one, triangle, &n, x, &n, 1, 1, 1, 1);
    dgemv_("N", &n, &n, &one, triangle, &n, x, &one_step, &zero, y, &one_step, 1);
    long far = 0;
    for (int i = 0; i < N; i++)
        far += !is_near(y[i], element(i, 2));
    CHECK(far == 0, "dtrsm_ and dgemv_: %ld of %d far off", far, N);
}

/* -1, 2, -1 on three diagonals: its eigenvalues are 2 - 2 cos(k pi / (N + 1)). */
static void make_laplacian(double *a)
{
    memset(a, 0, N * N * sizeof *a);
    for (int i = 0; i < N; i++) {
        a[i + i * N] = 2;
        if (i > 0)
            a[i - 1 + i * N] = a[i + (i - 1) * N] = -1;
    }
}

static double laplacian_eigenvalue(int k)
{
    return 2 - 2 * cos((k + 1) * M_PI / (N + 1));
}

static void check_lapack(void)
{
    static double a[N * N], work[N * N];
    static double _Complex z[N * N], z_work[N * N];
    static float f[N * N], f_work[N * N];
    double b[N], w[N], rwork[3 * N];
    float s[N];
    const integer size = N * N, what = 1, none = -1;
    integer pivots[N], info = -1;

    CHECK(dlamch_("E", 1) == 0x1p-53, "dlamch_");
    CHECK(ilaenv_(&what, "DGETRF", " ", &n, &n, &none, &none, 6, 1) >= 1, "ilaenv_");

    make_laplacian(a);
    for (int i = 0; i < N; i++)
        b[i] = i == 0 || i == N - 1; /* the solution is 1 everywhere */
    dgesv_(&n, &one_step, a, &n, pivots, b, &n, &info);
    long far = info != 0;
    for (int i = 0; i < N; i++)
        far += !is_near(b[i], 1);
    CHECK(far == 0, "dgesv_: info %d, %ld far off", (int)info, far);

    make_laplacian(a);
    for (int i = 0; i < N * N; i++) {
        z[i] = a[i];
        f[i] = (float)a[i];
    }
    dsyev_("V", "U", &n, a, &n, w, work, &size, &info, 1, 1);
    far = info != 0;
    for (int i = 0; i < N; i++)
        far += !is_near(w[i], laplacian_eigenvalue(i));
    CHECK(far == 0, "dsyev_: info %d, %ld far off", (int)info, far);

    zheev_("N", "L", &n, z, &n, w, z_work, &size, rwork, &info, 1, 1);
    far = info != 0;
    for (int i = 0; i < N; i++)
        far += !is_near(w[i], laplacian_eigenvalue(i));
    CHECK(far == 0, "zheev_: info %d, %ld far off", (int)info, far);

    sgesvd_("N", "N", &n, &n, f, &n, s, NULL, &one_step, NULL, &one_step, f_work, &size, &info, 1, 1);
    far = info != 0;
    for (int i = 0; i < N; i++)
        far += !(fabs(s[i] - laplacian_eigenvalue(N - 1 - i)) <= N * 0x1p-23 * s[0]);
    CHECK(far == 0, "sgesvd_: info %d, %ld far off", (int)info, far);
}

/* L's diagonal is the root of (i + 2) / (i + 1); errors are of so many times the type's roundoff as is_near allows. */
#define CHECK_POTRF(potrf, type, times)                                                                      \
    do {                                                                                                     \
        static type matrix[N * N];                                                                           \
        long far_off = 0;                                                                                    \
        for (int i = 0; i < N * N; i++)                                                                      \
            matrix[i] = (type)a[i];                                                                          \
        potrf("L", &n, matrix, &n, &info, 1);                                                                \
        for (int i = 0; i < N; i++) {                                                                        \
            const double root = (double)matrix[i + i * N], wanted = (i + 2.0) / (i + 1);                     \
            far_off += !is_near(wanted + (root * root - wanted) / (times), wanted);                          \
        }                                                                                                    \
        CHECK(info == 0 && far_off == 0, #potrf ": info %d, %ld far off", (int)info, far_off);               \
    } while (0)

static void check_potrf(void)
{
    enum { SINGLE = 1 << 29 }; /* its roundoff against that of doubles */
    static double a[N * N];
    integer info = -1;
    make_laplacian(a);
    CHECK_POTRF(spotrf_, float, SINGLE);
    CHECK_POTRF(dpotrf_, double, 1);
    CHECK_POTRF(cpotrf_, float _Complex, SINGLE);
    CHECK_POTRF(zpotrf_, double _Complex, 1);
}

/* Of all ones is what is found where B is the sum of A's columns. */
#define BEGIN_SOLVE(type)                                                                                    \
    for (int i = 0; i < N; i++)                                                                              \
        b[i] = (type)(i == 0 || i == N - 1);                                                                 \
    info = -1
#define END_SOLVE(name, times)                                                                               \
    do {                                                                                                     \
        long far_off = 0;                                                                                    \
        for (int i = 0; i < N; i++)                                                                          \
            far_off += !is_near(1 + ((double)b[i] - 1) / (times), 1);                                        \
        CHECK(info == 0 && far_off == 0, name ": info %d, %ld far off", (int)info, far_off);                 \
    } while (0)

/* By factors that are made, and again by those that there are then. */
#define CHECK_SOLVES(potrs, posv, getrs, gesv, trtrs, type, times)                                           \
    do {                                                                                                     \
        static type matrix[N * N], b[N];                                                                     \
        for (int i = 0; i < N * N; i++)                                                                      \
            matrix[i] = (type)a[i];                                                                          \
        BEGIN_SOLVE(type);                                                                                   \
        posv("L", &n, &one_step, matrix, &n, b, &n, &info, 1);                                               \
        END_SOLVE(#posv, times);                                                                             \
        BEGIN_SOLVE(type);                                                                                   \
        potrs("L", &n, &one_step, matrix, &n, b, &n, &info, 1);                                              \
        END_SOLVE(#potrs, times);                                                                            \
        BEGIN_SOLVE(type);                                                                                   \
        trtrs("L", "N", "N", &n, &one_step, matrix, &n, b, &n, &info, 1, 1, 1);                              \
        trtrs("L", "C", "N", &n, &one_step, matrix, &n, b, &n, &info, 1, 1, 1);                              \
        END_SOLVE(#trtrs, times);                                                                            \
        for (int i = 0; i < N * N; i++)                                                                      \
            matrix[i] = (type)a[i];                                                                          \
        BEGIN_SOLVE(type);                                                                                   \
        gesv(&n, &one_step, matrix, &n, pivots, b, &n, &info);                                               \
        END_SOLVE(#gesv, times);                                                                             \
        BEGIN_SOLVE(type);                                                                                   \
        getrs("T", &n, &one_step, matrix, &n, pivots, b, &n, &info, 1);                                      \
        END_SOLVE(#getrs, times);                                                                            \
    } while (0)

static void check_solves(void)
{
    enum { SINGLE = 1 << 29 };
    static double a[N * N];
    integer info, pivots[N];
    make_laplacian(a);
    CHECK_SOLVES(spotrs_, sposv_, sgetrs_, sgesv_, strtrs_, float, SINGLE);
    CHECK_SOLVES(dpotrs_, dposv_, dgetrs_, dgesv_, dtrtrs_, double, 1);
    CHECK_SOLVES(cpotrs_, cposv_, cgetrs_, cgesv_, ctrtrs_, float _Complex, SINGLE);
    CHECK_SOLVES(zpotrs_, zposv_, zgetrs_, zgesv_, ztrtrs_, double _Complex, 1);
}

/* OpenBLAS in Debian has no LAPACKE; another library may. */
static void check_lapacke(void)
{
    integer (*dgesv)(int layout, integer n, integer columns, double *a, integer lda, integer *pivots,
                     double *b, integer ldb);
    if (!dlopen(LAPACKE, RTLD_LAZY | RTLD_GLOBAL))
        return;
    *(void **)&dgesv = dlsym(RTLD_DEFAULT, "LAPACKE_dgesv");
    static double a[N * N];
    double b[N];
    integer pivots[N];
    make_laplacian(a);
    for (int i = 0; i < N; i++)
        b[i] = i == 0 || i == N - 1;
    integer info = dgesv(101, N, 1, a, N, pivots, b, 1);
    long far = info != 0;
    for (int i = 0; i < N; i++)
        far += !is_near(b[i], 1);
    CHECK(far == 0, "LAPACKE_dgesv: info %d, %ld far off", (int)info, far);
}

int main(void)
{
    check_vectors();
    check_products();
    check_lapack();
    check_potrf();
    check_solves();
    check_lapacke();
    return check_result();
}
