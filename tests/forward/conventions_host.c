/* The host of conventions.c; see conventions.h. When it is loaded, it keeps who is being run: its constructor
 * runs inside of a forwarded name's first call where it is the library of TILEBLAS_HOST_BLAS.
 */
#include "tests/forward/conventions.h"

#include <errno.h>
#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>

void *conventions_frames[100];
int conventions_depth;

__attribute__((constructor)) static void look_around(void)
{
    conventions_depth = backtrace(conventions_frames, 100);
    errno = EBADF; /* which is not the caller's business */
}

int idamax_(const int *n)
{
    return -*n;
}

float sdot_(const float *x, float y)
{
    return *x - y;
}

double ddot_(const double *x, double y)
{
    return *x - y;
}

long double qdot_(long double x)
{
    return x * 3;
}

float _Complex cdotc_(float _Complex x)
{
    return conjf(x) * 2;
}

double _Complex zdotc_(double _Complex x)
{
    return conj(x) * 2;
}

const char *openblas_get_config(void)
{
    return "conventions";
}

four_words LAPACKE_zlange(long a, long b)
{
    return (four_words){{a, b, a - b, a + b}};
}

two_halves LAPACKE_dlange(double a, long b)
{
    return (two_halves){a * 2, b * 2};
}

void zdotu_(double _Complex *result, const int *n)
{
    const double real = *n;
    *result = real - 2 * real * I;
}

/* Each argument has a weight of its own, so that no two can be taken for each other. */
double LAPACKE_dgesvx_work(int a, double b, long c, float d, signed char e, double f, void *g, double h,
                           short i, double j, long k, double l, long m, float n, long o, double p, int q,
                           double r, long s, double t, signed char u, double v, void *w, float x)
{
    const double values[] = {
        a,         b, (double)c, d, e, f, (double)(size_t)g, h, i, j, (double)k,         l,
        (double)m, n, (double)o, p, q, r, (double)s,         t, u, v, (double)(size_t)w, x,
    };
    double sum = 0;
    for (size_t at = 0; at < sizeof values / sizeof *values; at++)
        sum += (double)((at + 1) * (at + 1)) * values[at];
    return sum;
}

long qtrsm_(const char *side, const char *uplo, const char *transpose, const char *diagonal, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b, const int *ldb,
            size_t length_side, size_t length_uplo, size_t length_transpose, size_t length_diagonal)
{
    if (*side != 'L' || *uplo != 'U' || *transpose != 'T' || *diagonal != 'N' || *alpha != 0.5 || *a != 7)
        return -1;
    *b = *m + *n + *lda + *ldb;
    return (long)(length_side * 1000 + length_uplo * 100 + length_transpose * 10 + length_diagonal);
}

/* The buffer keeps this frame's saved registers apart from what a trampoline has left on the stack. */
void cblas_xerbla(int size, char *text, const char *format, ...)
{
    char line[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    snprintf(text, (size_t)size, "%s", line);
}
