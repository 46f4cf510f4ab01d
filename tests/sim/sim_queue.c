/* Queues of the simulated device: a thread each, which runs work in order.
 *
 * A marker in a queue is a flag that the queue raises when it gets there and that any number of queues and
 * threads wait for. Once a device is lost its queues still raise markers, so that nobody waits for ever, but
 * do no other work.
 */
#include "tests/sim/sim.h"

#include <fenv.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct sim_marker {
    _Atomic(uint32_t) up;
    atomic_int references;
};

typedef struct entry entry;
struct entry {
    entry *next;
    sim_work work;
};

struct sim_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t worker;
    int device;
    entry *first, *last;
    _Atomic(uint32_t) finished; /* entries; who drains the queue sleeps on it */
    bool busy, closing;
    uint64_t random;
    uint64_t a; /* a hash of the latest launch's A */
};

static atomic_long queues_opened;

/* Posted, and not over: what does more than tell that other work is. Who has been told by that finds nothing before it here. */
static atomic_long in_flight;

static long counted(const sim_work *work)
{
    return work->kind != SIM_WORK_RAISE && work->kind != SIM_WORK_TELL;
}

long sim_in_flight(void)
{
    return atomic_load(&in_flight);
}

/* One link for the machine, each way. */
static pthread_mutex_t links[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

void sim_hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void sim_let_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void *sim_make(size_t bytes)
{
    sigset_t before;
    sim_hold_signals(&before);
    void *memory = calloc(1, bytes);
    sim_let_signals(&before);
    if (memory == NULL)
        sim_abort("the host is out of memory");
    return memory;
}

void sim_free(void *made)
{
    sigset_t before;
    sim_hold_signals(&before);
    free(made);
    sim_let_signals(&before);
}

void sim_sleep(double seconds)
{
    if (seconds <= 0)
        return;
    struct timespec span = {.tv_sec = (time_t)seconds};
    span.tv_nsec = (long)((seconds - (double)span.tv_sec) * 1e9);
    nanosleep(&span, NULL);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- markers ------------------------------------------------------------------------------------------ */

/* Waiting holds nothing, so that a thread may jump out of it. */
static void wait_while(_Atomic(uint32_t) *word, uint32_t that)
{
    while (atomic_load(word) == that)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, that, NULL, NULL, 0);
}

static void wake_all(_Atomic(uint32_t) *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

sim_marker *sim_make_marker(void)
{
    sim_marker *marker = sim_make(sizeof *marker);
    atomic_init(&marker->references, 1);
    return marker;
}

sim_marker *sim_share_marker(sim_marker *marker)
{
    atomic_fetch_add(&marker->references, 1);
    return marker;
}

void sim_drop_marker(sim_marker *marker)
{
    if (marker != NULL && atomic_fetch_sub(&marker->references, 1) == 1)
        sim_free(marker);
}

bool sim_marker_is_up(sim_marker *marker)
{
    return atomic_load(&marker->up);
}

void sim_await_marker(sim_marker *marker)
{
    wait_while(&marker->up, 0);
}

static void raise_marker(sim_marker *marker)
{
    atomic_store(&marker->up, 1);
    wake_all(&marker->up);
}

/* ---- what a queue's thread does ----------------------------------------------------------------------- */

static void random_delay(sim_queue *queue)
{
    queue->random = queue->random * 6364136223846793005u + 1442695040888963407u;
    double part = (double)(queue->random >> 33) / (double)((uint64_t)1 << 31);
    sim_sleep(part * sim_get_settings()->delay_seconds);
}

static void (*_Atomic copy_watcher)(const void *source, size_t bytes);

void sim_watch_copies(void (*watcher)(const void *source, size_t bytes))
{
    atomic_store(&copy_watcher, watcher);
}

static void tell_watcher(const tb_copy *copy)
{
    void (*watcher)(const void *, size_t) = atomic_load(&copy_watcher);
    if (watcher != NULL)
        watcher(copy->source, (copy->rows - 1) * copy->source_pitch + copy->row_bytes);
}

/* A copy that faults leaves garbage in the first half of its target. So does one from another device that is lost,
 * and nobody says so but that device. */
static void run_copy(const sim_work *work)
{
    const tb_copy *copy = &work->command.copy;
    const bool fault = work->fault || (work->from != SIM_NO_DEVICE && sim_lost(work->from));
    double bytes_per_second = sim_get_settings()->link;
    if (bytes_per_second > 0 && copy->direction != TB_DEVICE_TO_DEVICE) {
        pthread_mutex_lock(&links[copy->direction]);
        sim_sleep((double)(copy->row_bytes * copy->rows) / bytes_per_second);
        pthread_mutex_unlock(&links[copy->direction]);
    }
    tell_watcher(copy);
    size_t rows = fault ? (copy->rows + 1) / 2 : copy->rows;
    for (size_t row = 0; row < rows; row++) {
        char *target = (char *)copy->target + row * copy->target_pitch;
        if (fault)
            memset(target, 0xfa, copy->row_bytes);
        else
            memcpy(target, (const char *)copy->source + row * copy->source_pitch, copy->row_bytes);
    }
}

/* Computes a batch. A table that members are known from lies on the device, and is there by now. */
static void run_batch(sim_queue *queue, const sim_work *work)
{
    tb_product batch = work->command.launch.product;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_members *members = &batch.batch.members[role];
        const size_t bytes = (size_t)tb_members_of(&batch) * sizeof(void *);
        members->starts = members->uneven && (role == TB_C || batch.k > 0)
                              ? sim_reach(members->starts, bytes, queue->device, "a table")
                              : NULL;
    }
    const int64_t members = tb_members_of(&batch);
    for (int64_t i = 0; i < (work->fault ? members / 2 : members); i++) {
        tb_product one = tb_member_of(&batch, i);
        sim_reach_product(&one, queue->device);
        sim_multiply(&one, one.n);
    }
}

static void run_expand(sim_queue *queue, const sim_work *work)
{
    const tb_expansion *all = &work->command.expansion;
    const int64_t columns = work->fault ? all->target.columns / 2 : all->target.columns,
                  members = tb_count_of(&all->batch);
    tb_members sources = all->batch.members[TB_A];
    sources.starts =
        sources.uneven ? sim_reach(sources.starts, (size_t)members * sizeof(void *), queue->device, "a table")
                       : NULL;
    for (int64_t i = 0; i < members; i++) {
        tb_expansion one = *all;
        if (members > 1) {
            one.source.data = tb_start_of(&sources, &all->source.matrix, i);
            one.target.data = tb_start_of(&all->batch.members[TB_C], &all->target, i);
            sim_reach_expansion(&one, queue->device);
        }
        sim_expand(&one, columns);
    }
}

static void run_launch(sim_queue *queue, const sim_work *work)
{
    const tb_product *product = &work->command.launch.product;
    if (tb_is_batch(product)) {
        run_batch(queue, work);
        return;
    }
    const double start = now(), speed = sim_get_settings()->speeds[queue->device];
    const uint64_t a = sim_multiply(product, work->fault ? product->n / 2 : product->n);
    if (work->command.launch.same_a && a != queue->a)
        sim_abort("launched again with an A that has changed");
    queue->a = a;
    sim_sleep((now() - start) * (1 / speed - 1));
}

static void run_fold(const sim_work *work)
{
    const tb_folding *folding = &work->command.folding;
    sim_fold(folding, work->fault ? folding->c.columns / 2 : folding->c.columns);
}

static void run_masked_copy(const sim_work *work)
{
    const tb_masked_copy *copy = &work->command.masked;
    sim_copy_masked(copy, work->fault ? copy->source.columns / 2 : copy->source.columns);
}

static void run_command(sim_queue *queue, const sim_work *work)
{
    switch (work->command.kind) {
    case TB_COMMAND_COPY:
        run_copy(work);
        break;
    case TB_COMMAND_COPY_MASKED:
        run_masked_copy(work);
        break;
    case TB_COMMAND_EXPAND:
        run_expand(queue, work);
        break;
    case TB_COMMAND_FOLD:
        run_fold(work);
        break;
    case TB_COMMAND_LAUNCH:
        run_launch(queue, work);
        break;
    case TB_COMMAND_PANEL:
        sim_run_panel(&work->command.panel, work->fault);
        break;
    case TB_COMMAND_EXCHANGE:
        sim_run_exchange(&work->command.exchange, work->fault);
        break;
    }
}

static void run_work(sim_queue *queue, const sim_work *work)
{
    random_delay(queue);
    bool lost = sim_lost(queue->device);
    switch (work->kind) {
    case SIM_WORK_COMMAND:
        if (!lost)
            run_command(queue, work);
        break;
    case SIM_WORK_RAISE:
        raise_marker(work->marker);
        break;
    case SIM_WORK_AWAIT:
        sim_await_marker(work->marker);
        break;
    case SIM_WORK_TELL:
        if (!lost)
            atomic_store(work->word, work->number);
        break;
    case SIM_WORK_STALL:
        sim_sleep(work->seconds);
        break;
    }
    if (work->fault)
        sim_lose(queue->device);
    sim_drop_marker(work->marker);
}

/* Before it sleeps a queue's thread lets others run: who posts work mostly posts more, and to be woken for each costs
 * several times what small products do. */
static void await_work(sim_queue *queue)
{
    if (queue->first == NULL && !queue->closing) {
        pthread_mutex_unlock(&queue->lock);
        sched_yield();
        pthread_mutex_lock(&queue->lock);
    }
    while (queue->first == NULL && !queue->closing)
        pthread_cond_wait(&queue->changed, &queue->lock);
}

/* A driver's threads handle none of the program's signals, and have nothing of its floating-point environment. */
static void *serve(void *argument)
{
    sim_queue *queue = argument;
    fesetenv(FE_DFL_ENV);
    pthread_setname_np(pthread_self(), SIM_THREAD_NAME);
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        await_work(queue);
        entry *entry = queue->first;
        if (entry == NULL)
            break;
        queue->first = entry->next;
        queue->busy = true;
        pthread_mutex_unlock(&queue->lock);
        run_work(queue, &entry->work);
        atomic_fetch_sub(&in_flight, counted(&entry->work));
        sim_free(entry);
        pthread_mutex_lock(&queue->lock);
        queue->busy = false;
        atomic_fetch_add(&queue->finished, 1);
        wake_all(&queue->finished);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- queues ------------------------------------------------------------------------------------------- */

sim_queue *sim_open_queue(int device)
{
    sim_queue *queue = sim_make(sizeof *queue);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    queue->device = device;
    queue->random = sim_get_settings()->seed + (uint64_t)atomic_fetch_add(&queues_opened, 1);
    sigset_t before;
    sim_hold_signals(&before);
    const bool has_thread = pthread_create(&queue->worker, NULL, serve, queue) == 0;
    sim_let_signals(&before);
    if (has_thread)
        return queue;
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->changed);
    sim_free(queue);
    return NULL;
}

void sim_close_queue(sim_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closing = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->worker, NULL);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->changed);
    sim_free(queue);
}

int sim_queue_device(const sim_queue *queue)
{
    return queue->device;
}

void sim_post(sim_queue *queue, const sim_work *work)
{
    entry *added = sim_make(sizeof *added);
    added->work = *work;
    atomic_fetch_add(&in_flight, counted(work));
    pthread_mutex_lock(&queue->lock);
    if (queue->first == NULL)
        queue->first = added;
    else
        queue->last->next = added;
    queue->last = added;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

void sim_drain_queue(sim_queue *queue)
{
    for (;;) {
        pthread_mutex_lock(&queue->lock);
        const bool drained = queue->first == NULL && !queue->busy;
        const uint32_t finished = atomic_load(&queue->finished);
        pthread_mutex_unlock(&queue->lock);
        if (drained)
            return;
        wait_while(&queue->finished, finished);
    }
}
