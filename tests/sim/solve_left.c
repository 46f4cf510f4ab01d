/* Callers that leave a solve in the middle, by siglongjmp between any two of the steps that are given to the device: as out of a signal
 * handler, but at known moments, outside of the driver. The program's matrices then have finished columns, in order, and behind them
 * what was there before, B's after all of A's; nobody writes into them any more; what the call had of the device is given back, and
 * the next call is done by the device as ever. cholesky_left.c is the same of a factorization.
 */
#include "sequences/lu.h"
#include "sequences/substitution.h"
#include "tests/known_solve.h"
#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"

#include <setjmp.h>

enum { CHILD_SECONDS = 60, ORDER = 40, COLUMNS = 2100 };

/* How long the matrices are watched after a jump: several times what the device still has to do then. */
enum { WATCHED_MICROSECONDS = 2000 };

/* What makes factors and what has them, LU with pivots and a triangle; B is of three blocks of columns. */
static const trial trials[] = {
    {.spelling = TB_SPELLING_dgesv_64_, .n = 70, .nrhs = COLUMNS},
    {.spelling = TB_SPELLING_zgetrs_64_, .n = ORDER, .nrhs = COLUMNS, .operation = 'C'},
    {.spelling = TB_SPELLING_dtrtrs_, .n = ORDER, .nrhs = COLUMNS, .operation = 'T', .lower = true},
    {.spelling = TB_SPELLING_dposv_, .n = ORDER, .nrhs = COLUMNS, .lower = true},
    {.spelling = TB_SPELLING_dgesv_, .of_a = TB_MEMORY_DEVICE, .n = ORDER, .nrhs = COLUMNS},
    {.spelling = TB_SPELLING_sgesv_, .of_b = TB_MEMORY_DEVICE, .n = ORDER, .nrhs = COLUMNS},
};

/* ---- The jump --------------------------------------------------------------------------------------------- */

/* Moments, before and after each step, counted from 1; 0: nobody jumps. */
static sigjmp_buf before_call;
static int moments, jump_at;

/* Before that the device has come to rest, so that columns are finished. */
static void pass_moment(void)
{
    enum { MICROSECONDS = 50, WAITS_MOST = 10000 };
    if (++moments == jump_at)
        siglongjmp(before_call, 1);
    for (int waits = 0; sim_in_flight() > 0 && waits < WAITS_MOST; waits++)
        usleep(MICROSECONDS);
}

/* The linker puts these in front of walks: who takes their steps passes a moment before and after each; so does who forecasts what they
 * take. */
tb_status __real_tb_walk_lu(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor);
tb_status __wrap_tb_walk_lu(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor);
tb_status __real_tb_walk_substitution(const tb_factor *factor, tb_range columns, tb_visitor *visitor);
tb_status __wrap_tb_walk_substitution(const tb_factor *factor, tb_range columns, tb_visitor *visitor);

typedef struct passer {
    tb_visitor visitor;
    tb_visitor *inside;
} passer;

static tb_status visit(tb_visitor *visitor, const tb_sequence_step *step)
{
    tb_visitor *inside = ((passer *)visitor)->inside;
    pass_moment();
    const tb_status status = inside->visit(inside, step);
    pass_moment();
    return status;
}

tb_status __wrap_tb_walk_lu(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor)
{
    passer passer = {{visit}, visitor};
    return __real_tb_walk_lu(factor, block, panel, &passer.visitor);
}

tb_status __wrap_tb_walk_substitution(const tb_factor *factor, tb_range columns, tb_visitor *visitor)
{
    passer passer = {{visit}, visitor};
    return __real_tb_walk_substitution(factor, columns, &passer.visitor);
}

/* Whether the call was left before it was over. */
static bool call_and_jump(const call *c, int moment)
{
    moments = 0;
    jump_at = moment;
    const bool jumped = sigsetjmp(before_call, 1) != 0;
    if (!jumped)
        make_call(c);
    jump_at = 0;
    return jumped;
}

/* ---- What is left of the matrices -------------------------------------------------------------------------- */

/* A matrix of the program's, and what it is before a call and after one. */
typedef struct left {
    array array;
    tb_memory memory;
    void *before, *after, *there, *found;
} left;

