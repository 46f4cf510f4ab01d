/* A result is never lost. For n = 1, 2, 3 and so on, until a call has no n-th operation: the n-th operation
 * of the device fails, and C is right all the same, once; later calls are right too; nothing leaks; and no
 * more is said than one warning.
 *
 * The argument says how operations fail: memory, unsupported, lost, fault or half (device_sim.h). A second one,
 * cuts, double, triangles, expanded or in_place, picks other products.
 *
 *   failures FAILURE drawn SECONDS       sessions, each of threads that multiply whatever is drawn while some operations fail
 *   failures FAILURE session SEED        one session again
 */
#include "lib/process/clock.h"
#include "tests/sim/failing.h"

/* Operations of many calls at once fail; which of them is left to chance. */
static void fail_in_a_crowd(const char *failure)
{
    const scenario crowd = {.m = 90, .n = 70, .k = 50, .beta = 0.5, .threads = MAX_THREADS};
    static const long numbers[] = {1, 4, 20, 60, 100};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char script[64];
        snprintf(script, sizeof script, "any:%ld=%s", numbers[i], failure);
        run_scenario(&crowd, script);
    }
}

/* C in managed memory: the device writes it, unless beta has to be applied to what lies there. */
static void fail_in_managed_memory(const char *failure)
{
    static const scenario scenarios[] = {
        {.m = 90, .n = 70, .k = 50, .beta = -2, .managed_c = true},
        {.m = 90, .n = 70, .k = 50, .beta = 0, .managed_c = true},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        fail_everywhere(&scenario, "any", failure);
    }
}

/* All operands in managed memory: the device computes in place what the host may have to compute once more. With one kernel
 * that needs nothing, one that pads, and one that takes k in parts for want of memory. */
static void fail_in_place(const char *operation, const char *failure)
{
    static const scenario scenarios[] = {
        {.m = 90, .n = 70, .k = 50, .beta = -2, .kernel = "sgemm_simt_128x128", .launches = 1},
        {.m = 90, .n = 70, .k = 50, .beta = 0, .kernel = "sgemm_simt_128x128", .launches = 1},
        {.m = 65, .n = 33, .k = 20, .beta = -2, .kernel = "padded", .launches = 1},
        {.m = 65,
         .n = 33,
         .k = 2100,
         .beta = -2,
         .device_memory = "5",
         .kernel = "sgemm_bf16x6_sm90",
         .launches = 2},
        {.m = 50, .n = 50, .k = 40, .beta = -2, .triangle = TB_UPPER, .launches = 1},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        scenario.memory = TB_MEMORY_MANAGED;
        fail_everywhere(&scenario, operation, failure);
        if (strcmp(failure, "half") != 0)
            continue;
        /* So does the kernel that begins again: the host does all of it. */
        const report report = run_scenario(&scenario, "launch:1=half,launch:2=half");
        CHECK(report.failures == 2, "%ld failures", report.failures);
    }
}

/* Many more rows than columns: bands of rows, B with the first; one launch a band. C on the device has none. */
static void fail_in_bands(const char *failure)
{
    static const scenario scenarios[] = {
        {.m = 1300, .n = 40, .k = 60, .beta = -2, .pinned_memory = "1", .launches = 2},
        {.m = 1300, .n = 40, .k = 60, .beta = 0, .transposed = true, .pinned_memory = "1", .launches = 2},
        {.m = 700,
         .n = 40,
         .k = 60,
         .beta = 0,
         .pinned_memory = "1",
         .memory = TB_MEMORY_PINNED,
         .launches = 2},
        {.m = 1300, .n = 40, .k = 60, .beta = -2, .pinned_memory = "1", .device_c = true},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        if (!scenario.device_c)
            fail_everywhere(&scenario, "any", failure);
        /* What lies on a device that is gone is beyond help. */
        else if (strcmp(failure, "memory") == 0 || strcmp(failure, "unsupported") == 0)
            fail_everywhere(&scenario, "copy", failure);
    }
}

/* Cut at random (cuts.c): bands, columns, slabs for all of C, in any order that a product can have. */
static void fail_in_cuts(const char *failure)
{
    static const scenario scenarios[] = {
        {.m = 60, .n = 50, .k = 40, .beta = 0},
        {.m = 50, .n = 60, .k = 70, .beta = -2},
        {.m = 70, .n = 50, .k = 40, .beta = 1, .transposed = true},
        {.m = 40, .n = 60, .k = 50, .beta = 0, .memory = TB_MEMORY_PINNED},
        {.m = 60, .n = 40, .k = 50, .beta = -2, .transposed = true, .memory = TB_MEMORY_PINNED},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        fail_everywhere(&scenario, "any", failure);
    }
}

