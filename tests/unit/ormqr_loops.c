/* Products with Q of reflectors by portable loops, and by the sequence's steps, which the host takes: of every element, from either side, by
 * either operation, in all shapes, with reflectors that are the identity. What is found is what the reflectors make of columns, one after
 * the other. Nothing else of A is read.
 */
#include "lib/call/host.h"
#include "lib/call/portable_qr.h"
#include "sequences/apply.h"
#include "tests/unit/reflected.h"
#include "words/integers.h"

#include <math.h>

static const tb_routine routines[TB_ELEMENTS] = {[TB_FP32] = TB_SORMQR,
                                                 [TB_FP64] = TB_DORMQR,
                                                 [TB_COMPLEX_FP32] = TB_CUNMQR,
                                                 [TB_COMPLEX_FP64] = TB_ZUNMQR};

/* A column; or a row's adjoint, to which Q's other operation is applied. */
static number taken(const tb_factor *factor, const tb_matrix *b, int64_t which, int64_t i)
{
    const number x = factor->on_the_right ? get(b, which, i) : get(b, i, which);
    return factor->on_the_right ? (number){x.re, -x.im} : x;
}

static double off_by(const tb_factor *factor, const tb_matrix *before, const tb_matrix *found,
                     const tb_matrix *factors, const tb_matrix *tau, number *column)
{
    const int64_t order = factor->n;
    const bool adjoint = factor->transposed != factor->on_the_right;
    double worst = 0;
    for (int64_t which = 0; which < tb_applied_count(factor); which++) {
        for (int64_t i = 0; i < factor->m; i++)
            column[i] = taken(factor, before, which, i);
        for (int64_t k = 0; k < order; k++) {
            const int64_t j = adjoint ? k : order - 1 - k;
            const number own = get(tau, j, 0);
            reflect(factors, j, adjoint ? (number){own.re, -own.im} : own, column);
        }
        for (int64_t i = 0; i < factor->m; i++) {
            const number x = taken(factor, found, which, i);
            const double off = hypot(column[i].re - x.re, column[i].im - x.im);
            worst = off > worst || isnan(off) ? off : worst;
        }
    }
    return worst;
}

static void check_product(const tb_factor *factor, const tb_matrix *before, const tb_matrix *found,
                          const tb_matrix *factors, const tb_matrix *tau, const char *what)
{
    const double allowed = 10 * (double)(factor->n + 10) * tb_element_rows[found->element].roundoff;
    number *const column = malloc((size_t)factor->m * sizeof *column);
    const double off = off_by(factor, before, found, factors, tau, column);
    bool gaps = true;
    for (int64_t j = 0; j < found->columns; j++)
        for (const char *gap = tb_at(found, found->rows, j); gap < (const char *)tb_at(found, 0, j + 1);
             gap++)
            gaps = gaps && *gap == GAP;
    CHECK(off <= allowed && gaps, "%s, %c%c, %d x %d, %d reflectors, element %d: off by %g, allowed %g%s",
          what, factor->on_the_right ? 'R' : 'L', factor->transposed ? 'T' : 'N', (int)found->rows,
          (int)found->columns, (int)factor->n, (int)found->element, off, allowed,
          gaps ? "" : "; gaps were written");
    free(column);
}

/* ---- By steps ----------------------------------------------------------------------------------------------- */

typedef struct watcher {
    tb_visitor visitor;
    const tb_matrix *b;
    tb_matrix seen; /* finished columns as they were then */
    int64_t finished;
} watcher;

static tb_status take(tb_visitor *visitor, const tb_sequence_step *step)
{
    static const tb_host nobody = {.call = NULL};
    watcher *all = (watcher *)visitor;
    CHECK(step->kind == TB_STEP_PRODUCT && tb_sizes_agree(&step->product), "a step of kind %d",
          (int)step->kind);
    tb_compute_on_host(&step->product, &nobody);
    if (step->finished.count > 0) {
        const tb_range own = step->finished;
        CHECK(own.first == all->finished, "columns are finished out of their order");
        all->finished += own.count;
        const tb_matrix from = tb_rectangle(all->b, 0, own.first, all->b->rows, own.count),
                        to = tb_rectangle(&all->seen, 0, own.first, all->b->rows, own.count);
        memcpy(to.data, from.data, bytes_of(&from));
    }
    return TB_OK;
}

/* A is overwritten. */
static void apply_by_steps(const tb_factor *factor, const tb_matrix *a, const tb_matrix *b)
{
    tb_factor there = *factor;
    const size_t bytes = tb_q_workspace(factor), given = tb_q_given_bytes(factor);
    char *const workspace = aligned_alloc(256, (bytes + 255) / 256 * 256);
    watcher all = {.visitor = {take}, .b = b, .seen = copy_of(b)};
    memset(workspace, 0xff, bytes);
    tb_write_q_given(factor, workspace);
    CHECK(given < bytes && (unsigned char)workspace[given] == 0xff, "more is given than said");
    tb_place_q(&there, workspace);
    there.reflectors.tau = NULL;
    there.a.data = a->data;
    there.b = *b;
    CHECK(tb_walk_applied(&there, &all.visitor) == TB_OK && all.finished == b->columns &&
              memcmp(all.seen.data, b->data, bytes_of(b)) == 0,
          "%d x %d: %d columns are finished, or a finished one was written", (int)b->rows, (int)b->columns,
          (int)all.finished);
    free(all.seen.data), free(workspace);
}

static void try(tb_element element, bool on_the_right, bool transposed, int64_t order, int64_t others,
                int64_t k, check_random *random)
{
    const int64_t m = on_the_right ? others : order, n = on_the_right ? order : others;
    const tb_matrix a = make_matrix(element, order, k, order + check_between(random, 0, 2)),
                    b = make_matrix(element, m, n, m + check_between(random, 0, 2)),
                    tau = make_matrix(element, k, 1, k);
    make_reflectors(&a, &tau, random);
    fill(&b, random);
    const tb_matrix factors = copy_of(&a), before = copy_of(&b), other = copy_of(&b);
    const tb_factor factor = tb_ormqr(routines[element], on_the_right, transposed, m, n, k, a.data, a.ld,
                                      tau.data, b.data, b.ld, NULL);
    tb_apply_q_by_loops(&factor);
    CHECK(memcmp(a.data, factors.data, bytes_of(&a)) == 0, "reflectors were written");
    check_product(&factor, &before, &b, &factors, &tau, "by loops");
    apply_by_steps(&factor, &a, &other);
    check_product(&factor, &before, &other, &factors, &tau, "by steps");
    free(other.data), free(before.data), free(factors.data), free(tau.data), free(b.data), free(a.data);
}

/* Of order, others and reflectors. */
static void from_all_sides(tb_element element, int64_t order, int64_t others, int64_t k, check_random *random)
{
    for (int way = 0; way < 4; way++)
        try(element, way % 2, way / 2, order, others, k, random);
}

int main(void)
{
    static const struct {
        int64_t order, others, k;
    } shapes[] = {{1, 1, 1},     {5, 3, 1},      {5, 4, 5},     {40, 33, 20},
                  {128, 5, 128}, {150, 40, 129}, {290, 10, 257}};
    check_random random = {check_seed()};
    for (int element = 0; element < TB_ELEMENTS; element++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            from_all_sides((tb_element)element, shapes[i].order, shapes[i].others, shapes[i].k, &random);
    from_all_sides(TB_FP64, 140, 1030, 131, &random);
    from_all_sides(TB_COMPLEX_FP32, 10, 2050, 9, &random);
    return check_result();
}
