#include "lib/call/portable_qr.h"

#include "lib/call/scaling.h"
#include "lib/process/leaving.h"
#include "words/integers.h"

#include <math.h>

/* Real numbers have no imaginary part. Those of single precision are rounded when they are stored. */
typedef struct number {
    double re, im;
} number;

static number get(const tb_matrix *a, int64_t row, int64_t column)
{
    const double *wide = tb_at(a, row, column);
    const float *narrow = tb_at(a, row, column);
    const bool has_im = tb_is_complex(a->element);
    return tb_real_of(a->element) == TB_FP64 ? (number){wide[0], has_im ? wide[1] : 0}
                                             : (number){(double)narrow[0], has_im ? (double)narrow[1] : 0};
}

static void set(const tb_matrix *a, int64_t row, int64_t column, number value)
{
    double *wide = tb_at(a, row, column);
    float *narrow = tb_at(a, row, column);
    for (int part = 0; part < (tb_is_complex(a->element) ? 2 : 1); part++)
        if (tb_real_of(a->element) == TB_FP64)
            wide[part] = part ? value.im : value.re;
        else
            narrow[part] = (float)(part ? value.im : value.re);
}

static number times(number x, number y)
{
    return (number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static number adjoint(number x)
{
    return (number){x.re, -x.im};
}

static number divide(number x, number y)
{
    const bool wide = fabs(y.re) >= fabs(y.im);
    const double larger = wide ? y.re : y.im, smaller = wide ? y.im : y.re, ratio = smaller / larger,
                 whole = larger + smaller * ratio;
    return wide ? (number){(x.re + x.im * ratio) / whole, (x.im - x.re * ratio) / whole}
                : (number){(x.re * ratio + x.im) / whole, (x.im * ratio - x.re) / whole};
}

static tb_matrix tau_of(const tb_factor *block)
{
    return (tb_matrix){.data = block->reflectors.tau, .ld = 1, .element = block->a.element};
}

/* Of what is below a row; squares of which none is too large or too small. */
static double length_below(const tb_matrix *a, int64_t row, int64_t column)
{
    double largest = 0, sum = 0;
    for (int64_t i = row + 1; i < a->rows; i++) {
        const number x = get(a, i, column);
        largest = fmax(largest, fmax(fabs(x.re), fabs(x.im)));
        if (isnan(x.re) || isnan(x.im))
            return NAN;
    }
    for (int64_t i = row + 1; i < a->rows && largest > 0; i++) {
        const number x = get(a, i, column);
        sum += (x.re / largest) * (x.re / largest) + (x.im / largest) * (x.im / largest);
    }
    return largest * sqrt(sum);
}

/* Makes column j's reflector, as LARFG does. */
static number make_reflector(const tb_matrix *a, int64_t j)
{
    const number head = get(a, j, j);
    const double below = length_below(a, j, j), length = hypot(hypot(head.re, head.im), below),
                 beta = head.re >= 0 ? -length : length;
    if (below == 0 && head.im == 0)
        return (number){0, 0};
    const number by = {head.re - beta, head.im};
    for (int64_t i = j + 1; i < a->rows; i++)
        set(a, i, j, divide(get(a, i, j), by));
    set(a, j, j, (number){beta, 0});
    return (number){(beta - head.re) / beta, -head.im / beta};
}

/* v' of one column times another one, from v's first row on. */
static number product_of(const tb_matrix *v, int64_t j, const tb_matrix *with, int64_t column)
{
    number sum = get(with, j, column);
    for (int64_t i = j + 1; i < v->rows; i++) {
        const number x = times(adjoint(get(v, i, j)), get(with, i, column));
        sum.re += x.re;
        sum.im += x.im;
    }
    return sum;
}

/* H' of a column, with v of column j and this tau; of its adjoint H. */
static void reflect(const tb_matrix *v, int64_t j, number tau, const tb_matrix *to, int64_t column)
{
    const number by = times(adjoint(tau), product_of(v, j, to, column));
    if (tau.re == 0 && tau.im == 0)
        return;
    for (int64_t i = j; i < v->rows; i++) {
        const number x = i == j ? by : times(get(v, i, j), by), before = get(to, i, column);
        set(to, i, column, (number){before.re - x.re, before.im - x.im});
    }
}

/* With v of another column's, which begins further down. */
static number product_of_reflectors(const tb_matrix *v, int64_t one, int64_t further)
{
    number sum = adjoint(get(v, further, one));
    for (int64_t i = further + 1; i < v->rows; i++) {
        const number x = times(adjoint(get(v, i, one)), get(v, i, further));
        sum.re += x.re;
        sum.im += x.im;
    }
    return sum;
}

/* T's column j: -tau T (V' v), and tau. */
static void make_t(const tb_factor *block, const tb_matrix *t, int64_t j, number tau)
{
    for (int64_t i = 0; i < t->columns; i++)
        set(t, i, j, i == j ? tau : (number){0, 0});
    for (int64_t i = 0; i < j; i++) {
        number sum = {0, 0};
        for (int64_t k = i; k < j; k++) {
            const number x = times(get(t, i, k), product_of_reflectors(&block->a, k, j));
            sum.re -= x.re;
            sum.im -= x.im;
        }
        set(t, i, j, times(tau, sum));
    }
}

static void make_v(const tb_factor *block, const tb_matrix *v, int64_t j)
{
    for (int64_t i = 0; i < block->m; i++)
        set(v, i, j, i < j ? (number){0, 0} : i == j ? (number){1, 0} : get(&block->a, i, j));
}

static void write_out(const tb_factor *block)
{
    const tb_reflectors *to = &block->reflectors;
    const int64_t order = tb_factor_order(block);
    const tb_matrix t = {to->t, order, order, to->ld_of_t, block->a.element},
                    v = {to->v, block->m, order, to->ld_of_v, block->a.element}, tau = tau_of(block);
    for (int64_t j = 0; j < order; j++) {
        if (to->t)
            make_t(block, &t, j, get(&tau, j, 0));
        if (to->v)
            make_v(block, &v, j);
    }
}

void tb_reflect_by_loops(const tb_factor *block)
{
    const tb_matrix tau = tau_of(block);
    for (int64_t j = 0; j < tb_factor_order(block); j++) {
        const number own = make_reflector(&block->a, j);
        set(&tau, j, 0, own);
        for (int64_t column = j + 1; column < block->n; column++)
            reflect(&block->a, j, own, &block->a, column);
    }
    write_out(block);
}

void tb_apply_reflectors(const tb_factor *block)
{
    const tb_matrix tau = tau_of(block);
    for (int64_t column = 0; column < block->b.columns; column++)
        for (int64_t j = 0; j < tb_factor_order(block); j++)
            reflect(&block->a, j, get(&tau, j, 0), &block->b, column);
}

/* A row times H, or its adjoint. */
static void reflect_row(const tb_matrix *v, int64_t j, number tau, const tb_matrix *to, int64_t row)
{
    number sum = get(to, row, j);
    for (int64_t i = j + 1; i < v->rows; i++) {
        const number x = times(get(to, row, i), get(v, i, j));
        sum.re += x.re;
        sum.im += x.im;
    }
    const number by = times(sum, tau);
    if (tau.re == 0 && tau.im == 0)
        return;
    for (int64_t i = j; i < v->rows; i++) {
        const number x = i == j ? by : times(by, adjoint(get(v, i, j))), before = get(to, row, i);
        set(to, row, i, (number){before.re - x.re, before.im - x.im});
    }
}

void tb_apply_q_by_loops(const tb_factor *factor)
{
    const tb_matrix tau = tau_of(factor);
    const int64_t order = tb_factor_order(factor);
    const bool first_to_last = factor->transposed != factor->on_the_right;
    for (int64_t k = 0; k < order; k++) {
        const int64_t j = first_to_last ? k : order - 1 - k;
        const number own = get(&tau, j, 0), other = adjoint(own);
        for (int64_t i = 0; i < tb_applied_count(factor); i++)
            if (factor->on_the_right)
                reflect_row(&factor->a, j, factor->transposed ? other : own, &factor->b, i);
            else
                reflect(&factor->a, j, factor->transposed ? own : other, &factor->b, i);
    }
}

static void put_unit_column(const tb_matrix *a, int64_t j)
{
    for (int64_t i = 0; i < a->rows; i++)
        set(a, i, j, (number){i == j, 0});
}

/* A reflector's own column: it times that of the identity. */
static void reflect_unit_column(const tb_matrix *a, int64_t j, number tau)
{
    const number by = {-tau.re, -tau.im};
    for (int64_t i = j + 1; i < a->rows; i++)
        set(a, i, j, times(by, get(a, i, j)));
    set(a, j, j, (number){1 - tau.re, -tau.im});
    for (int64_t i = 0; i < j; i++)
        set(a, i, j, (number){0, 0});
}

void tb_make_q_by_loops(const tb_factor *factor)
{
    const tb_matrix *a = &factor->a, tau = tau_of(factor);
    for (int64_t j = tb_factor_order(factor); j < factor->n; j++)
        put_unit_column(a, j);
    for (int64_t j = tb_factor_order(factor); j-- > 0;) {
        const number own = get(&tau, j, 0);
        for (int64_t column = j + 1; column < factor->n; column++)
            reflect(a, j, adjoint(own), a, column);
        reflect_unit_column(a, j, own);
    }
}

/* ---- By rows ----------------------------------------------------------------------------------------------- */

static void copy_adjoint(const tb_matrix *from, const tb_matrix *to)
{
    for (int64_t j = 0; j < to->columns; j++)
        for (int64_t i = 0; i < to->rows; i++)
            set(to, i, j, adjoint(get(from, j, i)));
}

/* In a copy, by columns. */
static bool make_adjoint(const tb_factor *factor, void (*make)(const tb_factor *adjoint))
{
    tb_factor copy = *factor;
    copy.m = copy.a.rows = copy.a.ld = factor->n;
    copy.n = copy.a.columns = factor->m;
    copy.a.data = tb_make(tb_matrix_bytes(&copy.a));
    if (!copy.a.data)
        return false;
    copy_adjoint(&factor->a, &copy.a);
    make(&copy);
    copy_adjoint(&copy.a, &factor->a);
    tb_unmake(copy.a.data);
    return true;
}

bool tb_reflect_rows_by_loops(const tb_factor *factor)
{
    return make_adjoint(factor, tb_reflect_by_loops);
}

bool tb_make_q_of_rows_by_loops(const tb_factor *factor)
{
    return make_adjoint(factor, tb_make_q_by_loops);
}

/* ---- Least squares ---------------------------------------------------------------------------------------- */

/* R X = B, or R' X = B. */
static void solve_column(const tb_matrix *r, bool adjointly, const tb_matrix *b, int64_t column)
{
    const int64_t order = r->columns;
    for (int64_t step = 0; step < order; step++) {
        const int64_t i = adjointly ? step : order - 1 - step, first = adjointly ? 0 : i + 1,
                      end = adjointly ? i : order;
        number sum = get(b, i, column);
        for (int64_t k = first; k < end; k++) {
            const number x = times(adjointly ? adjoint(get(r, k, i)) : get(r, i, k), get(b, k, column));
            sum.re -= x.re;
            sum.im -= x.im;
        }
        const number pivot = get(r, i, i);
        set(b, i, column, divide(sum, adjointly ? adjoint(pivot) : pivot));
    }
}

static void set_zeros(const tb_matrix *a)
{
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++)
            set(a, i, j, (number){0, 0});
}

static double largest_of(const tb_matrix *a)
{
    double largest = 0;
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++) {
            const number x = get(a, i, j);
            largest = isnan(largest) ? largest : fmax(largest, hypot(x.re, x.im));
            largest = isnan(x.re) || isnan(x.im) ? (double)NAN : largest;
        }
    return largest;
}

