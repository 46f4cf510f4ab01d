/* Copies by several threads at once, with more helpers than there are cores: every byte arrives, once it is said to have, and
 * none beside it is written. So it is where a helper is held back long after all others are done.
 */
#include "lib/streaming/copy_threads.h"
#include "lib/machine/calls.h"
#include "lib/user/options.h"
#include "tests/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) /* which notes every byte, and sees more of each call */
enum { CALLS = 8 };
#else
enum { CALLS = 30 };
#endif
enum { CALLERS = 4, JOBS = 3, ROWS = 160, ROW_MOST = 24 << 10, GAP = 64 };

typedef struct caller {
    pthread_t thread;
    check_random random;
} caller;

static void check_copy(const unsigned char *target, size_t pitch, size_t row_bytes, unsigned char value)
{
    for (size_t row = ROWS; row-- > 0;) { /* the last ones arrive last */
        const unsigned char *line = target + row * pitch;
        const bool arrived = line[0] == value && memcmp(line, line + 1, row_bytes - 1) == 0;
        CHECK(arrived, "row %zu of %zu bytes has not arrived", row, row_bytes);
        CHECK(line[row_bytes] == 0 && line[pitch - 1] == 0, "written behind row %zu", row);
        if (!arrived)
            return;
    }
}

/* Calls of several jobs each, of which two are under way at a time. */
static void *call(void *argument)
{
    caller *caller = argument;
    const size_t bytes = (size_t)ROWS * (ROW_MOST + GAP);
    unsigned char *source = malloc(bytes), *targets[JOBS];
    for (int i = 0; i < JOBS; i++)
        targets[i] = malloc(bytes);
    for (int calls = 0; calls < CALLS; calls++) {
        const unsigned char value = (unsigned char)check_between(&caller->random, 1, 255);
        const size_t row_bytes = (size_t)check_between(&caller->random, 4 << 10, ROW_MOST);
        const size_t pitch = row_bytes + GAP;
        tb_copy_job jobs[JOBS];
        memset(source, value, bytes);
        for (int i = 0; i < JOBS; i++)
            memset(targets[i], 0, bytes);
        tb_copy_call_helpers(JOBS * ROWS * row_bytes, (int)check_between(&caller->random, 1, 3));
        for (int i = 0; i < JOBS; i++) {
            const tb_host_copy copy = {.target = (char *)targets[i],
                                       .target_pitch = pitch,
                                       .source = (const char *)source,
                                       .source_pitch = row_bytes,
                                       .row_bytes = row_bytes,
                                       .rows = ROWS,
                                       .past_caches = check_next(&caller->random) & 1};
            tb_copy_begin(&jobs[i], &copy);
            if (i > 0)
                tb_copy_end(&jobs[i - 1]);
            if (i > 0)
                check_copy(targets[i - 1], pitch, row_bytes, value);
        }
        tb_copy_end(&jobs[JOBS - 1]);
        tb_copy_dismiss_helpers();
        check_copy(targets[JOBS - 1], pitch, row_bytes, value);
    }
    for (int i = 0; i < JOBS; i++)
        free(targets[i]);
    free(source);
    return NULL;
}

static void check_callers(check_random *random)
{
    caller callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i].random.state = check_next(random);
        CHECK(pthread_create(&callers[i].thread, NULL, call, &callers[i]) == 0, "no thread");
    }
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i].thread, NULL);
}

/* ---- Threads that do not start ---------------------------------------------------------------------------- */

enum { REFUSED_FIRST = 3, REFUSED = 4, WANTED = 10 };
static atomic_int asked, started;

/* The linker puts this in front of the real one: for a while there are no threads. */
bool __real_tb_start_thread(void *(*work)(void *), void *argument);
bool __wrap_tb_start_thread(void *(*work)(void *), void *argument);

bool __wrap_tb_start_thread(void *(*work)(void *), void *argument)
{
    const int before = atomic_fetch_add(&asked, 1);
    const bool is_refused = before >= REFUSED_FIRST && before < REFUSED_FIRST + REFUSED;
    const bool is_started = !is_refused && __real_tb_start_thread(work, argument);
    atomic_fetch_add(&started, is_started);
    return is_started;
}

/* Helpers that could not be started are when there are threads again: as many as are wanted. */
static void all_helpers_are_started_in_the_end(void)
{
    enum { CALLS_MOST = 20000 };
    CHECK(tb_set_option("COPY_THREADS", "11"), "COPY_THREADS=11");
    for (int calls = 0; calls < CALLS_MOST && atomic_load(&started) < WANTED; calls++) {
        tb_copy_call_helpers((size_t)ROWS * ROW_MOST, 1);
        usleep(500);
        tb_copy_dismiss_helpers();
    }
    CHECK(atomic_load(&started) == WANTED && atomic_load(&asked) == WANTED + REFUSED,
          "%d helpers of %d are started, %d were asked for", atomic_load(&started), WANTED,
          atomic_load(&asked));
}

/* ---- A helper that is late -------------------------------------------------------------------------------- */

/* Much longer than the thread that ends a job waits awake. */
#define LATE_MICROSECONDS 50000
#define PATIENCE_SECONDS  60

static atomic_bool holds_back, helper_is_at_work, helper_is_done;
static pthread_t ending_thread;

tb_fingerprint __real_tb_copy_with_fingerprint(void *target, const void *source, size_t count,
                                               bool past_caches);
tb_fingerprint __wrap_tb_copy_with_fingerprint(void *target, const void *source, size_t count,
                                               bool past_caches);

