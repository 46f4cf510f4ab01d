/* The table of what was called keeps every call, kinds apart while there is room, and stays within its file. */
#include "lib/reports/called.h"

#include "tests/check.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 4, OF_THREAD = 200, KINDS = 200000, LARGEST_FILE = 16 << 20 };

/* The kind of a product. */
static tb_called make_kind(int64_t m, int64_t n, int64_t k)
{
    return (tb_called){.routine = TB_DGEMM,
                       .spelling = "scipy_cblas_dgemm64_",
                       .letters = "NT",
                       .places = "hpd",
                       .extents = {3, {m, n, k}, "mnk"},
                       .host_calls = 1,
                       .host_seconds = 0.5};
}

typedef struct sums {
    unsigned long long host_calls, device_calls;
    double host_seconds, device_seconds;
    size_t kinds;
} sums;

static sums add_up(void)
{
    sums sums = {0};
    tb_called called;
    for (size_t place = 0; place < TB_CALLED_PLACES; place++)
        if (tb_read_called(place, &called)) {
            sums.host_calls += called.host_calls;
            sums.device_calls += called.device_calls;
            sums.host_seconds += called.host_seconds;
            sums.device_seconds += called.device_seconds;
            sums.kinds++;
        }
    return sums;
}

static void check_one_kind(void)
{
    tb_called device = make_kind(100, 200, 300), read;
    device.host_calls = 0, device.host_seconds = 0;
    device.device_calls = 2, device.device_seconds = 0.25;
    const tb_called host = make_kind(100, 200, 300), other = make_kind(100, 200, 301);
    tb_add_called(&host);
    tb_add_called(&device);
    tb_add_called(&host);
    tb_add_called(&other);
    const sums sums = add_up();
    CHECK(sums.kinds == 2, "two kinds are %zu", sums.kinds);
    CHECK(sums.host_calls == 3 && sums.device_calls == 2, "%llu and %llu calls", sums.host_calls,
          sums.device_calls);
    CHECK(sums.host_seconds == 1.5 && sums.device_seconds == 0.25, "%g and %g s", sums.host_seconds,
          sums.device_seconds);
    for (size_t place = 0; place < TB_CALLED_PLACES; place++)
        if (tb_read_called(place, &read))
            CHECK(read.extents.of[0] == 100 && read.extents.of[1] == 200 && strcmp(read.letters, "NT") == 0 &&
                      strcmp(read.places, "hpd") == 0 && strcmp(read.spelling, host.spelling) == 0,
                  "what is read is another kind");
}

/* Kinds that differ in one thing are two. */
static void check_kinds_apart(void)
{
    const size_t before = add_up().kinds;
    enum { OTHERS = 8 };
    tb_called kinds[1 + OTHERS];
    for (int i = 0; i <= OTHERS; i++)
        kinds[i] = make_kind(501, 502, 503);
    kinds[1].routine = TB_SGEMM;
    for (int extent = 0; extent < 3; extent++)
        kinds[2 + extent].extents.of[extent]++;
    kinds[5].beta_is_zero = true;
    strcpy(kinds[6].letters, "TN");
    strcpy(kinds[7].places, "hhd");
    strcpy(kinds[8].spelling, "dgemm_");
    for (int round = 0; round < 2; round++)
        for (int i = 0; i <= OTHERS; i++)
            tb_add_called(&kinds[i]);
    CHECK(add_up().kinds == before + 1 + OTHERS, "of %d kinds %zu are there", 1 + OTHERS,
          add_up().kinds - before);
}

static void *add_from_thread(void *thread)
{
    for (int i = 0; i < OF_THREAD; i++) {
        const tb_called called = make_kind(1 + i % 50, 1000, 1000 + (int64_t)(intptr_t)thread % 2);
        tb_add_called(&called);
    }
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[THREADS];
    const sums before = add_up();
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add_from_thread, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const sums after = add_up();
    CHECK(after.host_calls - before.host_calls == THREADS * OF_THREAD, "of %d calls %llu are there",
          THREADS * OF_THREAD, after.host_calls - before.host_calls);
}

static int64_t difference(int64_t x, int64_t y)
{
    return x > y ? x - y : y - x;
}

/* More kinds than there is room for: each call goes to a kind of about its shape, while there is one. */
static void check_merging(void)
{
    check_random random = {check_seed()};
    const sums before = add_up();
    for (int i = 0; i < KINDS; i++) {
        const tb_called called = make_kind(check_between(&random, 1, 6000), check_between(&random, 1, 6000),
                                           check_between(&random, 1, 6000));
        tb_add_called(&called);
    }
    const sums after = add_up();
    const unsigned long long kept = after.host_calls - before.host_calls;
    CHECK(kept + tb_called_left_out() == KINDS, "of %d calls %llu are kept and %llu left out", KINDS, kept,
          tb_called_left_out());
    CHECK(tb_called_left_out() == 0, "%llu calls found no room", tb_called_left_out());
    CHECK(after.kinds > 20000, "only %zu kinds are told apart", after.kinds);

    FILE *file = tmpfile();
    struct stat status;
    tb_write_called(fileno(file), "program", 4, 3);
    fstat(fileno(file), &status);
    CHECK(status.st_size < LARGEST_FILE, "the file has %lld bytes", (long long)status.st_size);
    char line[512];
    rewind(file);
    CHECK(fgets(line, sizeof line, file) && strstr(line, "\"cores\":4") && strstr(line, "\"left_out\":3"),
          "the first line is %s", line);
    fclose(file);
}

/* The extents of the first ones that are merged are off by a sixteenth at most. */
static void check_rounding(void)
{
    tb_called called, nearest = {0};
    const tb_called added = make_kind(7001, 7013, 7019);
    int64_t best = INT64_MAX;
    tb_add_called(&added);
    for (size_t place = 0; place < TB_CALLED_PLACES; place++)
        if (tb_read_called(place, &called)) {
            int64_t off = 0;
            for (int i = 0; i < 3; i++)
                off += difference(called.extents.of[i], added.extents.of[i]);
            nearest = off < best ? called : nearest;
            best = off < best ? off : best;
        }
    const int64_t m = nearest.extents.of[0];
    CHECK(m > 0 && 2 * difference(m, 7001) <= 7001, "7001 became %lld", (long long)m);
}

int main(void)
{
    check_one_kind();
    check_kinds_apart();
    check_threads();
    check_merging();
    check_rounding();
    return check_result();
}
