/* What the host route does itself, for one kind of real element: REAL is its type, ELEMENT what its
 * functions' names end in. Included by run_host.c once for each.
 */
#define JOIN_(x, y) x##_##y
#define JOIN(x, y)  JOIN_(x, y)

/* C := beta * C. Columns are scaled one by one: what lies between them is the caller's. */
static void JOIN(scale, ELEMENT)(const tb_product *product)
{
    const tb_matrix *c = &product->c.matrix;
    const REAL beta = (REAL)product->beta.re;
    for (int64_t j = 0; j < c->columns; j++) {
        const tb_range rows = tb_masked_rows(product, j);
        REAL *column = tb_at(c, rows.first, j);
        for (int64_t i = 0; i < rows.count; i++)
            column[i] = beta == 0 ? 0 : beta * column[i];
    }
}

static void JOIN(multiply, ELEMENT)(const tb_product *product)
{
    const tb_operand *a = &product->a, *b = &product->b;
    const REAL alpha = (REAL)product->alpha.re, beta = (REAL)product->beta.re;
    const int64_t step_a = a->transposed ? 1 : a->ld, step_b = b->transposed ? b->ld : 1;
    for (int64_t j = 0; j < product->n; j++) {
        const tb_range rows = tb_masked_rows(product, j);
        for (int64_t i = rows.first; i < rows.first + rows.count; i++) {
            const REAL *row = a->transposed ? tb_at(&a->matrix, 0, i) : tb_at(&a->matrix, i, 0);
            const REAL *column = b->transposed ? tb_at(&b->matrix, j, 0) : tb_at(&b->matrix, 0, j);
            REAL *c = tb_at(&product->c.matrix, i, j), sum = 0;
            for (int64_t l = 0; l < product->k; l++)
                sum += row[l * step_a] * column[l * step_b];
            *c = alpha * sum + (beta == 0 ? 0 : beta * *c);
        }
    }
}

/* C := product + beta * C, the product lying in a small matrix that is full. */
static void JOIN(merge, ELEMENT)(const tb_product *product, const tb_matrix *computed)
{
    const REAL beta = (REAL)product->beta.re;
    for (int64_t j = 0; j < product->n; j++) {
        const tb_range rows = tb_masked_rows(product, j);
        const REAL *from = tb_at(computed, rows.first, j);
        REAL *to = tb_at(&product->c.matrix, rows.first, j);
        for (int64_t i = 0; i < rows.count; i++)
            to[i] = beta == 0 ? from[i] : from[i] + beta * to[i];
    }
}

#undef JOIN
#undef JOIN_
