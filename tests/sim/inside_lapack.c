/* The products of a program's LAPACK are the program's calls, also while a factorization that was called here has gone on to it. What it
 * calls of the factorization itself is none. */
#include "include/tileblas.h"
#include "tests/check.h"

enum { ORDER = 300, COLUMN_MAJOR = 102 };

extern void dpotrf_(const char *letter, const int *n, double *a, const int *lda, int *info);
extern void dposv_(const char *letter, const int *n, const int *nrhs, double *a, const int *lda, double *b,
                   const int *ldb, int *info);
extern int LAPACKE_dpotrf(int layout, char letter, int n, double *a, int lda);

static int by_fortran(double *a)
{
    const int order = ORDER;
    int info = -1;
    dpotrf_("L", &order, a, &order, &info);
    return info;
}

static int by_lapacke(double *a)
{
    return LAPACKE_dpotrf(COLUMN_MAJOR, 'L', ORDER, a, ORDER);
}

static void check_calls(const char *name, int (*factor)(double *a))
{
    static double a[ORDER * ORDER];
    tileblas_statistics s;
    for (int j = 0; j < ORDER; j++)
        a[j + j * ORDER] = 4;
    tileblas_reset_statistics();
    const int info = factor(a);
    CHECK(info == 0 && a[0] == 2 && a[ORDER * ORDER - 1] == 2, "%s: info is %d", name, info);
    tileblas_read_statistics(&s, sizeof s);
    CHECK(s.host.calls == 2, "%s: %llu calls were counted: a factorization and a product are two", name,
          s.host.calls);
}

/* They are the program's own, which they come back to through us. */
static void a_driver_calls_its_parts(void)
{
    static double a[ORDER * ORDER], b[ORDER];
    const int order = ORDER, one = 1;
    int info = -1;
    for (int j = 0; j < ORDER; j++)
        a[j + j * ORDER] = 4;
    dposv_("L", &order, &one, a, &order, b, &order, &info);
    CHECK(info == 0 && b[0] == 200 && b[ORDER - 1] == 200, "info is %d, B begins with %g", info, b[0]);
}

int main(void)
{
    check_calls("Fortran", by_fortran);
    check_calls("LAPACKE", by_lapacke);
    a_driver_calls_its_parts();
    return check_result();
}
