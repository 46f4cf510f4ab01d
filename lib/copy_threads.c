#include "lib/copy_threads.h"

#include "lib/clock.h"
#include "lib/cores.h"
#include "lib/options.h"
#include "lib/threads.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* What a thread copies at a time: long enough to run at full speed, short enough to share evenly. */
#define PIECE_BYTES ((size_t)128 << 10)

/* Below this, waking somebody takes longer than copying. */
#define ALONE_BYTES ((size_t)512 << 10)

#define HELPERS_MAXIMUM 15

/* On a host of sixteen cores, twelve: who waits for a copy waits for its last piece, and where something else wants a core
 * all sixteen were up to sixty times slower. */
#define CORES_FEW 8

/* How long a helper looks for work before it sleeps, and while somebody has called for helpers. Waking takes up to a
 * quarter of a millisecond on a virtual machine, and what has slept copies at half the speed at first. */
#define LOOK_SECONDS        50e-6
#define LOOK_SECONDS_CALLED 2e-3
/* Looks between two at the clock. In between, the core is offered to others: the thread that has the work to hand out may
 * be waiting for it, where another library's threads look for work too. */
#define LOOKS 32

/* How long the thread that ends a job waits awake for helpers that are at their last piece. */
#define LAST_PIECE_SECONDS 100e-6

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t
    wakings; /* of helpers that are no longer counted as asleep; without the lock, for which all would queue */
static pthread_cond_t helper_left = PTHREAD_COND_INITIALIZER;
static tb_copy_job *jobs;      /* with pieces left to take, the oldest first */
static atomic_int jobs_listed; /* the length of that list, for helpers that look without the lock */
static atomic_int callers;     /* for helpers to be at hand */
static int helpers_started, helpers_settled, helpers_asleep;
static int callers_core; /* of the thread that started them */

#if defined(__SSE2__)
/* Whole lines are written without being read before, so that fewer threads fill the link. */
static void copy_past_caches(char *target, const char *source, size_t bytes)
{
    enum { LINE = 64 };
    size_t head = -(uintptr_t)target % LINE;
    if (bytes < LINE + head) {
        memcpy(target, source, bytes);
        return;
    }
    memcpy(target, source, head);
    size_t end = head + (bytes - head) / LINE * LINE;
    for (size_t at = head; at < end; at += LINE) {
        const __m128i *from = (const __m128i *)(const void *)(source + at);
        __m128i *to = (__m128i *)(void *)(target + at);
        const __m128i line[] = {_mm_loadu_si128(from), _mm_loadu_si128(from + 1), _mm_loadu_si128(from + 2),
                                _mm_loadu_si128(from + 3)};
        for (int i = 0; i < 4; i++)
            _mm_stream_si128(to + i, line[i]);
    }
    memcpy(target + end, source + end, bytes - end);
}

/* No lock orders such writes. */
static void finish_writing(void)
{
    _mm_sfence();
}
#else
static void copy_past_caches(char *target, const char *source, size_t bytes)
{
    memcpy(target, source, bytes);
}

static void finish_writing(void)
{
}
#endif

static void copy_bytes(const tb_copy_job *job, char *target, const char *source, size_t bytes)
{
    if (job->past_caches)
        copy_past_caches(target, source, bytes);
    else
        memcpy(target, source, bytes);
}

static void copy_piece(const tb_copy_job *job, size_t first, size_t rows)
{
    char *target = job->target + first * job->target_pitch;
    const char *source = job->source + first * job->source_pitch;
    size_t row_bytes = job->row_bytes;
    if (job->target_pitch == row_bytes && job->source_pitch == row_bytes) {
        row_bytes *= rows;
        rows = 1;
    }
    for (size_t row = 0; row < rows; row++, target += job->target_pitch, source += job->source_pitch)
        copy_bytes(job, target, source, row_bytes);
    if (job->past_caches)
        finish_writing();
}

static void leave_list(tb_copy_job *done)
{
    for (tb_copy_job **link = &jobs; *link; link = &(*link)->next)
        if (*link == done) {
            *link = done->next;
            atomic_fetch_sub(&jobs_listed, 1);
            return;
        }
}

/* Under the lock. */
static void wake(int most)
{
    for (int i = 0; i < most && helpers_asleep > 0; i++, helpers_asleep--)
        sem_post(&wakings);
}

/* Waking takes as long as copying a piece, so that who is awake wakes two, who do the same. Nobody is woken for nothing:
 * the thread that ends the job takes pieces too. */
static void wake_two(tb_copy_job *job)
{
    const size_t first = atomic_load_explicit(&job->next_row, memory_order_relaxed);
    const size_t pieces = first < job->rows ? (job->rows - first) / job->rows_a_piece : 0;
    wake(pieces < 2 ? (int)pieces : 2);
}

/* Copies pieces of the job until none is left to take. They are taken without the lock: for that, threads would queue, and
 * behind one that holds it and has lost its core. */