/* A triangle, of which some has been returned, or written in place, when the next columns or rows fail. */
static void fail_in_triangles(const char *failure)
{
    static const scenario scenarios[] = {
        {.n = 60, .k = 40, .beta = -2, .triangle = TB_LOWER},
        {.n = 60, .k = 40, .beta = 0, .transposed = true, .triangle = TB_UPPER, .memory = TB_MEMORY_PINNED},
        {.n = 200, .k = 330, .beta = -2, .triangle = TB_LOWER, .device_memory = "1"},
        {.n = 40, .k = 30, .beta = -2, .triangle = TB_UPPER, .managed_c = true},
        {.n = 40, .k = 30, .beta = 0, .triangle = TB_LOWER, .managed_c = true},
        {.n = 40, .k = 30, .beta = -2, .triangle = TB_LOWER, .memory = TB_MEMORY_MANAGED},
        {.n = 20, .k = 30, .beta = -2, .triangle = TB_LOWER, .device_c = true},
        {.n = 20, .k = 30, .beta = -2, .triangle = TB_UPPER, .device_c = true},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.m = scenario.n;
        scenario.element = i % 2 == 0 ? TB_FP32 : TB_FP64;
        scenario.threads = 1;
        if (!scenario.device_c)
            fail_everywhere(&scenario, "any", failure);
        /* What lies on a device that is gone is beyond help. */
        else if (strcmp(failure, "memory") == 0)
            fail_everywhere(&scenario, "copy", failure);
    }
    /* Of its steps the second needs the largest workspace: what that takes is taken before the first. */
    const scenario growing = {.element = TB_FP64,
                              .m = 200,
                              .n = 200,
                              .k = 1000,
                              .triangle = TB_LOWER,
                              .threads = 1,
                              .kernel = "dgemm_mma_64x64"};
    const report report = run_scenario(&growing, "");
    CHECK(report.launches > 1 && report.allocations == 3, "%ld launches, %ld allocations", report.launches,
          report.allocations);
}

/* On the device, but memory of ours there is short: kernels take k in parts, whose workspaces differ. */
static void run_in_parts(void)
{
    static const scenario scenarios[] = {
        {.m = 294, .n = 143, .k = 1353, .beta = 0, .device_memory = "2", .kernel = "auto"},
        {.m = 33, .n = 40, .k = 2100, .beta = 0, .device_memory = "3", .kernel = "sgemm_bf16x9_sm90"},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        for (int transposed = 0; transposed < 2; transposed++) {
            scenario scenario = scenarios[i];
            scenario.transposed = transposed;
            scenario.threads = 1;
            scenario.memory = TB_MEMORY_DEVICE;
            run_scenario(&scenario, "");
        }
    /* The second part fails, and so does the kernel that begins again: the host does all of it. */
    const scenario finished_by_host = {.m = 65,
                                       .n = 33,
                                       .k = 2100,
                                       .beta = -2,
                                       .threads = 1,
                                       .memory = TB_MEMORY_MANAGED,
                                       .device_memory = "4",
                                       .kernel = "sgemm_bf16x6_sm90"};
    report report = run_scenario(&finished_by_host, "launch:2=memory,launch:3=memory");
    CHECK(report.failures == 2, "%ld failures", report.failures);
}

/* Elements of 8 bytes, wherever bytes are counted: slots, blocks on the device, bands, devices' shares,
 * memory that a device writes in place, k in parts. */
static void fail_in_doubles(const char *failure)
{
    static const scenario scenarios[] = {
        {.m = 65, .n = 33, .k = 20, .beta = -2},
        {.m = 150, .n = 250, .k = 300, .beta = -2, .device_memory = "1", .pinned_memory = "1"},
        {.m = 700, .n = 40, .k = 60, .beta = 0, .transposed = true, .pinned_memory = "1", .launches = 2},
        {.m = 60, .n = 130, .k = 40, .beta = -2, .devices = "3"},
        {.m = 90, .n = 70, .k = 50, .beta = -2, .managed_c = true},
        {.m = 33,
         .n = 40,
         .k = 3000,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED,
         .device_memory = "1",
         .kernel = "dgemm_mma_64x64",
         .launches = 2},
        {.m = 33,
         .n = 40,
         .k = 3000,
         .beta = -2,
         .memory = TB_MEMORY_DEVICE,
         .device_memory = "1",
         .kernel = "dgemm_mma_64x64",
         .launches = 2},
    };
    const bool loses = strcmp(failure, "lost") == 0;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.element = TB_FP64;
        scenario.threads = 1;
        /* What lies on a device that is gone is beyond help. */
        if (scenario.memory != TB_MEMORY_DEVICE)
            fail_everywhere(&scenario, "any", failure);
        else if (!loses)
            fail_everywhere(&scenario, "launch", failure);
    }
}

