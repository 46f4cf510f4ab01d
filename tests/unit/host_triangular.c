/* Triangular products and solves on the host, all of C and parts of it, which what a failed device leaves is made of: by a BLAS
 * that this machine has, and by the portable loops where the process has none but ours. What must not be read of a triangle is
 * NaN.
 */
#include "compat/host_blas.h"
#include "lib/call/line.h"
#include "tests/in_place.h"

enum { PRODUCTS = 4000, LONGEST = 40, GAP = 3 };

static const tb_host nobody;

/* A BLAS, and how many products it has been asked for that it has computed. */
typedef struct counting_host {
    tb_host base;
    const tb_host_blas *blas;
    int computed;
} counting_host;

static bool multiply_and_count(const tb_host *host, tb_task task)
{
    counting_host *counting = (counting_host *)host;
    const bool computes = counting->blas->base.call(&counting->blas->base, task);
    counting->computed += computes;
    return computes;
}

/* Found for a caller of the product's routine in either convention. */
static counting_host find_blas(tb_routine routine, bool fortran)
{
    tb_spelling spelling = 0;
    while (tb_spelling_rows[spelling].routine != routine || tb_spelling_rows[spelling].is_cblas == fortran)
        spelling++;
    return (counting_host){{.call = multiply_and_count}, tb_find_host_blas(spelling, find_blas), 0};
}

static bool drawn(check_random *random)
{
    return check_between(random, 0, 1);
}

/* A product whose matrices the caller frees: A, and C as it is before. */
static tb_product draw_product(check_random *random)
{
    const tb_element element = (tb_element)check_between(random, 0, TB_ELEMENTS - 1);
    const bool left = drawn(random), lower = drawn(random), unit = drawn(random);
    const int64_t m = check_between(random, 1, LONGEST), n = check_between(random, 1, LONGEST),
                  order = left ? m : n, lda = order + check_between(random, 0, GAP),
                  ldc = m + check_between(random, 0, GAP);
    const number alpha = draw(element, random);
    const bool solves = drawn(random);
    tb_product product = tb_triangular(solves ? TB_SOLVES : TB_MULTIPLIES, element, left,
                                       lower ? TB_LOWER : TB_UPPER, drawn(random), drawn(random), unit, m, n,
                                       (tb_scalar){(double)creall(alpha), (double)cimagl(alpha)},
                                       draw_triangle(element, order, lda, lower, unit, random), lda,
                                       draw_c(element, m, n, ldc, random), ldc);
    product.routine = (solves ? TB_STRSM : TB_STRMM) + (tb_routine)element;
    return product;
}

static void *triangle_of(const tb_product *p)
{
    return tb_is_triangle_left(p) ? p->a.data : p->b.data;
}

/* Computes it at once, or two parts of it, whichever first. */
static void compute(const tb_product *p, check_random *random, const tb_host *host)
{
    const bool left = tb_is_triangle_left(p);
    const int64_t lines = left ? p->n : p->m, cut = check_between(random, 0, lines);
    const bool backwards = drawn(random);
    for (int i = 0; i < 2; i++) {
        const tb_range range = (i == 0) == backwards ? (tb_range){cut, lines - cut} : (tb_range){0, cut};
        const tb_product part = left ? tb_columns_of(p, range) : tb_rows_of(p, range);
        tb_compute_on_host(&part, host);
    }
}

/* The errors of k terms that are rounded each, of complex ones in four parts; of a solve those of its factors too. */
static double allowed(const tb_product *p)
{
    return (double)(p->k + 3) * (tb_is_complex(tb_element_of(p)) ? 4 : 1);
}

/* Whether some BLAS has it: none reads a matrix conjugated and not transposed. */
static bool is_of_blas(const tb_product *p)
{
    const tb_operand *a = tb_triangle_of(p);
    return a->transposed || !a->conjugated;
}

