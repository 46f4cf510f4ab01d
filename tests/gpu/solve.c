/* Solves by factors on a device, in every kind of memory: solutions of whole numbers to the last bit, and others against the bound of their
 * rounding. There is no LAPACK but ours.
 */
#include "tests/known_solve.h"

#include <math.h>

typedef struct size {
    int64_t n, nrhs;
} size;

typedef struct places {
    tb_memory a, b;
} places;

static const places everywhere[] = {
    {TB_MEMORY_HOST, TB_MEMORY_HOST},       {TB_MEMORY_PINNED, TB_MEMORY_PINNED},
    {TB_MEMORY_MANAGED, TB_MEMORY_MANAGED}, {TB_MEMORY_DEVICE, TB_MEMORY_DEVICE},
    {TB_MEMORY_DEVICE, TB_MEMORY_HOST},     {TB_MEMORY_HOST, TB_MEMORY_DEVICE},
    {TB_MEMORY_DEVICE, TB_MEMORY_MANAGED}};

/* Of each class the routine of single precision, after which come the others. */
static const tb_routine routines[] = {TB_SPOTRS, TB_SPOSV, TB_SGETRS, TB_SGESV, TB_STRTRS};

static tb_spelling fortran_of(tb_routine first, tb_element element)
{
    tb_spelling spelling = tb_first_spelling((tb_routine)((int)first + (int)element));
    while (tb_spelling_rows[spelling].is_cblas)
        spelling++;
    return spelling;
}

static void was_on_device(const trial *t)
{
    char plan[200], text[200];
    tileblas_last_plan(plan, sizeof plan);
    describe(t, text);
    CHECK(strncmp(plan, "streamed", 8) == 0 || strncmp(plan, "resident", 8) == 0, "%s: %s", text, plan);
}

/* ---- Numbers that are not rounded --------------------------------------------------------------------------- */

static const size sizes[] = {{1, 1},   {31, 3},   {33, 40},  {64, 64}, {129, 1},
                             {200, 3}, {257, 70}, {512, 40}, {700, 7}, {64, 2300}};

static void known_solutions(tb_spelling spelling, const size *size, check_random *random)
{
    enum { WAYS = 12, SMALL_MOST = 257, EVERY = 3 };
    const bool is_small = size->n <= SMALL_MOST;
    for (size_t place = 0; place < COUNT(everywhere); place += is_small ? 1 : EVERY) {
        const int way = (int)check_between(random, 0, WAYS - 1);
        trial t = {.spelling = spelling,
                   .of_a = everywhere[place].a,
                   .of_b = everywhere[place].b,
                   .n = size->n,
                   .nrhs = size->nrhs,
                   .lower = way % 2,
                   .unit_diagonal = way / 2 % 2,
                   .operation = "NTC"[way / 4]};
        try(&t);
        was_on_device(&t);
        t.unit_diagonal = false;
        t.singular = check_between(random, 1, t.n);
        if (is_small && (class_of(&t)->makes_factors || class_of(&t)->factors == TB_A_ITSELF))
            try(&t);
    }
}

/* ---- Numbers that are rounded ----------------------------------------------------------------------------- */

typedef long double _Complex precise;

/* A as it was given, and with its factors. */
typedef struct equations {
    void *given, *factors;
    int64_t *pivots;
} equations;

static void draw_array(const trial *t, const array *array, void *data, check_random *random)
{
    const bool is_complex = tb_is_complex(element_of(t));
    for (int64_t place = 0; place < array->count; place++)
        set_number(t, data, place, draw(random, -1000, 1000, is_complex) / 1001);
}

/* One that is not singular; of Cholesky's positive definite. */
static void *draw_a(const trial *t, check_random *random)
{
    const array array = a_of(t);
    void *a = malloc(array.bytes);
    draw_array(t, &array, a, random);
    for (int64_t i = 0; i < t->n && class_of(t)->factors == TB_CHOLESKY; i++)
        set_number(t, a, i * (array.ld + 1),
                   creal(number_at(t, a, i * (array.ld + 1))) + 4 * sqrt((double)t->n));
    return a;
}

/* Element by element as the triangle is read, 0 beside it. */
static number read_triangle(const trial *t, const void *data, triangle by, int64_t i, int64_t k)
{
    const int64_t ld = a_of(t).ld;
    const bool lower = by.lower != by.transposed;
    if (i == k && by.unit_diagonal)
        return 1;
    if (lower ? k > i : k < i)
        return 0;
    const number stored = number_at(t, data, by.transposed ? k + i * ld : i + k * ld);
    return by.conjugated ? conj(stored) : stored;
}