/* Complex numbers, and a factor of which one triangle is stored: what is multiplied is written out on the device first, and
 * what the device has done is counted in rows that are parts of numbers. */
static void fail_in_expanded(const char *failure)
{
    static const scenario scenarios[] = {
        {.element = TB_COMPLEX_FP64, .m = 35, .n = 33, .k = 20, .beta = -2},
        {.element = TB_COMPLEX_FP32, .m = 33, .n = 35, .k = 20, .transposed = true, .alpha_im = -0.5},
        {.element = TB_FP64, .m = 65, .n = 33, .k = 65, .structure = TB_SYMMETRIC, .beta = -2},
        {.element = TB_COMPLEX_FP64,
         .m = 35,
         .n = 43,
         .k = 43,
         .structure = TB_HERMITIAN,
         .structured_right = true},
        {.element = TB_COMPLEX_FP32,
         .m = 50,
         .n = 30,
         .k = 50,
         .structure = TB_SYMMETRIC,
         .alpha_im = 2,
         .beta = 1},
        /* Too large for the device, or for what is pinned. */
        {.element = TB_COMPLEX_FP64,
         .m = 150,
         .n = 130,
         .k = 200,
         .beta = -2,
         .device_memory = "1",
         .step = 53},
        {.element = TB_COMPLEX_FP64,
         .m = 130,
         .n = 150,
         .k = 200,
         .transposed = true,
         .device_memory = "1",
         .pinned_memory = "1",
         .step = 53},
        {.element = TB_COMPLEX_FP64,
         .m = 150,
         .n = 130,
         .k = 150,
         .structure = TB_HERMITIAN,
         .beta = -2,
         .device_memory = "1",
         .step = 53},
        {.element = TB_FP32,
         .m = 170,
         .n = 300,
         .k = 300,
         .structure = TB_SYMMETRIC,
         .structured_right = true,
         .beta = -2,
         .device_memory = "1",
         .pinned_memory = "1"},
        /* Bands of rows; columns longer than a slot. */
        {.element = TB_COMPLEX_FP64, .m = 700, .n = 20, .k = 60, .beta = -2, .pinned_memory = "1", .step = 5},
        {.element = TB_COMPLEX_FP64, .m = 3, .n = 4, .k = 70000, .beta = -2, .transposed = true, .step = 53},
        /* Where the device reads what is to be expanded, or writes C, in place. */
        {.element = TB_COMPLEX_FP64, .m = 40, .n = 30, .k = 50, .memory = TB_MEMORY_PINNED},
        {.element = TB_COMPLEX_FP32,
         .m = 30,
         .n = 40,
         .k = 50,
         .transposed = true,
         .beta = -2,
         .memory = TB_MEMORY_PINNED},
        {.element = TB_FP64,
         .m = 30,
         .n = 50,
         .k = 30,
         .structure = TB_SYMMETRIC,
         .memory = TB_MEMORY_PINNED},
        {.element = TB_COMPLEX_FP64, .m = 45, .n = 35, .k = 50, .beta = -2, .managed_c = true},
        {.element = TB_COMPLEX_FP64, .m = 45, .n = 35, .k = 50, .managed_c = true},
        {.element = TB_COMPLEX_FP64, .m = 45, .n = 35, .k = 50, .beta = -2, .memory = TB_MEMORY_MANAGED},
        {.element = TB_COMPLEX_FP64,
         .m = 45,
         .n = 35,
         .k = 50,
         .beta = -2,
         .beta_im = 0.5,
         .transposed = true,
         .memory = TB_MEMORY_MANAGED},
        {.element = TB_COMPLEX_FP32,
         .m = 45,
         .n = 35,
         .k = 45,
         .structure = TB_HERMITIAN,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED},
        {.element = TB_COMPLEX_FP64, .m = 45, .n = 35, .k = 50, .beta = -2, .device_c = true},
        {.element = TB_FP64,
         .m = 45,
         .n = 35,
         .k = 45,
         .structure = TB_SYMMETRIC,
         .beta = -2,
         .device_c = true},
        /* Triangles, by rows that are parts of numbers; diagonals that come back real; two terms. */
        {.element = TB_COMPLEX_FP64,
         .m = 60,
         .n = 60,
         .k = 50,
         .triangle = TB_LOWER,
         .hermitian = true,
         .beta = -2},
        {.element = TB_COMPLEX_FP32, .m = 50, .n = 50, .k = 40, .transposed = true, .triangle = TB_UPPER},
        {.element = TB_COMPLEX_FP64,
         .m = 50,
         .n = 50,
         .k = 40,
         .triangle = TB_UPPER,
         .hermitian = true,
         .two_terms = true,
         .alpha_im = 0.5,
         .beta = -2},
        {.element = TB_FP64, .m = 60, .n = 60, .k = 40, .triangle = TB_LOWER, .two_terms = true, .beta = 1},
        {.element = TB_COMPLEX_FP64,
         .m = 45,
         .n = 45,
         .k = 50,
         .triangle = TB_LOWER,
         .hermitian = true,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED},
        {.element = TB_FP64,
         .m = 45,
         .n = 45,
         .k = 50,
         .triangle = TB_UPPER,
         .two_terms = true,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        if (scenario.structure != TB_GENERAL)
            scenario.stored = i % 2 == 0 ? TB_LOWER : TB_UPPER;
        if (!scenario.device_c)
            fail_everywhere(&scenario, strcmp(failure, "half") == 0 ? "launch" : "any", failure);
        /* What lies on a device that is gone is beyond help. */
        else if (strcmp(failure, "memory") == 0)
            fail_everywhere(&scenario, "copy", failure);
    }
}

/* Products and solves in C's place, of which nothing can be done twice: what has come back is whole columns, or rows where the
 * triangle is on the right, and the rest is as the program left it. */
static void fail_in_c_place(const char *failure)
{
    static const scenario scenarios[] = {
        {.element = TB_FP64, .m = 60, .n = 50},
        {.element = TB_FP32,
         .m = 50,
         .n = 60,
         .transposed = true,
         .unit_diagonal = true,
         .memory = TB_MEMORY_PINNED},
        {.element = TB_COMPLEX_FP64, .m = 45, .n = 35, .structured_right = true, .alpha_im = 0.5},
        {.element = TB_COMPLEX_FP32,
         .m = 35,
         .n = 45,
         .structured_right = true,
         .transposed = true,
         .memory = TB_MEMORY_PINNED},
        /* More than a slot at a time, or than the device has room for. */
        {.element = TB_FP64, .m = 300, .n = 900, .pinned_memory = "1", .step = 7},
        {.element = TB_FP64, .m = 1300, .n = 120, .structured_right = true, .pinned_memory = "1", .step = 7},
        {.element = TB_FP64, .m = 200, .n = 430, .device_memory = "1", .step = 7},
        {.element = TB_FP64, .m = 430, .n = 200, .structured_right = true, .device_memory = "1", .step = 7},
        {.element = TB_FP32, .m = 60, .n = 130, .devices = "3", .step = 3},
        {.element = TB_FP32, .m = 130, .n = 60, .structured_right = true, .devices = "3", .step = 3},
        /* Where the device writes in place. */
        {.element = TB_FP64, .m = 45, .n = 35, .managed_c = true},
        {.element = TB_FP32, .m = 45, .n = 35, .structured_right = true, .managed_c = true},
        {.element = TB_FP64, .m = 45, .n = 35, .transposed = true, .memory = TB_MEMORY_MANAGED},
        {.element = TB_COMPLEX_FP64, .m = 35, .n = 45, .structured_right = true, .memory = TB_MEMORY_MANAGED},
        {.element = TB_FP64, .m = 45, .n = 35, .device_c = true},
        {.element = TB_FP64, .m = 45, .n = 35, .structured_right = true, .device_c = true},
        {.element = TB_FP64, .m = 45, .n = 35, .memory = TB_MEMORY_DEVICE, .kernel = "auto"},
        {.element = TB_COMPLEX_FP32, .m = 45, .n = 35, .structured_right = true, .memory = TB_MEMORY_DEVICE},
        /* Where C could be saved, and has to do without if it cannot. */
        {.element = TB_FP64,
         .m = 45,
         .n = 35,
         .memory = TB_MEMORY_DEVICE,
         .managed_c = true,
         .kernel = "auto"},
    };
    const bool loses = strcmp(failure, "lost") == 0, goes_half_way = strcmp(failure, "half") == 0;
    for (size_t i = 0; i < 2 * sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i / 2];
        const bool on_device = scenario.device_c || scenario.memory == TB_MEMORY_DEVICE;
        scenario.threads = 1;
        scenario.in_place = i % 2 == 0 ? TB_SOLVES : TB_MULTIPLIES;
        scenario.structure = TB_TRIANGULAR;
        scenario.stored = i / 2 % 2 == 0 ? TB_LOWER : TB_UPPER;
        scenario.k = scenario.structured_right ? scenario.n : scenario.m;
        if (!on_device)
            fail_everywhere(&scenario, goes_half_way ? "launch" : "any", failure);
        /* What lies on a device that is gone, or that has been written half of, is beyond help. */
        else if (!loses && !goes_half_way)
            fail_everywhere(&scenario, scenario.device_c || scenario.managed_c ? "copy" : "launch", failure);
    }
}

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

