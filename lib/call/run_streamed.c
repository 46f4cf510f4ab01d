/* The streamed route: operands in host memory, or some of them, go through a device step by step, or through
 * several, each with a region of C. Where a device fails, what it has not finished is as the caller left it, and the
 * host's BLAS computes that.
 */
#include "lib/call/diagonal.h"
#include "lib/call/exceptions.h"
#include "lib/call/run.h"

#include "lib/call/stream.h"
#include "lib/device/copies.h"
#include "lib/device/platform.h"
#include "lib/machine/calls.h"
#include "lib/machine/machine.h"
#include "lib/machine/meet_server.h"
#include "lib/process/clock.h"
#include "lib/process/leaving.h"
#include "lib/process/lock.h"
#include "lib/process/threads.h"
#include "lib/call/finish.h"
#include "lib/streaming/stream_product.h"
#include "words/frame.h"
#include "words/lowered.h"

#define MULTIPLYING "multiplying matrices in host memory"

/* One device's region of a call, and how it went. */
typedef struct work {
    bool has_thread;
    _Atomic(uint32_t) *unfinished; /* regions that have threads and are not done */
    tb_streamed_region region;
    int device;
    tb_turn turn;
    tb_side side;
    tb_progress done;
    tb_status status;
    double seconds;    /* without waiting for the device's turn */
    double link_bytes; /* that went over the link */
} work;

/* A product of no more bytes than these leaves most of the device idle (1024 x 1024 x 1024 has 12 MiB). */
#define MEDIUM_BYTES ((size_t)16 << 20)

static bool is_medium(const work *work)
{
    return work->region.plan->region_count == 1 && tb_product_bytes(&work->region.product) <= MEDIUM_BYTES;
}

static void leave_turn(void *left)
{
    work *work = left;
    tb_close_side(work->region.side);
    tb_leave_turn(&work->turn);
}

static void take_turn(work *work)
{
    const tb_streamed_region *region = &work->region;
    tb_turn *turn = &work->turn;
    *turn =
        (tb_turn){.device = work->device, .medium = is_medium(work), .seconds = region->plan->device_seconds};
    tb_leaving leaving;
    tb_when_left(&leaving, leave_turn, work);
    work->status = tb_take_turn(turn);
    if (work->status == TB_OK) {
        tb_open_side(region->side);
        const double start = tb_seconds();
        const bool reads_as_given =
            region->kernel->reads != TB_READS_PLAIN && region->kernel->in_place == TB_OUT_OF_PLACE;
        work->status =
            reads_as_given ? TB_UNSUPPORTED : tb_stream_region(turn->pipeline, region, &work->done);
        work->seconds = tb_seconds() - start;
        if (work->status == TB_DEVICE_LOST && work->device >= TB_SERVED_FIRST)
            tb_machine_lose_device(work->device, MULTIPLYING);
        tb_end_turn(turn);
    }
    tb_close_side(region->side);
    tb_not_left(&leaving);
}

static void *do_region(void *argument)
{
    work *work = argument;
    take_turn(work);
    work->link_bytes = tb_take_link_bytes();
    /* When it has been counted as done, the work is the calling thread's again, and is not looked at here. */
    if (work->has_thread)
        tb_count_down(work->unfinished);
    return NULL;
}

static TB_OWN_FRAME void fill_work(work *work, const tb_product *product, const tb_plan *plan,
                                   const tb_region *region, _Atomic(uint32_t) *seen)
{
    const bool in_place = product->in_place != TB_OUT_OF_PLACE;
    const tb_product lowered = in_place ? *product : tb_lowered(product);
    work->region.given = *product;
    work->region.product = tb_region_of(&lowered, region);
    work->region.plan = plan;
    work->region.kernel = region->kernel;
    work->region.seen = seen;
    work->region.programs_stream = tb_callers_stream();
    work->device = region->device;
}

/* ---- Exchange --------------------------------------------------------------------------------------------- */

static bool is_same(const tb_operand *x, const tb_operand *y)
{
    return x->data == y->data && x->rows == y->rows && x->columns == y->columns && x->ld == y->ld;
}

