/* The mask of C: each question about it (words/product.h) is answered as counting element by element answers it, and a
 * subproduct has those elements of the mask that lie in it, made of the same numbers, and no others.
 */
#include "tests/check.h"
#include "tests/unit/products.h"
#include "words/members.h"

enum { MOST = 9, PARTS = 20000 };

/* Whether the element is in the mask, from the definition. */
static bool belongs(const tb_product *p, int64_t i, int64_t j)
{
    return p->mask == TB_FULL || (p->mask == TB_LOWER ? i - j >= p->diagonal : i - j <= p->diagonal);
}

static void check_mask(const tb_product *p)
{
    int64_t all = 0;
    for (int64_t j = 0; j < p->n; j++) {
        const tb_range rows = tb_masked_rows(p, j);
        int64_t wrong = 0;
        for (int64_t i = 0; i < p->m; i++) {
            all += belongs(p, i, j);
            wrong += belongs(p, i, j) != (i >= rows.first && i < rows.first + rows.count);
        }
        CHECK(wrong == 0 && rows.first >= 0 && rows.count >= 0 && rows.first + rows.count <= p->m,
              "%d x %d, mask %d, diagonal %d: of column %d rows from %d on, %d of them", (int)p->m, (int)p->n,
              p->mask, (int)p->diagonal, (int)j, (int)rows.first, (int)rows.count);
    }
    const char *form = "%d x %d, mask %d, diagonal %d, of which %d elements belong: %g";
#define CHECK_ANSWER(holds, answer)                                                                          \
    CHECK(holds, form, (int)p->m, (int)p->n, p->mask, (int)p->diagonal, (int)all, (double)(answer))
    CHECK_ANSWER(tb_masked_elements(p) == (double)all, tb_masked_elements(p));
    CHECK_ANSWER(tb_volume(p) == (double)(all * p->k), tb_volume(p));
    if (p->m == 0 || p->n == 0)
        return;
    CHECK_ANSWER(tb_is_masked_out(p) == (all == 0), tb_is_masked_out(p));
    CHECK_ANSWER(tb_is_unmasked(p) == (all == p->m * p->n), tb_is_unmasked(p));
}

static void masks_are_what_counting_says(void)
{
    for (int64_t m = 0; m <= MOST; m++)
        for (int64_t n = 0; n <= MOST; n++)
            for (tb_triangle mask = TB_FULL; mask <= TB_UPPER; mask++)
                for (int64_t diagonal = -MOST - 2; diagonal <= MOST + 2; diagonal++) {
                    tb_product product = product_sized(m, n, 3);
                    product.mask = mask;
                    product.diagonal = mask == TB_FULL ? 0 : diagonal;
                    check_mask(&product);
                }
}

/* Sizes whose products pass 2^53 are counted as well as doubles can, and far diagonals do not wrap. */
static void large_ones_do_not_overflow(void)
{
    tb_product product = product_square(INT64_C(1) << 31);
    product.mask = TB_LOWER;
    CHECK(tb_masked_elements(&product) == 0x1p61 + 0x1p30, "%g elements", tb_masked_elements(&product));
    product.diagonal = -product.n;
    CHECK(tb_is_unmasked(&product) && tb_masked_elements(&product) == 0x1p62, "%g of all",
          tb_masked_elements(&product));
    product.diagonal = product.m;
    CHECK(tb_is_masked_out(&product) && tb_masked_elements(&product) == 0, "%g of none",
          tb_masked_elements(&product));
}

/* ---- Parts ------------------------------------------------------------------------------------------------ */

static tb_range random_range(check_random *random, int64_t extent)
{
    const int64_t first = check_between(random, 0, extent - 1);
    return (tb_range){first, check_between(random, 1, extent - first)};
}

/* Where an element of op(X) lies. */
static const void *element_of(const tb_operand *x, int64_t i, int64_t j)
{
    return x->transposed ? tb_at(&x->matrix, j, i) : tb_at(&x->matrix, i, j);
}