static left lay_out(const trial *t, bool is_b)
{
    left l = {.array = is_b ? b_of(t) : a_of(t), .memory = is_b ? t->of_b : t->of_a};
    l.before = is_b ? make_b(t) : make_a(t);
    l.after = is_b ? expect_b(t) : expect_a(t, l.before);
    l.found = malloc(l.array.bytes);
    l.there = arena_allocate(l.memory, l.array.bytes);
    arena_copy(l.there, l.before, l.array.bytes);
    return l;
}

static void clear_away(left *l)
{
    arena_release(l->memory, l->there);
    free(l->found);
    free(l->after);
    free(l->before);
}

/* Columns that are finished, one after the other. One that was being written may be of both. */
static int64_t count_finished(const trial *t, const left *l)
{
    int64_t finished = 0, wrong = 0;
    bool all_finished = true;
    for (int64_t column = 0; column < l->array.columns; column++) {
        bool is_finished = true, is_as_before = true;
        for (int64_t i = 0; i < l->array.ld; i++) {
            const int64_t place = i + column * l->array.ld;
            const bool is_new = is_same(t, l->found, l->after, place),
                       is_old = is_same(t, l->found, l->before, place);
            wrong += !is_new && !is_old;
            is_finished = is_finished && is_new;
            is_as_before = is_as_before && is_old;
        }
        wrong += !all_finished && !is_as_before;
        all_finished = all_finished && is_finished;
        finished += all_finished;
    }
    CHECK(wrong == 0, "after a jump %d elements or columns are neither finished nor as they were",
          (int)wrong);
    return finished;
}

static void watch(left *l)
{
    void *again = malloc(l->array.bytes);
    arena_copy(l->found, l->there, l->array.bytes);
    usleep(WATCHED_MICROSECONDS);
    arena_copy(again, l->there, l->array.bytes);
    CHECK(memcmp(again, l->found, l->array.bytes) == 0, "a matrix was written after the jump");
    free(again);
}

/* ---- All moments ------------------------------------------------------------------------------------------ */

static void the_next_call_is_as_ever(const trial *t, const sim_usage *before, int moment)
{
    const long launches = sim_operations("launch");
    try(t);
    const sim_usage now = sim_get_usage();
    CHECK(sim_operations("launch") > launches, "moment %d: the device is used no more", moment);
    CHECK(now.device_blocks <= before->device_blocks && now.streams <= before->streams,
          "moment %d: %ld blocks and %ld streams are taken, not %ld and %ld", moment, now.device_blocks,
          now.streams, before->device_blocks, before->streams);
}

/* Whether B has been left with finished columns, and others. */
static bool leave_at(const trial *t, int moment)
{
    left a = lay_out(t, false), b = lay_out(t, true);
    int64_t *pivots = make_pivots(t);
    const call c = call_of(t, a.there, pivots, b.there);
    CHECK(call_and_jump(&c, moment), "there is no moment %d", moment);
    watch(&a);
    watch(&b);
    const int64_t of_a = count_finished(t, &a), of_b = count_finished(t, &b);
    CHECK(of_b == 0 || of_a == t->n, "B has %d finished columns, and A %d", (int)of_b, (int)of_a);
    if (of_b > 0)
        check_pivots(t, pivots, "after a jump");
    free(pivots);
    clear_away(&b);
    clear_away(&a);
    return of_b > 0 && of_b < t->nrhs;
}

static void leave_at_all_moments(void *argument)
{
    const trial *t = argument;
    char text[200];
    int partly = 0;
    describe(t, text);
    force_device();
    moments = 0;
    try(t);
    const int all = moments;
    const sim_usage before = sim_get_usage();
    for (int moment = 1; moment <= all; moment++) {
        partly += leave_at(t, moment);
        the_next_call_is_as_ever(t, &before, moment);
    }
    const bool passes = t->of_a == TB_MEMORY_HOST && t->of_b == TB_MEMORY_HOST;
    CHECK(all >= 8 && (partly > 0 || !passes), "%s: %d moments, %d jumps with some columns of B finished",
          text, all, partly);
}

int main(void)
{
    seed = check_seed();
    for (size_t i = 0; i < COUNT(trials); i++) {
        trial t = trials[i];
        const child_end end = child_run(leave_at_all_moments, &t, CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT, "process %d was %s", (int)i, child_end_text(end));
    }
    return check_result();
}
