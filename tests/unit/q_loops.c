/* Q of reflectors by portable loops, and by the sequence's steps, which the host takes: of every element, in all shapes, with reflectors that
 * are the identity. What is found is what the reflectors make of the identity's columns, one after the other. Nothing else of A is read.
 */
#include "lib/call/host.h"
#include "lib/call/portable_qr.h"
#include "sequences/generate.h"
#include "tests/unit/reflected.h"
#include "words/integers.h"

/* ---- Reflectors --------------------------------------------------------------------------------------------- */

static const tb_routine routines[TB_ELEMENTS] = {[TB_FP32] = TB_SORGQR,
                                                 [TB_FP64] = TB_DORGQR,
                                                 [TB_COMPLEX_FP32] = TB_CUNGQR,
                                                 [TB_COMPLEX_FP64] = TB_ZUNGQR};

/* ---- By steps ----------------------------------------------------------------------------------------------- */

typedef struct watcher {
    tb_visitor visitor;
    const tb_matrix *q;
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
        const tb_matrix from = tb_rectangle(all->q, 0, own.first, all->q->rows, own.count),
                        to = tb_rectangle(&all->seen, 0, own.first, all->q->rows, own.count);
        memcpy(to.data, from.data, bytes_of(&from));
    }
    return TB_OK;
}

static void make_by_steps(const tb_factor *factor, const tb_matrix *q)
{
    tb_factor there = *factor;
    const size_t bytes = tb_q_workspace(factor), given = tb_q_given_bytes(factor);
    char *const workspace = aligned_alloc(256, (bytes + 255) / 256 * 256);
    watcher all = {.visitor = {take}, .q = q, .seen = copy_of(q)};
    memset(workspace, 0xff, bytes);
    tb_write_q_given(factor, workspace);
    CHECK(given < bytes && (unsigned char)workspace[given] == 0xff, "more is given than said");
    tb_place_q(&there, workspace);
    there.reflectors.tau = NULL;
    there.b = *q;
    CHECK(tb_walk_q(&there, &all.visitor) == TB_OK && all.finished == factor->n &&
              memcmp(all.seen.data, q->data, bytes_of(q)) == 0,
          "%d x %d: %d columns are finished, or a finished one was written", (int)factor->m, (int)factor->n,
          (int)all.finished);
    free(all.seen.data), free(workspace);
}

static void try(tb_element element, int64_t m, int64_t n, int64_t order, check_random *random)
{
    const tb_matrix a = make_matrix(element, m, n, m + check_between(random, 0, 2)),
                    q = make_matrix(element, m, n, m + check_between(random, 0, 2)),
                    tau = make_matrix(element, order, 1, order);
    make_reflectors(&a, &tau, random);
    const tb_matrix factors = copy_of(&a);
    const tb_factor factor = tb_orgqr(routines[element], m, n, order, a.data, a.ld, tau.data, NULL);
    make_by_steps(&factor, &q);
    /* Of more columns V is kept there, with its ones and zeros. */
    CHECK(n > TB_QR_BEHIND || memcmp(a.data, factors.data, bytes_of(&a)) == 0, "reflectors were written");
    check_q(&q, &factors, &tau, "by steps");
    tb_make_q_by_loops(&factor);
    check_q(&a, &factors, &tau, "by loops");
    free(factors.data), free(tau.data), free(q.data), free(a.data);
}

int main(void)
{
    static const struct {
        int64_t m, n, order;
    } shapes[] = {{1, 1, 1},       {1, 1, 0},       {5, 1, 1},       {6, 5, 0},
                  {5, 5, 5},       {40, 33, 20},    {128, 128, 128}, {150, 150, 129},
                  {200, 200, 200}, {300, 140, 140}, {300, 270, 10},  {290, 280, 257}};
    check_random random = {check_seed()};
    for (int element = 0; element < TB_ELEMENTS; element++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            try((tb_element)element, shapes[i].m, shapes[i].n, shapes[i].order, &random);
    try(TB_FP64, 1100, 1090, 12, &random);
    return check_result();
}