static double size_of(number x)
{
    return fabs(creal(x)) + fabs(cimag(x));
}

/* A column: its numbers, and a bound of their magnitudes. */
typedef struct column {
    precise *x;
    double *magnitudes;
} column;

/* x := op(T) x, and likewise magnitudes by those of T. */
static void multiply_precisely(const trial *t, const void *data, triangle by, column c)
{
    const size_t n = (size_t)t->n;
    precise *const sums = calloc(n, sizeof *sums);
    double *const of_sums = calloc(n, sizeof *of_sums);
    for (int64_t k = 0; k < t->n; k++)
        for (int64_t i = 0; i < t->n; i++) {
            const number a = read_triangle(t, data, by, i, k);
            sums[i] += (precise)a * c.x[k];
            of_sums[i] += size_of(a) * c.magnitudes[k];
        }
    memcpy(c.x, sums, n * sizeof *sums);
    memcpy(c.magnitudes, of_sums, n * sizeof *of_sums);
    free(of_sums);
    free(sums);
}

static void exchange_precisely(const trial *t, const int64_t *pivots, bool backwards, column c)
{
    const tb_pivots all = {(void *)(uintptr_t)pivots, bits_of(t)};
    for (int64_t step = 0; step < t->n; step++) {
        const int64_t i = backwards ? t->n - 1 - step : step, other = tb_pivot_at(all, i) - 1;
        const precise kept = c.x[i];
        const double kept_magnitude = c.magnitudes[i];
        c.x[i] = c.x[other];
        c.x[other] = kept;
        c.magnitudes[i] = c.magnitudes[other];
        c.magnitudes[other] = kept_magnitude;
    }
}

/* The column times op(A), by its factors. */
static void multiply_by_factors(const trial *t, const equations *of, column c)
{
    const bool conjugated = t->operation == 'C', transposed = t->operation != 'N', lower = t->lower;
    const triangle l = {NULL, true, transposed, conjugated, true},
                   u = {NULL, false, transposed, conjugated, false},
                   plain = {NULL, lower, false, false, false}, adjoint = {NULL, lower, true, true, false},
                   itself = {NULL, lower, transposed, conjugated, t->unit_diagonal};
    switch (class_of(t)->factors) {
    case TB_LU:
        if (transposed)
            exchange_precisely(t, of->pivots, false, c);
        multiply_precisely(t, of->factors, transposed ? l : u, c);
        multiply_precisely(t, of->factors, transposed ? u : l, c);
        if (!transposed)
            exchange_precisely(t, of->pivots, true, c);
        break;
    case TB_CHOLESKY:
        multiply_precisely(t, of->factors, lower ? adjoint : plain, c);
        multiply_precisely(t, of->factors, lower ? plain : adjoint, c);
        break;
    default:
        multiply_precisely(t, of->factors, itself, c);
    }
}

/* The column times A as it was given. */
static void multiply_by_given(const trial *t, const equations *of, precise *x)
{
    const int64_t n = t->n, ld = a_of(t).ld;
    precise *const sums = calloc((size_t)n, sizeof *sums);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++) {
            const bool mirrored = has_letter(t, 'U') && (t->lower ? i < k : i > k);
            const number stored = number_at(t, of->given, mirrored ? k + i * ld : i + k * ld),
                         a = has_letter(t, 'U') && i == k ? creal(stored) : stored;
            sums[i] += (precise)(mirrored ? conj(a) : a) * x[k];
        }
    memcpy(x, sums, (size_t)n * sizeof *sums);
    free(sums);
}

/* Of B - op(A) X, the most of a column, each number against 3 sqrt(n) u times what is in its place of |factor| |factor| |X|: Higham, Accuracy
 * and Stability of Numerical Algorithms, theorems 8.5, 9.4 and 10.4, with the root of n as in Higham and Mary, A New Approach to Probabilistic
 * Rounding Error Analysis; of complex numbers twice that. */
