/* The look at operands on which forecasts for integers depend: what it concludes from which numbers, and that it reads
 * none that the product does not. All that is not to be read is NaN, of which no sample is taken for good, or cannot be
 * read at all.
 */
#include "lib/call/sample.h"
#include "tests/check.h"
#include "tests/unit/products.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PRODUCTS = 400, MOST = 120, GAP_MOST = 5, SQUARE = 300 };

static const tb_place in_host[TB_ROLES];

static double uniform(check_random *random)
{
    return ldexp((double)(check_next(random) >> 11), -53);
}

static double normal(check_random *random)
{
    return sqrt(-2 * log(1 - uniform(random))) * cos(2 * acos(-1) * uniform(random));
}

/* ---- Memory between pages that nobody may touch ------------------------------------------------------------- */

typedef struct block {
    char *mapped;
    size_t bytes;
    double *numbers;
} block;

/* at_end: the numbers end where the last such page begins; else they begin where the first one ends. */
static block make_block(int64_t numbers, bool at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), wanted = (size_t)numbers * sizeof(double),
                 inside = (wanted + page - 1) / page * page;
    block block = {.bytes = inside + 2 * page};
    block.mapped = mmap(NULL, block.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block.mapped == MAP_FAILED || mprotect(block.mapped + page, inside, PROT_READ | PROT_WRITE) != 0)
        SKIP("no memory");
    block.numbers = (double *)(void *)(block.mapped + page + (at_end ? inside - wanted : 0));
    for (int64_t i = 0; i < numbers; i++)
        block.numbers[i] = NAN;
    return block;
}

static void free_block(const block *block)
{
    munmap(block->mapped, block->bytes);
}

/* Numbers where the operand has some that a product reads. */
static void fill(const tb_operand *x, check_random *random)
{
    const int parts = tb_is_complex(x->element) ? 2 : 1;
    for (int64_t j = 0; j < x->columns; j++)
        for (int64_t i = 0; i < x->rows; i++) {
            const bool stored = x->structure == TB_GENERAL || (x->stored == TB_LOWER ? i >= j : i <= j),
                       is_real = x->structure == TB_HERMITIAN && i == j;
            double *number = tb_at(&x->matrix, i, j);
            for (int part = 0; part < (is_real ? 1 : parts) && stored; part++)
                number[part] = 1 + uniform(random);
        }
}

static block place(tb_operand *x, bool at_end, int64_t gap, check_random *random)
{
    const int64_t parts = tb_is_complex(x->element) ? 2 : 1;
    x->ld = x->rows + gap;
    const block block = make_block(parts * ((x->columns - 1) * x->ld + x->rows), at_end);
    x->data = block.numbers;
    fill(x, random);
    return block;
}

/* ---- What is read --------------------------------------------------------------------------------------------- */

static tb_product draw_product(tb_routine routine, check_random *random)
{
    const int64_t m = check_between(random, 40, MOST), n = check_between(random, 40, MOST),
                  k = check_between(random, 1, MOST);
    const bool turned = check_between(random, 0, 1), left = check_between(random, 0, 1);
    const tb_triangle triangle = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
    return tb_product_of(&(tb_arguments){.routine = routine,
                                         .right = !left,
                                         .triangle = triangle,
                                         .operation_a.transposed = turned,
                                         .operation_b.transposed = check_between(random, 0, 1),
                                         .m = m,
                                         .n = n,
                                         .k = k,
                                         .alpha = {1, 0},
                                         .lda = 1,
                                         .ldb = 1,
                                         .ldc = tb_class_of(routine)->updates ? n : m});
}

static bool has_one_operand(tb_routine routine)
{
    return tb_class_of(routine)->has_one_operand;
}

