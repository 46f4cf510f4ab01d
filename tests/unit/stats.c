/* Statistics are exact: sums over threads that run and threads that have ended, by route, shape and reason; a
 * reset and a fork start from zero; bytes over the link are those of the matrices.
 */
#include "include/tileblas.h"
#include "lib/call/line.h"
#include "lib/reports/counters.h"
#include "lib/reports/stats.h"
#include "tests/check.h"
#include "tests/unit/products.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* More threads than there are shards, so that some share one. */
#define THREADS           150
#define CALLS_OF_A_THREAD 400
#define CALLS_OF_A_PAIR   600000

static void record(tb_route route, tb_reason reason, const tb_product *product, double seconds)
{
    tb_facts facts = {.route_forced = false};
    tb_plan plan = {.route = route, .reason = reason, .host_seconds = 3 * seconds};
    tb_record_call(tb_task_of_product(product), &facts, &plan, "sgemm_", seconds);
}

static void *make_calls(void *unused)
{
    tb_product small = product_square(10), large = product_square(2000);
    for (int i = 0; i < CALLS_OF_A_THREAD; i++) {
        record(TB_ROUTE_HOST, i % 4 ? TB_REASON_TOO_SMALL : TB_REASON_DEVICE_STARTING, &small, 0);
        record(TB_ROUTE_STREAMED, TB_REASON_FASTER_ON_DEVICE, &large, 0.25);
    }
    return unused;
}

static unsigned long long reason_calls(const tileblas_statistics *statistics, const char *reason)
{
    for (int i = 0; i < TILEBLAS_REASON_MAXIMUM && statistics->host_reasons[i].reason; i++)
        if (strcmp(statistics->host_reasons[i].reason, reason) == 0)
            return statistics->host_reasons[i].calls;
    return 0;
}

static void threads_that_have_ended_keep_their_counts(void)
{
    pthread_t threads[THREADS];
    tileblas_statistics sums;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, make_calls, NULL);
    tileblas_read_statistics(&sums,
                             sizeof sums); /* while they run: of no particular value, but no race either */
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    const unsigned long long calls = (unsigned long long)THREADS * CALLS_OF_A_THREAD;
    tileblas_read_statistics(&sums, sizeof sums);
    CHECK(sums.host.calls == calls, "host calls: %llu of %llu", sums.host.calls, calls);
    CHECK(sums.streamed.calls == calls, "streamed calls: %llu of %llu", sums.streamed.calls, calls);
    CHECK(sums.resident.calls == 0, "resident calls: %llu", sums.resident.calls);
    /* All summands are of few bits, so that the sums are exact in any order. */
    CHECK(sums.host.flop == 2000.0 * (double)calls, "host flop: %g", sums.host.flop);
    CHECK(sums.streamed.seconds == 0.25 * (double)calls, "seconds: %g", sums.streamed.seconds);
    CHECK(sums.streamed.won_seconds == 0.5 * (double)calls, "won: %g", sums.streamed.won_seconds);
    CHECK(sums.host.won_seconds == 0, "the host won %g s against itself", sums.host.won_seconds);
    CHECK(reason_calls(&sums, "too small to gain") == calls / 4 * 3, "calls too small: %llu",
          reason_calls(&sums, "too small to gain"));
    CHECK(reason_calls(&sums, "the device is not up yet") == calls / 4, "calls before the device: %llu",
          reason_calls(&sums, "the device is not up yet"));
    CHECK(reason_calls(&sums, "faster on the device") == 0, "a reason of calls that were not the host's");
    CHECK(sums.shapes[TB_SHAPE_SMALL].host.calls == calls, "small: %llu",
          sums.shapes[TB_SHAPE_SMALL].host.calls);
    CHECK(sums.shapes[TB_SHAPE_LARGE].streamed.calls == calls, "large: %llu",
          sums.shapes[TB_SHAPE_LARGE].streamed.calls);
    CHECK(strcmp(sums.shapes[TB_SHAPE_LARGE].shape, "large") == 0, "shape %s",
          sums.shapes[TB_SHAPE_LARGE].shape);
}

/* Two threads whose numbers differ by the number of shards have the same one. */
static atomic_bool first_has_called, may_go_on;

static void *call_for_long(void *unused)
{
    tb_product large = product_square(2000);
    for (int i = 0; i < CALLS_OF_A_PAIR; i++) {
        record(TB_ROUTE_STREAMED, TB_REASON_FASTER_ON_DEVICE, &large, 0.25);
        atomic_store(&first_has_called, true);
        while (!atomic_load(&may_go_on))
            sched_yield();
    }
    return unused;
}

static void *call_once(void *unused)
{
    tb_product small = product_square(10);
    record(TB_ROUTE_HOST, TB_REASON_TOO_SMALL, &small, 0);
    return unused;
}

