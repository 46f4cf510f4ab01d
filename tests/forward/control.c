/* OpenBLAS's control functions reach the OpenBLAS that answers, and error handlers of the program's own are called
 * by it, through whatever libraries: the handler may return, or leave by longjmp. A program for OpenBLAS.
 */
#include "tests/check.h"

#include <setjmp.h>
#include <string.h>

void openblas_set_num_threads(int threads);
int openblas_get_num_threads(void);
char *openblas_get_config(void);
char *openblas_get_corename(void);
void goto_set_num_threads(int threads);
void dgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t length_a, size_t length_b);

static int reports, number_reported;
static char routine_reported[16];
static bool leaves_by_jump;
static jmp_buf before_call;

void xerbla_(const char *routine, const int *number, size_t length);
void xerbla_(const char *routine, const int *number, size_t length)
{
    reports++;
    number_reported = *number;
    snprintf(routine_reported, sizeof routine_reported, "%.*s", (int)length, routine);
    if (leaves_by_jump)
        longjmp(before_call, 1);
}

static void make_irregular_call(void)
{
    const int n = 2, lda = 1;
    const double one = 1, a[4] = {1, 2, 3, 4};
    double c[4] = {0};
    if (setjmp(before_call) == 0)
        dgemm_("N", "N", &n, &n, &n, &one, a, &lda, a, &n, &one, c, &n, 1, 1);
}

int main(void)
{
    CHECK(strncmp(openblas_get_config(), "OpenBLAS ", 9) == 0, "the configuration is %s",
          openblas_get_config());
    CHECK(*openblas_get_corename(), "the core has no name");
    openblas_set_num_threads(1);
    CHECK(openblas_get_num_threads() == 1, "1 thread was set, %d are told", openblas_get_num_threads());
    goto_set_num_threads(2);
    CHECK(openblas_get_num_threads() == 2, "2 threads were set, %d are told", openblas_get_num_threads());
    for (int jump = 0; jump < 2; jump++) {
        leaves_by_jump = jump;
        make_irregular_call();
        CHECK(reports == jump + 1 && number_reported == 8 && strncmp(routine_reported, "DGEMM", 5) == 0,
              "call %d: %d reports, the last one %s %d", jump, reports, routine_reported, number_reported);
    }
    return check_result();
}
