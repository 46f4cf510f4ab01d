/* Which floating-point exceptions products raise in their caller: the same by the host's arithmetic, which
 * raises them by itself, and streamed through a device.
 *
 *   exceptions host|streamed
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/known_product.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

void cblas_dsyrk(int, int, int, int, int, double, const double *, int, double, double *, int);
void cblas_dtrmm(int, int, int, int, int, int, int, double, const double *, int, double *, int);
void cblas_dtrsm(int, int, int, int, int, int, int, double, const double *, int, double *, int);
void cblas_ssyrk(int, int, int, int, int, float, const float *, int, float, float *, int);
void cblas_strmm(int, int, int, int, int, int, int, float, const float *, int, float *, int);
void cblas_strsm(int, int, int, int, int, int, int, float, const float *, int, float *, int);

enum {
    SIDE = 150,
    ROW = 3,
    STEP = 4,
    LAST = SIDE - 1
}; /* a row of C, and a step of k, of which A has a number there */
#define AT(row, column) ((row) + (column)*SIDE + 1)
#define WATCHED         (FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO)

typedef enum trial_routine { GEMM, SYRK, TRMM, TRSM } trial_routine;

/* All of A, or the end of a diagonal of ones for TRSM, holds the factor, B and C ones, but for what is put in
 * one place of each (AT; 0: none). */
typedef struct trial {
    const char *what;
    trial_routine routine;
    int raised;
    double factor, beta;
    int a_at, b_at, c_at;
    double a, b, c;
    double alpha;       /* 0: it is 1 */
    bool has_ones;      /* on A's diagonal; for TRSM, zeros are stored there */
    bool is_upper;      /* A's triangle */
    bool overflew_once; /* before the call */
} trial;

static const trial trials[] = {
    {"ordinary numbers", GEMM, 0, .factor = 2, .beta = 1},
    {"an overflow", GEMM, FE_OVERFLOW, .factor = 1e30, .beta = 0},
    {"an overflow beside a NaN", GEMM, FE_OVERFLOW, 1e30, 0, .a_at = AT(ROW, STEP), .a = NAN},
    {"an infinity in A", GEMM, 0, 2, 0, .a_at = AT(ROW, STEP), .a = INFINITY},
    {"an infinity in B", GEMM, 0, 2, 1, .b_at = AT(STEP, 9), .b = -INFINITY},
    {"an infinity times zero", GEMM, FE_INVALID, 2, 0, AT(ROW, STEP), AT(STEP, 9), .a = INFINITY, .b = 0},
    {"an infinity less an infinity", GEMM, FE_INVALID, 2, 1, AT(ROW, STEP), .c_at = AT(ROW, 9), .a = INFINITY,
     .c = -INFINITY},
    {"a NaN in A", GEMM, 0, 2, 1, .a_at = AT(ROW, STEP), .a = NAN},
    {"a NaN in B", GEMM, 0, 2, 0, .b_at = AT(STEP, 9), .b = NAN},
    {"a NaN in C", GEMM, 0, 2, 1, .c_at = AT(ROW, 9), .c = NAN},
    {"an infinity in C", GEMM, 0, 2, 1, .c_at = AT(ROW, 9), .c = INFINITY},
    {"a C that is not read", GEMM, 0, 2, 0, .c_at = AT(ROW, 9), .c = NAN},
    {"an overflow beside an infinity in C", GEMM, FE_OVERFLOW, 1e30, 1, .c_at = AT(ROW, 9), .c = INFINITY},
    {"an overflow in a triangle", SYRK, FE_OVERFLOW, .factor = 1e30, .beta = 0},
    {"an infinity in the other triangle of C", SYRK, 0, 2, 1, .c_at = AT(ROW, 9), .c = INFINITY},
    {"an infinity in the triangle of C", SYRK, 0, 2, 1, .c_at = AT(9, ROW), .c = INFINITY},
    {"a NaN in the other triangle of A", TRMM, FE_OVERFLOW, 1e30, 1, .a_at = AT(ROW, 9), .a = NAN},
    {"a NaN in the triangle of A", TRMM, 0, 2, 1, .a_at = AT(9, ROW), .a = NAN},
    {"an infinity in the place of a one", TRMM, FE_OVERFLOW, 1e30, 1, AT(9, 9), .a = INFINITY,
     .has_ones = true},
    {"an infinity in the place of a one, above", TRMM, FE_OVERFLOW, 1e30, 1, AT(9, 9), .a = INFINITY,
     .has_ones = true, .is_upper = true},
    {"an infinity that was in C", TRMM, 0, 2, 1, .c_at = AT(ROW, 9), .c = INFINITY},
    {"a NaN that was in C", TRMM, 0, 2, 1, .c_at = AT(ROW, 9), .c = NAN},
    {"a solution", TRSM, 0, .factor = 2, .beta = 1},
    {"a solution that overflows", TRSM, FE_OVERFLOW, .factor = 1e-30, .beta = 1},
    {"a zero at the end of the diagonal", TRSM, FE_DIVBYZERO, 2, 1, .a_at = AT(LAST, LAST), .a = 0},
    {"a solution that overflows beside zeros that are not read", TRSM, FE_OVERFLOW, 1e-30, 1,
     .a_at = AT(LAST, STEP), .a = -1e30, .has_ones = true},
    {"an infinite alpha", GEMM, 0, 2, 0, .alpha = INFINITY},
    {"an infinite beta", GEMM, 0, .factor = 2, .beta = INFINITY},
    {"an infinity times zero after an overflow", GEMM, FE_INVALID | FE_OVERFLOW, 2, 0, AT(ROW, STEP),
     AT(STEP, 9), .a = INFINITY, .b = 0, .overflew_once = true},
    {"a zero on the diagonal", TRSM, FE_DIVBYZERO | FE_INVALID, 2, 1, .a_at = AT(ROW, ROW), .a = 0},
};
enum { TRIALS = sizeof trials / sizeof *trials };

