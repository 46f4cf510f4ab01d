#include "lib/call/portable_panel.h"

#include <float.h>
#include <math.h>

/* Of L; real numbers have no imaginary part. Those of single precision are rounded when they are stored. */
typedef struct number {
    double re, im;
} number;

/* L's element lies there, of U the conjugate transpose's. */
static void *at(const tb_factor *panel, int64_t row, int64_t column)
{
    return panel->stored == TB_LOWER ? tb_at(&panel->a, row, column) : tb_at(&panel->a, column, row);
}

static double part_at(const tb_factor *panel, int64_t row, int64_t column, int part)
{
    const void *there = at(panel, row, column);
    return tb_real_of(panel->a.element) == TB_FP64 ? ((const double *)there)[part]
                                                   : (double)((const float *)there)[part];
}

static void set_part(const tb_factor *panel, int64_t row, int64_t column, int part, double value)
{
    void *there = at(panel, row, column);
    if (tb_real_of(panel->a.element) == TB_FP64)
        ((double *)there)[part] = value;
    else
        ((float *)there)[part] = (float)value;
}

static number get(const tb_factor *panel, int64_t row, int64_t column)
{
    const double im = tb_is_complex(panel->a.element) ? part_at(panel, row, column, 1) : 0;
    return (number){part_at(panel, row, column, 0), panel->stored == TB_LOWER ? im : -im};
}

static void set(const tb_factor *panel, int64_t row, int64_t column, number value)
{
    set_part(panel, row, column, 0, value.re);
    if (tb_is_complex(panel->a.element))
        set_part(panel, row, column, 1, panel->stored == TB_LOWER ? value.im : -value.im);
}

/* What is left of an element when the columns before it have been subtracted. */
static number reduced(const tb_factor *panel, int64_t row, int64_t column)
{
    number sum = get(panel, row, column);
    for (int64_t l = 0; l < column; l++) {
        const number x = get(panel, row, l), y = get(panel, column, l);
        sum.re -= x.re * y.re + x.im * y.im;
        sum.im -= x.im * y.re - x.re * y.im;
    }
    return sum;
}

int64_t tb_factor_by_loops(const tb_factor *panel)
{
    for (int64_t j = 0; j < panel->n; j++) {
        const double pivot = reduced(panel, j, j).re, root = sqrt(pivot);
        if (!(pivot > 0))
            return j + 1;
        set(panel, j, j, (number){root, 0});
        for (int64_t i = j + 1; i < panel->n; i++) {
            const number sum = reduced(panel, i, j);
            set(panel, i, j, (number){sum.re / root, sum.im / root});
        }
    }
    return 0;
}

/* ---- With partial pivoting -------------------------------------------------------------------------------- */

/* Exchanges numbers of one column. Their parts are of so many bytes, all of which are moved. */
#define EXCHANGE_IN_COLUMN(name, type)                                                                       \
    static void name(const tb_row_exchange *exchange, int64_t column)                                        \
    {                                                                                                        \
        type *const numbers = tb_at(&exchange->matrix, 0, column);                                           \
        for (int64_t i = 0; i < exchange->count; i++) {                                                      \
            const int64_t step = exchange->backwards ? exchange->count - 1 - i : i,                          \
                          row = exchange->first + step, other = tb_pivot_at(exchange->pivots, step) - 1;     \
            if (other < 0 || other >= exchange->matrix.rows)                                                 \
                continue;                                                                                    \
            const type kept = numbers[row];                                                                  \
            numbers[row] = numbers[other];                                                                   \
            numbers[other] = kept;                                                                           \
        }                                                                                                    \
    }
typedef struct two_floats {
    float parts[2];
} two_floats;
typedef struct two_doubles {
    double parts[2];
} two_doubles;
EXCHANGE_IN_COLUMN(exchange_floats, float)
EXCHANGE_IN_COLUMN(exchange_doubles, double)
EXCHANGE_IN_COLUMN(exchange_two_floats, two_floats)
EXCHANGE_IN_COLUMN(exchange_two_doubles, two_doubles)

static number number_at(const tb_matrix *a, int64_t row, int64_t column)
{
    const double *wide = tb_at(a, row, column);
    const float *narrow = tb_at(a, row, column);
    const int im = tb_is_complex(a->element) ? 1 : 0;
    return tb_real_of(a->element) == TB_FP64 ? (number){wide[0], im ? wide[im] : 0}
                                             : (number){(double)narrow[0], im ? (double)narrow[im] : 0};
}

static void set_number(const tb_matrix *a, int64_t row, int64_t column, number value)
{
    double *wide = tb_at(a, row, column);
    float *narrow = tb_at(a, row, column);
    for (int part = 0; part < (tb_is_complex(a->element) ? 2 : 1); part++)
        if (tb_real_of(a->element) == TB_FP64)
            wide[part] = part ? value.im : value.re;
        else
            narrow[part] = (float)(part ? value.im : value.re);
}

/* By the panel's triangle. */
static void solve_column(const tb_row_exchange *exchange, int64_t column)
{
    const tb_matrix *a = &exchange->matrix;
    const int64_t first = exchange->first;
    for (int64_t i = 1; i < exchange->count; i++) {
        number sum = number_at(a, first + i, column);
        for (int64_t k = 0; k < i; k++) {
            const number l = number_at(a, first + i, exchange->panel + k),
                         x = number_at(a, first + k, column);
            sum.re -= l.re * x.re - l.im * x.im;
            sum.im -= l.re * x.im + l.im * x.re;
        }
        set_number(a, first + i, column, sum);
    }
}

void tb_exchange_rows(const tb_row_exchange *exchange)
{
    static void (*const in_column[TB_ELEMENTS])(const tb_row_exchange *,
                                                int64_t) = {[TB_FP32] = exchange_floats,
                                                            [TB_FP64] = exchange_doubles,
                                                            [TB_COMPLEX_FP32] = exchange_two_floats,
                                                            [TB_COMPLEX_FP64] = exchange_two_doubles};
    const int64_t panel = exchange->has_panel ? exchange->panel : exchange->matrix.columns,
                  behind = panel + exchange->count;
    for (int64_t j = 0; j < exchange->matrix.columns; j++)
        if (j < panel || j >= behind)
            in_column[exchange->matrix.element](exchange, j);
    for (int64_t j = behind; j < exchange->matrix.columns; j++)
        solve_column(exchange, j);
}

#define REAL         float
#define NAME(name)   name##_of_floats
#define LEAST_NORMAL FLT_MIN
#include "lib/call/portable_lu.h"
#undef REAL
#undef NAME
#undef LEAST_NORMAL
#define REAL         double
#define NAME(name)   name##_of_doubles
#define LEAST_NORMAL DBL_MIN
#include "lib/call/portable_lu.h"

int64_t tb_eliminate_by_loops(const tb_factor *block, int64_t position)
{
    return tb_real_of(block->a.element) == TB_FP64 ? factor_of_doubles(block, position)
                                                   : factor_of_floats(block, position);
}
