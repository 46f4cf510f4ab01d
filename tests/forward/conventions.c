/* Arguments and results pass through a forwarded name untouched, whatever the convention: on the first call,
 * which looks for the host, as on later ones.
 *
 *   conventions linked   the host is linked behind TileBLAS
 *   conventions opened   the host is the library of TILEBLAS_HOST_BLAS, opened by the first call; a library that
 *                        is run by that, and unwinds, finds its way to this program
 */
#include "tests/forward/conventions.h"
#include "tests/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static void check_results(int round)
{
    const int n = 17;
    const float single = 3;
    const double whole = 5;
    errno = ERANGE;
    CHECK(idamax_(&n) == -17, "call %d: an integer result", round);
    CHECK(errno == ERANGE, "call %d: errno changed", round);
    CHECK(sdot_(&single, 0.5F) == 2.5F, "call %d: a float result", round);
    CHECK(ddot_(&whole, 0.5) == 4.5, "call %d: a double result", round);
    CHECK(qdot_(1.25L) == 3.75L, "call %d: a long double result", round);
    CHECK(cdotc_(2 + 3 * I) == 4 - 6 * I, "call %d: a complex float result", round);
    CHECK(zdotc_(4 - 5 * I) == 8 + 10 * I, "call %d: a complex double result", round);
    CHECK(strcmp(openblas_get_config(), "conventions") == 0, "call %d: a pointer result", round);

    four_words words = LAPACKE_zlange(9, 4);
    CHECK(words.word[0] == 9 && words.word[1] == 4 && words.word[2] == 5 && words.word[3] == 13,
          "call %d: a structure in memory", round);
    two_halves halves = LAPACKE_dlange(1.5, 21);
    CHECK(halves.real == 3 && halves.whole == 42, "call %d: a structure in registers of both kinds", round);
    double _Complex result = 0;
    zdotu_(&result, &n);
    CHECK(result == 17 - 34 * I, "call %d: a result through a pointer", round);
}

static void check_arguments(int round)
{
    double sum = LAPACKE_dgesvx_work(1, -2, 3, -4, 5, 6, (void *)7, 8, -9, 10, 11, -12, 13, 14, 15, 16, -17,
                                     18, 19, 20, -21, 22, (void *)23, 24);
    const double values[] = {1,  -2, 3,  -4, 5,   6,  7,  8,  -9,  10, 11, -12,
                             13, 14, 15, 16, -17, 18, 19, 20, -21, 22, 23, 24};
    double expected = 0;
    for (int i = 0; i < 24; i++)
        expected += (i + 1) * (i + 1) * values[i];
    CHECK(sum == expected, "call %d: of 24 arguments came %g instead of %g", round, sum, expected);

    const int m = 1, n = 2, lda = 3, ldb = 4;
    const double alpha = 0.5, a = 7;
    double b = 0;
    long lengths = qtrsm_("L", "U", "T", "N", &m, &n, &alpha, &a, &lda, &b, &ldb, 1, 2, 3, 4);
    CHECK(lengths == 1234 && b == 10, "call %d: hidden lengths came as %ld", round, lengths);

    char text[100];
    cblas_xerbla(sizeof text, text, "%d %s %g %ld %g", 6, "text", 0.25, 1L << 40, 1e300);
    CHECK(strcmp(text, "6 text 0.25 1099511627776 1e+300") == 0, "call %d: a variadic function got \"%s\"",
          round, text);
}

/* Whether the frames that the host saw while it was loaded lead back to this program. */
static void check_unwinding(void)
{
    void *host = dlopen(getenv("TILEBLAS_HOST_BLAS"), RTLD_LAZY | RTLD_NOLOAD);
    Dl_info here, there;
    if (!CHECK(host, "the host is not loaded") ||
        !CHECK(dladdr((void *)check_unwinding, &here), "no address"))
        return;
    void **frames = dlsym(host, "conventions_frames");
    int depth = *(int *)dlsym(host, "conventions_depth"), own = 0;
    for (int i = 0; i < depth; i++)
        own += dladdr(frames[i], &there) && there.dli_fbase == here.dli_fbase;
    CHECK(own >= 1, "of %d frames %d are this program's", depth, own);
}

int main(int argc, char **argv)
{
    for (int round = 1; round <= 3; round++) {
        check_results(round);
        check_arguments(round);
    }
    if (argc == 2 && strcmp(argv[1], "opened") == 0)
        check_unwinding();
    return check_result();
}