static void set_number(void *block, bool of_doubles, int index, double number)
{
    if (of_doubles)
        ((double *)block)[index] = number;
    else
        ((float *)block)[index] = (float)number;
}

static void fill(void *block, bool of_doubles, double number, int at, double there)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        set_number(block, of_doubles, i, number);
    if (at > 0)
        set_number(block, of_doubles, at - 1, there);
}

static double alpha_of(const trial *t)
{
    return fpclassify(t->alpha) == FP_ZERO ? 1 : t->alpha;
}

static void overflow_once(void)
{
    volatile double large = 1e300;
    large = large * large;
}

static void call_doubles(const trial *t, const double *a, const double *b, double *c)
{
    enum { N = SIDE };
    const int diagonal = t->has_ones ? 132 : 131, triangle = t->is_upper ? 121 : 122;
    if (t->routine == GEMM)
        cblas_dgemm(102, 111, 111, N, N, N, alpha_of(t), a, N, b, N, t->beta, c, N);
    else if (t->routine == SYRK)
        cblas_dsyrk(102, 122, 111, N, N, 1, a, N, t->beta, c, N);
    else
        (t->routine == TRMM ? cblas_dtrmm : cblas_dtrsm)(102, 141, triangle, 111, diagonal, N, N, 1, a, N, c,
                                                         N);
}

static void call_floats(const trial *t, const float *a, const float *b, float *c)
{
    enum { N = SIDE };
    const int diagonal = t->has_ones ? 132 : 131, triangle = t->is_upper ? 121 : 122;
    if (t->routine == GEMM)
        cblas_sgemm(102, 111, 111, N, N, N, (float)alpha_of(t), a, N, b, N, (float)t->beta, c, N);
    else if (t->routine == SYRK)
        cblas_ssyrk(102, 122, 111, N, N, 1, a, N, (float)t->beta, c, N);
    else
        (t->routine == TRMM ? cblas_strmm : cblas_strsm)(102, 141, triangle, 111, diagonal, N, N, 1, a, N, c,
                                                         N);
}

