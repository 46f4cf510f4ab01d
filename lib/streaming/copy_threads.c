#include "lib/streaming/copy_threads.h"

#include "lib/process/clock.h"
#include "lib/machine/cores.h"
#include "words/integers.h"
#include "lib/machine/calls.h"
#include "lib/process/lock.h"
#include "lib/process/sums.h"
#include "lib/user/options.h"
#include "lib/process/threads.h"

#include <math.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>

/* What a thread copies at a time: long enough to run at full speed, short enough to share evenly. */
#define PIECE_BYTES ((size_t)128 << 10)

/* Below this, waking somebody takes longer than copying. */
#define ALONE_BYTES ((size_t)512 << 10)

#define THREADS_MAXIMUM 32
#define HELPERS_MAXIMUM (THREADS_MAXIMUM - 1)

/* How long a helper looks for work before it sleeps, and while somebody has called for helpers. Waking takes up to a
 * quarter of a millisecond on a virtual machine, and what has slept copies at half the speed at first. */
#define LOOK_SECONDS        50e-6
#define LOOK_SECONDS_CALLED 2e-3
/* Looks between two at the clock. In between, the core is offered to others: the thread that has the work to
 * hand out may be waiting for it, where another library's threads look for work too. */
#define LOOKS 32

/* How long the thread that ends a job waits awake for helpers that are at their last piece. */
#define LAST_PIECE_SECONDS 100e-6

/* A piece takes some ten us. A helper that takes so long at its last one has lost its core to a thread that will not have done with
 * it soon: the host BLAS's threads go on looking for work for 30 ms after a call, and where they have all cores each wait for a helper
 * takes a scheduler's slice, 4 ms. So callers copy alone for so many times as long, and longer each time that happens again at
 * once. */
#define STALL_SECONDS      0.5e-3
#define ALONE_TIMES        8
#define ALONE_SECONDS_MOST 1.0

static tb_lock lock;
static struct helper {
    sem_t waking; /* without the lock, for which all that are woken would queue */
    bool asleep;
} helpers[HELPERS_MAXIMUM];           /* the first ones work first */
static tb_listed_job *jobs;           /* of copies: with pieces left to take, the oldest first */
static tb_listed_job *touch_jobs;     /* of touching, likewise, for helpers that find no other */
static _Atomic(uint32_t) work_listed; /* the length of both lists, for helpers that look without the lock */
static _Atomic(uint32_t) callers;     /* that have called for helpers and not dismissed them */
/* The most links, and the most bytes over a link, that a caller has named since there was none. */
static int links_wanted;
static size_t bytes_wanted;
static _Atomic(uint32_t) helpers_wanted;     /* for so many links and bytes; those with lower numbers work */
static int helpers_started, helpers_settled; /* settled: that run, and have taken a number */
static int helpers_planned;                  /* the most that have been wanted: cores are dealt to so many */
static int callers_core;                     /* on which the thread ran that started the first helper */
static _Atomic(double) alone_until, alone_seconds; /* when callers are helped again; how long they were not */

/* A thread that left its call while it held the lock may have left a list half changed: both are emptied then. Jobs
 * are done all the same, as the thread that ends a job does what nobody helps with. */
static void take_lock(void)
{
    tb_take_lock(&lock);
    if (!tb_is_damaged(&lock))
        return;
    jobs = NULL;
    touch_jobs = NULL;
    atomic_store(&work_listed, 0);
    tb_mend_lock(&lock);
}

bool tb_copies_alone(void)
{
    return TB_LOAD(&alone_until) > 0 && tb_seconds() < TB_LOAD(&alone_until);
}

static void note_wait(double seconds)
{
    const double now = tb_seconds(), last = TB_LOAD(&alone_seconds);
    if (seconds < STALL_SECONDS)
        return;
    const bool at_once = now < TB_LOAD(&alone_until) + last;
    const double next = fmax(ALONE_TIMES * seconds, at_once ? 2 * last : 0);
    TB_STORE(&alone_seconds, next < ALONE_SECONDS_MOST ? next : ALONE_SECONDS_MOST);
    TB_STORE(&alone_until, now + TB_LOAD(&alone_seconds));
}

/* A forked child has no helpers, and no jobs. */
static void forget_in_child(void)
{
    memset(helpers, 0, sizeof helpers);
    jobs = NULL;
    touch_jobs = NULL;
    work_listed = callers = helpers_wanted = 0;
    links_wanted = helpers_started = helpers_settled = helpers_planned = 0;
    bytes_wanted = 0;
    alone_until = alone_seconds = 0;
    lock = (tb_lock){0};
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
}