/* The part begins at row, column and step of the whole. */
static bool is_part(const tb_product *part, const tb_product *whole, int64_t row, int64_t column,
                    int64_t step)
{
    for (int64_t j = 0; j < part->n; j++)
        for (int64_t i = 0; i < part->m; i++) {
            if (belongs(part, i, j) != belongs(whole, i + row, j + column) ||
                tb_at(&part->c.matrix, i, j) != tb_at(&whole->c.matrix, i + row, j + column))
                return false;
            for (int64_t l = 0; l < part->k; l++)
                if (element_of(&part->a, i, l) != element_of(&whole->a, i + row, l + step) ||
                    element_of(&part->b, l, j) != element_of(&whole->b, l + step, j + column))
                    return false;
        }
    return true;
}

static tb_product random_masked(check_random *random)
{
    static float a[2 * MOST * MOST], b[2 * MOST * MOST], c[2 * MOST * MOST];
    const int64_t m = check_between(random, 1, MOST), n = check_between(random, 1, MOST),
                  k = check_between(random, 1, MOST);
    const bool transpose = check_between(random, 0, 1);
    if (check_between(random, 0, 1))
        return tb_rank_k(TB_SSYRK, check_between(random, 0, 1) ? TB_LOWER : TB_UPPER, transpose, n, k, 1, a,
                         MOST + 1, 2, c, MOST + 2);
    tb_product product = tb_gemm(TB_SGEMMT, transpose, check_between(random, 0, 1), m, n, k, 1, a, MOST + 1,
                                 b, MOST + 3, 2, c, MOST + 2);
    product.mask = (tb_triangle)check_between(random, TB_FULL, TB_UPPER);
    if (product.mask != TB_FULL)
        product.diagonal = check_between(random, -MOST, MOST);
    return product;
}

static void parts_have_their_share_of_the_mask(void)
{
    check_random random = {.state = check_seed()};
    for (int i = 0; i < PARTS; i++) {
        const tb_product whole = random_masked(&random);
        tb_product part = whole;
        int64_t row = 0, column = 0, step = 0;
        /* A part of a part is a part. */
        for (int depth = 0; depth < 2; depth++) {
            const tb_range rows = random_range(&random, part.m), columns = random_range(&random, part.n),
                           k = random_range(&random, part.k);
            const bool one = tb_has_one_operand(&part),
                       same = rows.first == columns.first && rows.count == columns.count;
            part = tb_subproduct(&part, rows, columns, k);
            row += rows.first;
            column += columns.first;
            step += k.first;
            CHECK(is_part(&part, &whole, row, column, step),
                  "part %d at (%d, %d, %d): %d x %d x %d, mask %d, diagonal %d", i, (int)row, (int)column,
                  (int)step, (int)part.m, (int)part.n, (int)part.k, part.mask, (int)part.diagonal);
            CHECK(part.mask == TB_FULL ? part.diagonal == 0 : !tb_is_unmasked(&part),
                  "part %d: mask %d, diagonal %d of what is all in it", i, part.mask, (int)part.diagonal);
            CHECK(!one || tb_has_one_operand(&part) == same, "part %d: one operand", i);
            CHECK(part.beta.re == (step > 0 ? 1 : 2), "part %d: what later steps add to", i);
        }
    }
}

/* Trimming loses no element of the mask, and no row or column at the edges of what is left has none. */
static void trimming_leaves_the_mask(void)
{
    check_random random = {.state = check_seed()};
    for (int i = 0; i < PARTS; i++) {
        const tb_product whole = random_masked(&random);
        const tb_product part = tb_trimmed(&whole);
        if (tb_is_masked_out(&whole))
            continue;
        CHECK(tb_masked_elements(&part) == tb_masked_elements(&whole), "%g of %g elements",
              tb_masked_elements(&part), tb_masked_elements(&whole));
        const char *c = part.c.data, *from = whole.c.data;
        const int64_t offset = (c - from) / (int64_t)sizeof(float);
        CHECK(is_part(&part, &whole, offset % whole.c.ld, offset / whole.c.ld, 0), "trimmed to another part");
        int64_t first_row = 0, last_row = 0;
        for (int64_t j = 0; j < part.n; j++) {
            first_row += belongs(&part, 0, j);
            last_row += belongs(&part, part.m - 1, j);
        }
        CHECK(first_row > 0 && last_row > 0 && tb_masked_rows(&part, 0).count > 0 &&
                  tb_masked_rows(&part, part.n - 1).count > 0,
              "%d x %d, mask %d, diagonal %d is trimmed to %d x %d, diagonal %d", (int)whole.m, (int)whole.n,
              whole.mask, (int)whole.diagonal, (int)part.m, (int)part.n, (int)part.diagonal);
    }
}