static int raised_by(const trial *t, bool of_doubles, tb_memory memory)
{
    const known_product numbers = {.of_doubles = of_doubles, .memory = memory};
    void *blocks[3];
    for (int i = 0; i < 3; i++)
        blocks[i] = known_allocate(&numbers, SIDE * SIDE);
    /* Doubles' own range is as far beyond. */
    const double factor = of_doubles && fabs(log10(t->factor)) > 20 ? pow(t->factor, 10) : t->factor;
    const bool grows = t->raised & FE_OVERFLOW;
    fill(blocks[0], of_doubles, t->routine == TRSM ? 0 : factor, t->a_at, t->a);
    for (int i = 0; t->routine == TRSM && !t->has_ones && i < SIDE; i++)
        if (AT(i, i) != t->a_at)
            set_number(blocks[0], of_doubles, AT(i, i) - 1, i == LAST ? factor : 1);
    const double other = !grows ? 1 : t->routine == TRSM ? 1 / factor : factor;
    fill(blocks[1], of_doubles, other, t->b_at, t->b);
    fill(blocks[2], of_doubles, t->routine == TRSM || t->routine == TRMM ? other : 1, t->c_at, t->c);
    feclearexcept(FE_ALL_EXCEPT);
    if (t->overflew_once)
        overflow_once();
    if (of_doubles)
        call_doubles(t, blocks[0], blocks[1], blocks[2]);
    else
        call_floats(t, blocks[0], blocks[1], blocks[2]);
    const int raised = fetestexcept(FE_ALL_EXCEPT);
    for (int i = 0; i < 3; i++)
        known_release(memory, blocks[i]);
    return raised;
}

/* What lies in pinned memory and is changed in its place is not told. */
static bool is_told(const trial *t, tb_memory memory)
{
    return memory == TB_MEMORY_HOST || t->routine == GEMM || t->routine == SYRK;
}

/* The portable loops, whose arithmetic raises by itself, say so as well. */
static void overflow_and_invalid_are_raised(const char *route)
{
    static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED};
    for (int i = 0; i < 2 * 2 * TRIALS; i++) {
        const trial *t = &trials[i / 4];
        const tb_memory memory = memories[i / 2 % 2];
        const int raised = raised_by(t, i % 2, memory);
        const bool is_host = strcmp(route, "host") == 0;
        CHECK((raised & WATCHED) == (is_host || is_told(t, memory) ? t->raised : 0),
              "%s, %s, %s, %s: exceptions %#x are raised, not %#x", route, t->what,
              i % 2 ? "doubles" : "floats", memory == TB_MEMORY_HOST ? "ordinary" : "pinned",
              (unsigned)raised, (unsigned)t->raised);
        if (!is_host && raised & FE_OVERFLOW)
            CHECK(raised & FE_INEXACT, "%s: an overflow that is exact", t->what);
        if (!is_host && t->raised == 0)
            CHECK(raised == 0, "%s: exceptions %#x", t->what, (unsigned)raised);
    }
}

/* Whichever copy fails, the host computes what is left, and raises what is in that. */
static void a_failure_loses_no_exception(void)
{
    static const trial overflow = {"an overflow", GEMM, FE_OVERFLOW, .factor = 1e30, .beta = 0},
                       ordinary = {"ordinary numbers", GEMM, 0, .factor = 2, .beta = 1};
    raised_by(&ordinary, true, TB_MEMORY_HOST);
    for (int copy = 1; copy <= 4; copy++) {
        char script[32];
        snprintf(script, sizeof script, "copy:%d=memory", copy);
        for (int i = 0; i < 2; i++) {
            const trial *t = i ? &overflow : &ordinary;
            sim_set("FAIL", script);
            const int raised = raised_by(t, true, TB_MEMORY_HOST);
            CHECK((raised & WATCHED) == t->raised, "%s, %s: exceptions %#x", script, t->what,
                  (unsigned)raised);
        }
    }
}

int main(int count, char **arguments)
{
    const char *route = count > 1 ? arguments[1] : "streamed";
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", route);
    overflow_and_invalid_are_raised(route);
    if (strcmp(route, "streamed") == 0)
        a_failure_loses_no_exception();
    return check_result();
}