static void nothing_else_is_read(tb_routine routine, check_random *random)
{
    tb_product product = draw_product(routine, random);
    const bool at_end = check_between(random, 0, 1);
    block blocks[TB_ROLES];
    int count = 0;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_operand *operand = &product.operands[role];
        if (role == TB_B && has_one_operand(routine))
            continue;
        blocks[count++] = place(operand, at_end, check_between(random, 0, GAP_MOST), random);
        if (role == TB_C)
            for (int64_t j = 0; j < operand->columns; j++)
                memset(tb_at(&operand->matrix, 0, j), -1, tb_column_bytes(&operand->matrix)); /* NaN */
    }
    if (has_one_operand(routine)) {
        product.b.data = product.a.data;
        product.b.ld = product.a.ld;
    }
    CHECK(tb_has_like_magnitudes(&product, in_host),
          "%s of %lld x %lld x %lld: numbers from 1 to 2, or others are read", tb_routine_rows[routine].name,
          (long long)product.m, (long long)product.n, (long long)product.k);
    for (int i = 0; i < count; i++)
        free_block(&blocks[i]);
}

/* Where a product reads none of their numbers they may lie nowhere; and memory that the host does not reach, or slowly. */
static void operands_may_be_out_of_reach(void)
{
    const tb_place places[] = {{.memory = TB_MEMORY_DEVICE},
                               {.memory = TB_MEMORY_MANAGED},
                               {.memory = TB_MEMORY_PINNED, .write_combined = true}};
    tb_product product = product_of_routine(TB_DGEMM, SQUARE, SQUARE, SQUARE);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (tb_role role = TB_A; role <= TB_B; role++) {
            tb_place others[TB_ROLES] = {0};
            others[role] = places[i];
            CHECK(!tb_has_like_magnitudes(&product, others), "%d: what has been read?", (int)i);
        }
    product.alpha = (tb_scalar){0, 0};
    CHECK(!tb_has_like_magnitudes(&product, in_host), "alpha is 0");
    product.alpha = (tb_scalar){1, 0};
    product.k = 0;
    CHECK(!tb_has_like_magnitudes(&product, in_host), "k is 0");
    const tb_product floats = product_of_routine(TB_SGEMM, SQUARE, SQUARE, SQUARE);
    CHECK(!tb_has_like_magnitudes(&floats, in_host), "floats are not multiplied so");
    const tb_product in_place = product_of_routine(TB_DTRMM, SQUARE, SQUARE, SQUARE);
    CHECK(!tb_has_like_magnitudes(&in_place, in_host), "nor are triangles");
}

/* ---- What is concluded ----------------------------------------------------------------------------------------- */

static double bytes(check_random *random)
{
    return (double)check_between(random, 0, 255);
}
static double floats(check_random *random)
{
    return (double)(float)normal(random);
}
static double spread_half(check_random *random)
{
    return (uniform(random) - 0.5) * exp(0.5 * normal(random));
}
static double spread_2(check_random *random)
{
    return (uniform(random) - 0.5) * exp(2 * normal(random));
}
static double spread_8(check_random *random)
{
    return (uniform(random) - 0.5) * exp(8 * normal(random));
}
static double some_zeros(check_random *random)
{
    return check_between(random, 0, 9) < 1 ? 0 : normal(random);
}
static double mostly_zeros(check_random *random)
{
    return check_between(random, 0, 9) > 0 ? 0 : normal(random);
}
static double indicators(check_random *random)
{
    return check_between(random, 0, 9) == 0;
}
static double nothing(check_random *random)
{
    (void)random;
    return 0;
}
static double some_infinities(check_random *random)
{
    return check_between(random, 0, 9) == 0 ? INFINITY : normal(random);
}
static double some_nans(check_random *random)
{
    return check_between(random, 0, 9) == 0 ? NAN : normal(random);
}
static double huge(check_random *random)
{
    return 0x1p500 * normal(random);
}
static double subnormal(check_random *random)
{
    return 0x1p-1040 * normal(random);
}
static double large(check_random *random)
{
    return 0x1p400 * normal(random);
}

static const struct {
    const char *name;
    double (*draw)(check_random *random);
    bool alike;
} families[] = {
    {"normal", normal, true},
    {"uniform", uniform, true},
    {"bytes", bytes, true},
    {"floats", floats, true},
    {"(u - 1/2) exp(N / 2)", spread_half, true},
    {"2^400 times normal", large, true},
    {"one zero in ten", some_zeros, true},
    {"ones, a tenth of all", indicators, true},
    {"(u - 1/2) exp(2 N)", spread_2, false},
    {"(u - 1/2) exp(8 N)", spread_8, false},
    {"nine zeros in ten", mostly_zeros, false},
    {"zeros", nothing, false},
    {"infinities among them", some_infinities, false},
    {"NaN among them", some_nans, false},
    {"2^500 times normal", huge, false},
    {"subnormal", subnormal, false},
};