static void scale(const tb_matrix *a, double by)
{
    for (int64_t j = 0; j < a->columns && by != 1; j++)
        for (int64_t i = 0; i < a->rows; i++) {
            const number x = get(a, i, j);
            set(a, i, j, (number){x.re * by, x.im * by});
        }
}

/* By so much the matrix has been scaled. */
static double bring_into_range(const tb_matrix *a)
{
    const tb_scaled_range range = tb_scaled_range_of(a->element);
    const double size = largest_of(a), by = size > 0 && size < range.small ? range.small / size
                                            : size > range.large           ? range.large / size
                                                                           : 1;
    scale(a, by);
    return by;
}

static int64_t first_zero_of(const tb_matrix *r)
{
    for (int64_t i = 0; i < r->columns; i++) {
        const number x = get(r, i, i);
        if (x.re == 0 && x.im == 0)
            return i + 1;
    }
    return 0;
}

/* Of a matrix that has as many rows as columns, or more: those X; or of its adjoint the least X that solve. Returns info. */
static int64_t solve_tall(const tb_matrix *tall, void *tau, bool of_adjoint, const tb_matrix *b)
{
    const tb_element element = tall->element;
    const int64_t order = tall->columns;
    const tb_factor qr = tb_geqrf((tb_routine)((int)TB_SGEQRF + (int)element), tall->rows, order, tall->data,
                                  tall->ld, tau, NULL),
                    by_q = tb_ormqr((tb_routine)((int)TB_SORMQR + (int)element), false, !of_adjoint, b->rows,
                                    b->columns, order, tall->data, tall->ld, tau, b->data, b->ld, NULL);
    const tb_matrix beyond = tb_rectangle(b, order, 0, b->rows - order, b->columns);
    tb_reflect_by_loops(&qr);
    const int64_t zero = first_zero_of(tall);
    if (!of_adjoint)
        tb_apply_q_by_loops(&by_q);
    for (int64_t j = 0; j < b->columns && zero == 0; j++)
        solve_column(tall, of_adjoint, b, j);
    if (of_adjoint && zero == 0) {
        set_zeros(&beyond);
        tb_apply_q_by_loops(&by_q);
    }
    return zero;
}

