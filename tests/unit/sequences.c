/* Sequences: their steps do every element of a task once, after all that it depends on, and what is chosen for them
 * is complete. */
#include "dispatch/schedule.h"
#include "kernels/catalog.h"
#include "sequences/sequence.h"
#include "tests/check.h"
#include "words/integers.h"

#include <string.h>

enum { CASES = 60, ORDER_MOST = 900, OTHER_MOST = 24 };

static const uintptr_t triangle_base = 1 << 24, c_base = 2 << 24, workspace_base = 3 << 24;

/* How often an element of the triangle, or of D, has been multiplied by or divided by; whether one of C is done. */
static unsigned char used[4 * ORDER_MOST * ORDER_MOST], done[2 * ORDER_MOST * OTHER_MOST];

typedef struct watcher {
    tb_visitor visitor;
    const tb_product *task;
    const tb_schedule *schedule;
    tb_accuracy accuracy;
    int architecture;
    tb_matrix d, w;            /* written out by the steps so far; data is NULL: not yet */
    bool finished[ORDER_MOST]; /* columns of C */
    int mended;
} watcher;

/* Where the part begins in the matrix. */
static void find_part(const tb_matrix *part, const tb_matrix *all, int64_t *row, int64_t *column)
{
    const int64_t offset =
        ((const char *)part->data - (const char *)all->data) / (int64_t)tb_bytes_of(all->element);
    *row = offset % all->ld;
    *column = offset / all->ld;
    CHECK(part->ld == all->ld && *row + part->rows <= all->rows && *column + part->columns <= all->columns,
          "a part of %lld x %lld at %lld, %lld", (long long)part->rows, (long long)part->columns,
          (long long)*row, (long long)*column);
}

static void use(const tb_operand *part, const tb_matrix *all)
{
    int64_t row, column;
    find_part(&part->matrix, all, &row, &column);
    for (int64_t j = 0; j < part->columns; j++)
        for (int64_t i = 0; i < part->rows; i++)
            if (part->structure == TB_GENERAL || (part->stored == TB_LOWER ? i >= j : i <= j))
                used[row + i + (column + j) * all->rows]++;
}

/* Whether all of a part of C is done, or none of it; then it may be. */
static bool all_are(const tb_matrix *part, const tb_matrix *c, bool is_done, bool becomes_done)
{
    int64_t row, column;
    bool all = true;
    find_part(part, c, &row, &column);
    for (int64_t j = 0; j < part->columns; j++)
        for (int64_t i = 0; i < part->rows; i++) {
            unsigned char *element = &done[row + i + (column + j) * c->rows];
            all = all && *element == is_done;
            *element |= becomes_done;
        }
    return all;
}

/* The deal has a row for it, which computes it, as accurately as the sequence's row promises. */
static void a_row_is_known(const watcher *all, const tb_sequence_step *step)
{
    const tb_sequence_deal *deal = TB_DEAL(all->schedule, tb_sequence_deal);
    const int i = tb_find_size(deal, step->size);
    if (!CHECK(i < deal->count, "nothing is known of products of size %lld", (long long)step->size))
        return;
    const tb_kernel *row = &tb_catalog[deal->rows[i]];
    const tb_element element = tb_element_of(&step->product);
    CHECK(row->sequence == TB_NO_SEQUENCE && row->in_place == step->product.in_place &&
              row->element == (step->product.in_place == TB_OUT_OF_PLACE ? tb_real_of(element) : element) &&
              row->accuracy <= all->accuracy &&
              (tb_kernel_runs_on(row, all->architecture) || all->architecture < 75),
          "%s for size %lld", row->name, (long long)step->size);
}

/* Products of a size are alike: they have the order of both halves that they lie between. */
static void watch_solve(watcher *all, const tb_product *p, int64_t size)
{
    const tb_product *task = all->task;
    const bool left = tb_is_triangle_left(task);
    CHECK(size == (p->in_place == TB_SOLVES ? 0 : p->k + (left ? p->m : p->n)),
          "size %lld of %lld x %lld x %lld", (long long)size, (long long)p->m, (long long)p->n,
          (long long)p->k);
    use(left ? &p->a : &p->b, &tb_triangle_of(task)->matrix);
    if (p->in_place == TB_SOLVES)
        CHECK(all_are(&p->c.matrix, &task->c.matrix, false, true), "a part of C is solved for twice");
    else
        CHECK(all_are(left ? &p->b.matrix : &p->a.matrix, &task->c.matrix, true, true) &&
                  all_are(&p->c.matrix, &task->c.matrix, false, false) && p->alpha.re == -1,
              "a product of what is not solved for, or to what is");
}

static void watch_piece(watcher *all, const tb_product *p)
{
    const bool left = tb_is_triangle_left(all->task), is_complex = tb_is_complex(all->task->c.element);
    const tb_matrix c = is_complex ? tb_real_view(&all->task->c.matrix) : all->task->c.matrix;
    int64_t row, column;
    CHECK(all->d.data && all->w.data && tb_is_zero(p->beta), "a piece before D and W");
    use(left ? &p->a : &p->b, &all->d);
    find_part(left ? &p->b.matrix : &p->a.matrix, &all->w, &row, &column);
    CHECK(all_are(&p->c.matrix, &c, false, true), "a part of C is computed twice");
}

static void watch_move(watcher *all, const tb_sequence_step *step)
{
    const bool is_c = step->move.source.data == all->task->c.data,
               in_place = step->move.target.data == all->task->c.data;
    CHECK(in_place == (all->task->in_place == TB_SOLVES) && (is_c || step->notes == NULL), "what is moved");
    CHECK(!in_place || !used[0], "C is scaled after the first step");
    if (!in_place)
        *(is_c ? &all->w : &all->d) = step->move.target;
}

