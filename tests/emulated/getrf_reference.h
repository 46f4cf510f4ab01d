/* LU with partial pivoting as the reference's GETF2 does it, row exchanges and all, of numbers of so many parts. Its roundings are
 * those of kernels/panels, so that results are compared bit by bit. Included once for each REAL, with NAME(name), FMA and FABS.
 */

typedef struct NAME(number) {
    REAL re, im; /* of a real number 0 */
} NAME(number);

static NAME(number) NAME(get)(const REAL *from, int parts)
{
    return (NAME(number)){from[0], parts == 2 ? from[1] : 0};
}

static void NAME(put)(REAL *to, int parts, NAME(number) a)
{
    to[0] = a.re;
    if (parts == 2)
        to[1] = a.im;
}

static NAME(number) NAME(less_product)(int parts, NAME(number) a, NAME(number) b, NAME(number) c)
{
    if (parts == 1)
        return (NAME(number)){FMA(-b.re, c.re, a.re), 0};
    return (NAME(number)){FMA(b.im, c.im, FMA(-b.re, c.re, a.re)), FMA(-b.im, c.re, FMA(-b.re, c.im, a.im))};
}

static NAME(number) NAME(product)(int parts, NAME(number) a, NAME(number) b)
{
    if (parts == 1)
        return (NAME(number)){a.re * b.re, 0};
    return (NAME(number)){FMA(-a.im, b.im, a.re * b.re), FMA(a.im, b.re, a.re * b.im)};
}

/* Smith's way. */
static NAME(number) NAME(quotient)(int parts, NAME(number) a, NAME(number) b)
{
    if (parts == 1)
        return (NAME(number)){a.re / b.re, 0};
    if (FABS(b.re) >= FABS(b.im)) {
        const REAL ratio = b.im / b.re, whole = FMA(b.im, ratio, b.re);
        return (NAME(number)){FMA(a.im, ratio, a.re) / whole, FMA(-a.re, ratio, a.im) / whole};
    }
    const REAL ratio = b.re / b.im, whole = FMA(b.re, ratio, b.im);
    return (NAME(number)){FMA(a.re, ratio, a.im) / whole, FMA(a.im, ratio, -a.re) / whole};
}

static REAL NAME(size)(NAME(number) a)
{
    return FABS(a.re) + FABS(a.im);
}

/* The row of a column, from the first one on, that i?amax names. */
static int NAME(largest)(const REAL *column, int parts, int first, int rows)
{
    int best = first;
    REAL size = NAME(size)(NAME(get)(column + first * parts, parts));
    for (int i = first + 1; i < rows; i++) {
        const REAL other = NAME(size)(NAME(get)(column + i * parts, parts));
        if (other > size) {
            best = i;
            size = other;
        }
    }
    return best;
}

/* Returns the column, from 1, of the first pivot that is 0, or 0. Pivots are rows from 0. */
static int NAME(reference)(REAL *a, int64_t ld, int rows, int columns, int parts, int *pivots)
{
    int without_pivot = 0;
    for (int j = 0; j < columns && j < rows; j++) {
        REAL *const column = a + j * ld * parts;
        const int row = pivots[j] = NAME(largest)(column, parts, j, rows);
        for (int k = 0; k < columns && row != j; k++)
            for (int part = 0; part < parts; part++) {
                REAL *const one = a + (k * ld + j) * parts + part, *const other = one + (row - j) * parts;
                const REAL kept = *one;
                *one = *other;
                *other = kept;
            }
        const NAME(number) pivot = NAME(get)(column + j * parts, parts);
        const bool is_zero = pivot.re == 0 && pivot.im == 0;
        if (is_zero && without_pivot == 0)
            without_pivot = j + 1;
        const NAME(number) reciprocal = NAME(quotient)(parts, (NAME(number)){1, 0}, pivot);
        for (int i = j + 1; i < rows; i++) {
            NAME(number) below = NAME(get)(column + i * parts, parts);
            if (!is_zero)
                below = NAME(size)(pivot) < LEAST_NORMAL ? NAME(quotient)(parts, below, pivot)
                                                         : NAME(product)(parts, below, reciprocal);
            NAME(put)(column + i * parts, parts, below);
            for (int k = j + 1; k < columns; k++) {
                REAL *const there = a + (k * ld + i) * parts;
                NAME(put)
                (there, parts,
                 NAME(less_product)(parts, NAME(get)(there, parts), below,
                                    NAME(get)(a + (k * ld + j) * parts, parts)));
            }
        }
    }
    return without_pivot;
}
