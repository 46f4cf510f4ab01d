/* A program with error handlers of its own that makes every kind of irregular call. What it hears of each is
 * printed, so that it can be compared between runs with and without TileBLAS.
 *
 *   irregular          only prints
 *   irregular netlib   checks also: C untouched, reported once, with the number that Netlib's BLAS gives
 *
 * Each call is made twice: the handler returns, and the handler leaves by longjmp, as Octave's does.
 */
#include "tests/abi/product.h"
#include "tests/check.h"

#include <setjmp.h>
#include <string.h>

enum { SIZE = 64 };
static real a[SIZE], b[SIZE], c[SIZE];

static struct report {
    int count;
    long number;
    char handler[16], routine[16];
} report;
static bool leaves_by_jump;
static jmp_buf before_call;

static void hear(const char *handler, const char *routine, size_t length, long number)
{
    report.count++;
    report.number = number;
    snprintf(report.handler, sizeof report.handler, "%s", handler);
    snprintf(report.routine, sizeof report.routine, "%.*s", (int)length, routine);
    if (leaves_by_jump)
        longjmp(before_call, 1);
}

void cblas_xerbla(int number, const char *routine, const char *format, ...);
void xerbla_(const char *routine, const int *number, size_t length);

void cblas_xerbla(int number, const char *routine, const char *format, ...)
{
    (void)format;
    hear("cblas_xerbla", routine, strlen(routine), number);
}

void xerbla_(const char *routine, const int *number, size_t length)
{
    hear("xerbla_", routine, length, *number);
}

typedef struct irregular_call {
    int layout, transpose_a, transpose_b; /* layout 0: Fortran, transposes letters */
    integer m, n, k, lda, ldb, ldc;
    int number;
} irregular_call;

/* Regular would be, with m = 4, n = 3, k = 2: column-major lda 4, ldb 2, ldc 4; row-major 2, 3, 3. Where two
 * arguments are irregular the row says which one Netlib finds first. */
static const irregular_call calls[] = {
    {7, 111, 111, 4, 3, 2, 4, 2, 4, 1},     {102, 110, 111, 4, 3, 2, 4, 2, 4, 2},
    {102, 114, 111, 4, 3, 2, 4, 2, 4, 2},   {102, 111, 114, 4, 3, 2, 4, 2, 4, 3},
    {102, 111, 'N', 4, 3, 2, 4, 2, 4, 3},   {101, 114, 115, 4, 3, 2, 2, 3, 3, 2},

    {102, 111, 111, -1, 3, 2, 4, 2, 4, 4},  {102, 111, 111, 4, -1, 2, 4, 2, 4, 5},
    {102, 111, 111, -1, -1, 2, 4, 2, 4, 4}, {102, 111, 111, 4, 3, -1, 4, 2, 4, 6},
    {102, 111, 111, 4, 3, 2, 3, 2, 4, 9},   {102, 112, 111, 4, 3, 2, 1, 2, 4, 9},
    {102, 111, 111, 0, 3, 2, 0, 2, 4, 9},   {102, 111, 111, 4, 3, 2, 4, 1, 4, 11},
    {102, 111, 113, 4, 3, 2, 4, 2, 4, 11},  {102, 111, 111, 4, 3, 2, 3, 1, 4, 9},
    {102, 111, 111, 4, 3, 2, 4, 2, 3, 14},

    {101, 111, 111, -1, 3, 2, 2, 3, 3, 4},  {101, 111, 111, 4, -1, 2, 2, 3, 3, 5},
    {101, 111, 111, -1, -1, 2, 2, 3, 3, 5}, {101, 111, 111, 4, 3, -1, 2, 3, 3, 6},
    {101, 111, 111, 4, 3, 2, 1, 3, 3, 9},   {101, 112, 111, 4, 3, 2, 3, 3, 3, 9},
    {101, 111, 111, 4, 3, 2, 2, 2, 3, 11},  {101, 111, 112, 4, 3, 2, 2, 1, 3, 11},
    {101, 111, 111, 4, 3, 2, 1, 2, 3, 11},  {101, 111, 111, 4, 3, 2, 2, 3, 2, 14},

    {0, 'X', 'N', 4, 3, 2, 4, 2, 4, 1},     {0, 'n', '?', 4, 3, 2, 4, 2, 4, 2},
    {0, 'n', 'N', -1, 3, 2, 4, 2, 4, 3},    {0, 't', 'c', 4, -1, 2, 2, 3, 4, 4},
    {0, 'N', 'n', 4, 3, -1, 4, 2, 4, 5},    {0, 'N', 'n', 4, 3, 2, 3, 2, 4, 8},
    {0, 'C', 'n', 4, 3, 2, 1, 2, 4, 8},     {0, 'N', 'n', 4, 3, 2, 4, 1, 4, 10},
    {0, 'N', 'T', 4, 3, 2, 4, 2, 4, 10},    {0, 'N', 'N', 4, 3, 0, 4, 0, 4, 10},
    {0, 'N', 'n', 4, 3, 2, 4, 2, 3, 13},
};

