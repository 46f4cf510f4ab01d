/* LQ, and Q of rows, by portable loops and by the sequences' steps: of every element, in all shapes. The adjoint of what is found is QR of the
 * adjoint, or its Q, with the same tau. Of Q nothing else of A is read.
 */
#include "lib/call/host.h"
#include "sequences/generate.h"
#include "sequences/lq.h"
#include "tests/unit/reflected.h"

static void turn(const tb_matrix *from, const tb_matrix *to)
{
    for (int64_t j = 0; j < to->columns; j++)
        for (int64_t i = 0; i < to->rows; i++) {
            const number x = get(from, j, i);
            put(to, i, j, (number){x.re, -x.im});
        }
}

static tb_matrix adjoint_of(const tb_matrix *a)
{
    const tb_matrix adjoint = make_matrix(a->element, a->columns, a->rows, a->columns);
    turn(a, &adjoint);
    return adjoint;
}

/* ---- By steps ----------------------------------------------------------------------------------------------- */

/* Of a source that is general, or an upper triangle with a diagonal of ones. */
static void move(const tb_expansion *move)
{
    const tb_operand *source = &move->source;
    const int64_t parts = tb_is_complex(source->element) ? 2 : 1;
    const tb_matrix target = {move->target.data, move->target.rows / parts, move->target.columns,
                              move->target.ld / parts, source->element};
    CHECK(source->transposed && move->factor.re == 1 && target.rows == source->columns &&
              target.columns == source->rows,
          "another move");
    for (int64_t j = 0; j < target.columns; j++)
        for (int64_t i = 0; i < target.rows; i++) {
            const bool is_read = source->structure == TB_GENERAL || i > j;
            const number x = is_read ? get(&source->matrix, j, i) : (number){i == j, 0};
            put(&target, i, j, (number){x.re, source->conjugated ? -x.im : x.im});
        }
}

static tb_status take(tb_visitor *visitor, const tb_sequence_step *step)
{
    static const tb_host nobody = {.call = NULL};
    (void)visitor;
    if (step->kind == TB_STEP_MOVE)
        move(&step->move);
    else if (step->kind == TB_STEP_PANEL)
        tb_reflect_by_loops(&step->panel);
    else if (step->kind == TB_STEP_PRODUCT && tb_sizes_agree(&step->product))
        tb_compute_on_host(&step->product, &nobody);
    else
        CHECK(false, "a step of kind %d", (int)step->kind);
    return TB_OK;
}

/* With B beside A, and a workspace of so many bytes, of which some are given. */
static void make_by_steps(const tb_factor *factor, check_random *random)
{
    enum { PANEL = 32 };
    tb_visitor visitor = {take};
    tb_factor there = *factor;
    const bool makes_q = tb_makes_q(factor);
    const size_t bytes = makes_q ? tb_q_workspace(factor) : tb_qr_workspace(factor);
    void *const workspace = aligned_alloc(256, (bytes + 255) / 256 * 256);
    memset(workspace, 0xff, bytes);
    there.b = make_matrix(factor->a.element, factor->n, factor->m, factor->n + check_between(random, 0, 2));
    if (makes_q) {
        tb_write_q_given(factor, workspace);
        tb_place_q(&there, workspace);
        there.reflectors.tau = NULL;
    } else
        tb_place_reflectors(&there, workspace);
    CHECK((makes_q ? tb_walk_q(&there, &visitor) : tb_walk_lq(&there, PANEL, &visitor)) == TB_OK &&
              has_gaps(&there.b),
          "%d x %d: more than B was written", (int)factor->m, (int)factor->n);
    free(there.b.data), free(workspace);
}

/* ---- LQ ----------------------------------------------------------------------------------------------------- */

static void check_lq(const tb_matrix *found, const tb_matrix *before, const tb_matrix *tau, const char *what)
{
    const tb_matrix factors = adjoint_of(found), factored = adjoint_of(before);
    check_factors(&factors, &factored, tau, what);
    CHECK(has_gaps(found), "%s: gaps were written", what);
    free(factored.data), free(factors.data);
}