static void do_piece(tb_copy_job *job, size_t first, size_t rows)
{
    const tb_host_copy *copy = &job->copy;
    if (!job->compares && copy->finds_pages)
        tb_find_pages(copy->target + first * copy->target_pitch,
                      (rows - 1) * copy->target_pitch + copy->row_bytes);
    if (!job->compares)
        tb_copy_rows(copy, first, rows);
    else if (!TB_LOAD(&job->differs) && !tb_rows_are_same(&job->copy, first, rows))
        TB_STORE(&job->differs, true);
}

/* Under the lock. */
static void enter_list(tb_listed_job **list, tb_listed_job *job)
{
    while (*list)
        list = &(*list)->next;
    *list = job;
    atomic_fetch_add(&work_listed, 1);
}

/* Under the lock. */
static void leave_list(tb_listed_job **list, const tb_listed_job *done)
{
    while (*list && *list != done)
        list = &(*list)->next;
    if (!*list)
        return;
    *list = done->next;
    atomic_fetch_sub(&work_listed, 1);
}

/* The same whatever else is under way: how products are cut depends on it, and they are to be cut alike. */
int tb_copy_threads(int links, size_t bytes)
{
    long threads = tb_option_value(TB_OPTION_COPY_THREADS);
    if (threads == 0)
        threads = tb_threads_for_links(tb_allowed_cores(), links, bytes);
    return (int)tb_smaller(tb_larger(threads, 1), THREADS_MAXIMUM);
}

/* How many help one thread now: unless the option says how many, the other calls' threads have cores of their
 * own, which nobody gains by taking from them. */
static int helpers_for(int links, size_t bytes)
{
    int threads = tb_copy_threads(links, bytes);
    if (tb_option_value(TB_OPTION_COPY_THREADS) == 0)
        threads =
            (int)tb_smaller(threads, tb_larger(tb_allowed_cores() + 1 - (int64_t)tb_calls_under_way(), 1));
    return threads - 1;
}

/* Under the lock. */
static void wake(int most)
{
    const int wanted = (int)TB_LOAD(&helpers_wanted);
    for (int i = 0; i < helpers_started && i < wanted && most > 0; i++)
        if (helpers[i].asleep) {
            helpers[i].asleep = false;
            sem_post(&helpers[i].waking);
            most--;
        }
}

/* Waking takes as long as copying a piece, so that who is awake wakes two, who do the same. Nobody is woken
 * for nothing: the thread that ends the job takes pieces too. */
static void wake_two(tb_copy_job *job)
{
    const size_t first = TB_LOAD(&job->next_row);
    const size_t rows = job->copy.rows, pieces = first < rows ? (rows - first) / job->rows_a_piece : 0;
    wake(pieces < 2 ? (int)pieces : 2);
}

/* Copies pieces of the job until none is left to take. They are taken without the lock: for that, threads
 * would queue, and behind one that holds it and has lost its core. */