static void make(const irregular_call *call)
{
    const real alpha = 1, beta = 0;
    const char letter_a = (char)call->transpose_a, letter_b = (char)call->transpose_b;
    if (setjmp(before_call) != 0)
        return;
    if (call->layout)
        PRODUCT_CBLAS(call->layout, call->transpose_a, call->transpose_b, PASSED(call->m), PASSED(call->n),
                      PASSED(call->k), alpha, a, PASSED(call->lda), b, PASSED(call->ldb), beta, c,
                      PASSED(call->ldc));
    else
        PRODUCT_FORTRAN(&letter_a, &letter_b, &call->m, &call->n, &call->k, &alpha, a, &call->lda, b,
                        &call->ldb, &beta, c, &call->ldc);
}

static bool is_untouched(void)
{
    for (int i = 0; i < SIZE; i++)
        if (c[i] != PRODUCT_UNTOUCHED)
            return false;
    return true;
}

static void check_call(size_t index, bool netlib)
{
    const irregular_call *call = &calls[index];
    for (int i = 0; i < SIZE; i++) {
        a[i] = b[i] = 1;
        c[i] = PRODUCT_UNTOUCHED;
    }
    report = (struct report){0};
    make(call);
    printf("call %zu: %d reports, %s(%ld, \"%s\"), C %s\n", index, report.count, report.handler,
           report.number, report.routine, is_untouched() ? "untouched" : "written");
    if (!netlib)
        return;
    const char *handler = call->layout ? "cblas_xerbla" : "xerbla_";
    const char *routine = call->layout ? "cblas_" PRODUCT_ROUTINE : PRODUCT_REPORTED;
    CHECK(is_untouched(), "call %zu: C was written", index);
    CHECK(report.count == 1, "call %zu: reported %d times", index, report.count);
    CHECK(report.number == call->number, "call %zu: number %ld instead of %d", index, report.number,
          call->number);
    CHECK(strcmp(report.handler, handler) == 0 && strcmp(report.routine, routine) == 0,
          "call %zu: %s heard of \"%s\"", index, report.handler, report.routine);
}

int main(int argc, char **argv)
{
    bool netlib = argc == 2 && strcmp(argv[1], "netlib") == 0;
    for (int jump = 0; jump < 2; jump++) {
        leaves_by_jump = jump;
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            check_call(i, netlib);
    }
    /* Nothing was left half done. */
    for (int fortran = 0; fortran < 2; fortran++) {
        product p = {.fortran = fortran, .m = 4, .n = 3, .k = 2};
        long errors = product_errors(&p);
        CHECK(errors == 0, "a regular call afterwards: %ld elements are wrong", errors);
    }
    return check_result();
}