static double a[SQUARE * SQUARE], b[SQUARE * SQUARE];

static void draw_all(double *numbers, double (*draw)(check_random *random), check_random *random)
{
    for (int i = 0; i < SQUARE * SQUARE; i++)
        numbers[i] = draw(random);
}

static bool are_alike(bool transpose_a, bool transpose_b)
{
    const tb_product product = tb_gemm(TB_DGEMM, transpose_a, transpose_b, SQUARE, SQUARE, SQUARE, 1, a,
                                       SQUARE, b, SQUARE, 0, NULL, SQUARE);
    return tb_has_like_magnitudes(&product, in_host);
}

/* op(A) of both terms of an update has A's and B's numbers, one behind the other. */
static void terms_are_looked_at_together(check_random *random)
{
    draw_all(a, normal, random);
    for (int times = 0; times <= 60; times += 60) {
        for (int i = 0; i < SQUARE * SQUARE; i++)
            b[i] = ldexp(normal(random), times);
        const tb_product product =
            tb_rank_2k(TB_DSYR2K, TB_LOWER, false, SQUARE, SQUARE, 1, a, SQUARE, b, SQUARE, 0, NULL, SQUARE);
        CHECK(tb_has_like_magnitudes(&product, in_host) == (times == 0), "B is 2^%d times as large", times);
    }
}

/* A sample may miss what there is, seldom: most of three matrices say what is true of all. */
static bool are_mostly_alike(double (*draw_a)(check_random *random), double (*draw_b)(check_random *random),
                             bool transpose_a, check_random *random)
{
    int alike = 0;
    for (int i = 0; i < 3; i++) {
        draw_all(a, draw_a, random);
        draw_all(b, draw_b, random);
        alike += are_alike(transpose_a, false);
    }
    return alike >= 2;
}

static void families_are_told_apart(check_random *random)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        CHECK(are_mostly_alike(families[i].draw, families[i].draw, false, random) == families[i].alike, "%s",
              families[i].name);
        if (families[i].draw != mostly_zeros && families[i].draw != indicators)
            CHECK(are_mostly_alike(normal, families[i].draw, true, random) == families[i].alike,
                  "normal times %s", families[i].name);
    }
}

/* Rows have quanta of their own, steps of k have not. */
static void rows_may_differ_and_steps_may_not(check_random *random)
{
    draw_all(a, normal, random);
    draw_all(b, normal, random);
    for (int j = 0; j < SQUARE; j++)
        for (int i = 0; i < SQUARE; i++)
            a[i + j * SQUARE] *= ldexp(1, i % 61 - 30);
    CHECK(are_alike(false, false), "rows of A in different units");
    CHECK(!are_alike(true, false), "steps of k in different units");
}

/* A block of zeros beside what is not known. */
static void a_diagonal_matrix_is_not_taken_for_zeros(check_random *random)
{
    draw_all(a, nothing, random);
    draw_all(b, normal, random);
    for (int i = 0; i < SQUARE; i++)
        a[i + i * SQUARE] = normal(random);
    CHECK(!are_alike(false, false), "a diagonal matrix");
}

int main(int argc, char **argv)
{
    const int products = argc > 1 && strcmp(argv[1], "few") == 0 ? PRODUCTS / 4 : PRODUCTS;
    check_random random = {check_seed()};
    for (int i = 0; i < products; i++)
        for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++)
            if (tb_real_of(tb_routine_rows[routine].element) == TB_FP64 &&
                tb_class_of(routine)->in_place == TB_OUT_OF_PLACE)
                nothing_else_is_read(routine, &random);
    operands_may_be_out_of_reach();
    terms_are_looked_at_together(&random);
    families_are_told_apart(&random);
    rows_may_differ_and_steps_may_not(&random);
    a_diagonal_matrix_is_not_taken_for_zeros(&random);
    return check_result();
}
