/* The largest and the rms residual of triangular products and solves, by every row of the catalog that works in C's place, beside
 * cuBLAS's: in units of u |op(A)| |X|, the rms at most as large, and the largest at most 1.25 times.
 */
#include "tests/gpu/draws.h"
#include "tests/gpu/triangular_calls.h"

/* Columns of the triangle, or rows, of magnitudes from 2^-10 to 2^10, or all of one. */
static void grade(tb_product *product, int family, check_random *random)
{
    tb_operand *a = triangle_in(product);
    for (int64_t line = 0; line < a->columns && family > 0; line++) {
        const double by = exp2((double)check_between(random, -10, 10));
        for (int64_t i = 0; i < a->rows; i++) {
            const int64_t at = family == 1 ? i + line * a->ld : line + i * a->ld;
            set(a->element, a->data, at, by * get(a->element, a->data, at));
        }
    }
}

enum { PRODUCTS_MOST = 8, LARGEST = 0, RMS, FIGURES };

/* What residuals are drawn of: products of a size and a family, whose triangles have these shapes. The diagonal's term is each
 * sum's largest: where it comes first along k all that follow are added to a large sum, and residuals are several times those of
 * sums in which it comes last. So either is judged by itself, and shapes are kept where numbers are drawn again. */
typedef struct residuals {
    setting *setting;
    const tb_kernel *row;
    int64_t size;
    int family;
    bool diagonal_last;
    int products, shapes[PRODUCTS_MOST];
    missed ours, cublas; /* of the draw before */
} residuals;

/* Flags (draw_product) of side, triangle and transposition. Row i of op(A) on the left ends with the diagonal where op(A) is a
 * lower triangle, a column of it on the right where it is an upper one. */
static int draw_shape(bool diagonal_last, check_random *random)
{
    const bool left = check_between(random, 0, 1), transposed = check_between(random, 0, 1);
    const bool lower = transposed != (left == diagonal_last);
    return left + 2 * lower + 4 * transposed;
}

/* Adds the residuals of both sides, of one product with a triangle of some shape. */
static void add_residuals(residuals *r, int shape, check_random *random)
{
    tb_product product = draw_product(r->row, shape, r->size, r->size < 512 ? 32 : 8, random);
    product.alpha = (tb_scalar){1, 0};
    grade(&product, r->family, random);
    void *before = product.c.data, *after = malloc(bytes_of(&product.c) + 1);
    for (int by_cublas = 0; by_cublas < 2; by_cublas++) {
        compute_on_device(r->setting, by_cublas ? NULL : r->row, &product, 0, after);
        const missed one = miss(&product, before, after);
        missed *all = by_cublas ? &r->cublas : &r->ours;
        all->largest = fmax(all->largest, one.largest);
        all->rms = hypot(all->rms, one.rms / sqrt(r->products));
    }
    free(after);
    free_product(&product);
}

static void draw_residuals(void *what, uint64_t seed, double *excesses)
{
    residuals *r = what;
    check_random random = {.state = seed};
    r->ours = r->cublas = (missed){0, 0};
    for (int i = 0; i < r->products; i++)
        add_residuals(r, r->shapes[i], &random);
    excesses[LARGEST] = draws_excess(r->ours.largest, 1.25 * r->cublas.largest);
    excesses[RMS] = draws_excess(r->ours.rms, r->cublas.rms);
}

static void judge_residuals(residuals *r, const char *family)
{
    static const char *const names[FIGURES] = {"largest", "rms"};
    const uint64_t seed = check_next(&r->setting->random);
    double excesses[FIGURES];
    draw_residuals(r, seed, excesses);
    char name[96];
    snprintf(name, sizeof name, "%-20s %5lld, %-16s, diagonal %s", r->row->name, (long long)r->size, family,
             r->diagonal_last ? "last " : "first");
    printf("%s  largest %6.2f, cuBLAS %6.2f   rms %6.3f, cuBLAS %6.3f\n", name, r->ours.largest,
           r->cublas.largest, r->ours.rms, r->cublas.rms);
    draws figures[FIGURES];
    draws_settle(figures, FIGURES, excesses, draw_residuals, r, seed);
    for (int i = 0; i < FIGURES; i++) {
        char text[DRAWS_TEXT];
        draws_describe(&figures[i], text);
        CHECK(draws_hold(&figures[i]), "%s: %s residual beside cuBLAS's: %s", name, names[i], text);
        if (figures[i].count > 1)
            printf("%s  %s: %s\n", name, names[i], text);
    }
}

/* A largest residual of a few thousand numbers is a matter of luck: small sizes are made of more products, and what is over its
 * limit is drawn again (draws.h). */
static void compare_residuals(setting *setting, const tb_kernel *row)
{
    static const char *const families[] = {"of one magnitude", "graded columns", "graded rows"};
    static const struct {
        int64_t size;
        int products;
    } sizes[] = {{64, 8}, {200, 4}, {512, 1}, {1024, 1}};
    const int size_count = (int)(sizeof sizes / sizeof *sizes);
    for (int i = 0; i < 3 * size_count * 2; i++) {
        residuals r = {.setting = setting,
                       .row = row,
                       .size = sizes[i / 2 % size_count].size,
                       .family = i / (2 * size_count),
                       .diagonal_last = i % 2 == 1,
                       .products = sizes[i / 2 % size_count].products};
        for (int product = 0; product < r.products; product++)
            r.shapes[product] = draw_shape(r.diagonal_last, &setting->random);
        judge_residuals(&r, families[r.family]);
    }
}

int main(int argc, char **argv)
{
    return visit_rows(argc, argv, compare_residuals);
}
