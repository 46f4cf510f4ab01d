/* A task: what a program asks of one routine, a product or a factorization. All that is not arithmetic asks it the same few
 * questions: statistics, ranges, the record, options, the host's call and the line of a call know neither m, n and k nor A, B and
 * C.
 *
 * A task is passed by value, and does not own what it points to.
 */
#ifndef TB_TASK_H
#define TB_TASK_H

#include "words/factor.h"
#include "words/product.h"

typedef enum tb_task_kind { TB_TASK_PRODUCT, TB_TASK_FACTOR, TB_TASK_KINDS } tb_task_kind;

typedef struct tb_task {
    tb_task_kind kind;
    union {
        const tb_product *product;
        const tb_factor *factor;
    };
} tb_task;

static inline tb_task tb_task_of_product(const tb_product *product)
{
    return (tb_task){.kind = TB_TASK_PRODUCT, .product = product};
}

static inline tb_task tb_task_of_factor(const tb_factor *factor)
{
    return (tb_task){.kind = TB_TASK_FACTOR, .factor = factor};
}

static inline bool tb_is_product(tb_task task)
{
    return task.kind == TB_TASK_PRODUCT;
}

static inline tb_routine tb_task_routine(tb_task task)
{
    return tb_is_product(task) ? task.product->routine : task.factor->routine;
}

/* How many tasks there are: more than one of a batch, whose other answers, but for flops, are of its first member. */
static inline int64_t tb_task_members(tb_task task)
{
    return tb_is_product(task) ? tb_members_of(task.product) : 1;
}

/* ---- Matrices --------------------------------------------------------------------------------------------- */

/* The most that a task has. What there is one of for each matrix is an array of so many. */
enum { TB_TASK_MATRICES = TB_ROLES };

/* How many it has: A, B and C of a product in the order of their roles, also where one of them is empty; A of a factorization, and B of a solve. */
static inline int tb_task_matrices(tb_task task)
{
    return tb_is_product(task) ? TB_ROLES : tb_solves(task.factor) ? 2 : 1;
}

static inline const tb_matrix *tb_task_matrix(tb_task task, int number)
{
    return tb_is_product(task) ? &task.product->operands[number].matrix
           : number == 0       ? &task.factor->a
                               : &task.factor->b;
}

/* Whether it is read or written at all. */
static inline bool tb_task_touches(tb_task task, int number)
{
    return !tb_is_product(task) || number == TB_C || task.product->k > 0;
}

static inline tb_element tb_task_element(tb_task task)
{
    return tb_is_product(task) ? tb_element_of(task.product) : task.factor->a.element;
}

/* ---- Amounts ---------------------------------------------------------------------------------------------- */

/* Those of real numbers; a multiply-add is two. A batch has those of all members. */
static inline double tb_task_flops(tb_task task)
{
    return 2 * (tb_is_product(task) ? tb_volume(task.product) : tb_factor_volume(task.factor));
}

/* Bytes of the elements that are read or written. */
size_t tb_task_bytes(tb_task task);

/* ---- In words --------------------------------------------------------------------------------------------- */

/* What a task's size is called by: m, n and k of a product, and of Q, which k reflectors make, or of what they are applied to; n of a
 * factorization of a square matrix, else m and n; n of a solve, m and n of least squares, and how many columns B has. */
enum { TB_EXTENTS_MOST = 3 };
typedef struct tb_extents {
    int count;
    int64_t of[TB_EXTENTS_MOST];
    const char *names; /* a letter each */
} tb_extents;

static inline tb_extents tb_task_extents(tb_task task)
{
    if (tb_is_product(task))
        return (tb_extents){3, {task.product->m, task.product->n, task.product->k}, "mnk"};
    if (tb_applies_q(task.factor))
        return (tb_extents){3, {task.factor->b.rows, task.factor->b.columns, task.factor->n}, "mnk"};
    if (tb_finds_least_squares(task.factor))
        return (tb_extents){3, {task.factor->m, task.factor->n, task.factor->b.columns}, "mnr"};
    if (tb_solves(task.factor))
        return (tb_extents){2, {task.factor->n, task.factor->b.columns}, "nr"};
    if (task.factor->stored != TB_FULL)
        return (tb_extents){1, {task.factor->n}, "n"};
    if (tb_makes_q(task.factor))
        return (tb_extents){3, {task.factor->m, task.factor->n, task.factor->reflectors.count}, "mnk"};
    return (tb_extents){2, {task.factor->m, task.factor->n}, "mn"};
}

/* A call's letters, as Fortran takes them: SYMM's side and stored triangle; else the triangle of C, if any, and the two
 * operations; R is conjugated and not transposed. Of a factorization the stored triangle, if any; of a solve the
 * operation and the diagonal, too; of Q its side and the operation. */
enum { TB_LETTERS_SIZE = 5 };
void tb_print_letters(tb_task task, char text[static TB_LETTERS_SIZE]);

/* "dgemm NT m=4 n=5 k=6 lda=4 ldb=5 ldc=4 alpha=1 beta=0": the whole call, as people are told of it. Numbers have a point in the
 * C locale alone. */
enum { TB_TASK_TEXT_SIZE = 384 };
void tb_print_task(tb_task task, char text[static TB_TASK_TEXT_SIZE]);

#endif
