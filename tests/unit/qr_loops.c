/* QR by portable loops, and by the sequence's steps, which plain loops take: of every element, in all shapes. What is found is R and
 * reflectors, each of which is unitary, and their product with R is the matrix. And from whatever is finished already.
 */
#include "lib/call/portable_qr.h"
#include "sequences/qr.h"
#include "tests/unit/reflected.h"
#include "words/integers.h"

/* ---- By steps ----------------------------------------------------------------------------------------------- */

typedef struct watcher {
    tb_visitor visitor;
    const tb_matrix *a;
    tb_matrix seen; /* finished columns as they were then */
    int64_t finished;
} watcher;

static void multiply(const tb_product *p)
{
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++) {
            number sum = {0, 0}, all = {0, 0};
            for (int64_t k = 0; k < p->k; k++)
                add(&sum, p->a.transposed ? get(&p->a.matrix, k, i) : get(&p->a.matrix, i, k),
                    get(&p->b.matrix, k, j), p->a.conjugated);
            if (p->beta.re != 0)
                all = get(&p->c.matrix, i, j);
            all.re = p->beta.re * all.re + p->alpha.re * sum.re;
            all.im = p->beta.re * all.im + p->alpha.re * sum.im;
            put(&p->c.matrix, i, j, all);
        }
}

static tb_status take(tb_visitor *visitor, const tb_sequence_step *step)
{
    watcher *all = (watcher *)visitor;
    if (step->kind == TB_STEP_PRODUCT)
        multiply(&step->product);
    else if (step->kind == TB_STEP_PANEL)
        tb_reflect_by_loops(&step->panel);
    else if (step->kind == TB_STEP_REFLECT)
        tb_apply_reflectors(&step->panel);
    else
        CHECK(false, "a step of kind %d", (int)step->kind);
    if (step->finished.count > 0) {
        CHECK(step->finished.first == all->finished, "columns are finished out of their order");
        all->finished += step->finished.count;
        const tb_matrix from =
                            tb_rectangle(all->a, 0, step->finished.first, all->a->rows, step->finished.count),
                        to = tb_rectangle(&all->seen, 0, step->finished.first, all->a->rows,
                                          step->finished.count);
        memcpy(to.data, from.data, bytes_of(&from));
    }
    return TB_OK;
}

static const tb_routine routines[TB_ELEMENTS] = {[TB_FP32] = TB_SGEQRF,
                                                 [TB_FP64] = TB_DGEQRF,
                                                 [TB_COMPLEX_FP32] = TB_CGEQRF,
                                                 [TB_COMPLEX_FP64] = TB_ZGEQRF};

/* A of numbers, or with columns of zeros. */
static void try(tb_element element, int64_t m, int64_t n, int64_t panel, check_random *random)
{
    const tb_matrix a = make_matrix(element, m, n, m + check_between(random, 0, 2));
    const int64_t order = tb_smaller(m, n);
    fill(&a, random);
    if (panel % 2)
        for (int64_t i = 0; i < m; i++)
            put(&a, i, n / 2, (number){0, 0});
    const tb_matrix before = copy_of(&a), tau = make_matrix(element, order, 1, order), whole = copy_of(&a),
                    part = copy_of(&a);
    tb_factor factor = tb_geqrf(routines[element], m, n, a.data, a.ld, tau.data, NULL);
    void *const workspace = aligned_alloc(256, (tb_qr_workspace(&factor) + 255) / 256 * 256);
    memset(workspace, 0xff, tb_qr_workspace(&factor));
    tb_place_reflectors(&factor, workspace);
    watcher all = {.visitor = {take}, .a = &a, .seen = copy_of(&a)};
    CHECK(tb_walk_qr(&factor, 0, panel, &all.visitor) == TB_OK && all.finished == n &&
              memcmp(all.seen.data, a.data, bytes_of(&a)) == 0,
          "%d x %d: %d columns are finished, or a finished one was written", (int)m, (int)n,
          (int)all.finished);
    check_factors(&a, &before, &tau, "by steps");

    factor = tb_geqrf(routines[element], m, n, whole.data, whole.ld, tau.data, NULL);
    tb_reflect_by_loops(&factor);
    check_factors(&whole, &before, &tau, "by loops");

    const int64_t done = check_between(random, 0, n);
    memcpy(part.data, whole.data, (size_t)(done * part.ld) * tb_bytes_of(element));
    if (done < order) /* of columns that are not finished tau is anything */
        memset(tb_at(&tau, done, 0), 0xff, (size_t)(order - done) * tb_bytes_of(element));
    factor.a.data = part.data;
    CHECK(tb_resume_qr(&factor, done, &all.visitor) == TB_OK, "it does not go on");
    check_factors(&part, &before, &tau, "from the middle");
    free(all.seen.data), free(workspace), free(part.data), free(whole.data), free(tau.data);
    free(before.data), free(a.data);
}

int main(void)
{
    static const int64_t shapes[][2] = {{1, 1},    {1, 5},    {5, 1},     {33, 32},  {40, 65},
                                        {150, 90}, {90, 150}, {200, 129}, {130, 140}};
    check_random random = {check_seed()};
    for (int element = 0; element < TB_ELEMENTS; element++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            try((tb_element)element, shapes[i][0], shapes[i][1], 32, &random);
            try((tb_element)element, shapes[i][0], shapes[i][1], 17, &random);
        }
    try(TB_FP64, 20, 1300, 32, &random);
    return check_result();
}