static void copy_pieces(tb_copy_job *job)
{
    for (;;) {
        const size_t first = TB_ADD(&job->next_row, job->rows_a_piece);
        if (first >= job->copy.rows)
            return;
        const size_t left = job->copy.rows - first;
        do_piece(job, first, left < job->rows_a_piece ? left : job->rows_a_piece);
    }
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* Until the value is no longer that. */
static void look_for_a_while(_Atomic(uint32_t) *value, uint32_t that)
{
    for (int look = 0; look < LOOKS && TB_LOAD(value) == that; look++)
        pause_briefly();
}

/* The next copy of a product usually comes within microseconds, sooner than a sleeping thread would wake. */
static void linger(uint32_t number)
{
    const double start = tb_seconds();
    while (TB_LOAD(&work_listed) == 0 && number < TB_LOAD(&helpers_wanted) && !tb_copies_alone() &&
           tb_seconds() - start < (TB_LOAD(&callers) > 0 ? LOOK_SECONDS_CALLED : LOOK_SECONDS)) {
        look_for_a_while(&work_listed, 0);
        if (TB_LOAD(&work_listed) == 0)
            sched_yield();
    }
}

/* The lock is held on entry and on return. */
static void help_with(tb_copy_job *job)
{
    atomic_fetch_add(&job->listed.helpers, 1);
    wake_two(job);
    tb_free_lock(&lock);
    copy_pieces(job);
    take_lock();
    leave_list(&jobs, &job->listed);
    tb_count_down(&job->listed.helpers);
}

/* One piece, as there may be something to copy then. The lock is held on entry and on return. */
static void touch_with(tb_touch_job *job)
{
    const size_t piece = atomic_fetch_add(&job->next_piece, 1);
    if (piece + 1 >= job->pieces)
        leave_list(&touch_jobs, &job->listed);
    if (piece >= job->pieces)
        return;
    atomic_fetch_add(&job->listed.helpers, 1);
    tb_free_lock(&lock);
    tb_touch_piece(&job->pages, piece);
    take_lock();
    tb_count_down(&job->listed.helpers);
}

/* The lock is held on entry and on return. */
static void sleep_until_woken(struct helper *helper)
{
    helper->asleep = true;
    tb_free_lock(&lock);
    while (sem_wait(&helper->waking) != 0)
        continue;
    take_lock();
}

static void start_others(void);

/* The helper's number. What it starts has the cores that it has itself as yet. */
static uint32_t settle(void)
{
    take_lock();
    const int number = helpers_settled++, planned = helpers_planned, core = callers_core;
    tb_free_lock(&lock);
    start_others();
    tb_stay_on_own_cores(core, number, planned);
    return (uint32_t)number;
}

/* Three of four helpers touch the pages of a new C before they copy, as C's way back waits for its last page;
 * the fourth and the calling thread fill the link meanwhile. On an H200's host of 16 cores NumPy's A @ B of
 * 4096 takes 3.9 ms instead of 6.4 (bench/fresh, docs/lab/streaming.md). */
static bool touches_first(uint32_t number)
{
    return number % 4 != 0;
}

static void *help(void *unused)
{
    const uint32_t number = settle();
    for (;;) {
        linger(number);
        take_lock();
        const bool is_wanted = number < TB_LOAD(&helpers_wanted);
        if (is_wanted && touch_jobs && (!jobs || touches_first(number)))
            touch_with((tb_touch_job *)touch_jobs);
        else if (is_wanted && jobs)
            help_with((tb_copy_job *)jobs);
        else
            sleep_until_woken(&helpers[number]);
        tb_free_lock(&lock);
    }
    return unused;
}

/* Under the lock. One is counted before it is there, as a caller may leave when it is: no two have a number. */
static bool count_helper(void)
{
    if (helpers_started >= (int)TB_LOAD(&helpers_wanted))
        return false;
    sem_init(&helpers[helpers_started].waking, 0, 0);
    helpers_started++;
    return true;
}

/* Under the lock. Starting one takes as long as copying several pieces: the first starts the others. */
static void start_helpers(void)
{
    const int wanted = helpers_for(links_wanted, bytes_wanted);
    atomic_store(&helpers_wanted, (uint32_t)wanted);
    if (helpers_planned < wanted)
        helpers_planned = wanted;
    if (helpers_started == 0) {
        const int core = sched_getcpu();
        callers_core = core < 0 ? 0 : core;
    }
    if (count_helper() && !tb_start_thread(help, NULL))
        helpers_started--;
}

/* Two, which do the same. */
static void start_others(void)
{
    bool goes_on = true;
    for (int i = 0; i < 2 && goes_on; i++) {
        take_lock();
        goes_on = count_helper();
        tb_free_lock(&lock);
        if (goes_on && !tb_start_thread(help, NULL)) {
            take_lock();
            helpers_started--;
            tb_free_lock(&lock);
            goes_on = false;
        }
    }
}

/* The last one of the rows that have a part, and where its part ends; 0: none has. */
static size_t end_of_last(const tb_stairs *stairs, size_t row_bytes, size_t rows, size_t *last)
{
    size_t end = 0;
    for (*last = rows; *last > 0 && end == 0;)
        end = tb_part_of_row(stairs, row_bytes, --*last).end;
    return end;
}

/* A mapped file that has been truncated lacks its end, so that where the last byte of a piece of an operand is there
 * all of it is. Where it is not, the fault is the calling thread's, whose handler may jump, and not a helper's. */
static void touch_end(const tb_copy_job *job)
{
    const tb_host_copy *copy = &job->copy;
    size_t row;
    const size_t end = end_of_last(&copy->stairs, copy->row_bytes, copy->rows, &row);
    if (end == 0)
        return;
    tb_touch_to_read(copy->source + row * copy->source_pitch + end - 1);
    if (!job->compares && copy->target) /* without one it is only looked at */
        tb_touch_to_write(copy->target + row * copy->target_pitch + end - 1);
}

static void begin(tb_copy_job *job, const tb_host_copy *copy, bool compares)
{
    *job = (tb_copy_job){.copy = *copy,
                         .compares = compares,
                         .rows_a_piece = copy->row_bytes > 0 && copy->row_bytes < PIECE_BYTES
                                             ? PIECE_BYTES / copy->row_bytes
                                             : 1};
    if (copy->rows * copy->row_bytes <= ALONE_BYTES) {
        do_piece(job, 0, copy->rows);
        atomic_init(&job->next_row, copy->rows);
        return;
    }
    touch_end(job);
    if (tb_copies_alone())
        return;
    take_lock();
    start_helpers();
    enter_list(&jobs, &job->listed);
    wake_two(job);
    tb_free_lock(&lock);
}

void tb_copy_begin(tb_copy_job *job, const tb_host_copy *copy)
{
    begin(job, copy, false);
}

void tb_compare_begin(tb_copy_job *job, const tb_host_copy *copy)
{
    begin(job, copy, true);
}

bool tb_compare_end(tb_copy_job *job)
{
    tb_copy_end(job);
    return !TB_LOAD(&job->differs);
}

/* Waits for helpers that are at their last piece of a job, which is in no list any more. */
static void wait_for_last(_Atomic(uint32_t) *helpers)
{
    const double start = tb_seconds();
    for (uint32_t left; (left = TB_LOAD(helpers)) > 0 && tb_seconds() - start < LAST_PIECE_SECONDS;)
        look_for_a_while(helpers, left);
    tb_wait_for_none(helpers);
    /* The last to leave may still be about to wake who waits for it. */
    take_lock();
    tb_free_lock(&lock);
}

static void wait_for_helpers(tb_listed_job **list, tb_listed_job *job)
{
    const double start = tb_seconds();
    take_lock();
    leave_list(list, job);
    tb_free_lock(&lock);
    wait_for_last(&job->helpers);
    note_wait(tb_seconds() - start);
}

void tb_copy_end(tb_copy_job *job)
{
    copy_pieces(job);
    wait_for_helpers(&jobs, &job->listed);
}

static void touch_last(const tb_pages *pages)
{
    size_t row;
    const size_t end = end_of_last(&pages->stairs, pages->row_bytes, pages->rows, &row);
    if (end > 0)
        tb_touch_to_write(pages->memory + row * pages->pitch + end - 1);
}

void tb_touch_begin(tb_touch_job *job, const tb_pages *pages)
{
    *job = (tb_touch_job){.pages = *pages, .pieces = tb_count_pieces(pages)};
    touch_last(pages);
    if (tb_copies_alone())
        return;
    take_lock();
    enter_list(&touch_jobs, &job->listed);
    tb_free_lock(&lock);
}

void tb_touch_leave(tb_touch_job *job)
{
    wait_for_helpers(&touch_jobs, &job->listed);
}

void tb_copy_leave(tb_copy_job *job)
{
    atomic_store(&job->next_row, job->copy.rows);
    wait_for_helpers(&jobs, &job->listed);
}

bool tb_cores_beside_helpers(cpu_set_t *cores)
{
    enum { NO_HELPERS = -1 }; /* whose set is the caller's */
    cpu_set_t allowed;
    take_lock();
    const int started = helpers_started, planned = helpers_planned, core = callers_core;
    tb_free_lock(&lock);
    if (started == 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return false;
    tb_cores_of_helper(&allowed, core, NO_HELPERS, planned, cores);
    CPU_CLR((size_t)core, cores);
    return CPU_COUNT(cores) > 0;
}

void tb_copy_call_helpers(size_t bytes, int links)
{
    const size_t pieces = bytes / PIECE_BYTES;
    const bool alone = tb_copies_alone();
    take_lock();
    const uint32_t others = atomic_fetch_add(&callers, 1);
    if (others == 0 || links_wanted < links)
        links_wanted = links;
    if (others == 0 || bytes_wanted < bytes)
        bytes_wanted = bytes;
    if (!alone) {
        start_helpers();
        wake(pieces < HELPERS_MAXIMUM ? (int)pieces : HELPERS_MAXIMUM);
    }
    tb_free_lock(&lock);
}

void tb_copy_dismiss_helpers(void)
{
    atomic_fetch_sub(&callers, 1);
}
