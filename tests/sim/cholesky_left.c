/* Callers that leave a factorization in the middle, by siglongjmp between any two of the steps that are given to the device: as out of a
 * signal handler, but at known moments, outside of the driver. The program's matrix then has finished columns, in order, and behind them
 * what was there before; nobody writes into it any more; what the call had of the device is given back, and the next call is done by the
 * device as ever. tests/sim/leaving.c has jumps at any moment.
 */
#include "dispatch/factor_choice.h"
#include "sequences/cholesky.h"
#include "tests/known_factor.h"
#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"

#include <limits.h>
#include <setjmp.h>

enum { CHILD_SECONDS = 60, ORDER = 300, PANEL = 64 };

/* How long the matrix is watched after a jump: several times what the device still has to do then. */
enum { WATCHED_MICROSECONDS = 4000 };

/* The linker puts this in front of tb_decide_factor: columns are finished a panel at a time. */
tb_plan __real_tb_decide_factor(const tb_factor *factor, const tb_facts *facts);
tb_plan __wrap_tb_decide_factor(const tb_factor *factor, const tb_facts *facts);

tb_plan __wrap_tb_decide_factor(const tb_factor *factor, const tb_facts *facts)
{
    tb_plan plan = __real_tb_decide_factor(factor, facts);
    if (plan.block > PANEL)
        plan.block = PANEL;
    return plan;
}

/* ---- The jump --------------------------------------------------------------------------------------------- */

/* Moments, before and after each step, counted from 1; 0: nobody jumps. */
static sigjmp_buf before_call;
static int moments, jump_at;

/* Before that the device has come to rest, so that columns are finished. */
static void pass_moment(void)
{
    enum { MICROSECONDS = 50, WAITS_MOST = 10000 };
    for (int waits = 0; sim_in_flight() > 0 && waits < WAITS_MOST; waits++)
        usleep(MICROSECONDS);
    if (++moments == jump_at)
        siglongjmp(before_call, 1);
}

/* And these in front of what tells whether the driver, or the C library's allocator, has been left in the middle, and of what frees memory. */
bool __real_tb_left_in_the_middle(void);
bool __wrap_tb_left_in_the_middle(void);
void __real_tb_unmake(void *made);
void __wrap_tb_unmake(void *made);
static bool in_the_middle;
static int freed;

bool __wrap_tb_left_in_the_middle(void)
{
    return __real_tb_left_in_the_middle() || in_the_middle;
}

void __wrap_tb_unmake(void *made)
{
    freed += made != NULL;
    __real_tb_unmake(made);
}

/* And this in front of the walk: who takes its steps passes a moment before and after each. */
tb_status __real_tb_walk_cholesky(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor);
tb_status __wrap_tb_walk_cholesky(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor);

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

tb_status __wrap_tb_walk_cholesky(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor)
{
    passer passer = {{visit}, visitor};
    return __real_tb_walk_cholesky(factor, block, panel, &passer.visitor);
}

/* Whether the call was left before it was over. */
static bool call_and_jump(const trial *t, void *a, int moment)
{
    moments = 0;
    jump_at = moment;
    const bool jumped = sigsetjmp(before_call, 1) != 0;
    if (!jumped)
        call(t, a);
    jump_at = 0;
    return jumped;
}

/* ---- What is left of a matrix ----------------------------------------------------------------------------- */

/* Of the columns that are finished one after the other: of L, or of U. A column that was being written may be of both. Returns how many
 * are finished. */
static int64_t count_finished(const trial *t, const void *a)
{
    const number *l = tables_of(t)->l, *before = tables_of(t)->a;
    int64_t finished = 0, wrong = 0;
    bool all_finished = true;
    for (int64_t column = 0; column < t->n; column++) {
        bool is_finished = true, is_as_before = true;
        for (int64_t row = t->lower ? column : 0; row < (t->lower ? t->n : column + 1); row++) {
            const int64_t i = t->lower ? row : column, j = t->lower ? column : row;
            const number found = get(t, a, i, j);
            is_finished = is_finished && found == l[i + j * t->n];
            is_as_before = is_as_before && found == before[i + j * t->n];
            wrong += found != l[i + j * t->n] && found != before[i + j * t->n];
        }
        wrong += !all_finished && !is_as_before;
        all_finished = all_finished && is_finished;
        finished += all_finished;
    }
    CHECK(wrong == 0, "after a jump %d elements or columns are neither finished nor as they were",
          (int)wrong);
    return finished;
}

static bool has_some_finished(const trial *t, const void *a)
{
    const size_t bytes = bytes_of(t);
    void *copy = malloc(bytes);
    memcpy(copy, a, bytes);
    usleep(WATCHED_MICROSECONDS);
    CHECK(memcmp(copy, a, bytes) == 0, "the matrix was written after the jump");
    free(copy);
    const int64_t finished = count_finished(t, a);
    return finished >= PANEL && finished < t->n;
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

static void leave_at_all_moments(void *unused)
{
    (void)unused;
    trial t = {.spelling = TB_SPELLING_dpotrf_64_, .n = ORDER};
    force_device();
    tileblas_set_option("KERNEL", "dgemm_crt_sm90"); /* which takes a workspace */
    int all = INT_MAX, partly = 0;                   /* moments that both have */
    for (int lower = 0; lower < 2; lower++) {
        t.lower = lower;
        moments = 0;
        try(&t);
        all = moments < all ? moments : all;
    }
    const sim_usage before = sim_get_usage();
    for (int moment = 1; moment <= all; moment++) {
        t.lower = moment % 4 < 2;
        void *a = make_matrix(&t);
        if (CHECK(call_and_jump(&t, a, moment), "there is no moment %d", moment))
            partly += has_some_finished(&t, a);
        the_next_call_is_as_ever(&t, &before, moment);
        free(a);
    }
    CHECK(all > 2 * ORDER / PANEL && partly > 0, "%d moments, %d jumps out of a matrix with finished columns",
          all, partly);
}

/* What the allocator may have been left with is lost. */
static void nothing_is_freed_in_the_middle(void *unused)
{
    (void)unused;
    const trial t = {.spelling = TB_SPELLING_dpotrf_64_, .n = ORDER};
    force_device();
    try(&t);
    void *a = make_matrix(&t);
    in_the_middle = true;
    freed = 0;
    const bool jumped = call_and_jump(&t, a, moments / 2);
    CHECK(jumped && freed == 0, "%d pieces of memory are freed", freed);
    in_the_middle = false;
    try(&t);
    free(a);
}

int main(void)
{
    static void (*const statements[])(void *) = {leave_at_all_moments, nothing_is_freed_in_the_middle};
    seed = check_seed();
    for (size_t i = 0; i < COUNT(statements); i++) {
        const child_end end = child_run(statements[i], NULL, CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT, "process %d was %s", (int)i, child_end_text(end));
    }
    return check_result();
}
