/* A factorization takes the line that every task takes: the host is asked for it, and statistics, the record and the line that VERBOSE
 * prints tell of its own extents, letters and matrices.
 */
#include "include/tileblas.h"
#include "lib/call/line.h"
#include "lib/call/run.h"
#include "lib/learning/learning.h"
#include "lib/reports/called.h"
#include "tests/check.h"
#include "tests/sim/children.h"
#include "words/factor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { N = 400, CHILD_SECONDS = 60 };
static double matrix[N * N];

/* A host that counts what it is asked for, and can be made to call again. */
typedef struct counting_host {
    tb_host base;
    int64_t n; /* of what it was asked for */
    int calls, calls_again;
} counting_host;

static bool do_factor(const tb_host *host, tb_task task)
{
    counting_host *counting = (counting_host *)host;
    counting->calls++;
    counting->n = task.factor->a.data == matrix ? task.factor->n : -1;
    if (counting->calls_again-- > 0)
        tb_perform(task, host);
    *task.factor->info = 3;
    return true;
}

static tb_factor factor_of_order(int64_t n, int64_t *info)
{
    return tb_potrf(TB_DPOTRF, TB_LOWER, n, matrix, N, info);
}

static tileblas_statistics statistics(void)
{
    tileblas_statistics statistics;
    tileblas_read_statistics(&statistics, sizeof statistics);
    return statistics;
}

static void the_host_is_asked_once(int64_t n, unsigned long long counted, int calls_again)
{
    int64_t info = 0;
    char plan[128];
    const tb_factor factor = factor_of_order(n, &info);
    counting_host host = {.base = {.call = do_factor, .called_as = "dpotrf_"}, .calls_again = calls_again};
    tileblas_reset_statistics();
    tb_perform(tb_task_of_factor(&factor), &host.base);
    const tileblas_statistics sums = statistics();
    CHECK(host.calls == 1 + calls_again && host.n == n && info == 3, "%lld: %d calls of the host",
          (long long)n, host.calls);
    CHECK(sums.host.calls == counted && sums.resident.calls + sums.streamed.calls == 0,
          "%lld: %llu calls counted", (long long)n, sums.host.calls);
    CHECK(counted == 0 || sums.host.flop == 2 * tb_factor_volume(&factor), "%lld: %g flops", (long long)n,
          sums.host.flop);
    if (counted == 0)
        return;
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strcmp(plan, "host: the routine is left to the host") == 0, "%s", plan);
}

/* What is written to standard error meanwhile. */
static void watch(tb_task task, const tb_host *host, char *text, size_t size)
{
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    tb_perform(task, host);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void it_is_told_of_by_its_own_words(void)
{
    int64_t info = 0;
    char text[512];
    const tb_factor factor = factor_of_order(N, &info);
    const counting_host host = {.base = {.call = do_factor, .called_as = "dpotrf_"}};
    tileblas_set_option("VERBOSE", "1");
    watch(tb_task_of_factor(&factor), &host.base, text, sizeof text);
    tileblas_set_option("VERBOSE", "0");
    CHECK(strstr(text, "dpotrf L n=400 lda=400 A host -> host: the routine is left to the host, "), "%s",
          text);
}

static void the_record_has_its_extents(void)
{
    int64_t info = 0;
    char line[512];
    size_t kinds = 0;
    tb_called called;
    const tb_factor factor = factor_of_order(N, &info);
    const counting_host host = {.base = {.call = do_factor, .called_as = "dpotrf_"}};
    tileblas_set_option("RECORD", "/dev/null");
    tb_perform(tb_task_of_factor(&factor), &host.base);
    for (size_t place = 0; place < TB_CALLED_PLACES; place++)
        kinds += tb_read_called(place, &called);
    CHECK(kinds == 1, "%zu kinds of calls", kinds);
    FILE *file = tmpfile();
    tb_write_called(fileno(file), "program", 4, 0);
    rewind(file);
    CHECK(fgets(line, sizeof line, file) && fgets(line, sizeof line, file) &&
              strstr(line, "\"spelling\":\"dpotrf_\",\"letters\":\"L\",\"places\":\"h\"") &&
              strstr(line, "\"n\":400,\"host_calls\":1") && !strstr(line, "\"m\":") &&
              !strstr(line, "\"k\":"),
          "the record has %s", line);
    fclose(file);
    tileblas_set_option("RECORD", "");
}

/* Of zeros, which have no factor. */
static void without_a_host_loops_factor(void)
{
    int64_t info = 7;
    char text[512];
    const tb_factor factor = factor_of_order(N, &info);
    const tb_host nobody = {.call = NULL};
    watch(tb_task_of_factor(&factor), &nobody, text, sizeof text);
    CHECK(info == 1 && strstr(text, "portable loops factor"), "info %lld: %s", (long long)info, text);
}

/* ---- What is learned, and recorded ------------------------------------------------------------------------------ */

/* The linker puts these in front of the clock, of the streamed route and of what is learned. */
static _Atomic(double) extra_seconds; /* beside the clock's own */
static double learned_seconds;
static bool device_fails;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
tb_outcome __real_tb_run_streamed(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds);
tb_outcome __wrap_tb_run_streamed(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds);
void __real_tb_learn_task(tb_task task, const tb_facts *facts, const tb_plan *plan, double seconds);
void __wrap_tb_learn_task(tb_task task, const tb_facts *facts, const tb_plan *plan, double seconds);

enum { HOUR = 3600, DAY = 24 * HOUR };

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    const int result = __real_clock_gettime(clock, time);
    time->tv_sec += (time_t)extra_seconds;
    return result;
}