static void run_sessions(const char *failure, double seconds)
{
    const double end = tb_seconds() + seconds;
    check_random random = {.state = seed};
    long sessions = 0, launches = 0, failures = 0;
    while (tb_seconds() < end && run_session(failure, check_next(&random), &launches, &failures))
        sessions++;
    printf("%ld sessions, %ld launches, %ld failures\n", sessions, launches, failures);
    CHECK(launches > sessions && failures > 0, "the device was not used, or never failed");
}

int main(int count, char **arguments)
{
    const char *failure = count > 1 ? arguments[1] : "lost";
    /* More columns than the streamed route returns at a time. */
    const scenario panels = {.m = 800, .n = 800, .k = 2, .beta = -2, .threads = 1};
    static const double betas[] = {0, 1, -2};

    begin_failing();
    if (count > 3 && strcmp(arguments[2], "drawn") == 0) {
        run_sessions(failure, atof(arguments[3]));
        return check_result();
    }
    if (count > 3 && strcmp(arguments[2], "session") == 0) {
        long launches = 0, failures = 0;
        run_session(failure, strtoull(arguments[3], NULL, 0), &launches, &failures);
        return check_result();
    }
    if (count > 2 && strcmp(arguments[2], "cuts") == 0) {
        fail_in_cuts(failure);
        return check_result();
    }
    if (count > 2 && strcmp(arguments[2], "triangles") == 0) {
        fail_in_triangles(failure);
        return check_result();
    }
    if (count > 2 && strcmp(arguments[2], "expanded") == 0) {
        fail_in_expanded(failure);
        return check_result();
    }
    if (count > 2 && strcmp(arguments[2], "in_place") == 0) {
        fail_in_c_place(failure);
        return check_result();
    }
    if (count > 2 && strcmp(arguments[2], "double") == 0) {
        fail_in_doubles(failure);
        return check_result();
    }
    if (strcmp(failure, "half") == 0) {
        fail_in_place("launch", failure);
        return check_result();
    }
    for (size_t i = 0; i < sizeof betas / sizeof betas[0]; i++) {
        const scenario small = {.m = 65, .n = 33, .k = 20, .beta = betas[i], .threads = 1};
        fail_everywhere(&small, "any", failure);
    }
    fail_everywhere(&panels, "any", failure);
    /* Too large for the device: blocks of C, slabs of k, rings that turn. */
    const scenario cut = {.m = 200, .n = 330, .k = 400, .beta = -2, .threads = 1, .device_memory = "1"};
    fail_everywhere(&cut, "any", failure);
    fail_in_managed_memory(failure);
    fail_in_place("any", failure);
    fail_in_bands(failure);
    /* Where one device fails, the others' parts stay. */
    const scenario shared_by_three = {.m = 60, .n = 130, .k = 40, .beta = -2, .threads = 1, .devices = "3"};
    fail_everywhere(&shared_by_three, "any", failure);
    const scenario measured = {.m = 65, .n = 33, .k = 20, .beta = -2, .threads = 1, .measured = true};
    fail_everywhere(&measured, "any", failure);
    fail_in_a_crowd(failure);

    /* Memory of the device that runs out costs no product of matrices that lie there. */
    static const char *const operations[] = {"allocate", "copy", "launch", "stream"};
    const scenario resident = {
        .m = 65, .n = 33, .k = 20, .beta = -2, .threads = 1, .memory = TB_MEMORY_DEVICE};
    /* There a kernel whose workspace is too large takes k in two parts; beta counts once, whichever fails. */
    const scenario in_two_parts = {.m = 65,
                                   .n = 33,
                                   .k = 2100,
                                   .beta = -2,
                                   .threads = 1,
                                   .memory = TB_MEMORY_DEVICE,
                                   .device_memory = "5",
                                   .kernel = "sgemm_bf16x6_sm90",
                                   .launches = 2};
    for (size_t i = 0; i < sizeof operations / sizeof operations[0] && strcmp(failure, "memory") == 0; i++) {
        fail_everywhere(&resident, operations[i], failure);
        if (strcmp(operations[i], "copy") != 0)
            fail_everywhere(&in_two_parts, operations[i], failure);
    }
    if (strcmp(failure, "memory") == 0)
        run_in_parts();
    return check_result();
}