/* The products of a batch of updates, each of a matrix of its own or all of one: of a batch's A and B only the first
 * are looked at. */
static void a_batch_is_not_known_to_have_one_operand(void)
{
    enum { N = 7, K = 5, PRODUCTS = 3 };
    static float a[PRODUCTS * N * K], c[PRODUCTS * N * N];
    tb_product batch = tb_gemm(TB_SGEMM, false, true, N, N, K, 1, a, N, a, N, 0, c, N);
    CHECK(tb_has_one_operand(&batch), "the first product by itself");
    tb_spread(&batch, TB_A, PRODUCTS, N * K, NULL);
    tb_spread(&batch, TB_C, PRODUCTS, N * N, NULL);
    for (int64_t stride = 0; stride <= N * K; stride += N * K) {
        tb_spread(&batch, TB_B, PRODUCTS, stride, NULL);
        CHECK(!tb_has_one_operand(&batch), "B's matrices are %d apart", (int)stride);
    }
    const tb_product first = tb_member_of(&batch, 0);
    CHECK(tb_has_one_operand(&first), "the first product of the batch");
}

/* What a triangle costs: its elements, and of two operands that are one matrix that matrix. */
static void bytes_are_those_of_the_triangle(void)
{
    enum { N = 7, K = 5 };
    static float a[N * K], b[N * K], c[N * N];
    const double triangle = N * (N + 1) / 2;
    for (int transpose = 0; transpose < 2; transpose++) {
        const tb_product update =
            tb_rank_k(TB_SSYRK, TB_UPPER, transpose, N, K, 1, a, transpose ? K : N, 0, c, N);
        CHECK(tb_has_one_operand(&update) && tb_product_bytes(&update) == sizeof(float) * (N * K + triangle),
              "%zu bytes of an update", tb_product_bytes(&update));
        tb_product product =
            tb_gemm(TB_SGEMMT, transpose, false, N, N, K, 1, a, transpose ? K : N, b, K, 0, c, N);
        product.mask = TB_LOWER;
        CHECK(tb_product_bytes(&product) == sizeof(float) * (2 * N * K + triangle), "%zu bytes of a product",
              tb_product_bytes(&product));
        /* A times itself is no update. */
        product.b = product.a;
        CHECK(!tb_has_one_operand(&product), "A A for A A'");
        /* Nor are columns that lie further apart one matrix with those that do not, or rows that begin later. */
        product = update;
        product.b.ld++;
        CHECK(!tb_has_one_operand(&product), "another leading dimension");
        product = update;
        product.b.data = a + 1;
        CHECK(!tb_has_one_operand(&product), "another first element");
    }
    /* Operands that lie nowhere are none. */
    const tb_product nowhere = tb_rank_k(TB_SSYRK, TB_UPPER, false, N, K, 1, NULL, N, 0, NULL, N);
    CHECK(tb_product_bytes(&nowhere) == sizeof(float) * (2 * N * K + triangle),
          "%zu bytes of what lies nowhere", tb_product_bytes(&nowhere));
}

int main(void)
{
    masks_are_what_counting_says();
    large_ones_do_not_overflow();
    parts_have_their_share_of_the_mask();
    trimming_leaves_the_mask();
    a_batch_is_not_known_to_have_one_operand();
    bytes_are_those_of_the_triangle();
    return check_result();
}
