/* GETRF's panels on the host (block.h), by the real launch function: a block, a cluster, and a grid whose blocks run at a time. Factors,
 * pivots and the info are those of the reference's way, bit by bit, whichever rows have the same magnitude, are no numbers, are infinite or
 * so small that they have no reciprocals; and the factors' product is the matrix. All else keeps its bits.
 */
#include "kernels/panels/getrf.h"
#include "kernels/panels/launch_getrf.h"
#include "tests/check.h"
#include "tests/emulated/block.h"
#include "tests/emulated/guarded.h"
#include "words/routine.h"

#include <float.h>
#include <math.h>

#define REAL         float
#define NAME(name)   name##_of_floats
#define FMA          fmaf
#define FABS         fabsf
#define LEAST_NORMAL FLT_MIN
#include "tests/emulated/getrf_reference.h"
#undef REAL
#undef NAME
#undef FMA
#undef FABS
#undef LEAST_NORMAL
#define REAL         double
#define NAME(name)   name##_of_doubles
#define FMA          fma
#define FABS         fabs
#define LEAST_NORMAL DBL_MIN
#include "tests/emulated/getrf_reference.h"

enum { MOST = TB_GETRF_COLUMNS, ARCHITECTURE = EMULATED_ARCHITECTURE };

static tb_status run_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                              int threads, int shared_bytes, const void *argument)
{
    (void)launcher;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    if (CHECK(kernel != NULL, "there is no %s", entry->symbol))
        emulated_run(kernel, blocks, cluster, threads, shared_bytes, argument);
    return TB_OK;
}

static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    return run_clusters(launcher, entry, blocks, 1, threads, shared_bytes, argument);
}

static tb_status run_together(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                              int shared_bytes, const void *argument)
{
    return run_clusters(launcher, entry, blocks, (int)blocks, threads, shared_bytes, argument);
}

/* ---- A panel ------------------------------------------------------------------------------------------------ */

typedef enum kind {
    ANY,         /* numbers */
    SMALL_WHOLE, /* -1, 0 and 1: many magnitudes are the same, and some pivots 0 */
    SPECIAL,     /* some infinite, some none */
    FIRST_NONE,  /* the first row is no number */
    TINY,        /* below the smallest normal number */
    EMPTY_COLUMN,
    KINDS
} kind;

typedef struct panel {
    tb_matrix a;
    memory memory;
    tb_getrf_shape shape;
    kind kind;
    char what[160];
} panel;

static bool is_double(const panel *x)
{
    return tb_real_of(x->a.element) == TB_FP64;
}

static int parts_of(const panel *x)
{
    return tb_is_complex(x->a.element) ? 2 : 1;
}

static double part_in(const panel *x, const void *start, int64_t row, int64_t column, int part)
{
    const int64_t index = (row + column * x->a.ld) * parts_of(x) + part;
    return is_double(x) ? ((const double *)start)[index] : (double)((const float *)start)[index];
}

static void put_part(const panel *x, int64_t row, int64_t column, int part, double value)
{
    if (is_double(x))
        ((double *)tb_at(&x->a, row, column))[part] = value;
    else
        ((float *)tb_at(&x->a, row, column))[part] = (float)value;
}

static double draw(const panel *x, int64_t row, int64_t column, check_random *random)
{
    const double any = (double)check_uniform(random);
    const int64_t chance = check_between(random, 0, 99);
    switch (x->kind) {
    case SMALL_WHOLE:
        return (double)check_between(random, -1, 1);
    case SPECIAL:
        return chance == 0 ? (double)NAN : chance == 1 ? (double)INFINITY : chance == 2 ? 0 : any;
    case FIRST_NONE:
        return row == 0 && column == 0 ? (double)NAN : any;
    case TINY:
        return any * (is_double(x) ? DBL_MIN : (double)FLT_MIN) / 3;
    case EMPTY_COLUMN:
        return column == 2 ? 0 : any;
    default:
        return any;
    }
}

static void make(panel *x, tb_element element, int64_t rows, int64_t columns, int64_t ld, kind kind,
                 check_random *random)
{
    static const char *const kinds[KINDS] = {"any numbers",   "small whole", "special",
                                             "first is none", "tiny",        "an empty column"};
    static const char *const elements[TB_ELEMENTS] = {
        [TB_FP32] = "s", [TB_FP64] = "d", [TB_COMPLEX_FP32] = "c", [TB_COMPLEX_FP64] = "z"};
    x->kind = kind;
    x->a = (tb_matrix){.rows = rows, .columns = columns, .ld = ld, .element = element};
    x->memory = guarded((size_t)(ld * (columns - 1) + rows) * tb_bytes_of(element));
    x->a.data = x->memory.start;
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            for (int part = 0; part < parts_of(x); part++)
                put_part(x, i, j, part, draw(x, i, j, random));
    snprintf(x->what, sizeof x->what, "%s, %lld x %lld, ld %lld, %d blocks of form %d, %s", elements[element],
             (long long)rows, (long long)columns, (long long)ld, x->shape.blocks, (int)x->shape.form,
             kinds[kind]);
}