/* Whether both devices bring the same operand through slots, as it lies in the program's memory. */
static bool is_common(const work *works, tb_role role)
{
    const tb_operand *operand = &works[0].region.product.operands[role];
    return is_same(operand, &works[1].region.product.operands[role]) &&
           works[0].region.plan->places[role].memory == TB_MEMORY_HOST;
}

/* From then on. */
static bool let_read_each_other(int device, int other)
{
    const tb_machine machine = tb_machine_facts();
    const tb_chip *chip = tb_find_chip(&machine, device), *others = tb_find_chip(&machine, other);
    return chip && others && chip != others && tb_reach_each_other(chip, others) &&
           tb_enable_access(device, other) == TB_OK && tb_enable_access(other, device) == TB_OK;
}

/* Two devices: C is cut across its columns or its rows. */
static void prepare_exchange(work *works, int count, tb_exchange *exchange)
{
    if (count != 2 || !tb_is_plain(&works[0].region.given) ||
        (!is_common(works, TB_A) && !is_common(works, TB_B)) ||
        !let_read_each_other(works[0].device, works[1].device))
        return;
    atomic_init(&exchange->state, 0);
    exchange->role = is_common(works, TB_A) ? TB_A : TB_B;
    for (int i = 0; i < 2; i++) {
        works[i].side = (tb_side){.exchange = exchange, .number = i};
        works[i].region.side = &works[i].side;
    }
}

/* ---- Regions ---------------------------------------------------------------------------------------------- */

static void wait_for_regions(void *counted)
{
    tb_wait_for_none(counted);
}

/* Signals are held back, so that a caller whose signal handler leaves the call finds counted those regions, and no others,
 * that have a thread. */
static void start_region(work *work, _Atomic(uint32_t) *unfinished)
{
    sigset_t signals;
    tb_hold_signals(&signals);
    work->unfinished = unfinished;
    work->has_thread = true;
    atomic_fetch_add(unfinished, 1);
    if (!tb_start_thread(do_region, work)) {
        work->has_thread = false;
        atomic_fetch_sub(unfinished, 1);
    }
    tb_let_signals(&signals);
}

/* The end of each operand in ordinary memory, before the other regions' threads come to it (touch_end, copy_threads.c). */
static void touch_ends(const tb_product *product, const tb_plan *plan)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const tb_matrix *operand = &product->operands[role].matrix;
        if (plan->places[role].memory != TB_MEMORY_HOST || operand->rows == 0 || operand->columns == 0)
            continue;
        char *end = (char *)tb_at(operand, operand->rows, operand->columns - 1);
        if (role == TB_C)
            tb_touch_to_write(end - 1);
        else
            tb_touch_to_read(end - 1);
    }
}

/* All regions at once, as far as threads can be had. */
static void do_regions(work *works, int count)
{
    _Atomic(uint32_t) unfinished = 0;
    tb_leaving leaving;
    tb_when_left(&leaving, wait_for_regions, &unfinished);
    for (int i = 1; i < count; i++)
        start_region(&works[i], &unfinished);
    do_region(&works[0]);
    for (int i = 1; i < count; i++)
        if (!works[i].has_thread)
            do_region(&works[i]);
    wait_for_regions(&unfinished);
    tb_not_left(&leaving);
}

/* What is left to do for the host: the product as the program gave it, and how far it has come. Parts of complex
 * numbers are rows of what was multiplied. */
static tb_product left_of(const work *work, tb_progress *done)
{
    const tb_streamed_region *region = &work->region;
    *done = work->done;
    if (tb_is_plain(&region->given) || region->given.in_place != TB_OUT_OF_PLACE)
        return region->product;
    if (tb_is_complex(tb_element_of(&region->given))) {
        done->rows /= 2;
        done->next_rows /= 2;
    }
    return region->given;
}

typedef struct diagonal {
    const tb_matrix *c;
    int device;
    tb_buffer zero;
} diagonal;

static tb_status enqueue_diagonal(tb_stream *stream, void *argument)
{
    diagonal *diagonal = argument;
    TB_TRY(tb_take_buffer(diagonal->device, TB_ZERO_BYTES, &diagonal->zero));
    TB_TRY(tb_send_zero(stream, &diagonal->zero));
    return tb_enqueue_real_diagonal(stream, diagonal->c, &diagonal->zero);
}