static void threads_that_share_a_shard_lose_nothing(void)
{
    enum { SHARDS = 64 };
    pthread_t pair[2], other;
    tileblas_statistics sums;
    tileblas_reset_statistics();
    pthread_create(&pair[0], NULL, call_for_long, NULL);
    while (!atomic_load(&first_has_called))
        sched_yield();
    for (int i = 1; i < SHARDS; i++) {
        pthread_create(&other, NULL, call_once, NULL);
        pthread_join(other, NULL);
    }
    atomic_store(&may_go_on, true);
    pthread_create(&pair[1], NULL, call_for_long, NULL);
    pthread_join(pair[0], NULL);
    pthread_join(pair[1], NULL);
    tileblas_read_statistics(&sums, sizeof sums);
    CHECK(sums.streamed.calls == 2 * CALLS_OF_A_PAIR, "calls: %llu of %d", sums.streamed.calls,
          2 * CALLS_OF_A_PAIR);
    CHECK(sums.streamed.seconds == 0.25 * 2 * CALLS_OF_A_PAIR, "seconds: %g", sums.streamed.seconds);
}

static void a_forked_child_counts_its_own(void)
{
    tileblas_statistics sums;
    pid_t child = fork();
    if (child == 0) {
        tileblas_read_statistics(&sums, sizeof sums);
        bool fresh = sums.host.calls == 0 && sums.streamed.calls == 0 && sums.streamed.seconds == 0 &&
                     reason_calls(&sums, "too small to gain") == 0;
        tb_product small = product_square(10);
        record(TB_ROUTE_HOST, TB_REASON_TOO_SMALL, &small, 0);
        tileblas_read_statistics(&sums, sizeof sums);
        _exit(!fresh ? 1 : sums.host.calls != 1 ? 2 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status %#x", (unsigned)status);
    tileblas_read_statistics(&sums, sizeof sums);
    CHECK(sums.host.calls > 0, "the parent's counts are gone");
}

static void a_reset_starts_from_zero(void)
{
    tileblas_statistics sums;
    tileblas_reset_statistics();
    tileblas_read_statistics(&sums, sizeof sums);
    CHECK(sums.host.calls == 0 && sums.streamed.calls == 0 && sums.streamed.flop == 0 &&
              sums.streamed.seconds == 0 && sums.streamed.won_seconds == 0,
          "counts after a reset");
    CHECK(reason_calls(&sums, "too small to gain") == 0, "reasons after a reset");
    for (int shape = 0; shape < TILEBLAS_SHAPE_COUNT; shape++)
        CHECK(sums.shapes[shape].host.calls + sums.shapes[shape].streamed.calls == 0,
              "shape %s after a reset", sums.shapes[shape].shape);
}

static void shapes_are_told_apart_by_volume(void)
{
    static const struct {
        int64_t m, n, k;
        tb_shape shape;
    } rows[] = {
        {80, 80, 80, TB_SHAPE_SMALL},
        {1, 1, 512000, TB_SHAPE_SMALL},
        {81, 80, 80, TB_SHAPE_SKINNY},
        {127, 9000, 9000, TB_SHAPE_SKINNY},
        {9000, 9000, 127, TB_SHAPE_SKINNY},
        {128, 128, 128, TB_SHAPE_MEDIUM},
        {1024, 1024, 1024, TB_SHAPE_MEDIUM},
        {1024, 1024, 1025, TB_SHAPE_LARGE},
        {8192, 8192, 8192, TB_SHAPE_LARGE},
        {8192, 8193, 8192, TB_SHAPE_HUGE},
        {INT64_MAX, INT64_MAX, INT64_MAX, TB_SHAPE_HUGE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tb_product product = product_sized(rows[i].m, rows[i].n, rows[i].k);
        tb_shape shape = tb_shape_of(tb_task_of_product(&product));
        CHECK(shape == rows[i].shape, "%lld x %lld x %lld is %s", (long long)rows[i].m, (long long)rows[i].n,
              (long long)rows[i].k, tb_shape_text(shape));
    }
}

/* Products are computed on the simulated device. */
static void bytes_over_the_link_are_those_of_the_matrices(void)
{
    enum { M = 192, N = 160, K = 256 };
    static float a[M * K], b[K * N], c[M * N];
    tb_product product = product_sized(M, N, K);
    product.a.data = a;
    product.b.data = b;
    product.c.data = c;
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    const tb_host none = {.call = NULL};
    tileblas_statistics sums;
    for (int beta = 0; beta < 2; beta++) {
        tileblas_reset_statistics();
        product.beta = (tb_scalar){beta, 0};
        tb_perform(tb_task_of_product(&product), &none);
        tileblas_read_statistics(&sums, sizeof sums);
        const double bytes = sizeof(float) * (double)(M * K + K * N + M * N + beta * M * N);
        CHECK(sums.streamed.calls == 1, "the simulated device took %llu calls", sums.streamed.calls);
        CHECK(sums.streamed.link_bytes == bytes, "beta %d: %g bytes, not %g", beta, sums.streamed.link_bytes,
              bytes);
        CHECK(sums.streamed.seconds > 0, "a call on a device is timed");
    }
    tileblas_set_option("ROUTE", "auto");
}

/* A rank-k update brings its one operand once, and of C no more than what lies about the triangle. */
static void an_update_brings_one_operand_and_a_triangle(void)
{
    enum { N = 192, K = 256 };
    static float a[N * K], c[N * N];
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    const tb_host none = {.call = NULL};
    tileblas_statistics sums;
    for (int beta = 0; beta < 2; beta++) {
        const tb_product product =
            tb_rank_k(TB_SSYRK, beta ? TB_LOWER : TB_UPPER, false, N, K, 1, a, N, beta, c, N);
        tileblas_reset_statistics();
        tb_perform(tb_task_of_product(&product), &none);
        tileblas_read_statistics(&sums, sizeof sums);
        const double least = sizeof(float) * (double)(N * K + (1 + beta) * N * (N + 1) / 2),
                     most = sizeof(float) * (double)(N * K + (1 + beta) * N * N);
        CHECK(sums.streamed.calls == 1 && sums.streamed.link_bytes >= least &&
                  sums.streamed.link_bytes <= most,
              "beta %d: %g bytes, not from %g to %g", beta, sums.streamed.link_bytes, least, most);
        CHECK(sums.routines[TB_SSYRK].streamed.link_bytes == sums.streamed.link_bytes, "of another routine");
    }
    tileblas_set_option("ROUTE", "auto");
}

/* Each routine has its own share, in the order of the table. */
static void routines_are_told_apart(void)
{
    tileblas_statistics sums;
    tileblas_reset_statistics();
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++) {
        const tb_product product = product_of_routine(routine, 100, 100, 100);
        for (int calls = 0; calls <= (int)routine; calls++)
            record(TB_ROUTE_RESIDENT, TB_REASON_ON_DEVICE, &product, 0.5);
    }
    tileblas_read_statistics(&sums, sizeof sums);
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++) {
        const tileblas_routine_statistics *own = &sums.routines[routine];
        const tb_class_row *class = tb_class_of(routine);
        const bool in_place = class->in_place != TB_OUT_OF_PLACE, has_triangle = class->updates;
        const double terms = class->has_two_terms ? 2 : 1;
        const double parts = tb_is_complex(tb_routine_rows[routine].element) ? 4 : 1;
        const double elements = has_triangle ? 100 * 101 / 2 : 100 * 100, k = in_place ? 50 : 100;
        const double volume = parts * terms * elements * k;
        CHECK(strcmp(own->routine, tb_routine_rows[routine].name) == 0, "routine %d is %s", routine,
              own->routine);
        CHECK(own->resident.calls == routine + 1 && own->resident.flop == 2 * volume * (routine + 1) &&
                  own->host.calls + own->streamed.calls == 0,
              "%s: %llu calls", own->routine, own->resident.calls);
    }
}

/* Programs were built for structures of other sizes than the library's: shorter ones by an older header, longer by a newer. */
static void callers_get_as_much_as_they_have_room_for(void)
{
    struct {
        tileblas_statistics statistics;
        unsigned char more[64];
    } room, before;
    tileblas_statistics all;
    const size_t shorter = sizeof all - sizeof all.routines, longer = sizeof all + sizeof room.more / 2;
    memset(&room, 0xa5, sizeof room);
    before = room;
    tileblas_reset_statistics();
    make_calls(NULL);
    CHECK(tileblas_read_statistics(&all, sizeof all) == sizeof all, "its size");
    CHECK(strcmp(all.routines[0].routine, "sgemm") == 0 && all.routines[0].host.calls == all.host.calls &&
              all.routines[0].streamed.flop == all.streamed.flop,
          "SGEMM's share is not all");

    CHECK(tileblas_read_statistics(&room.statistics, shorter) == sizeof all, "its size, to a shorter one");
    CHECK(memcmp(&room, &all, shorter) == 0, "less than there is room for");
    CHECK(memcmp((char *)&room + shorter, (char *)&before + shorter, sizeof room - shorter) == 0,
          "more than there is room for");

    tileblas_read_statistics(&room.statistics, longer);
    CHECK(memcmp(&room, &all, sizeof all) == 0, "less than there is");
    for (size_t i = sizeof all; i < sizeof room; i++)
        CHECK(((unsigned char *)&room)[i] == (i < longer ? 0 : 0xa5), "byte %zu behind all that there is", i);
}

int main(void)
{
    threads_that_have_ended_keep_their_counts();
    threads_that_share_a_shard_lose_nothing();
    a_forked_child_counts_its_own();
    a_reset_starts_from_zero();
    callers_get_as_much_as_they_have_room_for();
    routines_are_told_apart();
    shapes_are_told_apart_by_volume();
    bytes_over_the_link_are_those_of_the_matrices();
    an_update_brings_one_operand_and_a_triangle();
    return check_result();
}