/* The linker puts this in front of the real one. The first helper that comes is held back; the thread that ends the job leaves it
 * something to come for. */
tb_fingerprint __wrap_tb_copy_with_fingerprint(void *target, const void *source, size_t count,
                                               bool past_caches)
{
    const bool is_helper = !pthread_equal(pthread_self(), ending_thread);
    const time_t end = time(NULL) + PATIENCE_SECONDS;
    while (atomic_load(&holds_back) && !is_helper && !atomic_load(&helper_is_at_work) && time(NULL) < end)
        usleep(100);
    const bool is_late = atomic_load(&holds_back) && is_helper && !atomic_exchange(&helper_is_at_work, true);
    if (is_late)
        usleep(LATE_MICROSECONDS);
    const tb_fingerprint print = __real_tb_copy_with_fingerprint(target, source, count, past_caches);
    if (is_late)
        atomic_store(&helper_is_done, true);
    return print;
}

static void late_helpers_are_waited_for(void)
{
    enum { BYTES = ROWS * ROW_MOST };
    unsigned char *source = malloc(BYTES), *target = calloc(1, BYTES);
    tb_fingerprint *prints = malloc(ROWS * tb_prints_of(ROW_MOST) * sizeof *prints);
    const tb_host_copy copy = {.target = (char *)target,
                               .target_pitch = ROW_MOST,
                               .source = (const char *)source,
                               .source_pitch = ROW_MOST,
                               .row_bytes = ROW_MOST,
                               .rows = ROWS,
                               .prints = prints};
    tb_copy_job job;
    memset(source, 1, BYTES);
    ending_thread = pthread_self();
    while (tb_copies_alone())
        usleep(1000);
    tb_copy_call_helpers(BYTES, 1);
    atomic_store(&holds_back, true);
    tb_copy_begin(&job, &copy);
    tb_copy_end(&job);
    CHECK(atomic_load(&helper_is_at_work), "no helper has come");
    CHECK(atomic_load(&helper_is_done), "the copy has ended while a helper was at work on it");
    CHECK(memcmp(source, target, BYTES) == 0, "something has not arrived");
    CHECK(tb_copies_alone(), "who has waited for a late helper waits for the next one");
    memset(target, 0, BYTES);
    atomic_store(&helper_is_at_work, false);
    atomic_store(&holds_back, false);
    tb_copy_begin(&job, &copy);
    CHECK(job.listed.helpers == 0 && atomic_load(&job.next_row) == 0,
          "helpers are called while there are no cores for them");
    tb_copy_end(&job);
    CHECK(memcmp(source, target, BYTES) == 0, "what one copies alone has not arrived");
    atomic_store(&helper_is_at_work, true);
    tb_copy_dismiss_helpers();
    while (atomic_load(&helper_is_at_work) && !atomic_load(&helper_is_done))
        usleep(100);
    free(source);
    free(target);
    free(prints);
}

/* Products are cut by how many threads copy, and are to be cut alike, so that they have the same bits. */
static void the_number_does_not_depend_on_other_calls(void)
{
    enum { UNDER_WAY = 8, BYTES = 1 << 20 };
    tb_call calls[UNDER_WAY];
    tb_set_option("COPY_THREADS", "0");
    const int alone = tb_copy_threads(1, BYTES);
    for (int i = 0; i < UNDER_WAY; i++)
        tb_begin_call(&calls[i]);
    CHECK(tb_copy_threads(1, BYTES) == alone, "%d threads beside %d calls, %d alone",
          tb_copy_threads(1, BYTES), UNDER_WAY, alone);
    for (int i = UNDER_WAY - 1; i >= 0; i--)
        tb_end_call(&calls[i]);
}

/* Along the edge of a triangle, in more pieces than one: what is beyond it keeps its bytes. */
static void copies_stairs(bool ends)
{
    enum { N = 500 };
    static float from[N * N], to[N * N];
    int wrong = 0;
    for (int i = 0; i < N * N; i++) {
        from[i] = (float)(i + 1);
        to[i] = -1;
    }
    const tb_host_copy copy = {.target = (char *)to,
                               .source = (const char *)from,
                               .target_pitch = sizeof(float) * N,
                               .source_pitch = sizeof(float) * N,
                               .row_bytes = sizeof(float) * N,
                               .rows = N,
                               .stairs = {.step_bytes = sizeof(float),
                                          .edge_bytes = (ends ? 3 : -2) * (int64_t)sizeof(float),
                                          .ends = ends}};
    tb_copy_job job;
    tb_copy_begin(&job, &copy);
    tb_copy_end(&job);
    for (int row = 0; row < N; row++)
        for (int i = 0; i < N; i++) {
            const bool belongs = ends ? i < row + 3 : i >= row - 2;
            wrong += to[row * N + i] != (belongs ? from[row * N + i] : -1);
        }
    CHECK(wrong == 0, "stairs that %s: %d elements are wrong", ends ? "end" : "begin", wrong);
}

int main(void)
{
    check_random random = {.state = check_seed()};
    static const char *const threads[] = {"1", "3", "0", "18"};
    all_helpers_are_started_in_the_end();
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        CHECK(tb_set_option("COPY_THREADS", threads[i]), "COPY_THREADS=%s", threads[i]);
        check_callers(&random);
    }
    late_helpers_are_waited_for();
    the_number_does_not_depend_on_other_calls();
    copies_stairs(false);
    copies_stairs(true);
    return check_result();
}