/* A matrix that has more columns than rows is turned round, and its factors back: LQ is QR of the adjoint. */
static int64_t solve_turned(const tb_factor *factor, void *tau)
{
    const tb_matrix *a = &factor->a;
    tb_matrix tall = {.rows = a->columns, .columns = a->rows, .ld = a->columns, .element = a->element};
    tall.data = tb_make(tb_matrix_bytes(&tall));
    if (!tall.data)
        return TB_INFO_UNDONE;
    copy_adjoint(a, &tall);
    const int64_t zero = solve_tall(&tall, tau, !factor->transposed, &factor->b);
    copy_adjoint(&tall, a);
    tb_unmake(tall.data);
    return zero;
}

int64_t tb_find_least_squares_by_loops(const tb_factor *factor)
{
    const int64_t order = tb_factor_order(factor), columns = factor->b.columns;
    const tb_matrix given =
                        tb_rectangle(&factor->b, 0, 0, factor->transposed ? factor->n : factor->m, columns),
                    found =
                        tb_rectangle(&factor->b, 0, 0, factor->transposed ? factor->m : factor->n, columns);
    if (order == 0 || largest_of(&factor->a) == 0) {
        set_zeros(&factor->b);
        return 0;
    }
    void *const tau = tb_make((size_t)order * tb_bytes_of(factor->a.element));
    if (!tau)
        return TB_INFO_UNDONE;
    const double of_a = bring_into_range(&factor->a), of_b = bring_into_range(&given);
    const int64_t info = factor->m >= factor->n ? solve_tall(&factor->a, tau, factor->transposed, &factor->b)
                                                : solve_turned(factor, tau);
    tb_unmake(tau);
    if (info == 0) {
        scale(&found, of_a);
        scale(&found, 1 / of_b);
    }
    return info;
}
