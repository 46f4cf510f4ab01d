/* Names that no library has: each is named once, on standard error, whoever calls it and how often, and the call
 * returns zero, whatever kind of number it returns. Irregular arguments are reported all the same.
 */
#include "tests/check.h"

#include <complex.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

int idamax_(int a, int b, int c, int d, int e, int f);
long LAPACKE_dlange(long a, double b);
float cblas_sdot(float x, float y);
double cblas_ddot(double x, double y);
float _Complex cdotc_(float _Complex x, float _Complex y);
double _Complex zdotc_(double _Complex x, double _Complex y);
void xerbla_(const char *routine, const int *number, size_t length);
void cblas_xerbla(int number, const char *routine, const char *format, ...);
void sgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc);

enum { THREADS = 4 };

static void *call(void *unused)
{
    for (int round = 0; round < 3; round++) {
        CHECK(idamax_(1, 2, 3, 4, 5, 6) == 0, "an int");
        CHECK(LAPACKE_dlange(-1, 2) == 0, "a long");
        CHECK(cblas_sdot(1, 2) == 0, "a float");
        CHECK(cblas_ddot(1, 2) == 0, "a double");
        CHECK(cdotc_(1 + 2 * I, 3) == 0, "a complex float");
        CHECK(zdotc_(1 + 2 * I, 3 + 4 * I) == 0, "a complex double");
    }
    return unused;
}

static void make_irregular_calls(void)
{
    const int number = 7, m = 4, n = 3, k = 2, lda = 3;
    const float one = 1, matrix[16] = {0};
    float result[16] = {0};
    xerbla_("DTRSM ", &number, 6);
    xerbla_("DGEMMDGEMV", &number, 5);
    cblas_xerbla(number, "cblas_dtrsm", "%d", 1);
    sgemm_("N", "N", &m, &n, &k, &one, matrix, &lda, matrix, &k, &one, result, &m);
}

static const char *const expected[] = {
    "tileblas: idamax_: no library here has it; the call does nothing\n",
    "tileblas: LAPACKE_dlange: no library here has it; the call does nothing\n",
    "tileblas: cblas_sdot: no library here has it; the call does nothing\n",
    "tileblas: cblas_ddot: no library here has it; the call does nothing\n",
    "tileblas: cdotc_: no library here has it; the call does nothing\n",
    "tileblas: zdotc_: no library here has it; the call does nothing\n",
    "tileblas: DTRSM: argument 7 is irregular; the call does nothing\n",
    "tileblas: DGEMM: argument 7 is irregular; the call does nothing\n",
    "tileblas: cblas_dtrsm: argument 7 is irregular; the call does nothing\n",
    "tileblas: TILEBLAS_HOST_BLAS: no usable sgemm_ in /nonexistent\n",
    "tileblas: SGEMM: argument 8 is irregular; the call does nothing\n",
};
enum { EXPECTED = sizeof expected / sizeof *expected };

int main(void)
{
    FILE *lines = tmpfile();
    int kept_stderr = dup(STDERR_FILENO);
    dup2(fileno(lines), STDERR_FILENO);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    make_irregular_calls();
    dup2(kept_stderr, STDERR_FILENO);

    char line[1024];
    int count[EXPECTED] = {0};
    rewind(lines);
    while (fgets(line, sizeof line, lines)) {
        int i = 0;
        while (i < EXPECTED && strcmp(line, expected[i]) != 0)
            i++;
        if (CHECK(i < EXPECTED, "this was said besides: %s", line))
            count[i]++;
    }
    for (int i = 0; i < EXPECTED; i++)
        CHECK(count[i] == 1, "said %d times: %s", count[i], expected[i]);
    return check_result();
}