static int reference(const panel *x, void *start, int *pivots)
{
    const int rows = (int)x->a.rows, columns = (int)x->a.columns;
    return is_double(x) ? reference_of_doubles(start, x->a.ld, rows, columns, parts_of(x), pivots)
                        : reference_of_floats(start, x->a.ld, rows, columns, parts_of(x), pivots);
}

/* ---- What has to hold --------------------------------------------------------------------------------------- */

static bool same(double a, double b)
{
    return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}

static void check_bits(const panel *x, const char *expected)
{
    bool good = true;
    for (int64_t j = 0; j < x->a.columns && good; j++)
        for (int64_t i = 0; i < x->a.ld && good; i++) {
            const int64_t bytes = (int64_t)tb_bytes_of(x->a.element), at = (i + j * x->a.ld) * bytes;
            if (i >= x->a.rows) {
                good = j + 1 == x->a.columns ||
                       CHECK(memcmp(expected + at, (char *)x->a.data + at, (size_t)bytes) == 0,
                             "%s: written behind column %lld", x->what, (long long)j);
                continue;
            }
            for (int part = 0; part < parts_of(x) && good; part++) {
                const double found = part_in(x, x->a.data, i, j, part),
                             wanted = part_in(x, expected, i, j, part);
                good = CHECK(same(found, wanted), "%s: (%lld, %lld) is %g, not %g", x->what, (long long)i,
                             (long long)j, found, wanted);
            }
        }
}

typedef struct sum {
    long double re, im, sizes;
} sum;

/* Subtracts a product from it. */
static void subtract(sum *sum, const double a[2], const double b[2])
{
    sum->re -= (long double)a[0] * b[0] - (long double)a[1] * b[1];
    sum->im -= (long double)a[0] * b[1] + (long double)a[1] * b[0];
    sum->sizes += (long double)((fabs(a[0]) + fabs(a[1])) * (fabs(b[0]) + fabs(b[1])));
}

static void read_number(const panel *x, const void *start, int64_t row, int64_t column, double number[2])
{
    number[1] = 0;
    for (int part = 0; part < parts_of(x); part++)
        number[part] = part_in(x, start, row, column, part);
}

/* P A = L U but for the roundings of each entry's products, sums and quotient: Higham, Accuracy and Stability of Numerical Algorithms,
 * theorem 9.3; a quotient by a reciprocal is rounded a few times more, and parts of complex numbers are sums of twice as many products. */
static void check_product(const panel *x, const char *before, const int *row_of)
{
    const double roundoff = tb_element_rows[x->a.element].roundoff;
    bool good = true;
    for (int64_t i = 0; i < x->a.rows && good; i++)
        for (int64_t j = 0; j < x->a.columns && good; j++) {
            double number[2], left[2], right[2];
            read_number(x, before, row_of[i], j, number);
            sum off = {number[0], number[1], 0};
            for (int64_t k = 0; k <= i && k <= j; k++) {
                read_number(x, x->a.data, k, j, right);
                read_number(x, x->a.data, i, k, left);
                if (k == i) {
                    left[0] = 1;
                    left[1] = 0;
                }
                subtract(&off, left, right);
            }
            const double allowed = parts_of(x) * (double)(j + 8) * roundoff * (double)off.sizes;
            good = CHECK((double)(fabsl(off.re) + fabsl(off.im)) <= allowed,
                         "%s: L U is off by %Lg at (%lld, %lld), allowed %g", x->what,
                         fabsl(off.re) + fabsl(off.im), (long long)i, (long long)j, allowed);
        }
}

/* Which row of the matrix has come to each place. */
static int *rows_after(const panel *x, const int *pivots)
{
    int *row_of = malloc((size_t)x->a.rows * sizeof *row_of);
    for (int i = 0; i < x->a.rows; i++)
        row_of[i] = i;
    for (int i = 0; i < x->a.rows && i < x->a.columns; i++) {
        const int kept = row_of[i];
        row_of[i] = row_of[pivots[i]];
        row_of[pivots[i]] = kept;
    }
    return row_of;
}

static void factor(const panel *x, int64_t position, int32_t *pivots, int64_t *info)
{
    const tb_launcher launcher = {.target = {.architecture = ARCHITECTURE, .multiprocessors = 132},
                                  .launch = run,
                                  .launch_clusters = run_clusters,
                                  .launch_together = run_together};
    char *const workspace = calloc(1, tb_getrf_workspace(x->a.element) + 16);
    CHECK(tb_launch_getrf(&launcher, x->shape, &x->a, position, pivots, info, workspace) == TB_OK,
          "%s: not launched", x->what);
    for (int i = 0; i < TB_GETRF_FLAG_BYTES; i++)
        CHECK(workspace[i] == 0, "%s: flags stay set", x->what);
    free(workspace);
}