static void try_lq(tb_element element, int64_t m, int64_t n, check_random *random)
{
    const tb_matrix a = make_matrix(element, m, n, m + check_between(random, 0, 2));
    const int64_t order = tb_smaller(m, n);
    fill(&a, random);
    for (int64_t j = 0; j < n && m % 2; j++)
        put(&a, m / 2, j, (number){0, 0});
    const tb_matrix before = copy_of(&a), tau = make_matrix(element, order, 1, order), whole = copy_of(&a);
    tb_factor factor =
        tb_geqrf((tb_routine)((int)TB_SGELQF + (int)element), m, n, a.data, a.ld, tau.data, NULL);
    make_by_steps(&factor, random);
    check_lq(&a, &before, &tau, "LQ by steps");
    factor.a.data = whole.data;
    CHECK(tb_reflect_rows_by_loops(&factor), "no memory");
    check_lq(&whole, &before, &tau, "LQ by loops");
    free(whole.data), free(tau.data), free(before.data), free(a.data);
}

/* ---- Q ------------------------------------------------------------------------------------------------------ */

static const tb_routine routines[TB_ELEMENTS] = {[TB_FP32] = TB_SORGLQ,
                                                 [TB_FP64] = TB_DORGLQ,
                                                 [TB_COMPLEX_FP32] = TB_CUNGLQ,
                                                 [TB_COMPLEX_FP64] = TB_ZUNGLQ};

static void check_rows(const tb_matrix *found, const tb_matrix *factors, const tb_matrix *tau,
                       const char *what)
{
    const tb_matrix q = adjoint_of(found);
    check_q(&q, factors, tau, what);
    CHECK(has_gaps(found), "%s: gaps were written", what);
    free(q.data);
}

static void try_q(tb_element element, int64_t m, int64_t n, int64_t order, check_random *random)
{
    const tb_matrix factors = make_matrix(element, n, m, n), tau = make_matrix(element, order, 1, order),
                    a = make_matrix(element, m, n, m + check_between(random, 0, 2));
    make_reflectors(&factors, &tau, random);
    turn(&factors, &a);
    const tb_matrix whole = copy_of(&a);
    tb_factor factor = tb_orgqr(routines[element], m, n, order, a.data, a.ld, tau.data, NULL);
    make_by_steps(&factor, random);
    check_rows(&a, &factors, &tau, "Q of rows by steps");
    factor.a.data = whole.data;
    CHECK(tb_make_q_of_rows_by_loops(&factor), "no memory");
    check_rows(&whole, &factors, &tau, "Q of rows by loops");
    free(whole.data), free(a.data), free(tau.data), free(factors.data);
}

int main(void)
{
    static const int64_t of_lq[][2] = {{1, 1},    {1, 5},    {5, 1},     {33, 32},  {40, 65},
                                       {150, 90}, {90, 150}, {129, 200}, {130, 140}};
    static const int64_t of_q[][3] = {{1, 1, 1},       {1, 1, 0},      {1, 5, 1},       {5, 6, 0},
                                      {5, 5, 5},       {33, 40, 20},   {128, 128, 128}, {150, 150, 129},
                                      {140, 300, 140}, {270, 300, 10}, {280, 290, 257}};
    check_random random = {check_seed()};
    for (int element = 0; element < TB_ELEMENTS; element++) {
        for (size_t i = 0; i < sizeof of_lq / sizeof *of_lq; i++)
            try_lq((tb_element)element, of_lq[i][0], of_lq[i][1], &random);
        for (size_t i = 0; i < sizeof of_q / sizeof *of_q; i++)
            try_q((tb_element)element, of_q[i][0], of_q[i][1], of_q[i][2], &random);
    }
    try_lq(TB_FP64, 1300, 20, &random);
    try_q(TB_FP64, 1090, 1100, 12, &random);
    return check_result();
}
