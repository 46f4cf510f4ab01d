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
#include "tests/sim/device_sim.h"
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
    CHECK(strncmp(plan, "host: too small to gain (forecast: host ", 40) == 0, "%s", plan);
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
    CHECK(strstr(text, "dpotrf L n=400 lda=400 A host -> host: too small to gain (forecast: host "), "%s",
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

/* The linker puts these in front of the clock, the streamed route and what learns. */
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

/* ---- Calls over calls ----------------------------------------------------------------------------------------- */

static tb_product inner;
static bool inner_is_asked_for;

static bool ask_for_inner(const tb_host *host, tb_task task)
{
    (void)host, (void)task;
    inner_is_asked_for = true;
    return true;
}

static bool call_over(const tb_host *host, tb_task task)
{
    (void)host, (void)task;
    const tb_host inner_host = {.call = ask_for_inner};
    tb_perform(tb_task_of_product(&inner), &inner_host);
    return true;
}

/* A call over another one goes to the host, unless one of its matrices lies where the host cannot reach it: whichever that is. */
static void the_host_is_not_asked_for_what_it_cannot_reach(void *unused)
{
    enum { SIDE = 40 };
    (void)unused;
    double *there = sim_allocate(TB_MEMORY_DEVICE, 0, SIDE * SIDE * sizeof *there);
    int64_t info = 0;
    const tb_factor outer = factor_of_order(N, &info);
    const tb_host host = {.call = call_over};
    for (tb_role role = TB_A; role <= TB_ROLES; role++) { /* or none of them */
        inner =
            tb_gemm(TB_DGEMM, false, false, SIDE, SIDE, SIDE, 1, matrix, SIDE, matrix, SIDE, 0, matrix, SIDE);
        if (role < TB_ROLES)
            inner.operands[role].data = there;
        inner_is_asked_for = false;
        tb_perform(tb_task_of_factor(&outer), &host);
        CHECK(inner_is_asked_for == (role == TB_ROLES), "the host is %s for operand %d on a device",
              inner_is_asked_for ? "asked" : "not asked", (int)role);
    }
}

/* The linker puts this in front of what makes memory for calls. */
static int made;
void *__real_tb_make(size_t bytes);
void *__wrap_tb_make(size_t bytes);

void *__wrap_tb_make(size_t bytes)
{
    made++;
    return __real_tb_make(bytes);
}

/* A host that has GEMM alone: a triangle's edge is computed beside C, in memory that is made for that, or by loops. */
static bool multiply_general(const tb_host *host, tb_task task)
{
    (void)host;
    return task.product->mask == TB_FULL;
}

static int made_for_triangle;

static void update_triangle(void)
{
    static double c[N * N];
    const tb_host host = {.call = multiply_general};
    const tb_product product = tb_rank_k(TB_DSYRK, TB_LOWER, false, N, 2, 1, matrix, N, 1, c, N);
    made = 0;
    tb_perform(tb_task_of_product(&product), &host);
    made_for_triangle = made;
}

static bool update_over(const tb_host *host, tb_task task)
{
    (void)host, (void)task;
    update_triangle();
    return true;
}

/* The other one may be in the C library's allocator. */
static void a_call_over_another_asks_for_no_memory(void *unused)
{
    (void)unused;
    int64_t info = 0;
    const tb_factor outer = factor_of_order(N, &info);
    const tb_host host = {.call = update_over};
    for (int call = 0; call < 2; call++) {
        update_triangle();
        CHECK(made_for_triangle > 0, "a call by itself asks for no memory, either");
        tb_perform(tb_task_of_factor(&outer), &host);
        CHECK(made_for_triangle == 0, "a call over another one asks for memory %d times", made_for_triangle);
    }
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

static void in_a_process_of_its_own(void (*statement)(void *))
{
    const child_end end = child_run(statement, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "the process was %s", child_end_text(end));
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
    in_a_process_of_its_own(what_a_device_takes_in_vain_is_not_the_hosts);
    in_a_process_of_its_own(the_host_is_not_asked_for_what_it_cannot_reach);
    in_a_process_of_its_own(a_call_over_another_asks_for_no_memory);
    return check_result();
}