static void try_panel(tb_element element, tb_getrf_shape shape, int64_t rows, int64_t columns, kind kind,
                      check_random *random)
{
    panel x = {.shape = shape};
    make(&x, element, rows, columns, rows + check_between(random, 0, 3), kind, random);
    const size_t bytes = (size_t)(x.a.ld * (columns - 1) + rows) * tb_bytes_of(element);
    const int64_t position = check_between(random, 0, INT32_MAX - rows),
                  steps = rows < columns ? rows : columns;
    char *const before = malloc(bytes), *const expected = malloc(bytes);
    memcpy(before, x.a.data, bytes);
    memcpy(expected, x.a.data, bytes);
    int wanted[MOST];
    int32_t pivots[MOST + 1];
    int64_t infos[3] = {-1, 0, -2};
    pivots[steps] = -3;
    const int without_pivot = reference(&x, expected, wanted);
    infos[1] = check_between(random, 0, 3) == 0 ? 7 : 0;
    const int64_t info = infos[1] != 0 ? 7 : without_pivot == 0 ? 0 : position + without_pivot;
    emulated_seed(check_next(random));
    factor(&x, position, pivots, &infos[1]);
    CHECK(infos[0] == -1 && infos[1] == info && infos[2] == -2 && pivots[steps] == -3,
          "%s: info is %lld, not %lld", x.what, (long long)infos[1], (long long)info);
    bool good = true;
    for (int64_t i = 0; i < steps && good; i++)
        good = CHECK(pivots[i] == position + wanted[i] + 1, "%s: pivot %lld is row %lld, not %d", x.what,
                     (long long)i, (long long)(pivots[i] - position), wanted[i] + 1);
    if (good)
        check_bits(&x, expected);
    if (kind == ANY && good) {
        int *row_of = rows_after(&x, wanted);
        check_product(&x, before, row_of);
        free(row_of);
    }
    free(before);
    free(expected);
    release(&x.memory);
}

static void try_form(tb_element element, tb_getrf_form form, int blocks, int64_t rows, check_random *random)
{
    static const int64_t widths[] = {1, 5, 31, MOST};
    const tb_getrf_shape shape = tb_shape_getrf(form, element, ARCHITECTURE, rows, blocks);
    if (shape.form == TB_GETRF_NONE)
        return;
    for (int kind = 0; kind < KINDS; kind++)
        try_panel(element, shape, rows, rows > 1000 ? MOST : CHECK_PICK(random, widths), (enum kind)kind,
                  random);
    try_panel(element, shape, rows, MOST, ANY, random);
}

/* As many rows as there is room for, so that rows in shared memory are among them; one more has none. */
static void the_largest(tb_element element, tb_getrf_form form, int blocks, check_random *random)
{
    const int64_t most = tb_getrf_rows_maximum(form, element, ARCHITECTURE, blocks);
    CHECK(tb_shape_getrf(form, element, ARCHITECTURE, most + 1, blocks).form == TB_GETRF_NONE,
          "there is room for more than there is");
    if (most == 0)
        return;
    const tb_getrf_shape shape = tb_shape_getrf(form, element, ARCHITECTURE, most, blocks);
    try_panel(element, shape, most, MOST, ANY, random);
    try_panel(element, shape, most - 3, MOST - 1, SMALL_WHOLE, random);
}

/* Panels of a tall matrix, as an H200 is told to factor them: the last block has fewer rows. */
static void of_a_tall_matrix(tb_element element, check_random *random)
{
    static const tb_clusters clusters = {.wide_at_a_time = 1};
    const tb_target h200 = {.architecture = 90, .multiprocessors = 132, .clusters = &clusters};
    if (ARCHITECTURE < 90)
        return;
    try_panel(element, tb_choose_getrf(h200, element, 5000), 5000, MOST, ANY, random);
    try_panel(element, tb_choose_getrf(h200, element, 4968), 4968, 8, SMALL_WHOLE, random);
}

/* A row of each thread in shared memory, or none: what lies behind the last column of those is nobody's. */
static void a_further_row(tb_element element, check_random *random)
{
    const tb_getrf_shape shape = tb_shape_getrf(TB_GETRF_ALONE, element, ARCHITECTURE, 600, 1);
    if (shape.form != TB_GETRF_NONE)
        try_panel(element, shape, 600, MOST, ANY, random);
}

static void try_element(tb_element element, check_random *random)
{
    static const int64_t rows[] = {1, 2, 20, 32, 33, 256};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        try_form(element, TB_GETRF_ALONE, 1, rows[i], random);
    try_form(element, TB_GETRF_CLUSTER, 2, 3, random); /* some blocks have none of the steps' rows */
    try_form(element, TB_GETRF_CLUSTER, 16, 20, random);
    try_form(element, TB_GETRF_CLUSTER, 16, 1111, random);
    try_form(element, TB_GETRF_GRID, 3, 20, random);
    try_form(element, TB_GETRF_GRID, 5, 700, random);
    of_a_tall_matrix(element, random);
    a_further_row(element, random);
    the_largest(element, TB_GETRF_ALONE, 1, random);
    the_largest(element, TB_GETRF_CLUSTER, 2, random);
    the_largest(element, TB_GETRF_GRID, 2, random);
}

int main(void)
{
    check_random random = {check_seed()};
    for (int element = 0; element < TB_ELEMENTS; element++)
        if (ARCHITECTURE >= 80 || element == TB_FP64)
            try_element((tb_element)element, &random);
    return check_result();
}
