/* Callers that leave what replaces a matrix in the middle, by siglongjmp before or after what takes memory, gives it back, or copies: as
 * out of a signal handler, but at known moments. The matrix is then as it was, or all of it as the call leaves it; nobody writes into it
 * any more; what the call had of the device is given back, and the next call is done by the device as ever. solve_left.c is the same of
 * columns that are finished one after the other.
 */
#include "compat/spellings.h"
#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "lib/device/copies.h"
#include "lib/device/memory.h"
#include "lib/process/large_pages.h"
#include "lib/process/leaving.h"
#include "lib/streaming/passing.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

enum { CHILD_SECONDS = 60, ORDER = 70, LD = 73, NUMBERS = LD * ORDER, LWORK = 32 * ORDER };
static const size_t bytes = NUMBERS * sizeof(double);

/* How long the matrix is watched after a jump: several times what the device still has to do then. */
enum { WATCHED_MICROSECONDS = 1000 };

/* The linker puts this in front of tb_slot_bytes: what comes back does so in many pieces. */
size_t __wrap_tb_slot_bytes(void);
size_t __wrap_tb_slot_bytes(void)
{
    return (size_t)8 << 10;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

typedef struct trial {
    const char *name;
    tb_memory of_a, of_b;
} trial;

static const trial trials[] = {
    {.name = "dgetri_64_"},
    {.name = "dtrtri_64_"},
    {.name = "dorgqr_64_"},
    {.name = "dormqr_64_"},
    {.name = "dormqr_64_", .of_a = TB_MEMORY_DEVICE},
};

static double tau[ORDER], work[LWORK];
static int64_t pivots[ORDER];

/* TRTRI has a diagonal of ones, and ORMQR Q on the right. */
static void call(const trial *t, void *a, void *b)
{
    static const int64_t n = ORDER, ld = LD, lwork = LWORK;
    typedef const int64_t *number;
    int64_t info = -1;
    union {
        void *address;
        void (*getri)(number, void *, number, void *, void *, number, int64_t *);
        void (*trtri)(const char *, const char *, number, void *, number, int64_t *, size_t, size_t);
        void (*orgqr)(number, number, number, void *, number, void *, void *, number, int64_t *);
        void (*ormqr)(const char *, const char *, number, number, number, void *, number, void *, void *,
                      number, void *, number, int64_t *, size_t, size_t);
    } f = {dlsym(RTLD_DEFAULT, t->name)};
    if (strcmp(t->name, "dgetri_64_") == 0)
        f.getri(&n, a, &ld, pivots, work, &lwork, &info);
    else if (strcmp(t->name, "dtrtri_64_") == 0)
        f.trtri("L", "U", &n, a, &ld, &info, 1, 1);
    else if (strcmp(t->name, "dorgqr_64_") == 0)
        f.orgqr(&n, &n, &n, a, &ld, tau, work, &lwork, &info);
    else
        f.ormqr("R", "T", &n, &n, &n, a, &ld, tau, b, &ld, work, &lwork, &info, 1, 1);
    CHECK(info == 0, "%s: info is %d", t->name, (int)info);
}

/* ---- The jump --------------------------------------------------------------------------------------------- */

/* Moments, counted from 1; 0: nobody jumps. */
static sigjmp_buf before_call;
static pthread_t caller;
static int moments, jump_at;
static const char *left_at;

static void pass_moment(const char *name)
{
    if (!pthread_equal(pthread_self(), caller) || ++moments != jump_at)
        return;
    left_at = name;
    siglongjmp(before_call, 1);
}

/* And these in front of functions that a call is left at. */
#define MOMENTS_AROUND(name, parameters, arguments)                                                          \
    void __real_##name parameters;                                                                           \
    void __wrap_##name parameters;                                                                           \
    void __wrap_##name parameters                                                                            \
    {                                                                                                        \
        pass_moment("before " #name);                                                                        \
        __real_##name arguments;                                                                             \
        pass_moment("after " #name);                                                                         \
    }
#define MOMENTS_AROUND_RESULT(type, name, parameters, arguments)                                             \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters                                                                            \
    {                                                                                                        \
        pass_moment("before " #name);                                                                        \
        type result = __real_##name arguments;                                                               \
        pass_moment("after " #name);                                                                         \
        return result;                                                                                       \
    }
MOMENTS_AROUND(tb_unmake, (void *made), (made))
MOMENTS_AROUND(tb_unmap_large_pages, (void *memory, size_t size), (memory, size))
MOMENTS_AROUND(tb_keep_buffer, (tb_buffer * buffer), (buffer))
MOMENTS_AROUND(tb_copy_begin, (tb_copy_job * job, const tb_host_copy *copy), (job, copy))
MOMENTS_AROUND(tb_copy_end, (tb_copy_job * job), (job))
MOMENTS_AROUND(tb_copy_dismiss_helpers, (void), ())
MOMENTS_AROUND_RESULT(tb_status, tb_take_buffer, (int device, size_t size, tb_buffer *buffer),
                      (device, size, buffer))
MOMENTS_AROUND_RESULT(tb_status, tb_bring_columns, (tb_passing * passing, int64_t columns),
                      (passing, columns))
MOMENTS_AROUND_RESULT(tb_status, tb_finish_columns, (tb_passing * passing, int64_t columns),
                      (passing, columns))
MOMENTS_AROUND_RESULT(tb_status, tb_return_finished, (tb_passing * passing), (passing))

/* And this in front of tb_copy_operand, so that columns come back while others are still sent on their way. */
tb_status __real_tb_copy_operand(tb_stream *stream, tb_direction direction, const tb_matrix *operand,
                                 void *target, int64_t target_ld);
tb_status __wrap_tb_copy_operand(tb_stream *stream, tb_direction direction, const tb_matrix *operand,
                                 void *target, int64_t target_ld);

tb_status __wrap_tb_copy_operand(tb_stream *stream, tb_direction direction, const tb_matrix *operand,
                                 void *target, int64_t target_ld)
{
    enum { MICROSECONDS = 50, WAITS_MOST = 10000 };
    for (int waits = 0; sim_in_flight() > 0 && waits < WAITS_MOST; waits++)
        usleep(MICROSECONDS);
    return __real_tb_copy_operand(stream, direction, operand, target, target_ld);
}

/* Whether the call was left before it was over. */
static bool call_and_jump(const trial *t, void *a, void *b, int moment)
{
    moments = 0;
    jump_at = moment;
    const bool jumped = sigsetjmp(before_call, 1) != 0;
    if (!jumped)
        call(t, a, b);
    jump_at = 0;
    return jumped;
}

/* ---- What is left of the matrices -------------------------------------------------------------------------- */

/* A matrix of the program's, and what it is before a call. */
typedef struct left {
    tb_memory memory;
    double *before;
    void *there;
} left;

static left lay_out(tb_memory memory, uint64_t seed)
{
    left l = {memory, malloc(bytes), arena_allocate(memory, bytes)};
    check_random random = {seed};
    for (int64_t i = 0; i < NUMBERS; i++)
        l.before[i] = i % LD == i / LD ? 2 : (double)check_uniform(&random) / ORDER;
    return l;
}

static void find(const left *l, double *found)
{
    arena_copy(found, l->there, bytes);
}

typedef struct leaver {
    const trial *trial;
    left a, b, *replaced;
    double *after, *found;
    int as_before, as_after;
} leaver;

static void call_undisturbed(leaver *x)
{
    const long launches = sim_operations("launch");
    arena_copy(x->a.there, x->a.before, bytes);
    arena_copy(x->b.there, x->b.before, bytes);
    moments = 0;
    call(x->trial, x->a.there, x->b.there);
    CHECK(sim_operations("launch") > launches, "%s, after a jump %s: the device is used no more",
          x->trial->name, left_at);
    find(x->replaced, x->found);
}

static void look_at_matrix(leaver *x, int moment)
{
    find(x->replaced, x->found);
    const bool is_before = memcmp(x->found, x->replaced->before, bytes) == 0,
               is_after = memcmp(x->found, x->after, bytes) == 0;
    CHECK(is_before || is_after, "%s, left %s, moment %d: the matrix is neither as before nor as after",
          x->trial->name, left_at, moment);
    x->as_before += is_before;
    x->as_after += is_after;
}

static void leave_at(leaver *x, int moment)
{
    arena_copy(x->a.there, x->a.before, bytes);
    arena_copy(x->b.there, x->b.before, bytes);
    if (!call_and_jump(x->trial, x->a.there, x->b.there, moment))
        return; /* how often it is asked whether columns have come back differs from run to run */
    look_at_matrix(x, moment);
    usleep(WATCHED_MICROSECONDS);
    look_at_matrix(x, moment);
}

static void the_next_call_is_as_ever(leaver *x, const sim_usage *before)
{
    call_undisturbed(x);
    CHECK(memcmp(x->found, x->after, bytes) == 0, "%s, after a jump %s: wrong", x->trial->name, left_at);
    const sim_usage now = sim_get_usage();
    CHECK(now.device_blocks <= before->device_blocks && now.streams <= before->streams,
          "%s, after a jump %s: %ld blocks and %ld streams are taken, not %ld and %ld", x->trial->name,
          left_at, now.device_blocks, now.streams, before->device_blocks, before->streams);
}

/* At some moments, and at all of the last ones, by which what the call has is given back. */
static void leave_at_moments(void *argument)
{
    enum { CLOSELY = 24, SOME = 5 };
    const trial *t = argument;
    leaver x = {.trial = t, .a = lay_out(t->of_a, 1), .b = lay_out(t->of_b, 2)};
    x.replaced = strcmp(t->name, "dormqr_64_") == 0 ? &x.b : &x.a;
    x.after = malloc(bytes);
    x.found = malloc(bytes);
    caller = pthread_self();
    left_at = "nowhere";
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    for (int i = 0; i < ORDER; i++) {
        tau[i] = 1 + (i % 3) * 0.25;
        pivots[i] = i + 1 + i * 7 % (ORDER - i);
    }
    call_undisturbed(&x);
    call_undisturbed(&x);
    memcpy(x.after, x.found, bytes);
    const int all = moments;
    const sim_usage before = sim_get_usage();
    for (int moment = 1; moment <= all; moment += moment < all - CLOSELY ? SOME : 1) {
        leave_at(&x, moment);
        the_next_call_is_as_ever(&x, &before);
    }
    CHECK(x.as_before > 0 && x.as_after > 0, "%s: of %d moments %d left it as before, %d as after", t->name,
          all, x.as_before / 2, x.as_after / 2);
}

int main(void)
{
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        trial t = trials[i];
        const child_end end = child_run(leave_at_moments, &t, CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT, "%s: the process was %s", t.name, child_end_text(end));
    }
    return check_result();
}
