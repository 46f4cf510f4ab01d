/* Triangular products and solves on a device, by every row of the catalog that works in C's place, against sums in long double:
 * all sides, triangles, transpositions, diagonals of ones, and alphas, of orders that fill panels and miss them. What must not be
 * read is NaN; around C nothing changes, and of A nothing. A diagonal whose numbers have no inverse is divided by.
 */
#include "tests/gpu/triangular_calls.h"

enum { CASES = 2 };

/* The most multiply-adds of a case that is checked, on the host, in long double: so many take about a twentieth of a second. */
#define VOLUME_MOST (INT64_C(1) << 20)

static const int64_t orders[] = {1,   2,   31,  32,  33,  63,  64,  65,  100,
                                 127, 128, 129, 191, 256, 257, 300, 513, 700},
                     others[] = {1, 2, 7, 8, 9, 31, 33, 64, 100};

static void describe(const tb_product *p, char *text, size_t size)
{
    const bool left = tb_is_triangle_left(p);
    const tb_operand *a = left ? &p->a : &p->b;
    snprintf(text, size, "%lld x %lld, the triangle %s, %s, %c%s%s, alpha %g %+gi", (long long)p->m,
             (long long)p->n, left ? "left" : "right", a->stored == TB_LOWER ? "lower" : "upper",
             a->transposed ? 'T' : 'N', a->conjugated ? " conjugated" : "",
             a->unit_diagonal ? " of ones" : "", p->alpha.re, p->alpha.im);
}

static void check_product(setting *setting, const tb_kernel *row, tb_product *product)
{
    char text[256];
    const size_t shift =
        (size_t)check_between(&setting->random, 0, 3) * tb_bytes_of(tb_real_of(row->element));
    void *before = product->c.data, *after = malloc(bytes_of(&product->c) + 1);
    compute_on_device(setting, row, product, shift, after);
    const missed by = miss(product, before, after);
    product->c.data = after;
    describe(product, text, sizeof text);
    CHECK(by.largest <= (double)product->k + 4, "%s: %s: off by %g u |A||X|", row->name, text, by.largest);
    CHECK(gaps_are_untouched(product), "%s: %s: bytes beside C have changed", row->name, text);
    CHECK(row->in_place == TB_SOLVES || has_right_classes(product, before, after),
          "%s: %s: finite numbers are not, or the other way round", row->name, text);
    product->c.data = before;
    free(after);
}

static void check_case(setting *setting, const tb_kernel *row, int flags, int64_t order, int64_t other)
{
    tb_product product = draw_product(row, flags, order, other, &setting->random);
    check_product(setting, row, &product);
    free_product(&product);
}

static void check_row(setting *setting, const tb_kernel *row)
{
    for (int flags = 0; flags < 32; flags++) {
        if ((flags & 8) && !tb_is_complex(row->element))
            continue;
        for (int i = 0; i < CASES; i++) {
            const int64_t order = CHECK_PICK(&setting->random, orders), most = VOLUME_MOST / (order * order),
                          other = CHECK_PICK(&setting->random, others);
            check_case(setting, row, flags, order, other < most ? other : most);
        }
    }
    check_case(setting, row, (int)check_between(&setting->random, 0, 7), 300, 70); /* long and wide */
}

/* What a product makes of infinities and NaN in C, nothing else of which changes; of a few columns and rows, and of many, of
 * orders whose rows are cut in pieces, too. */
static void infinities_stay_where_they_are(setting *setting, const tb_kernel *row)
{
    static const int64_t sizes[][2] = {{33, 9}, {64, 33}, {100, 100}, {257, 9}, {600, 3}};
    for (int flags = 0; flags < 32 && row->in_place == TB_MULTIPLIES; flags++) {
        if ((flags & 8) && !tb_is_complex(row->element))
            continue;
        for (int i = 0; i < 2; i++) {
            const int64_t *size = CHECK_PICK(&setting->random, sizes);
            tb_product product = draw_product(row, flags, size[0], size[1], &setting->random);
            for (int times = check_between(&setting->random, 0, 1) ? 1 : 20; times > 0; times--)
                spoil(&product, &setting->random);
            check_product(setting, row, &product);
            free_product(&product);
        }
    }
}

/* Numbers on the diagonal so small, or so large, that their inverses are none: C, of as many, is divided all the same. A zero
 * makes infinities; and of what is infinite already no number comes. */
static void extremes_are_divided(setting *setting, const tb_kernel *row)
{
    enum { ORDER = 40, OTHER = 9 };
    const bool is_double = tb_real_of(row->element) == TB_FP64;
    const double extremes[] = {is_double ? 0x1p-1070 : 0x1p-145, is_double ? 0x1p1020 : 0x1p124,
                               is_double ? 0x1p-1021 : 0x1p-125};
    for (int i = 0; i < 3 && row->in_place == TB_SOLVES; i++) {
        tb_product product = draw_product(row, 1 + 2, ORDER, OTHER, &setting->random);
        product.alpha = (tb_scalar){1, 0};
        void *after = malloc(bytes_of(&product.c) + 1);
        for (int64_t column = 0; column < ORDER; column++)
            for (int64_t at = column; at < ORDER; at++)
                set(row->element, product.a.data, at + column * product.a.ld, at == column ? extremes[i] : 0);
        for (int64_t column = 0; column < OTHER; column++)
            for (int64_t at = 0; at < ORDER; at++)
                set(row->element, product.c.data, at + column * product.c.ld,
                    (double)(3 + at % 4) * extremes[i]);
        set(row->element, product.a.data, 0, 0);
        compute_on_device(setting, row, &product, 0, after);
        bool right = true;
        for (int64_t column = 0; column < OTHER; column++) {
            const number first = get(row->element, after, column * product.c.ld);
            right = right && !isfinite((double)creall(first));
        }
        CHECK(right, "%s: 3 by 0 is finite", row->name);
        set(row->element, product.a.data, 0, extremes[i]);
        compute_on_device(setting, row, &product, 0, after);
        double worst = 0;
        for (int64_t column = 0; column < OTHER; column++)
            for (int64_t at = 0; at < ORDER; at++) {
                const number x = get(row->element, after, at + column * product.c.ld);
                const double off = (double)cabsl(x - (double)(3 + at % 4));
                worst = off <= worst ? worst : isnan(off) ? INFINITY : off;
            }
        CHECK(worst <= 16 * tb_element_rows[row->element].roundoff, "%s: multiples of %g by it are off by %g",
              row->name, extremes[i], worst);
        free(after);
        free_product(&product);
    }
}

static void check_all(setting *setting, const tb_kernel *row)
{
    check_row(setting, row);
    infinities_stay_where_they_are(setting, row);
    extremes_are_divided(setting, row);
}

int main(int argc, char **argv)
{
    return visit_rows(argc, argv, check_all);
}