static tb_status watch(tb_visitor *visitor, const tb_sequence_step *step)
{
    watcher *all = (watcher *)visitor;
    const tb_product *p = &step->product;
    if (step->kind == TB_STEP_PRODUCT) {
        int64_t row, column;
        const tb_matrix *c = &all->task->c.matrix;
        a_row_is_known(all, step);
        if (all->task->in_place == TB_SOLVES) {
            find_part(&p->c.matrix, c, &row, &column);
            for (int64_t j = column; j < column + p->n; j++)
                CHECK(!all->finished[j], "a finished column is written");
            watch_solve(all, p, step->size);
        } else
            watch_piece(all, p);
    } else if (step->kind == TB_STEP_MOVE)
        watch_move(all, step);
    else
        all->mended++;
    for (int64_t j = 0; j < step->finished.count; j++)
        all->finished[step->finished.first + j] = true;
    return TB_OK;
}

/* A solve uses what is stored of the triangle once, a product what stands for it in D, which has zeros besides. */
static void every_element_is_used_once(const watcher *all, const char *name)
{
    const tb_operand *triangle = tb_triangle_of(all->task);
    const bool multiplies = all->task->in_place == TB_MULTIPLIES;
    const tb_matrix *x = multiplies ? &all->d : &triangle->matrix;
    const int64_t down = x->rows / all->task->k, across = x->columns / all->task->k;
    const bool lower = (triangle->stored == TB_LOWER) != (multiplies && triangle->transposed);
    int64_t wrong = 0;
    for (int64_t j = 0; j < x->columns; j++)
        for (int64_t i = 0; i < x->rows; i++) {
            const int64_t row = i / down, column = j / across;
            const int times = used[i + j * x->rows];
            wrong += (lower ? row >= column : row <= column) ? times != 1 : times > multiplies;
        }
    CHECK(wrong == 0, "%s: %lld elements are used never, or twice", name, (long long)wrong);
}

static void steps_cover_the_task(const tb_kernel *kernel, int number, check_random *random)
{
    static const int architectures[] = {60, 75, 80, 90, 100};
    const tb_target target = {.architecture = CHECK_PICK(random, architectures),
                              .multiprocessors = (int)check_between(random, 1, 132)};
    const bool left = check_between(random, 0, 1), complex = tb_is_complex(kernel->element);
    const int64_t order = check_between(random, 1, number % 2 ? ORDER_MOST : 100),
                  other = check_between(random, 1, OTHER_MOST), m = left ? order : other,
                  n = left ? other : order;
    const tb_scalar alpha = {0.5, complex && check_between(random, 0, 1) ? 1 : 0};
    const tb_product task = tb_triangular(
        kernel->in_place, kernel->element, left, check_between(random, 0, 1) ? TB_LOWER : TB_UPPER,
        check_between(random, 0, 1), check_between(random, 0, 1), check_between(random, 0, 1), m, n, alpha,
        (void *)triangle_base, order + 3, (void *)c_base, m + 1);
    const tb_schedule schedule = tb_make_schedule(kernel, &task, target);
    const tb_sequence_deal *deal = TB_DEAL(&schedule, tb_sequence_deal);
    watcher all = {.visitor = {watch},
                   .task = &task,
                   .schedule = &schedule,
                   .accuracy = kernel->accuracy,
                   .architecture = target.architecture};
    memset(used, 0, sizeof used);
    memset(done, 0, sizeof done);
    tb_walk(kernel->sequence, &task, deal->block, (void *)workspace_base, &all.visitor);
    every_element_is_used_once(&all, kernel->name);
    const tb_matrix c =
        complex && kernel->in_place == TB_MULTIPLIES ? tb_real_view(&task.c.matrix) : task.c.matrix;
    CHECK(all_are(&c, &c, true, true), "%s: some of C is not computed", kernel->name);
    CHECK(all.mended == (kernel->in_place == TB_MULTIPLIES), "%s: mended %d times", kernel->name, all.mended);
    for (int64_t j = 0; j < n; j++)
        CHECK(all.finished[j] || (left && kernel->in_place == TB_SOLVES), "%s: column %lld is never finished",
              kernel->name, (long long)j);
}

/* The triangles are the largest that any device has room for, and have the most sizes. */
static void all_sizes_have_room(const tb_kernel *kernel)
{
    for (int64_t order = 200000; order < 200100; order += 7) {
        const tb_product task =
            tb_triangular(kernel->in_place, kernel->element, true, TB_LOWER, false, false, false, order, 64,
                          (tb_scalar){1, 0}, (void *)triangle_base, order, (void *)c_base, order);
        const tb_schedule schedule =
            tb_make_schedule(kernel, &task, (tb_target){.architecture = 90, .multiprocessors = 132});
        CHECK(TB_DEAL(&schedule, tb_sequence_deal)->count < TB_SIZES_MOST, "%s: no room for all sizes",
              kernel->name);
    }
}

int main(void)
{
    check_random random = {.state = check_seed()};
    int sequences = 0;
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        if (kernel->sequence == TB_NO_SEQUENCE)
            continue;
        sequences++;
        for (int i = 0; i < CASES; i++)
            steps_cover_the_task(kernel, i, &random);
        all_sizes_have_room(kernel);
    }
    CHECK(sequences == 12, "%d sequences", sequences);
    return check_result();
}
