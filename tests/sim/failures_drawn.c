/* Threads that multiply whatever is drawn while some operations of the device fail: each product is right, and nothing leaks.
 *
 *   failures_drawn FAILURE SECONDS        sessions, each a process of its own
 *   failures_drawn FAILURE SEED session   one session again
 */
#include "lib/process/clock.h"
#include "tests/sim/failing.h"

/* Whether all was right; adds up what the device did, and how often it could not. */
static bool run_session(const char *failure, uint64_t session, long *launches, long *failures)
{
    static const char *const operations[] = {"any",      "any",    "copy",   "launch",
                                             "allocate", "pinned", "stream", "event"};
    static const char *const device_memory[] = {NULL, NULL, "1", "2", "8"}, *const pinned_memory[] = {
                                                                                NULL, "1", "2"};
    static const int most[] = {10, 100, 1000};
    check_random random = {.state = session};
    seed = check_next(&random);
    const int64_t failing = check_between(&random, 1, 3);
    bool can_be_saved = strcmp(failure, "memory") == 0 && failing == 1;
    char script[128];
    size_t length = 0;
    for (int64_t i = failing; i > 0; i--) {
        const char *operation = CHECK_PICK(&random, operations);
        can_be_saved = can_be_saved && strcmp(operation, "any") != 0;
        length +=
            (size_t)snprintf(script + length, sizeof script - length, "%s%s:%d=%s", length > 0 ? "," : "",
                             operation, (int)check_between(&random, 1, CHECK_PICK(&random, most)), failure);
    }
    const scenario crowd = {
        .threads = 8,
        .calls = 10,
        .drawn = true,
        /* The host computes what lies there, if the device is up and copies do not fail as well. */
        .drawn_on_device = can_be_saved,
        .device_memory = CHECK_PICK(&random, device_memory),
        .pinned_memory = CHECK_PICK(&random, pinned_memory),
        .devices = check_between(&random, 0, 5) == 0 ? "3" : NULL};
    const long before = atomic_load(&check_failures);
    const report report = run_scenario(&crowd, script);
    *launches += report.launches;
    *failures += report.failures;
    const sim_usage *left = &report.usage[LATER_CALLS - 1];
    CHECK(left->device_bytes == 0 && left->pinned_bytes == 0,
          "%zu bytes on the device and %zu pinned ones left", left->device_bytes, left->pinned_bytes);
    return CHECK(atomic_load(&check_failures) == before,
                 "session %" PRIu64 ", %s, device memory %s, pinned %s", session, script, crowd.device_memory,
                 crowd.pinned_memory);
}

#define PATIENCE 60.0

static void run_sessions(const char *failure, double seconds)
{
    const double end = tb_seconds() + seconds;
    check_random random = {.state = seed};
    long sessions = 0, launches = 0, failures = 0;
    /* A machine that has no time for it gets a few sessions more, until some have shown what they are for. */
    while ((tb_seconds() < end || launches <= sessions || failures == 0) && tb_seconds() < end + PATIENCE &&
           run_session(failure, check_next(&random), &launches, &failures))
        sessions++;
    printf("%ld sessions, %ld launches, %ld failures\n", sessions, launches, failures);
    CHECK(launches > sessions && failures > 0, "the device was not used, or never failed");
}

int main(int count, char **arguments)
{
    const char *failure = count > 1 ? arguments[1] : "lost";
    begin_failing();
    if (count > 3 && strcmp(arguments[3], "session") == 0) {
        long launches = 0, failures = 0;
        run_session(failure, strtoull(arguments[2], NULL, 0), &launches, &failures);
    } else {
        run_sessions(failure, count > 2 ? atof(arguments[2]) : 4);
    }
    return check_result();
}