static double residual_of(const trial *t, const equations *of, const void *b, const void *x, int64_t j)
{
    const int64_t n = t->n, ld = b_of(t).ld;
    const tb_element element = element_of(t);
    const double roundings =
        (tb_is_complex(element) ? 2 : 1) * 3 * sqrt((double)(n + 1)) * tb_element_rows[element].roundoff;
    const column c = {calloc((size_t)n, sizeof *c.x), calloc((size_t)n, sizeof *c.magnitudes)};
    precise *const given = calloc((size_t)n, sizeof *given);
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        c.x[i] = given[i] = number_at(t, x, i + j * ld);
        c.magnitudes[i] = size_of(number_at(t, x, i + j * ld));
    }
    multiply_by_factors(t, of, c);
    multiply_by_given(t, of, given);
    for (int64_t i = 0; i < n; i++) {
        const precise product = class_of(t)->makes_factors ? given[i] : c.x[i];
        const double off =
            (double)(cabsl(number_at(t, b, i + j * ld) - product) / c.magnitudes[i] / roundings);
        most = off <= most ? most : off; /* NaN is the most there is */
    }
    free(given);
    free(c.magnitudes);
    free(c.x);
    return most;
}

static void check_column(const trial *t, const equations *of, const void *b, const void *x, int64_t column)
{
    char text[200];
    describe(t, text);
    const double residual = residual_of(t, of, b, x, column);
    CHECK(residual <= 1, "%s, column %d: off by %g of the bound", text, (int)column, residual);
}

/* With A as given, or with factors. Where they are made the system has them then. */
static void solve(const trial *t, equations *of, check_random *random)
{
    const array a_array = a_of(t), b_array = b_of(t);
    void *b = malloc(b_array.bytes), *x = malloc(b_array.bytes),
         *a = class_of(t)->makes_factors ? of->given : of->factors;
    draw_array(t, &b_array, b, random);
    memcpy(x, b, b_array.bytes);
    void *a_there = arena_allocate(t->of_a, a_array.bytes), *b_there = arena_allocate(t->of_b, b_array.bytes);
    arena_copy(a_there, a, a_array.bytes);
    arena_copy(b_there, b, b_array.bytes);
    const call c = call_of(t, a_there, of->pivots, b_there);
    const int64_t info = make_call(&c);
    was_on_device(t);
    arena_copy(x, b_there, b_array.bytes);
    arena_copy(of->factors, a_there, a_array.bytes);
    arena_release(t->of_b, b_there);
    arena_release(t->of_a, a_there);
    CHECK(info == 0, "info is %d", (int)info);
    check_column(t, of, b, x, check_between(random, 0, t->nrhs - 1));
    free(x);
    free(b);
}

/* By factors that another routine has made; and by each of them alone, as a triangle. */
static void solve_again(trial t, equations *of, check_random *random)
{
    const tb_element element = element_of(&t);
    const bool is_lu = has_pivots(&t);
    for (int way = 0; way < 3; way++) {
        t.operation = "NTC"[way];
        t.spelling = fortran_of(is_lu ? TB_SGETRS : TB_SPOTRS, element);
        if (is_lu || way == 0)
            solve(&t, of, random);
        t.spelling = fortran_of(TB_STRTRS, element);
        t.unit_diagonal = is_lu && t.lower;
        solve(&t, of, random);
        t.lower = is_lu ? !t.lower : t.lower;
    }
}

static void rounded_solutions(tb_element element)
{
    static const size large[] = {{300, 300}, {1000, 7}, {777, 2000}, {2000, 100}};
    check_random random = {seed};
    for (size_t i = 0; i < COUNT(large); i++)
        for (int way = 0; way < 2; way++) {
            const places *places = &everywhere[check_between(&random, 0, COUNT(everywhere) - 1)];
            const trial t = {.spelling = fortran_of(way == 0 ? TB_SGESV : TB_SPOSV, element),
                             .of_a = places->a,
                             .of_b = places->b,
                             .n = large[i].n,
                             .nrhs = large[i].nrhs,
                             .lower = check_between(&random, 0, 1),
                             .operation = 'N'};
            equations of = {draw_a(&t, &random), malloc(a_of(&t).bytes),
                            calloc((size_t)t.n, sizeof(int64_t))};
            solve(&t, &of, &random);
            solve_again(t, &of, &random);
            free(of.pivots);
            free(of.factors);
            free(of.given);
        }
}

int main(void)
{
    if (!arena_has_device())
        SKIP("no device");
    seed = check_seed();
    force_device();
    check_random random = {seed};
    for (tb_element element = 0; element < TB_ELEMENTS; element++) {
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t class = 0; class < COUNT(routines); class ++)
                known_solutions(fortran_of(routines[class], element), &sizes[i], &random);
        rounded_solutions(element);
    }
    return check_result();
}
