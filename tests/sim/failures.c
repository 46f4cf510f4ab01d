/* A result is never lost. For n = 1, 2, 3 and so on, until a call has no n-th operation: the n-th operation
 * of the device fails, and C is right all the same, once; later calls are right too; nothing leaks; and no
 * more is said than one warning.
 *
 * The argument says how operations fail: memory, unsupported, lost, fault or half (device_sim.h). A second one, cuts, double or
 * triangles, picks other products. Those that are not plain are in failures_expanded.c, and what is drawn in failures_drawn.c.
 */
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
    /* The second of its steps needs the largest workspace: what that takes is taken before the first. */
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

/* Operands lie on the device, but memory of ours there is short: kernels take k in parts, whose workspaces differ. */
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

int main(int count, char **arguments)
{
    const char *failure = count > 1 ? arguments[1] : "lost";
    /* More columns than the streamed route returns at a time. */
    const scenario swaths = {.m = 800, .n = 800, .k = 2, .beta = -2, .threads = 1};
    static const double betas[] = {0, 1, -2};

    begin_failing();
    if (count > 2 && strcmp(arguments[2], "cuts") == 0) {
        fail_in_cuts(failure);
        return check_result();
    }
    if (count > 2 && strcmp(arguments[2], "triangles") == 0) {
        fail_in_triangles(failure);
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
    fail_everywhere(&swaths, "any", failure);
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
