/* LU with partial pivoting for one kind of real element, and of complex numbers of two: REAL is its type, LEAST_NORMAL its smallest number
 * that has a reciprocal, NAME(name) a name of its own. Included by portable_panel.c once for each.
 */
typedef struct NAME(number) {
    REAL re, im; /* of a real number 0 */
} NAME(number);

static NAME(number) NAME(number_at)(const tb_matrix *a, int64_t row, int64_t column)
{
    const REAL *const there = tb_at(a, row, column);
    return (NAME(number)){there[0], tb_is_complex(a->element) ? there[1] : 0};
}

static REAL NAME(size)(NAME(number) a)
{
    return (REAL)(fabs((double)a.re) + fabs((double)a.im));
}

/* Of equals the first. What is no number is never larger, but stays where it is the first. */
static int64_t NAME(find_pivot)(const tb_matrix *a, int64_t column)
{
    int64_t best = column;
    REAL largest = NAME(size)(NAME(number_at)(a, column, column));
    for (int64_t i = column + 1; i < a->rows; i++) {
        const REAL size = NAME(size)(NAME(number_at)(a, i, column));
        if (size > largest) {
            best = i;
            largest = size;
        }
    }
    return best;
}

/* a / b by Smith's way, which squares nothing. */
static NAME(number) NAME(quotient)(NAME(number) a, NAME(number) b)
{
    const bool wide = fabs((double)b.re) >= fabs((double)b.im);
    const REAL larger = wide ? b.re : b.im, smaller = wide ? b.im : b.re, ratio = smaller / larger,
               whole = larger + smaller * ratio;
    const REAL re = wide ? a.re + a.im * ratio : a.im + a.re * ratio,
               im = wide ? a.im - a.re * ratio : a.im * ratio - a.re;
    return (NAME(number)){re / whole, im / whole};
}

/* What is below the pivot; by a reciprocal where there is one. */
static void NAME(divide)(const tb_matrix *a, int64_t column)
{
    const NAME(number) one = {1, 0}, pivot = NAME(number_at)(a, column, column),
                       reciprocal = NAME(quotient)(one, pivot);
    const bool is_tiny = NAME(size)(pivot) < LEAST_NORMAL, is_complex = tb_is_complex(a->element);
    REAL *below = tb_at(a, column, column);
    for (int64_t i = column + 1; i < a->rows; i++) {
        below += is_complex ? 2 : 1;
        if (!is_complex) {
            *below = is_tiny ? *below / pivot.re : *below * reciprocal.re;
            continue;
        }
        const NAME(number) x = {below[0], below[1]};
        const NAME(number) divided = is_tiny ? NAME(quotient)(x, pivot)
                                             : (NAME(number)){x.re * reciprocal.re - x.im * reciprocal.im,
                                                              x.re * reciprocal.im + x.im * reciprocal.re};
        below[0] = divided.re;
        below[1] = divided.im;
    }
}

/* Subtracts from a column what the rows below the pivot take of it. */
static void NAME(eliminate)(const tb_matrix *a, int64_t pivot, int64_t column)
{
    const NAME(number) above = NAME(number_at)(a, pivot, column);
    const REAL *const below = tb_at(a, pivot, pivot);
    REAL *const to = tb_at(a, pivot, column);
    const int64_t rows = a->rows - pivot;
    if (!tb_is_complex(a->element))
        for (int64_t i = 1; i < rows; i++)
            to[i] -= below[i] * above.re;
    else
        for (int64_t i = 1; i < rows; i++) {
            to[2 * i] -= below[2 * i] * above.re - below[2 * i + 1] * above.im;
            to[2 * i + 1] -= below[2 * i] * above.im + below[2 * i + 1] * above.re;
        }
}

static bool NAME(is_zero)(NAME(number) a)
{
    return a.re == 0 && a.im == 0;
}

static int64_t NAME(factor)(const tb_factor *block, int64_t position)
{
    const tb_matrix *a = &block->a;
    int64_t without_pivot = 0;
    for (int64_t j = 0; j < a->columns && j < a->rows; j++) {
        const int64_t row = NAME(find_pivot)(a, j), pivot = row + 1;
        tb_set_pivot(block->pivots, j, position + pivot);
        const tb_row_exchange exchange = {
            .matrix = *a, .first = j, .count = 1, .pivots = {.data = (void *)(uintptr_t)&pivot, .bits = 64}};
        tb_exchange_rows(&exchange);
        if (!NAME(is_zero)(NAME(number_at)(a, j, j)))
            NAME(divide)(a, j);
        else if (without_pivot == 0)
            without_pivot = j + 1;
        for (int64_t k = j + 1; k < a->columns; k++)
            NAME(eliminate)(a, j, k);
    }
    return without_pivot;
}