static void check_product(check_random *random, bool by_blas)
{
    const tb_product p = draw_product(random);
    const size_t bytes = tb_pitch(&p.c.matrix) * (size_t)p.n;
    void *before = malloc(bytes);
    counting_host host = find_blas(p.routine, drawn(random));
    const bool has_blas = by_blas && host.blas->address;
    memcpy(before, p.c.data, bytes);
    compute(&p, random, has_blas ? &host.base : &nobody);
    const missed missed = miss(&p, before, p.c.data);
    const tb_operand *a = tb_triangle_of(&p);
    CHECK(missed.largest <= allowed(&p) && gaps_are_untouched(&p),
          "%s by %s, %s, %s%s%s%s, %lld x %lld: missed by %g", tb_routine_rows[p.routine].name,
          has_blas ? tb_spelling_rows[host.blas->spelling].symbol : "loops",
          tb_is_triangle_left(&p) ? "left" : "right", a->stored == TB_LOWER ? "lower" : "upper",
          a->transposed ? ", transposed" : "", a->conjugated ? ", conjugated" : "",
          a->unit_diagonal ? ", of ones" : "", (long long)p.m, (long long)p.n, missed.largest);
    CHECK(!has_blas || (host.computed > 0) == is_of_blas(&p), "%s: the BLAS computed %d parts",
          tb_routine_rows[p.routine].name, host.computed);
    free(before);
    free(triangle_of(&p));
    free(p.c.data);
}

static void the_host_computes_what_was_asked_for(check_random *random)
{
    for (int i = 0; i < PRODUCTS; i++)
        check_product(random, i % 2);
    if (!find_blas(TB_STRMM, false).blas->address)
        printf("not checked: no BLAS of this machine was found\n");
}

/* And reads nothing: A is nowhere, and what C holds is no number. */
static void an_alpha_of_zero_stores_zeros(check_random *random)
{
    for (int i = 0; i < PRODUCTS / 10; i++) {
        tb_product p = draw_product(random);
        const tb_element element = tb_element_of(&p);
        free(triangle_of(&p));
        p.operands[tb_is_triangle_left(&p) ? TB_A : TB_B].data = NULL;
        p.alpha = (tb_scalar){0, 0};
        for (int64_t j = 0; j < p.n; j++)
            memset(tb_at(&p.c.matrix, 0, j), 0xff, tb_column_bytes(&p.c.matrix));
        tb_perform(tb_task_of_product(&p), &nobody);
        int64_t others = 0;
        for (int64_t j = 0; j < p.n; j++)
            for (int64_t row = 0; row < p.m; row++)
                others += get(element, p.c.data, row + j * p.c.ld) != 0;
        CHECK(others == 0 && gaps_are_untouched(&p), "element %d, %lld x %lld: %lld are not zero", element,
              (long long)p.m, (long long)p.n, (long long)others);
        free(p.c.data);
    }
}

/* Quotients of numbers whose squares are out of range. */
static void divisors_may_be_large_or_small(void)
{
    static const double sizes[] = {0x1p-1000, 0x1p-540, 1, 0x1p540, 0x1p1000};
    for (int i = 0; i < 5; i++) {
        double complex a = CMPLX(3 * sizes[i], -4 * sizes[i]), c = CMPLX(10 * sizes[i], 5 * sizes[i]);
        const tb_product p = tb_triangular(TB_SOLVES, TB_COMPLEX_FP64, true, TB_LOWER, false, false, false, 1,
                                           1, (tb_scalar){1, 0}, &a, 1, &c, 1);
        tb_compute_on_host(&p, &nobody);
        CHECK(cabs(c - CMPLX(0.4, 2.2)) < 1e-15, "of %g: %g + %g i", sizes[i], creal(c), cimag(c));
    }
}

/* HERK's beta is a real number: parts of C that are infinite or NaN make no other part NaN. */
static void a_real_beta_keeps_parts_apart(void)
{
    const double a[] = {1, 0, 2, 0};
    double c[] = {3, NAN, INFINITY, 5, 7, 7, 4, NAN};
    const tb_product product = tb_rank_k(TB_ZHERK, TB_LOWER, false, 2, 1, 1, a, 2, 2, c, 2);
    tb_perform(tb_task_of_product(&product), &nobody);
    const double expected[] = {7, 0, INFINITY, 10, 7, 7, 12, 0};
    for (int i = 0; i < 8; i++)
        CHECK(c[i] == expected[i], "number %d of C is %g, not %g", i, c[i], expected[i]);
}

int main(void)
{
    check_random random = {check_seed()};
    the_host_computes_what_was_asked_for(&random);
    an_alpha_of_zero_stores_zeros(&random);
    divisors_may_be_large_or_small();
    a_real_beta_keeps_parts_apart();
    return check_result();
}
