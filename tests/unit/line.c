/* A factorization takes the line that every task takes: the host is asked for it, and statistics, the record and
 * the line that VERBOSE prints tell of its own extents, letters and matrices. No routine is a factorization's yet:
 * DGEMM lends its name.
 */
#include "include/tileblas.h"
#include "lib/call/line.h"
#include "lib/reports/called.h"
#include "tests/check.h"
#include "words/factor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { N = 400 };
static double matrix[N * N];

/* A host that counts what it is asked for, and can be made to call again. */
typedef struct counting_host {
    tb_host base;
    const tb_factor *asked;
    int calls, calls_again;
} counting_host;

static bool do_factor(const tb_host *host, tb_task task)
{
    counting_host *counting = (counting_host *)host;
    counting->calls++;
    counting->asked = task.factor;
    if (counting->calls_again-- > 0)
        tb_perform(task, host);
    *task.factor->info = 3;
    return true;
}

static tb_factor factor_of_order(int64_t n, int64_t *info)
{
    return tb_potrf(TB_DGEMM, TB_LOWER, n, matrix, N, info);
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
    CHECK(host.calls == 1 + calls_again && host.asked == &factor && info == 3, "%lld: %d calls of the host",
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
    CHECK(strstr(text, "dgemm L n=400 lda=400 A host -> host: the routine is left to the host, "), "%s",
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

static void without_a_host_it_is_left_undone(void)
{
    int64_t info = 7;
    char text[512];
    const tb_factor factor = factor_of_order(N, &info);
    const tb_host nobody = {.call = NULL};
    watch(tb_task_of_factor(&factor), &nobody, text, sizeof text);
    CHECK(info == 7 && strstr(text, "dgemm was left undone"), "info %lld: %s", (long long)info, text);
}

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
    without_a_host_it_is_left_undone();
    what_changes_nothing_asks_nobody();
    return check_result();
}