/* C, which is complete, lies in the program's memory. */
static tb_status make_diagonal_real(const tb_product *product, const tb_plan *plan)
{
    diagonal diagonal = {.c = &product->c.matrix, .device = plan->place.device};
    if (product->c.structure != TB_HERMITIAN)
        return TB_OK;
    if (plan->places[TB_C].memory != TB_MEMORY_DEVICE) {
        tb_make_diagonal_real(&product->c.matrix);
        return TB_OK;
    }
    const tb_status status = tb_in_callers_stream(&plan->place, enqueue_diagonal, &diagonal);
    tb_give_buffer(&diagonal.zero);
    return status;
}

/* ---- When the device cannot ------------------------------------------------------------------------------- */

static bool has_begun(const work *works, int count)
{
    for (int i = 0; i < count; i++)
        if (works[i].status == TB_OK || works[i].done.rows > 0 || works[i].done.columns > 0)
            return true;
    return false;
}

static TB_OWN_FRAME void finish_region(const work *work, const tb_host *host)
{
    tb_progress done;
    const tb_product left = left_of(work, &done);
    tb_finish_on_host(&left, &done, host);
}

static TB_OWN_FRAME tb_status rescue(const work *work, const tb_plan *plan, const tb_host *host)
{
    tb_progress done;
    const tb_product left = left_of(work, &done);
    return tb_rescue(&left, plan, &done, host);
}

/* The regions that failed, each from where it had come to. TB_DECLINED when the whole product is still to be done. */
static tb_outcome finish(const work *works, int count, const tb_host *host)
{
    if (!has_begun(works, count))
        return TB_DECLINED;
    for (int i = 0; i < count; i++)
        if (works[i].status != TB_OK)
            finish_region(&works[i], host);
    return TB_DONE;
}

/* One call's: too much for the stack of a thread. */
typedef struct shared_work {
    work works[TB_REGIONS_MAXIMUM];
    tb_exchange exchange;
    _Atomic(uint32_t) seen; /* in C (lib/streaming/not_finite.h) */
} shared_work;

static tb_outcome run_regions(const tb_product *product, const tb_plan *plan, const tb_host *host,
                              double *seconds, shared_work *shared)
{
    work *works = shared->works;
    const int count = plan->region_count;
    for (int i = 0; i < count; i++)
        fill_work(&works[i], product, plan, &plan->regions[i], &shared->seen);
    prepare_exchange(works, count, &shared->exchange);
    if (count > 1)
        touch_ends(product, plan);
    do_regions(works, count);

    bool complete = true, lost = false;
    double slowest = 0;
    for (int i = 0; i < count; i++) {
        complete = complete && works[i].status == TB_OK;
        lost = lost || works[i].status == TB_DEVICE_LOST;
        slowest = works[i].seconds > slowest ? works[i].seconds : slowest;
        tb_add_link_bytes(works[i].link_bytes);
    }
    if (complete)
        works[0].status = make_diagonal_real(product, plan);
    if (complete && works[0].status == TB_OK) {
        *seconds = slowest;
        return TB_DONE;
    }
    /* Where an operand lies on a device there is one region, and the host cannot reach all operands. */
    if (!lost && plan->needs_device) {
        const tb_status status = rescue(&works[0], plan, host);
        if (status == TB_OK)
            return TB_DONE;
        lost = status == TB_DEVICE_LOST;
    }
    /* Of a server's the turn has seen to that: there may be another one by now. */
    if (lost && plan->regions[0].device < TB_SERVED_FIRST)
        tb_machine_lose(MULTIPLYING);
    return plan->needs_device ? TB_DECLINED : finish(works, count, host);
}

/* A thread that left in the middle may have left the C library's allocator there: what is made of it is lost then. */
static void forget(void *left)
{
    if (!tb_left_in_the_middle())
        tb_unmake(left);
}

tb_outcome tb_run_streamed(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    shared_work *shared = tb_make(sizeof *shared);
    if (!shared)
        return TB_DECLINED;
    tb_leaving leaving;
    tb_when_left(&leaving, forget, shared);
    const tb_outcome outcome = run_regions(task.product, plan, host, seconds, shared);
    if (outcome == TB_DONE)
        tb_raise_exceptions(task.product, plan->places, atomic_load(&shared->seen));
    tb_not_left(&leaving);
    tb_unmake(shared);
    return outcome;
}