static void copy_pieces(tb_copy_job *job)
{
    for (;;) {
        const size_t first =
            atomic_fetch_add_explicit(&job->next_row, job->rows_a_piece, memory_order_relaxed);
        if (first >= job->rows)
            return;
        const size_t left = job->rows - first;
        copy_piece(job, first, left < job->rows_a_piece ? left : job->rows_a_piece);
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

static int look_at(atomic_int *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

/* Until the value is no longer that. */
static void look_for_a_while(atomic_int *value, int that)
{
    for (int look = 0; look < LOOKS && look_at(value) == that; look++)
        pause_briefly();
    if (look_at(value) == that)
        sched_yield();
}

/* The next copy of a product usually comes within microseconds, sooner than a sleeping thread would wake. */
static void linger(void)
{
    const double start = tb_seconds();
    while (look_at(&jobs_listed) == 0 &&
           tb_seconds() - start < (look_at(&callers) > 0 ? LOOK_SECONDS_CALLED : LOOK_SECONDS))
        look_for_a_while(&jobs_listed, 0);
}

/* The lock is held on entry and on return. */
static void help_with(tb_copy_job *job)
{
    job->helpers++;
    wake_two(job);
    pthread_mutex_unlock(&lock);
    copy_pieces(job);
    pthread_mutex_lock(&lock);
    leave_list(job);
    if (--job->helpers == 0)
        pthread_cond_broadcast(&helper_left);
}

/* The lock is held on entry and on return. */
static void sleep_until_woken(void)
{
    helpers_asleep++;
    pthread_mutex_unlock(&lock);
    while (sem_wait(&wakings) != 0)
        continue;
    pthread_mutex_lock(&lock);
}

static void settle(void)
{
    pthread_mutex_lock(&lock);
    const int number = helpers_settled++, helpers = helpers_started, core = callers_core;
    pthread_mutex_unlock(&lock);
    tb_stay_on_own_cores(core, number, helpers);
}

static void *help(void *unused)
{
    settle();
    for (;;) {
        linger();
        pthread_mutex_lock(&lock);
        if (jobs)
            help_with(jobs);
        else
            sleep_until_woken();
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static int helpers_wanted(void)
{
    long threads = tb_option_value(TB_OPTION_COPY_THREADS);
    if (threads == 0) {
        cpu_set_t allowed;
        threads = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
        if (threads > CORES_FEW)
            threads = CORES_FEW + (threads - CORES_FEW) / 2;
    }
    return threads - 1 < HELPERS_MAXIMUM ? (int)threads - 1 : HELPERS_MAXIMUM;
}

int tb_copy_threads(void)
{
    const int helpers = helpers_wanted();
    return helpers > 0 ? 1 + helpers : 1;
}

/* Under the lock. */
static void start_helpers(void)
{
    if (helpers_started == 0) {
        sem_init(&wakings, 0, 0);
        const int core = sched_getcpu();
        callers_core = core < 0 ? 0 : core;
    }
    for (int wanted = helpers_wanted(); helpers_started < wanted && tb_start_thread(NULL, help, NULL);)
        helpers_started++;
}

static void enter_list(tb_copy_job *job)
{
    tb_copy_job **link = &jobs;
    while (*link)
        link = &(*link)->next;
    *link = job;
    atomic_fetch_add(&jobs_listed, 1);
}

void tb_copy_begin(tb_copy_job *job, void *target, size_t target_pitch, const void *source,
                   size_t source_pitch, size_t row_bytes, size_t rows, bool past_caches)
{
    *job = (tb_copy_job){
        .target = target,
        .source = source,
        .target_pitch = target_pitch,
        .source_pitch = source_pitch,
        .row_bytes = row_bytes,
        .rows = rows,
        .past_caches = past_caches,
        .rows_a_piece = row_bytes < PIECE_BYTES ? PIECE_BYTES / row_bytes : 1,
    };
    if (rows * row_bytes <= ALONE_BYTES) {
        copy_piece(job, 0, rows);
        atomic_init(&job->next_row, rows);
        return;
    }
    pthread_mutex_lock(&lock);
    start_helpers();
    enter_list(job);
    wake_two(job);
    pthread_mutex_unlock(&lock);
}

void tb_copy_end(tb_copy_job *job)
{
    copy_pieces(job);
    pthread_mutex_lock(&lock);
    leave_list(job);
    pthread_mutex_unlock(&lock);
    const double start = tb_seconds();
    for (int left; (left = look_at(&job->helpers)) > 0 && tb_seconds() - start < LAST_PIECE_SECONDS;)
        look_for_a_while(&job->helpers, left);
    pthread_mutex_lock(&lock);
    while (job->helpers > 0)
        pthread_cond_wait(&helper_left, &lock);
    pthread_mutex_unlock(&lock);
}

void tb_copy_call_helpers(size_t bytes)
{
    const size_t pieces = bytes / PIECE_BYTES;
    pthread_mutex_lock(&lock);
    start_helpers();
    atomic_fetch_add(&callers, 1);
    wake(pieces < HELPERS_MAXIMUM ? (int)pieces : HELPERS_MAXIMUM);
    pthread_mutex_unlock(&lock);
}

void tb_copy_dismiss_helpers(void)
{
    atomic_fetch_sub(&callers, 1);
}