tb_outcome __wrap_tb_run_streamed(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    if (!device_fails)
        return __real_tb_run_streamed(task, plan, host, seconds);
    extra_seconds = extra_seconds + DAY;
    return TB_DECLINED;
}

void __wrap_tb_learn_task(tb_task task, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    learned_seconds = seconds;
    __real_tb_learn_task(task, facts, plan, seconds);
}

static bool take_an_hour(const tb_host *host, tb_task task)
{
    (void)host, (void)task;
    extra_seconds = extra_seconds + HOUR;
    return true;
}

static void what_a_device_takes_in_vain_is_not_the_hosts(void *unused)
{
    (void)unused;
    const tb_product product =
        tb_gemm(TB_DGEMM, false, false, N, N, N, 1, matrix, N, matrix, N, 0, matrix, N);
    const tb_host host = {.call = take_an_hour};
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    device_fails = true;
    tb_perform(tb_task_of_product(&product), &host);
    CHECK(learned_seconds >= HOUR && learned_seconds < DAY, "%g hours are learned of the host",
          learned_seconds / HOUR);
}

static bool do_nothing(const tb_host *host, tb_task task)
{
    (void)host, (void)task;
    return true;
}

/* Also where a call goes as those before it went. The record's first line has what the last one of them knew of the machine. */
static void a_recorded_call_is_decided(void *path)
{
    enum { CALLS = 60, SIDE = 60 };
    const tb_product product =
        tb_gemm(TB_DGEMM, false, false, SIDE, SIDE, SIDE, 1, matrix, SIDE, matrix, SIDE, 0, matrix, SIDE);
    const tb_host host = {.call = do_nothing};
    tileblas_set_option("START", "wait");
    for (int call = 0; call < CALLS; call++) {
        /* What a call finds on the stack is nothing that it knows. */
        char garbage[64 << 10];
        memset(garbage, 0x55, sizeof garbage);
        __asm__ volatile("" : : "r"(garbage) : "memory");
        tileblas_set_option("RECORD", call + 1 < CALLS ? "" : path);
        tb_perform(tb_task_of_product(&product), &host);
    }
    exit(atomic_load(&check_failures) == 0 ? EXIT_SUCCESS : EXIT_FAILURE); /* which writes the record */
}

static void records_know_the_machine(void)
{
    char path[] = "/tmp/tileblas-line-XXXXXX", line[512] = "";
    int cores = 0;
    const int descriptor = mkstemp(path);
    const child_end end = child_run(a_recorded_call_is_decided, path, CHILD_SECONDS);
    FILE *file = fdopen(descriptor, "r");
    const char *there = fgets(line, sizeof line, file) ? strstr(line, "\"cores\":") : NULL;
    CHECK(end == CHILD_RIGHT && there && sscanf(there, "\"cores\":%d", &cores) == 1 && cores > 0 &&
              cores <= sysconf(_SC_NPROCESSORS_CONF),
          "%s, the record begins with %s", child_end_text(end), line);
    fclose(file);
    unlink(path);
}

/* ---- Nothing to do -------------------------------------------------------------------------------------------- */

/* What is no product to compute. */
static void what_changes_nothing_asks_nobody(void)
{
    static const struct {
        int64_t m, n, k;
        double alpha;
    } rows[] = {{0, 9, 9, 1}, {9, 0, 9, 1}, {9, 9, 0, 1}, {9, 9, 9, 0}};
    counting_host host = {.base = {.call = do_factor}};
    tileblas_reset_statistics();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tb_product product = tb_gemm(TB_DGEMM, false, false, rows[i].m, rows[i].n, rows[i].k,
                                           rows[i].alpha, matrix, 9, matrix, 9, 1, matrix, 9);
        tb_perform(tb_task_of_product(&product), &host.base);
    }
    CHECK(host.calls == 0 && statistics().host.calls == 0, "%d calls of the host", host.calls);
}

int main(void)
{
    tileblas_set_option("VERBOSE", "0"); /* options are followed from the first call on */
    the_host_is_asked_once(N, 1, 0);
    the_host_is_asked_once(20, 0, 0); /* too small to be counted */
    the_host_is_asked_once(N, 1, 1);  /* the host calls again: over the first call */
    it_is_told_of_by_its_own_words();
    the_record_has_its_extents();
    without_a_host_loops_factor();
    what_changes_nothing_asks_nobody();
    const child_end end = child_run(what_a_device_takes_in_vain_is_not_the_hosts, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a device in vain: %s", child_end_text(end));
    records_know_the_machine();
    return check_result();
}
